#pragma once
// Block formats: elements that share one scale, along a row or in a tile of several rows.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/numerics/convert.hpp"
#include "model/numerics/format.hpp"

namespace mx {

/// One block format: `block` elements share one scale: consecutive ones along the last axis, or a tile of `block_rows` rows. Source: MX 1.0 §5.2;
/// NVFP4; FP8 recipes.
struct BlockFormat {
  std::string_view name;
  const Format* element;
  const Format* scale;  ///< E8M0 or E4M3 codes, or fp32 bits
  int block;            ///< elements; 0: the whole row or tensor that is handed over
  std::string_view source;
  int block_rows = 1;  ///< rows that a block covers, block / block_rows columns each; its values are handed over row by row
};

inline constexpr BlockFormat kMxfp8E4m3{"mxfp8_e4m3", &kE4m3fn, &kE8m0, 32, "MX 1.0 section 5.2, table 1"};
inline constexpr BlockFormat kMxfp8E5m2{"mxfp8_e5m2", &kE5m2, &kE8m0, 32, "MX 1.0 section 5.2, table 1"};
inline constexpr BlockFormat kMxfp6E2m3{"mxfp6_e2m3", &kE2m3, &kE8m0, 32, "MX 1.0 section 5.2, table 1"};
inline constexpr BlockFormat kMxfp6E3m2{"mxfp6_e3m2", &kE3m2, &kE8m0, 32, "MX 1.0 section 5.2, table 1"};
inline constexpr BlockFormat kMxfp4{"mxfp4", &kE2m1, &kE8m0, 32, "MX 1.0 section 5.2, table 1"};
inline constexpr BlockFormat kMxfp8E4m3fnuz{"mxfp8_e4m3fnuz", &kE4m3fnuz, &kE8m0, 32, "aiter MxDtype.FP8_E4M3_FNUZ: gfx942 fp8 in MX blocks"};
inline constexpr BlockFormat kMxint8Block{"mxint8", &kMxint8, &kE8m0, 32, "MX 1.0 section 5.2, table 1"};
inline constexpr BlockFormat kNvfp4{"nvfp4", &kE2m1, &kE4m3fn, 16, "PTX ISA, mma kind::mxf4nvf4 with scale_vec::4X and ue4m3 scales; vLLM nvfp4"};
inline constexpr BlockFormat kFp8E4m3{"fp8_e4m3", &kE4m3fn, &kF32, 0, "OFP8 1.0 with one fp32 scale of a tensor, row or group"};
inline constexpr BlockFormat kFp8E5m2{"fp8_e5m2", &kE5m2, &kF32, 0, "OFP8 1.0 with one fp32 scale of a tensor, row or group"};
inline constexpr BlockFormat kFp8E4m3Square{
    "fp8_e4m3_128x128", &kE4m3fn, &kF32, 128 * 128, "DeepSeek-V3 report section 3.3.2: weights in 128x128 squares", 128};

inline constexpr BlockFormat kFp8Group128{"fp8_e4m3_g128", &kE4m3fn, &kF32, 128, "DeepSeek-V3 report section 3.3.2: activations in 1x128 groups"};
inline constexpr BlockFormat kFp8Group32{"fp8_e4m3_g32", &kE4m3fn, &kF32, 32, "DeepGEMM deep_gemm/utils/math.py, gran_k = 32"};
inline constexpr BlockFormat kFp6Group32{"fp6_e2m3_g32", &kE2m3, &kF32, 32,
                                         "AMD Quark fake_quantize_mx: a power of two in fp32 for each 32 elements"};
inline constexpr BlockFormat kFp4Group128{"fp4_e2m1_g128", &kE2m1, &kF32, 128, "DeepGEMM deep_gemm/utils/math.py per_token_cast_to_fp4"};
inline constexpr BlockFormat kFp4Group32{"fp4_e2m1_g32", &kE2m1, &kF32, 32, "DeepGEMM deep_gemm/utils/math.py per_token_cast_to_fp4, gran_k = 32"};

std::span<const BlockFormat> all_block_formats();
/// Throws Error(usage) with the nearest known name.
const BlockFormat& block_format_named(std::string_view name);

struct QuantizedBlock {
  std::uint32_t scale;               ///< code in the block's scale format
  std::vector<std::uint32_t> codes;  ///< one element code each, unpacked
  std::vector<Flags> flags;          ///< of each element's last step, the rounding of its scaled value into the element format
};

/// What a block's largest magnitude makes of it, before any element is looked at.
struct BlockScaling {
  std::uint32_t scale;   ///< code in the block's scale format
  std::uint32_t factor;  ///< fp32 bits of what the elements meet; whether they are multiplied or divided by it is the recipe's

  friend bool operator==(const BlockScaling&, const BlockScaling&) = default;
};

/// Which numbers of the whole tensor a recipe cannot do without.
struct TensorNeeds {
  bool encode = false;
  bool decode = false;
};

/// Numbers of a whole tensor that a two-level or static recipe takes, as fp32 bits.
struct TensorScale {
  std::optional<std::uint32_t> encode;                     ///< g of NVFP4: values are multiplied by it
  std::optional<std::uint32_t> decode;                     ///< 1/g as the implementation holds it, or a static scale
  std::optional<std::uint32_t> amax_bound = std::nullopt;  ///< upper bound on the largest magnitude (vLLM scale_ub)

  friend bool operator==(const TensorScale&, const TensorScale&) = default;
};

/// The exact product of an element and a scale: no range limit, no rounding. NaN wins, 0 * Inf is NaN.
Value scaled_value(std::uint32_t code, std::uint32_t scale, const BlockFormat& format);

/// fp32 bits of one element: decode(code) * scale exactly, rounded once to nearest even where fp32 cannot hold it.
/// A NaN scale gives NaN. Source: MX 1.0 §5.2. How implementations differ: dequantize.hpp.
std::uint32_t dequantize(std::uint32_t code, std::uint32_t scale, const BlockFormat& format);

}  // namespace mx
