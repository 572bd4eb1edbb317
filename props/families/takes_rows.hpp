#pragma once
// What the rows of families' takes.cpp are made of: the checks that documents state for several families.

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "props/families/memory_formula.hpp"
#include "props/families/restated_takes.hpp"

namespace mx::props::takes {

using families::Arch;
using families::InputDtype;
using families::Quantity;
using families::Setting;
using families::TritonKernels;
using layout::SourceOrder;
using layout::WeightFormat;
using Answer = std::optional<Refusal>;

inline std::int64_t rows_of_w13(const Setting& s) { return s.form.gated ? 2 * s.padded.intermediate : s.padded.intermediate; }
inline std::int64_t groups(std::int64_t length, const Setting& s) { return length / s.padded.group; }

/// The first of the checks that fails; a check holds where its value is a multiple.
struct Multiple {
  Quantity quantity;
  std::int64_t value;
  std::int64_t of;
};
inline Answer first_broken(std::initializer_list<Multiple> checks) {
  for (const Multiple& check : checks) {
    if (check.value % check.of != 0) return Refusal{check.quantity, check.of};
  }
  return std::nullopt;
}
inline Multiple rows13(const Setting& s, std::int64_t of) { return {Quantity::w13_rows, rows_of_w13(s), of}; }
inline Multiple rows2(const Setting& s, std::int64_t of) { return {Quantity::w2_rows, s.padded.hidden, of}; }
inline Multiple groups13(const Setting& s, std::int64_t of) { return {Quantity::w13_groups, groups(s.padded.hidden, s), of}; }
inline Multiple groups2(const Setting& s, std::int64_t of) { return {Quantity::w2_groups, groups(s.padded.intermediate, s), of}; }
inline Multiple hidden(const Setting& s, std::int64_t of) { return {Quantity::hidden, s.padded.hidden, of}; }
inline Multiple intermediate(const Setting& s, std::int64_t of) { return {Quantity::intermediate, s.padded.intermediate, of}; }

inline Answer nothing(const Setting&) { return std::nullopt; }

// 3: biases must exist in gpt-oss order; the index of shuffled scales asserts 128 rows, the tiles have 4 groups.
inline Answer shuffled_tiles(const Setting& s) {
  if (!is_standard(s) && !s.has_bias) return Refusal{Quantity::has_bias, 1};
  return first_broken({rows13(s, 128), rows2(s, 128), groups13(s, 4), groups2(s, 4)});
}

inline TritonKernels release_of(const Setting& s) {
  const bool rocm = s.arch == Arch::gfx90a || s.arch == Arch::gfx942 || s.arch == Arch::gfx950 || s.arch == Arch::gfx11 || s.arch == Arch::gfx12 ||
                    s.arch == Arch::gfx1250;
  return s.of<families::TritonParameters>().release.value_or(rocm && s.engine == deployment::kVllm2026_08 ? TritonKernels::v3_7
                                                                                                          : TritonKernels::v3_5);
}
/// 2: what the layouts of triton_kernels assert.
inline Answer triton_swizzles(const Setting& s) {
  if (s.of<families::TritonParameters>().before_swizzle) return std::nullopt;
  if (s.arch == Arch::sm90 && !s.of<families::TritonParameters>().torch_before_2_8_1 && s.of<families::TritonParameters>().num_warps != 1 &&
      s.of<families::TritonParameters>().num_warps != 2 && s.of<families::TritonParameters>().num_warps != 4 &&
      s.of<families::TritonParameters>().num_warps != 8)
    return Refusal{Quantity::num_warps, 0};
  const bool cdna4 = s.arch == Arch::gfx950 && (s.engine == deployment::kVllm2026_05 || s.tp_size <= 2);
  if (cdna4 && release_of(s) == TritonKernels::v3_5) return first_broken({groups13(s, 8), groups2(s, 8)});
  return std::nullopt;
}
inline Answer sixteen_bits(const Setting& s, Answer otherwise) {
  return s.input_dtype == InputDtype::none ? otherwise : Refusal{Quantity::activation_dtype, static_cast<std::int64_t>(InputDtype::none)};
}
/// Tiles of 16 rows by 32 elements: AITER and CPU.
inline Answer tiles_16x32(const Setting& s) { return first_broken({rows13(s, 16), hidden(s, 32), rows2(s, 16), intermediate(s, 32)}); }
// 10: gate and up together are not padded; one shard is.
inline Answer nvfp4_tiles(const Setting& s) { return first_broken({rows13(s, s.form.gated ? 128 : 1)}); }

inline constexpr deployment::Versions kBoth = deployment::since(deployment::kVllm2026_05);
inline constexpr deployment::Versions kMay = deployment::before(deployment::kVllm2026_08);
inline constexpr deployment::Versions kSinceAugust = deployment::since(deployment::kVllm2026_08);
inline constexpr deployment::Versions kNo = deployment::kNever;
inline constexpr WeightFormat kMxfp4 = WeightFormat::mxfp4;
inline constexpr WeightFormat kNvfp4 = WeightFormat::nvfp4;
inline constexpr WeightFormat kMxfp8 = WeightFormat::mxfp8;
inline constexpr WeightFormat kTensor = WeightFormat::fp8_tensor;
inline constexpr WeightFormat kChannel = WeightFormat::fp8_channel;
inline constexpr WeightFormat kBlock = WeightFormat::fp8_block;
inline constexpr WeightFormat kE8m0Block = WeightFormat::fp8_block_e8m0;

}  // namespace mx::props::takes
