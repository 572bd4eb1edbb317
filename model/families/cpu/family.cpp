#include "model/families/cpu/family.hpp"

namespace mx::families {

constinit const Family kCpuFamily{
    .name = "cpu",
    .layouts = {&kCpuLayouts, 12},
    .blocks = {&kCpuBlocks, 2},
    .inputs = {&kCpuInputs},
    .needs = {&kCpuNeeds},
    .classes = {&kCpuClasses},
    .executions = {&kCpuExecutions, 11},
};

}  // namespace mx::families
