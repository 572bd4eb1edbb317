#include "model/families/marlin/family.hpp"

namespace mx::families {

constinit const Family kMarlinFamily{
    .name = "marlin",
    .layouts = {&kMarlinLayouts, 9},
    .blocks = {&kMarlinBlocks, 8},
    .value_blocks = {&kMarlinValueBlocks},
    .inputs = {&kMarlinInputs},
    .needs = {&kMarlinNeeds},
    .classes = {&kMarlinClasses},
    .executions = {&kMarlinExecutions, 6},
    .setting_keys = {&kMarlinSettingKeys, 2},
};

}  // namespace mx::families
