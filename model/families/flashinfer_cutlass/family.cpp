#include "model/families/flashinfer_cutlass/family.hpp"

namespace mx::families {

constinit const Family kFlashinferCutlassFamily{
    .name = "flashinfer_cutlass",
    .layouts = {&kFlashinferCutlassLayouts, 1},
    .blocks = {&kFlashinferCutlassBlocks, 7},
    .inputs = {&kFlashinferCutlassInputs},
    .needs = {&kFlashinferCutlassNeeds},
    .classes = {&kFlashinferCutlassClasses},
    .executions = {&kFlashinferCutlassExecutions, 2},
    .setting_keys = {&kFlashinferCutlassSettingKeys, 4},
};

}  // namespace mx::families
