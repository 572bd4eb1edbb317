#include "model/families/xpu/family.hpp"

namespace mx::families {

constinit const Family kXpuFamily{
    .name = "xpu",
    .layouts = {&kXpuLayouts, 5},
    .needs = {&kXpuNeeds},
    .classes = {&kXpuClasses},
    .executions = {&kXpuExecutions, 10},
};

}  // namespace mx::families
