#include "model/families/triton_kernels/family.hpp"

namespace mx::families {

constinit const Family kTritonKernelsFamily{
    .name = "triton_kernels",
    .layouts = {&kTritonKernelsLayouts, 7},
    .blocks = {&kTritonKernelsBlocks, 5},
    .needs = {&kTritonKernelsNeeds},
    .classes = {&kTritonKernelsClasses},
    .executions = {&kTritonKernelsExecutions, 8},
    .setting_keys = {&kTritonKernelsSettingKeys, 0},
};

}  // namespace mx::families
