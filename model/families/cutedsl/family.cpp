#include "model/families/cutedsl/family.hpp"

namespace mx::families {

constinit const Family kCutedslFamily{
    .name = "cutedsl",
    .layouts = {&kCutedslLayouts, 4},
    .blocks = {&kCutedslBlocks, 3},
    .needs = {&kCutedslNeeds},
    .classes = {&kCutedslClasses},
    .executions = {&kCutedslExecutions, 3},
};

}  // namespace mx::families
