#pragma once
// What AITER's converters may look at besides what every converter sees.

namespace mx::families {

struct AiterParameters {
  bool a8w4 = false;  ///< AITER_MXFP4_BF16 with situ
};

}  // namespace mx::families
