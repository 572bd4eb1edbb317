#include "model/families/hpc/family.hpp"

namespace mx::families {

constinit const Family kHpcFamily{
    .name = "hpc",
    .needs = {&kHpcNeeds},
    .classes = {&kHpcClasses},
};

}  // namespace mx::families
