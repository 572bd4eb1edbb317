#include "model/families/families.hpp"

namespace mx::families {

std::span<const Family* const> all_families() { return kFamilies; }

}  // namespace mx::families
