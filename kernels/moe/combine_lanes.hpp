#pragma once
// The one body of the combine functions, compiled for each tier. Nothing here has a linkage that another tier could pick up.

#include "kernels/moe/combine.hpp"

namespace mx::kernels::moe {
namespace {

inline void combine_lanes(const CombineArgs& args) {
  // So many columns at once that their sums stay in registers over all experts.
  constexpr size_t kColumns = 64;
  for (size_t first = 0; first < args.columns; first += kColumns) {
    const size_t count = args.columns - first < kColumns ? args.columns - first : kColumns;
    float sums[kColumns] = {};
    for (size_t i = 0; i < args.count; ++i) {
      const float weight = args.weights[i];
      const float* const row = args.rows[i] + first;
      for (size_t n = 0; n < count; ++n) sums[n] = __builtin_fmaf(weight, row[n], sums[n]);
    }
    for (size_t n = 0; n < count; ++n) args.out[first + n] = sums[n] == sums[n] ? sums[n] : __builtin_nanf("");
  }
}

}  // namespace
}  // namespace mx::kernels::moe
