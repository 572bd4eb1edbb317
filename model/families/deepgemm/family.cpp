#include "model/families/deepgemm/family.hpp"

namespace mx::families {

constinit const Family kDeepgemmFamily{
    .name = "deepgemm",
    .layouts = {&kDeepgemmLayouts, 8},
    .blocks = {&kDeepgemmBlocks, 6},
    .value_blocks = {&kDeepgemmValueBlocks},
    .needs = {&kDeepgemmNeeds},
    .classes = {&kDeepgemmClasses},
    .executions = {&kDeepgemmExecutions, 0},
    .setting_keys = {&kDeepgemmSettingKeys, 3},
    .setting_variables = {&kDeepgemmSettingVariables},
};

}  // namespace mx::families
