// Rows: the sums of tensor and matrix cores, one for each instruction class that recordings or a public model show.
// Sources: MATLAB-tensor-core of north-numerical-computing, commit b12b5a7, model_validation (recorded outputs of V100, A2, A100, RTX 1000 Ada, L40S,
// H100, H200 and B200); outputs of an H100 80GB HBM3 (CUDA 13.0.88, driver 580.159.04); mmasim 2.1.1 (arXiv 2511.10909), a simulator.

#include <array>

#include "model/numerics/contract.hpp"
#include "model/numerics/f32.hpp"

namespace mx {
namespace {

/// FP8 by fp16 instructions: k mod 4 below 2, then the rest. Source: machine code of ptxas 13.0.88 for sm_90a and sm_100a, outputs.
constexpr std::array<std::uint8_t, 16> kMmaFp8K16{0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
constexpr std::array<std::uint8_t, 32> kMmaFp8K32{0, 1, 4, 5, 8,  9,  12, 13, 16, 17, 20, 21, 24, 25, 28, 29,
                                                  2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31};

constexpr std::array<const Format*, 2> kFp8{&kE4m3fn, &kE5m2};
constexpr std::array<const Format*, 2> kFnuz{&kE4m3fnuz, &kE5m2fnuz};
constexpr std::array<const Format*, 5> kF8f6f4{&kE4m3fn, &kE5m2, &kE2m3, &kE3m2, &kE2m1};
constexpr std::array<const Format*, 1> kFp4{&kE2m1};

/// What NVIDIA's tensor cores return for every NaN; so does the simulator's CDNA3.
constexpr std::uint32_t kTopNan = 0x7FFFFFFFU;

constexpr std::string_view kOthers = "MATLAB-tensor-core b12b5a7, model_validation: recorded outputs";
constexpr std::string_view kH100 = "outputs of an H100 (mma.sync and wgmma, CUDA 13.0.88); MATLAB-tensor-core b12b5a7: H100 and H200";
constexpr std::string_view kSimulator = "mmasim 2.1.1 (arXiv 2511.10909): a simulator's outputs, no silicon";
constexpr std::string_view kTorch = "outputs of an H100: torch 2.11.0+cu130, cublasLt 130100";

constexpr std::string_view kPublished = "golden/witness/numerics-tensor-cores/tc_published";
constexpr std::string_view kOwn = "golden/witness/numerics-tensor-cores/tc_h100";
constexpr std::string_view kScaled = "golden/witness/numerics-tensor-cores/tc_scaled_mm";
constexpr std::array kVolta{Recording{kPublished, "v100.fp16.fp32"}};
constexpr std::array kVolta16{Recording{kPublished, "v100.fp16.fp16"}};
constexpr std::array kAmpereF16{Recording{kPublished, "a2.fp16.fp32"}, Recording{kPublished, "a100.fp16.fp32"}};
constexpr std::array kAmpereBf16{Recording{kPublished, "a2.bf16"}, Recording{kPublished, "a100.bf16"}};
constexpr std::array kAmpereTf32{Recording{kPublished, "a2.tf32"}, Recording{kPublished, "a100.tf32"}};
constexpr std::array kAmpere16{Recording{kPublished, "a2.fp16.fp16"}, Recording{kPublished, "a100.fp16.fp16"}};
constexpr std::array kAdaF16{Recording{kPublished, "ada.fp16.fp32"}, Recording{kPublished, "l40s.fp16.fp32"}};
constexpr std::array kAdaBf16{Recording{kPublished, "ada.bf16"}, Recording{kPublished, "l40s.bf16"}};
constexpr std::array kAdaTf32{Recording{kPublished, "ada.tf32"}, Recording{kPublished, "l40s.tf32"}};
constexpr std::array kAda16{Recording{kPublished, "ada.fp16.fp16"}, Recording{kPublished, "l40s.fp16.fp16"}};
constexpr std::array kAdaFp8{Recording{kPublished, "ada.e4m3fn.fp32"}, Recording{kPublished, "l40s.e5m2.fp32"}};
constexpr std::array kAdaFp8F16{Recording{kPublished, "ada.e4m3fn.fp16"}, Recording{kPublished, "ada.e5m2.fp16"}};
constexpr std::array kHopperF16{Recording{kOwn, ".f32.f16.f16"}, Recording{kPublished, "h100.fp16.fp32"}};
constexpr std::array kHopperTf32{Recording{kOwn, ".tf32.tf32"}, Recording{kPublished, "h100.tf32"}};
constexpr std::array kHopper16{Recording{kOwn, ".f16.f16.f16"}, Recording{kPublished, "h100.fp16.fp16"}};
constexpr std::array kHopperFp8F16{Recording{kOwn, "wgmma.m64n8k32.f16."}};
constexpr std::array kMmaFp8F16{Recording{kOwn, "mma.m16n8k32.f16.e"}, Recording{kPublished, "h200.e5m2.fp16"}};
constexpr std::array kMmaFp8Half{Recording{kOwn, "mma.m16n8k16.f32.e"}};
constexpr std::array kMmaFp8HalfF16{Recording{kOwn, "mma.m16n8k16.f16.e"}};
constexpr std::array kB200F16{Recording{kPublished, "b200.fp16.fp32"}};
constexpr std::array kB200Bf16{Recording{kPublished, "b200.bf16"}};
constexpr std::array kB200Tf32{Recording{kPublished, "b200.tf32"}};
constexpr std::array kB20016{Recording{kPublished, "b200.fp16.fp16"}};
constexpr std::array kB200Fp8{Recording{kPublished, "b200.e4m3fn.fp32"}, Recording{kPublished, "b200.e5m2.fp32"}};
constexpr std::array kB200Fp8F16{Recording{kPublished, "b200.e4m3fn.fp16"}, Recording{kPublished, "b200.e5m2.fp16"}};
constexpr std::string_view kLibraries = "golden/witness/hardware/gpu_peers_h100";
constexpr std::array kGroupedFast{Recording{kLibraries, "grouped.rows.fast"}};
constexpr std::array kGroupedSlow{Recording{kLibraries, "grouped.rows.slow"}};
constexpr std::array kOddColumns{Recording{kLibraries, "mm.bf16.n1001"}, Recording{kLibraries, "mm.bf16.n50257"}};
constexpr std::array kTensorScales{Recording{kScaled, "scaled_mm.tensor."}};
constexpr std::array kRowScales{Recording{kScaled, "scaled_mm.rows."}};

/// Who was seen.
struct Shown {
  Evidence evidence;
  std::string_view source;
  std::span<const Recording> recordings;
};
constexpr Shown by_others(std::span<const Recording> recordings) { return {Evidence::silicon_of_others, kOthers, recordings}; }
constexpr Shown by_us(std::span<const Recording> recordings, std::string_view source = kH100) { return {Evidence::silicon, source, recordings}; }
constexpr Shown kSimulated{Evidence::simulator_of_others, kSimulator, {}};

constexpr std::string_view kAfterSum = "one fp32 add after the sum";

/// What all rows share; the rest is each one's own.
constexpr ContractRow row_with(std::string_view name, std::string_view operands, std::string_view accumulation, Shown shown) {
  return {.name = name,
          .operands = operands,
          .accumulation = accumulation,
          .bias = kAfterSum,
          .step = Step::aligned,
          .nan = kTopNan,
          .evidence = shown.evidence,
          .grounds = shown.evidence == Evidence::simulator_of_others ? Grounds::published : Grounds::run,
          .source = shown.source,
          .recordings = shown.recordings};
}

/// An aligned sum as NVIDIA has it: the sum before is a term, everything is truncated, zeros are +0.
constexpr ContractRow nvidia(std::string_view name, std::string_view operands, std::string_view accumulation, int group, int alignment, int kept,
                             int least, Shown shown) {
  ContractRow row = row_with(name, operands, accumulation, shown);
  row.group = group;
  row.alignment_bits = alignment;
  row.kept_bits = kept;
  row.least_exponent = least;
  row.zero_sign = SumZero::plus;
  return row;
}

constexpr std::string_view kAsFp16 = "times their scale, rounded to fp16, nearest even";
constexpr std::string_view kAsBf16 = "times their scale, rounded to bf16, nearest even";
constexpr std::string_view kAsTf32 = "times their scale, truncated to tf32";
constexpr std::string_view kInFp32 = "aligned groups and C, truncated; one chain from C in fp32";
constexpr std::string_view kInFp16 = "aligned groups and C, truncated, each sum rounded to fp16, nearest even; one chain from C in fp16";
constexpr std::string_view kCodes = "codes as they are";

constexpr ContractRow cast_to(const Format& format, ContractRow row) {
  row.cast = &format;
  row.cast_cuts = format == kTf32;
  return row;
}

constexpr ContractRow f16_result(ContractRow row) {
  row.kept_bits = kFp16.mantissa_bits + 1;
  row.result_loss = Loss::nearest_even;
  row.addend = row.result = &kFp16;
  return row;
}

constexpr ContractRow of_codes(std::span<const Format* const> formats, ContractRow row) {
  row.a_formats = row.b_formats = formats;
  return row;
}

// A zero counts as 2^Z: Z is -108 - G for fp32 and 4 - G for fp16, G the bits of the unit's widest alignment. Source: outputs of an H100 for G = 25;
// else the simulator.
constexpr int kLeastF32 = -108;
constexpr int kLeastF16 = 4;

/// The 16-bit classes of one unit: groups of `group` 16-bit numbers, aligned to `bits`.
constexpr ContractRow half(std::string_view name, const Format& format, int group, int bits, Shown shown) {
  const std::string_view operands = format == kTf32 ? kAsTf32 : format == kBf16 ? kAsBf16 : kAsFp16;
  return cast_to(format, nvidia(name, operands, kInFp32, group, bits, kF32.mantissa_bits + 1, kLeastF32 - bits, shown));
}
constexpr ContractRow half_f16(std::string_view name, int group, int bits, Shown shown) {
  return f16_result(cast_to(kFp16, nvidia(name, kAsFp16, kInFp16, group, bits, 0, kLeastF16 - bits, shown)));
}

constexpr ContractRow volta_c16() {
  ContractRow row = half("volta-f16-c16", kFp16, 4, 23, kSimulated);
  row.addend = &kFp16;
  return row;
}

/// FP8 by its own instruction: `unit` is the alignment of the unit's 16-bit classes.
constexpr ContractRow fp8(std::string_view name, int group, int unit, Shown shown) {
  return of_codes(kFp8, nvidia(name, kCodes, kInFp32, group, 13, 14, kLeastF32 - unit, shown));
}
constexpr ContractRow fp8_f16(std::string_view name, int group, int unit, Shown shown) {
  return of_codes(kFp8, f16_result(nvidia(name, kCodes, kInFp16, group, 13, 0, kLeastF16 - unit, shown)));
}

/// FP8 with scales for blocks of k: each block's sum a chain from +0, which enters the total with its scales as on an H200.
constexpr ContractRow in_blocks(std::string_view name, ContractRow row, ScaleEntry scales) {
  row.name = name;
  row.accumulation = "chains of 128 from +0 as without scales; each sum and its scales enter the total as in hopper-fp8-block";
  row.scales = scales;
  row.restart = 128;
  row.evidence = Evidence::definition;
  row.grounds = Grounds::assumed;
  row.source = "the sum is that of the row without blocks; that the scales enter as on an H200 is taken";
  row.recordings = {};
  return row;
}
constexpr ContractRow ada_fp8() { return fp8("ada-fp8", 16, 24, by_others(kAdaFp8)); }
constexpr ContractRow f8f6f4() { return of_codes(kF8f6f4, nvidia("blackwell-f8f6f4", kCodes, kInFp32, 32, 25, 24, kLeastF32 - 25, kSimulated)); }

constexpr std::string_view kMmaOrder = "k mod 4 below 2, then the rest, in aligned groups from +0, then added to C";

/// FP8 by fp16 instructions and an addition: `order` is that of one instruction.
constexpr ContractRow mma_fp8(std::string_view name, std::span<const std::uint8_t> order, Shown shown) {
  const auto k = static_cast<int>(order.size());
  ContractRow row =
      of_codes(kFp8, cast_to(kFp16, nvidia(name, "e4m3fn or e5m2 codes as fp16, exactly", kMmaOrder, k / 2, 25, 24, kLeastF32 - 25, shown)));
  row.order = order;
  row.restart = k;
  return row;
}
constexpr std::string_view kProducts = "golden/witness/hardware/fp8_products_h100";
constexpr std::array kPairRuns{Recording{kProducts, "triton.channel.16x"}};
constexpr std::array kPairBlockRuns{Recording{kProducts, "triton.block.16x128x128"}};
constexpr std::array kSwapRuns{Recording{"golden/witness/hardware/fp8_swap_h100", ".block."}};
constexpr std::string_view kTritonSource = "outputs of an H100: fused_moe_kernel of vllm at 7e1b45a09 and 7ca49fbe4, triton 3.6.0";

/// FP8 by fp16 instructions whose accumulator is handed on: what Triton makes of `tl.dot(a, b, acc)` below 64 rows.
constexpr ContractRow pairs_in_chain(std::string_view name, std::span<const Recording> recordings) {
  ContractRow row = mma_fp8(name, kMmaFp8K32, by_us(recordings, kTritonSource));
  row.accumulation = "per 32 of k two groups of 16 (k mod 4 below 2, then the rest), truncated; one chain from C in fp32";
  row.restart = 0;
  row.scales = ScaleEntry::total_product;
  return row;
}
constexpr std::string_view kScaledChains = "chains of 128 from +0, each as without blocks; then v = fma(S * a, b, v)";
constexpr ContractRow pairs_in_blocks() {
  ContractRow row = pairs_in_chain("hopper-fp8-as-fp16-block", kPairBlockRuns);
  row.accumulation = kScaledChains;
  row.restart = 128;
  row.scales = ScaleEntry::chain_one_by_one;
  return row;
}
/// The operands of a product exchanged: the weights' scale is multiplied first.
constexpr ContractRow exchanged_blocks() {
  ContractRow row = fp8("hopper-fp8-block-exchanged", 32, 25, by_us(kSwapRuns, kTritonSource));
  row.accumulation = "chains of 128 from +0, each as in hopper-fp8; then v = fma(S * b, a, v)";
  row.least_exponent = kAnyExponent;
  row.restart = 128;
  row.scales = ScaleEntry::chain_b_first;
  return row;
}
constexpr ContractRow mma_fp8_f16(std::string_view name, std::span<const std::uint8_t> order, Shown shown) {
  ContractRow row = f16_result(mma_fp8(name, order, shown));
  row.least_exponent = kLeastF16 - 25;
  return row;
}

constexpr std::string_view kScaledTerms = "codes, each product times the powers of two of its scales";

constexpr ContractRow mxf8f6f4() {
  ContractRow row = of_codes(kF8f6f4, nvidia("blackwell-mxf8f6f4", kScaledTerms, kInFp32, 32, 25, 24, kLeastF32 - 25, kSimulated));
  row.scales = ScaleEntry::term;
  row.scale_format = &kE8m0;
  row.scale_block = 32;
  return row;
}

/// FP4 with block scales: four exact sums of 16, aligned by the exponents of their scales.
constexpr ContractRow fp4(std::string_view name, const Format& scale, int block) {
  ContractRow row =
      of_codes(kFp4, nvidia(name, "codes, each exact sum of 16 products times its scales",
                            "groups of four such sums and C, aligned by the exponents of the scales, truncated; one chain from C in fp32", 64, 35, 24,
                            -139, kSimulated));
  row.presum = 16;
  row.reference = Reference::scale;
  row.scales = ScaleEntry::term;
  row.scale_format = &scale;
  row.scale_block = block;
  return row;
}

constexpr ContractRow f32_chain() {
  ContractRow row =
      row_with("cdna-f32", "times their scale, rounded to fp32, nearest even", "k ascending from C, one fp32 fused multiply-add each", kSimulated);
  row.cast = &kF32;
  row.step = Step::fused;
  row.nan = f32::kNan;
  return row;
}

constexpr ContractRow cdna1(std::string_view name, const Format& format, int group) {
  ContractRow row = cast_to(format, row_with(name, format == kBf16 ? kAsBf16 : kAsFp16,
                                             "the exact sum of each group and C, rounded once to fp32, nearest even; one chain from C", kSimulated));
  row.step = Step::exact;
  row.group = group;
  row.zero_sign = SumZero::rounded_only;
  row.nan = f32::kNan;
  return row;
}

constexpr ContractRow cdna2(std::string_view name, const Format& format, int group) {
  ContractRow row = cast_to(format, row_with(name, "times their scale, rounded, subnormals and -0 become +0",
                                             "products in fp32, a tree of each group, then C; subnormal products and sums become zero", kSimulated));
  row.step = Step::pairwise;
  row.group = group;
  row.flush = row.flush_to_plus = true;
  row.nan = f32::kNan;
  return row;
}

constexpr ContractRow cdna3(std::string_view name, std::string_view operands, int group) {
  ContractRow row =
      row_with(name, operands, "aligned groups, truncated; their sum and C meet by an alignment of their own and round to nearest even", kSimulated);
  row.group = group;
  row.alignment_bits = 24;
  row.kept_bits = 24;
  row.addend_place = AddendPlace::joined;
  row.join = {.sum_bits = 32, .addend_bits = 24, .addend_reach = 0, .normal_bits = 31};
  row.result_loss = Loss::nearest_even;
  row.zero_sign = SumZero::rounded_only;
  return row;
}
constexpr ContractRow cdna3_half(std::string_view name, const Format& format, int group) {
  ContractRow row = cast_to(format, cdna3(name, format == kTf32 ? kAsTf32 : format == kBf16 ? kAsBf16 : kAsFp16, group));
  row.product_limit = 128;
  return row;
}
constexpr ContractRow cdna3_fp8() {
  ContractRow row = of_codes(kFnuz, cdna3("cdna3-fp8", kCodes, 16));
  row.lanes = 2;
  row.join.addend_reach = 25;
  return row;
}

/// FP8 products of cuBLASLt, and of torch's grouped kernels: hopper-fp8 with the scales as the library enters them.
constexpr ContractRow cublaslt(std::string_view name, int restart, ScaleEntry scales, std::span<const Recording> recordings) {
  ContractRow row =
      of_codes(kFp8, nvidia(name, kCodes, "groups of 32 as in hopper-fp8, then the scales", 32, 13, 14, kAnyExponent, by_us(recordings, kTorch)));
  row.restart = restart;
  row.scales = scales;
  return row;
}

constexpr std::array kRows{
    half("volta-f16", kFp16, 4, 23, by_others(kVolta)),
    volta_c16(),
    half_f16("volta-f16-f16", 4, 23, by_others(kVolta16)),
    half("turing-f16", kFp16, 8, 24, kSimulated),
    half_f16("turing-f16-f16", 8, 24, kSimulated),
    half("ampere-f16", kFp16, 8, 24, by_others(kAmpereF16)),
    half("ampere-bf16", kBf16, 8, 24, by_others(kAmpereBf16)),
    half("ampere-tf32", kTf32, 4, 24, by_others(kAmpereTf32)),
    half_f16("ampere-f16-f16", 8, 24, by_others(kAmpere16)),
    half("ada-f16", kFp16, 8, 24, by_others(kAdaF16)),
    half("ada-bf16", kBf16, 8, 24, by_others(kAdaBf16)),
    half("ada-tf32", kTf32, 4, 24, by_others(kAdaTf32)),
    half_f16("ada-f16-f16", 8, 24, by_others(kAda16)),
    ada_fp8(),
    fp8_f16("ada-fp8-f16", 16, 24, by_others(kAdaFp8F16)),
    half("hopper-f16", kFp16, 16, 25, by_us(kHopperF16)),
    half("hopper-tf32", kTf32, 8, 25, by_us(kHopperTf32)),
    half_f16("hopper-f16-f16", 16, 25, by_us(kHopper16)),
    fp8_f16("hopper-fp8-f16", 32, 25, by_us(kHopperFp8F16)),
    mma_fp8_f16("hopper-mma-fp8-f16", kMmaFp8K32, by_us(kMmaFp8F16)),
    mma_fp8("hopper-mma-fp8-k16", kMmaFp8K16, by_us(kMmaFp8Half)),
    mma_fp8_f16("hopper-mma-fp8-k16-f16", kMmaFp8K16, by_us(kMmaFp8HalfF16)),
    cublaslt("cublaslt-fp8", 0, ScaleEntry::total_product_plus_zero, kTensorScales),
    cublaslt("cublaslt-fp8-promoted", 128, ScaleEntry::total_product_plus_zero, kTensorScales),
    cublaslt("cublaslt-fp8-rows", 0, ScaleEntry::total_b_first, kRowScales),
    cublaslt("cublaslt-fp8-rows-promoted", 128, ScaleEntry::total_b_first, kRowScales),
    half("blackwell-f16", kFp16, 16, 25, by_others(kB200F16)),
    half("blackwell-bf16", kBf16, 16, 25, by_others(kB200Bf16)),
    half("blackwell-tf32", kTf32, 8, 25, by_others(kB200Tf32)),
    half_f16("blackwell-f16-f16", 16, 25, by_others(kB20016)),
    mma_fp8("blackwell-mma-fp8", kMmaFp8K32, by_others(kB200Fp8)),
    mma_fp8_f16("blackwell-mma-fp8-f16", kMmaFp8K32, by_others(kB200Fp8F16)),
    f8f6f4(),
    of_codes(kF8f6f4, f16_result(nvidia("blackwell-f8f6f4-f16", kCodes, kInFp16, 32, 25, 0, kLeastF16 - 25, kSimulated))),
    mxf8f6f4(),
    fp4("blackwell-mxf4", kE8m0, 32),
    fp4("blackwell-mxf4nvf4-16", kE8m0, 16),
    fp4("blackwell-nvf4", kUe4m3, 16),
    f32_chain(),
    cdna1("cdna1-f16", kFp16, 4),
    cdna1("cdna1-bf16", kBf16, 2),
    cdna2("cdna2-f16", kFp16, 4),
    cdna2("cdna2-bf16", kBf16, 2),
    cdna2("cdna2-bf16-1k", kBf16, 4),
    cdna3_half("cdna3-f16", kFp16, 8),
    cdna3_half("cdna3-bf16", kBf16, 8),
    cdna3_half("cdna3-tf32", kTf32, 4),
    cdna3_fp8(),
    in_blocks("ada-fp8-block-1x128", ada_fp8(), ScaleEntry::chain_one_by_one),
    in_blocks("ada-fp8-block-128x128", ada_fp8(), ScaleEntry::chain_product),
    in_blocks("blackwell-f8f6f4-block-1x128", f8f6f4(), ScaleEntry::chain_one_by_one),
    in_blocks("blackwell-f8f6f4-block-128x128", f8f6f4(), ScaleEntry::chain_product),
    pairs_in_chain("hopper-fp8-as-fp16", kPairRuns),
    pairs_in_blocks(),
    exchanged_blocks(),
    in_blocks("cdna3-fp8-block-1x128", cdna3_fp8(), ScaleEntry::chain_one_by_one),
    in_blocks("cdna3-fp8-block-128x128", cdna3_fp8(), ScaleEntry::chain_product),
    cublaslt("torch-grouped-fp8", 0, ScaleEntry::total_one_by_one, kGroupedFast),
    cublaslt("torch-grouped-fp8-promoted", 128, ScaleEntry::total_one_by_one, kGroupedSlow),
    // The kernels of odd sizes: m16n8k8.
    half("cublas-bf16-odd", kBf16, 8, 25, by_us(kOddColumns, kTorch)),
};

/// Behind the rows by name.
constexpr int kFirst = static_cast<int>(Contract::bf16_pair) + 1;

template <std::size_t N>
constexpr std::array<ContractRow, N> numbered(std::array<ContractRow, N> rows) {
  for (std::size_t i = 0; i < N; ++i) rows[i].contract = static_cast<Contract>(kFirst + static_cast<int>(i));
  return rows;
}
constexpr auto kNumbered = numbered(kRows);

}  // namespace

std::span<const ContractRow> tensor_core_contracts() { return kNumbered; }

}  // namespace mx
