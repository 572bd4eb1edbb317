#include "model/families/vllm_cutlass/family.hpp"

namespace mx::families {

constinit const Family kVllmCutlassFamily{
    .name = "vllm_cutlass",
    .layouts = {&kVllmCutlassLayouts, 3},
    .needs = {&kVllmCutlassNeeds},
    .classes = {&kVllmCutlassClasses},
    .executions = {&kVllmCutlassExecutions, 5},
};

}  // namespace mx::families
