#pragma once
// What Marlin's converters may look at besides what every converter sees.

namespace mx::families {

struct MarlinParameters {
  int largest_scale_byte = 0;  ///< with 8-bit activations: of w13 and w2; convert() fills it in
};

}  // namespace mx::families
