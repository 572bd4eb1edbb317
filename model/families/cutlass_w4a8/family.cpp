#include "model/families/cutlass_w4a8/family.hpp"

namespace mx::families {

constinit const Family kCutlassW4a8Family{
    .name = "cutlass_w4a8",
    .layouts = {&kCutlassW4a8Layouts, 13},
    .blocks = {&kCutlassW4a8Blocks, 4},
    .value_blocks = {&kCutlassW4a8ValueBlocks},
    .inputs = {&kCutlassW4a8Inputs},
    .needs = {&kCutlassW4a8Needs},
    .classes = {&kCutlassW4a8Classes},
    .executions = {&kCutlassW4a8Executions, 14},
};

}  // namespace mx::families
