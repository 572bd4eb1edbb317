#include "model/families/emulation/family.hpp"

namespace mx::families {

constinit const Family kEmulationFamily{
    .name = "emulation",
    .layouts = {&kEmulationLayouts, 6},
    .needs = {&kEmulationNeeds},
    .classes = {&kEmulationClasses},
    .executions = {&kEmulationExecutions, 12},
};

}  // namespace mx::families
