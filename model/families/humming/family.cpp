#include "model/families/humming/family.hpp"

namespace mx::families {

constinit const Family kHummingFamily{
    .name = "humming",
    .layouts = {&kHummingLayouts, 10},
    .blocks = {&kHummingBlocks, 9},
    .value_blocks = {&kHummingValueBlocks},
    .needs = {&kHummingNeeds},
    .classes = {&kHummingClasses},
    .executions = {&kHummingExecutions, 13},
    .setting_keys = {&kHummingSettingKeys, 6},
};

}  // namespace mx::families
