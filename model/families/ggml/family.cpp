#include "model/families/ggml/family.hpp"

namespace mx::families {

constinit const Family kGgmlFamily{.name = "ggml", .blocks = {&kGgmlBlocks}};

}  // namespace mx::families
