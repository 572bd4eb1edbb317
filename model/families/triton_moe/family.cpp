#include "model/families/triton_moe/family.hpp"

namespace mx::families {

constinit const Family kTritonMoeFamily{
    .name = "triton_moe",
    .needs = {&kTritonMoeNeeds},
    .classes = {&kTritonMoeClasses},
    .executions = {&kTritonMoeExecutions, 9},
};

}  // namespace mx::families
