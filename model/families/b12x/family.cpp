#include "model/families/b12x/family.hpp"

namespace mx::families {

constinit const Family kB12xFamily{
    .name = "b12x",
    .layouts = {&kB12xLayouts, 2},
    .needs = {&kB12xNeeds},
    .classes = {&kB12xClasses},
    .executions = {&kB12xExecutions, 4},
    .setting_keys = {&kB12xSettingKeys, 5},
};

}  // namespace mx::families
