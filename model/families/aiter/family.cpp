#include "model/families/aiter/family.hpp"

namespace mx::families {

constinit const Family kAiterFamily{
    .name = "aiter",
    .layouts = {&kAiterLayouts, 11},
    .blocks = {&kAiterBlocks, 1},
    .inputs = {&kAiterInputs},
    .needs = {&kAiterNeeds},
    .classes = {&kAiterClasses},
    .executions = {&kAiterExecutions, 7},
    .setting_keys = {&kAiterSettingKeys, 1},
};

}  // namespace mx::families
