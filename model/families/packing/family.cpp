#include "model/families/packing/family.hpp"

namespace mx::families {

constinit const Family kPackingFamily{.name = "packing", .blocks = {&kPackingBlocks}};

}  // namespace mx::families
