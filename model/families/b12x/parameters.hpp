#pragma once
// What B12X's converters may look at besides what every converter sees.

namespace mx::families {

struct B12xParameters {
  bool a16 = false;  ///< 16-bit activations with NVFP4 weights
};

}  // namespace mx::families
