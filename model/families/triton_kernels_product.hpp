#pragma once
// What triton_kernels' MXFP4 products read on sm_90, where that is not what the layout holds.

#include <cstdint>

#include "model/moe/activation.hpp"

namespace mx::families::triton {

/// Releases whose products and activations differ: abce3c88f, and 6294db5a1 and later ones.
enum class Release : std::uint8_t { v3_5, v3_6 };

/// How many k of a row of w13 the product reads. Release 3.5 masks packed columns at 2 * hidden while the layout spreads a tile of 64 k over them:
/// with hidden % 64 = 32 every second row ends 32 early. `row` counts w13's rows as they lie in the checkpoint.
/// Source: triton_kernels abce3c88f and 6294db5a1: outputs of an H100 (golden/witness/hardware).
std::int64_t k_read(Release release, std::int64_t hidden, std::int64_t row);

/// The fused SwiGLU: a NaN in `up` becomes 7 in release 3.5, -7 from 3.6 on.
const moe::Activation& fused_activation(Release release);

}  // namespace mx::families::triton
