#include "model/families/moonep/family.hpp"

namespace mx::families {

constinit const Family kMoonepFamily{
    .name = "moonep",
    .needs = {&kMoonepNeeds},
    .classes = {&kMoonepClasses},
};

}  // namespace mx::families
