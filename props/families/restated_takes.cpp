#include "props/families/restated_takes.hpp"

#include <array>

namespace mx::props {
namespace {

using families::Arch;
using families::InputDtype;
using families::Quantity;
using families::Setting;
using layout::SourceOrder;
using families::TritonKernels;
using layout::WeightFormat;
using Answer = std::optional<Refusal>;

bool is_standard(const Setting& s) { return s.form.order == SourceOrder::standard; }
std::int64_t rows_of_w13(const Setting& s) { return s.form.gated ? 2 * s.padded.intermediate : s.padded.intermediate; }
std::int64_t groups(std::int64_t length, const Setting& s) { return length / s.padded.group; }

/// The first of the checks that fails; a check holds where its value is a multiple.
struct Multiple {
  Quantity quantity;
  std::int64_t value;
  std::int64_t of;
};
Answer first_broken(std::initializer_list<Multiple> checks) {
  for (const Multiple& check : checks) {
    if (check.value % check.of != 0) return Refusal{check.quantity, check.of};
  }
  return std::nullopt;
}
Multiple rows13(const Setting& s, std::int64_t of) { return {Quantity::w13_rows, rows_of_w13(s), of}; }
Multiple rows2(const Setting& s, std::int64_t of) { return {Quantity::w2_rows, s.padded.hidden, of}; }
Multiple groups13(const Setting& s, std::int64_t of) { return {Quantity::w13_groups, groups(s.padded.hidden, s), of}; }
Multiple groups2(const Setting& s, std::int64_t of) { return {Quantity::w2_groups, groups(s.padded.intermediate, s), of}; }
Multiple hidden(const Setting& s, std::int64_t of) { return {Quantity::hidden, s.padded.hidden, of}; }
Multiple intermediate(const Setting& s, std::int64_t of) { return {Quantity::intermediate, s.padded.intermediate, of}; }

Answer nothing(const Setting&) { return std::nullopt; }

// 3: biases must exist in gpt-oss order; the index of shuffled scales asserts 128 rows, the tiles have 4 groups.
Answer trtllm(const Setting& s) {
  if (!is_standard(s) && !s.has_bias) return Refusal{Quantity::has_bias, 1};
  return first_broken({rows13(s, 128), rows2(s, 128), groups13(s, 4), groups2(s, 4)});
}
Answer cutlass_tiles(const Setting& s) { return trtllm(s); }
// On sm90 scales are folded in blocks of 64 rows since FlashInfer 0.6.18; before, rows are interleaved in blocks of 16.
Answer cutlass_mixed(const Setting& s) {
  if (!is_standard(s) && !s.has_bias) return Refusal{Quantity::has_bias, 1};
  if (s.flashinfer.release != families::Flashinfer::v0_6_18) return first_broken({rows13(s, 16), rows2(s, 16), groups13(s, 4), groups2(s, 4)});
  return first_broken({rows13(s, 64), groups13(s, 4), rows2(s, 64), groups2(s, 4)});
}

TritonKernels release_of(const Setting& s) {
  const bool rocm = s.arch == Arch::gfx90a || s.arch == Arch::gfx942 || s.arch == Arch::gfx950 || s.arch == Arch::gfx11 || s.arch == Arch::gfx12 ||
                    s.arch == Arch::gfx1250;
  return s.triton.release.value_or(rocm && s.engine == deployment::kVllm2026_08 ? TritonKernels::v3_7 : TritonKernels::v3_5);
}
/// 2: what the layouts of triton_kernels assert.
Answer triton_swizzles(const Setting& s) {
  if (s.triton.before_swizzle) return std::nullopt;
  if (s.arch == Arch::sm90 && !s.triton.torch_before_2_8_1 && s.triton.num_warps != 1 && s.triton.num_warps != 2 && s.triton.num_warps != 4 &&
      s.triton.num_warps != 8)
    return Refusal{Quantity::num_warps, 0};
  const bool cdna4 = s.arch == Arch::gfx950 && (s.engine == deployment::kVllm2026_05 || s.tp_size <= 2);
  if (cdna4 && release_of(s) == TritonKernels::v3_5) return first_broken({groups13(s, 8), groups2(s, 8)});
  return std::nullopt;
}
/// The helper that interleaves halves takes the groups for the rows.
Answer triton(const Setting& s) {
  if (is_standard(s) && groups(s.padded.hidden, s) % 2 != 0) return Refusal{Quantity::w13_groups, 2};
  return triton_swizzles(s);
}
Answer aiter_fp8(const Setting& s) { return s.has_input_scale ? triton_swizzles(s) : Refusal{Quantity::has_input_scale, 1}; }

// 5: MXFP4 takes 8-bit floats, whose scale bytes grow by 6 and must stay numbers; fp16 ends at 2^15.
Answer marlin_mxfp4(const Setting& s) {
  if (s.input_dtype == InputDtype::int8) return Refusal{Quantity::activation_dtype, static_cast<std::int64_t>(InputDtype::float8_e4m3fn)};
  if (s.padded.hidden % 64 != 0) return Refusal{Quantity::w2_rows, 64};
  const std::int64_t most = s.params_dtype == families::ParamsDtype::bf16 ? 249 : 142;
  if (s.input_dtype != InputDtype::none && s.marlin.largest_scale_byte > most) return Refusal{Quantity::scale_byte, most};
  return std::nullopt;
}
Answer sixteen_bits(const Setting& s, Answer otherwise) {
  return s.input_dtype == InputDtype::none ? otherwise : Refusal{Quantity::activation_dtype, static_cast<std::int64_t>(InputDtype::none)};
}
Answer marlin_nvfp4_2026_05(const Setting& s) { return sixteen_bits(s, first_broken({rows13(s, 64), rows2(s, 64)})); }
Answer marlin_nvfp4(const Setting& s) { return sixteen_bits(s, first_broken({hidden(s, 64)})); }
Answer marlin_fp8_2026_05(const Setting& s) {
  return sixteen_bits(s, first_broken({hidden(s, 16), rows13(s, 64), intermediate(s, 16), rows2(s, 64)}));
}
/// The padding of the newer engine takes the rows of a single shard as two.
Answer marlin_fp8(const Setting& s) { return sixteen_bits(s, first_broken({intermediate(s, s.form.gated ? 1 : 64), hidden(s, 16), rows2(s, 64)})); }
Answer marlin_blocks(const Setting& s) {
  return sixteen_bits(s, first_broken({intermediate(s, s.form.gated ? 1 : 128), hidden(s, 16), rows2(s, 64)}));
}

/// Shuffled scales of all experts lie in tiles of 256 rows and 8 groups, and are viewed as experts by rows.
bool views_as_rows(const Setting& s, std::int64_t rows, std::int64_t length) {
  std::int64_t all = s.padded.experts * rows;
  const std::int64_t rows_of_all = all;
  while (all % 256 != 0) ++all;
  std::int64_t columns = length / s.padded.group;
  while (columns % 8 != 0) ++columns;
  return all * columns % rows_of_all == 0;
}
// 7.
Answer aiter_bf16_2026_05(const Setting& s) { return first_broken({hidden(s, 128), intermediate(s, 128), groups13(s, 8), groups2(s, 8)}); }
Answer aiter_bf16(const Setting& s) {
  if (is_standard(s) && s.arch == Arch::gfx1250) return std::nullopt;
  return first_broken({hidden(s, 128), intermediate(s, 128)});
}
Answer aiter_mxfp8(const Setting& s) { return first_broken({hidden(s, 64), intermediate(s, 64)}); }
Answer aiter_mxfp4(const Setting& s) {
  if (const Answer broken = first_broken({hidden(s, 64), intermediate(s, 64)})) return broken;
  if (!views_as_rows(s, 2 * s.padded.intermediate, s.padded.hidden)) return Refusal{Quantity::w13_scale_rest, 0};
  if (!views_as_rows(s, s.padded.hidden, s.padded.intermediate)) return Refusal{Quantity::w2_scale_rest, 0};
  return std::nullopt;
}
Answer tiles_16x32(const Setting& s) { return first_broken({rows13(s, 16), hidden(s, 32), rows2(s, 16), intermediate(s, 32)}); }

// 10: gate and up together are not padded; one shard is.
Answer nvfp4_tiles(const Setting& s) { return first_broken({rows13(s, s.form.gated ? 128 : 1)}); }

// 11.
Answer trtllm_per_tensor(const Setting& s) { return s.has_input_scale ? first_broken({rows2(s, 32)}) : Refusal{Quantity::has_input_scale, 1}; }
Answer trtllm_blocks(const Setting& s) { return first_broken({rows13(s, 16), hidden(s, 128), rows2(s, 16), intermediate(s, 128)}); }
Answer trtllm_mxfp8(const Setting& s) { return first_broken({rows13(s, 128), rows2(s, 128), groups13(s, 4), groups2(s, 4)}); }
Answer deepgemm_fp8(const Setting& s) {
  if (s.arch != Arch::sm90 && s.arch != Arch::sm100) return Refusal{Quantity::deepgemm_device, 1};
  // 4.1: blocks quantized anew are whole ones of gate and of up; packed scales are those of whole blocks of rows.
  if (!s.deepgemm.e8m0) return std::nullopt;
  return first_broken({intermediate(s, 128), hidden(s, s.arch == Arch::sm100 ? 128 : 1)});
}

/// e8m0 scales: only packed ones are repeated for every row.
Answer deepgemm_e8m0(const Setting& s) {
  if (s.arch != Arch::sm90 && s.arch != Arch::sm100) return Refusal{Quantity::deepgemm_device, 1};
  return s.deepgemm.e8m0 && s.arch == Arch::sm100 ? first_broken({intermediate(s, 128), hidden(s, 128)}) : std::nullopt;
}
Answer deepgemm_mxfp8(const Setting& s) { return s.arch == Arch::sm100 ? std::nullopt : Answer(Refusal{Quantity::deepgemm_packs, 1}); }

// 8.3: formats beside MXFP4, and 4.2.
Answer humming_formats(const Setting& s) { return sixteen_bits(s, std::nullopt); }
/// hardware 14.7: release 0.1.19 also has kernels for e4m3 activations in groups of 128.
Answer humming_blocks(const Setting& s) {
  const bool groups = s.humming.release == families::Humming::v0_1_19 && s.humming.group_128 && s.input_dtype == InputDtype::float8_e4m3fn;
  const Answer sizes = first_broken({intermediate(s, 128)});
  return groups ? sizes : sixteen_bits(s, sizes);
}
Answer mega(const Setting& s) { return first_broken({rows13(s, 128), rows2(s, 128)}); }

// 12: the method asserts both, and nothing is rounded up.
Answer w4a8(const Setting& s) {
  if (const Answer broken = first_broken({hidden(s, 256), intermediate(s, 256)})) return broken;
  return s.padded == s.sizes ? std::nullopt : Answer(Refusal{Quantity::padding, 0});
}

constexpr deployment::Versions kBoth = deployment::since(deployment::kVllm2026_05);
constexpr deployment::Versions kOld = deployment::before(deployment::kVllm2026_08);
constexpr deployment::Versions kNew = deployment::since(deployment::kVllm2026_08);
constexpr deployment::Versions kNo = deployment::kNever;
constexpr WeightFormat kMxfp4 = WeightFormat::mxfp4;
constexpr WeightFormat kNvfp4 = WeightFormat::nvfp4;
constexpr WeightFormat kMxfp8 = WeightFormat::mxfp8;
constexpr WeightFormat kTensor = WeightFormat::fp8_tensor;
constexpr WeightFormat kChannel = WeightFormat::fp8_channel;
constexpr WeightFormat kBlock = WeightFormat::fp8_block;
constexpr WeightFormat kE8m0Block = WeightFormat::fp8_block_e8m0;

constexpr std::array kTakes{
    Takes{kMxfp4, "FLASHINFER_TRTLLM_MXFP4_BF16", kBoth, kBoth, kBoth, false, true, trtllm},
    Takes{kMxfp4, "FLASHINFER_TRTLLM_MXFP4_MXFP8", kBoth, kBoth, kBoth, false, true, trtllm},
    Takes{kMxfp4, "FLASHINFER_CUTLASS_MXFP4_BF16", kBoth, kNew, kBoth, false, true, cutlass_mixed},
    Takes{kMxfp4, "FLASHINFER_CUTLASS_MXFP4_MXFP8", kBoth, kNew, kBoth, false, true, cutlass_tiles},
    Takes{kMxfp4, "XPU", kBoth, kNew, kBoth, false, true, nothing},
    Takes{kMxfp4, "EMULATION", kBoth, kNew, kBoth, false, true, nothing},
    Takes{kMxfp4, "TRITON", kOld, kOld, kOld, false, true, triton},
    Takes{kMxfp4, "TRITON", kNew, kNew, kNew, false, true, triton},
    Takes{kMxfp4, "TRITON_UNFUSED", kOld, kOld, kOld, false, true, triton_swizzles},
    Takes{kMxfp4, "TRITON_UNFUSED", kNew, kNew, kNew, false, true, triton_swizzles},
    Takes{kMxfp4, "AITER_MXFP4_FP8", kOld, kNo, kOld, false, true, aiter_fp8},
    Takes{kMxfp4, "AITER_MXFP4_FP8", kNew, kNew, kNew, false, true, aiter_fp8},
    Takes{kMxfp4, "DEEPGEMM_MXFP4", kOld, kOld, kOld, false, true, nothing},
    Takes{kMxfp4, "DEEPGEMM_MXFP4", kNew, kNew, kNew, false, true, nothing},
    Takes{kMxfp4, "MARLIN", kBoth, kBoth, kBoth, false, true, marlin_mxfp4},
    Takes{kMxfp4, "BATCHED_MARLIN", kBoth, kBoth, kBoth, false, true, marlin_mxfp4},
    Takes{kNvfp4, "MARLIN", kOld, kOld, kOld, true, true, marlin_nvfp4_2026_05},
    Takes{kNvfp4, "MARLIN", kNew, kNew, kNew, true, true, marlin_nvfp4},
    Takes{kMxfp8, "MARLIN", kOld, kOld, kOld, true, true, marlin_fp8_2026_05},
    Takes{kMxfp8, "MARLIN", kNew, kNew, kNew, true, true, marlin_fp8},
    Takes{kTensor, "MARLIN", kOld, kOld, kOld, true, true, marlin_fp8_2026_05},
    Takes{kTensor, "MARLIN", kNew, kNew, kNew, true, true, marlin_fp8},
    Takes{kChannel, "MARLIN", kOld, kOld, kOld, true, true, marlin_fp8_2026_05},
    Takes{kChannel, "MARLIN", kNew, kNew, kNew, true, true, marlin_fp8},
    Takes{kBlock, "MARLIN", kOld, kOld, kNo, true, true, marlin_fp8_2026_05},
    Takes{kBlock, "MARLIN", kNew, kNew, kNo, true, true, marlin_blocks},
    Takes{kMxfp4, "HUMMING", kBoth, kBoth, kBoth, false, true, nothing},
    Takes{kMxfp8, "HUMMING", kNew, kNew, kNo, false, true, humming_formats},
    Takes{kNvfp4, "HUMMING", kNew, kNew, kNo, false, true, humming_formats},
    Takes{kTensor, "HUMMING", kNew, kNew, kNo, false, true, humming_formats},
    Takes{WeightFormat::fp8_pair, "HUMMING", kNew, kNew, kNo, false, true, humming_formats},
    Takes{kChannel, "HUMMING", kNew, kNew, kNo, false, true, humming_formats},
    Takes{kBlock, "HUMMING", kNew, kNew, kNo, false, true, humming_blocks},
    Takes{kMxfp4, "DEEPGEMM_MEGA_MOE", kBoth, kBoth, kNo, false, true, mega},
    Takes{kMxfp4, "AITER_MXFP4_BF16", kOld, kOld, kOld, false, true, aiter_bf16_2026_05},
    Takes{kMxfp4, "AITER_MXFP4_BF16", kNew, kNew, kNew, false, true, aiter_bf16},
    Takes{kMxfp4, "AITER_MXFP4_MXFP4", kBoth, kNew, kBoth, false, true, aiter_mxfp4},
    Takes{kTensor, "AITER", kBoth, kBoth, kNo, true, true, tiles_16x32},
    Takes{kChannel, "AITER", kBoth, kBoth, kNo, true, true, tiles_16x32},
    Takes{kBlock, "AITER", kBoth, kBoth, kNo, true, true, tiles_16x32},
    Takes{kMxfp8, "AITER_MXFP8", kNew, kNew, kNo, false, true, aiter_mxfp8},
    Takes{kMxfp4, "CPU", kBoth, kNo, kBoth, false, true, nothing},
    Takes{kTensor, "CPU", kBoth, kBoth, kNo, true, true, tiles_16x32},
    Takes{kBlock, "CPU", kBoth, kBoth, kNo, true, true, tiles_16x32},
    Takes{kNvfp4, "FLASHINFER_TRTLLM", kOld, kOld, kNo, true, true, nvfp4_tiles},
    Takes{kNvfp4, "FLASHINFER_TRTLLM", kNew, kNew, kNo, true, true, nothing},
    Takes{kNvfp4, "FLASHINFER_CUTLASS", kBoth, kBoth, kNo, true, true, nvfp4_tiles},
    Takes{kNvfp4, "FLASHINFER_B12X", kBoth, kBoth, kNo, true, true, nvfp4_tiles},
    Takes{kNvfp4, "VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nvfp4_tiles},
    Takes{kNvfp4, "FLASHINFER_CUTEDSL", kOld, kOld, kNo, false, true, nvfp4_tiles},
    Takes{kNvfp4, "FLASHINFER_CUTEDSL", kNew, kNew, kNew, true, true, nvfp4_tiles},
    Takes{kNvfp4, "FLASHINFER_CUTEDSL_BATCHED", kBoth, kBoth, kNo, true, true, nvfp4_tiles},
    Takes{kTensor, "FLASHINFER_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kTensor, "FLASHINFER_TRTLLM", kBoth, kBoth, kNo, true, true, trtllm_per_tensor},
    Takes{kBlock, "FLASHINFER_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kBlock, "FLASHINFER_TRTLLM", kBoth, kBoth, kNo, true, true, trtllm_blocks},
    Takes{kMxfp8, "FLASHINFER_TRTLLM", kBoth, kBoth, kNo, true, true, trtllm_mxfp8},
    Takes{kTensor, "XPU", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "XPU", kOld, kOld, kNo, true, true, nothing},
    Takes{kChannel, "XPU", kNew, kNew, kNo, true, true, nothing},
    Takes{kBlock, "XPU", kOld, kOld, kNo, true, true, nothing},
    Takes{kBlock, "XPU", kNew, kNew, kNo, true, true, nothing},
    Takes{kMxfp8, "XPU", kOld, kOld, kNo, true, true, nothing},
    Takes{kMxfp8, "XPU", kNew, kNew, kNo, true, true, nothing},
    Takes{kTensor, "TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kBlock, "TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kTensor, "BATCHED_TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "BATCHED_TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kBlock, "BATCHED_TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kMxfp8, "TRITON_MXFP8", kNew, kNew, kNo, true, true, nothing},
    Takes{kTensor, "VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kTensor, "BATCHED_VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "BATCHED_VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kTensor, "HPC", kNew, kNew, kNo, true, true, nothing},
    Takes{kBlock, "HPC", kNew, kNew, kNo, true, true, nothing},
    Takes{kNvfp4, "EMULATION", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kMxfp8, "EMULATION", kNew, kNew, kNo, true, true, nothing},
    Takes{kNvfp4, "B12X", kNew, kNew, kNo, true, true, nothing},
    Takes{kMxfp4, "B12X_MXFP4_MXFP8", kNew, kNew, kNo, false, true, nothing},
    Takes{kMxfp4, "B12X_MXFP4_BF16", kNew, kNew, kNo, false, true, nothing},
    Takes{kMxfp8, "DEEPGEMM", kNew, kNew, kNo, false, true, deepgemm_mxfp8},
    Takes{kBlock, "DEEPGEMM", kBoth, kBoth, kNo, false, true, deepgemm_fp8},
    Takes{kBlock, "BATCHED_DEEPGEMM", kBoth, kBoth, kNo, false, true, deepgemm_fp8},
    Takes{kE8m0Block, "DEEPGEMM", kBoth, kBoth, kNo, false, true, deepgemm_e8m0},
    Takes{kE8m0Block, "BATCHED_DEEPGEMM", kBoth, kBoth, kNo, false, true, deepgemm_e8m0},
    Takes{WeightFormat::int4, "CUTLASS", kBoth, kBoth, kNo, false, false, w4a8},
};

}  // namespace

std::span<const Takes> all_takes() { return kTakes; }

}  // namespace mx::props
