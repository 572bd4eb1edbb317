#include "model/families/trtllm/family.hpp"

namespace mx::families {

constinit const Family kTrtllmFamily{
    .name = "trtllm",
    .layouts = {&kTrtllmLayouts, 0},
    .blocks = {&kTrtllmBlocks, 0},
    .inputs = {&kTrtllmInputs},
    .needs = {&kTrtllmNeeds},
    .classes = {&kTrtllmClasses},
    .executions = {&kTrtllmExecutions, 1},
};

}  // namespace mx::families
