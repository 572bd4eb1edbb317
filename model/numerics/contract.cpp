#include "model/numerics/contract.hpp"

#include <vector>

#include "model/names.hpp"
#include "model/stand_in.hpp"

namespace mx {
namespace {

// Orders of k within a period.
/// VDPBF16PS: of each pair the element with the odd index first. Source: Intel SDM volume 2, VDPBF16PS, operation.
constexpr std::array<std::uint8_t, 2> kOddThenEven{1, 0};
/// TDPBF16PS takes k in pairs, one of zeros where they are odd.
constexpr std::array<std::uint8_t, 2> kEvenThenOdd{0, 1};
/// k of one TDPBF16PS: 16 pairs.
constexpr int kTileK = 32;
/// The two fp16 instructions of an emulated FP8 one. Order inside a group of 16 does not matter. Source: outputs of an H200.
constexpr std::array<std::uint8_t, 32> kMmaFp8{0, 1, 4, 5, 8,  9,  12, 13, 16, 17, 20, 21, 24, 25, 28, 29,
                                               2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31};

constexpr std::array<const Format*, 2> kFp8{&kE4m3fn, &kE5m2};
constexpr std::array<const Format*, 1> kInt8{&kMxint8};
/// Every code is an integer of 8 bits times a fixed unit.
constexpr std::array<const Format*, 3> kInt8Weights{&kMxint8, &kE2m1, &kE2m3};

/// What NVIDIA's tensor cores return for every NaN.
constexpr std::uint32_t kCudaNan = 0x7FFFFFFFU;

/// FP8 sums leave the tensor core's registers this often. Source: DeepSeek-V3 section 3.3.2; cuBLASLt without fast accumulation.
constexpr int kPromotion = 128;

constexpr std::string_view kHopperSource = "outputs of an H200: wgmma through cuBLASLt (torch 2.11.0+cu130) and PTX mma.sync (CUDA 13.0.88)";
constexpr std::string_view kHopperFp8Source = "outputs of an H200: wgmma through cuBLASLt (torch 2.11.0+cu130); FP8 by mma.sync is hopper-mma-fp8";
constexpr std::string_view kHopperMmaFp8Source = "outputs of an H200: PTX mma.sync (CUDA 13.0.88); FP8 by wgmma is hopper-fp8";
constexpr std::string_view kChains128 = "groups of 32 as in hopper-fp8, in chains of 128 from +0, each added to the total in fp32";
constexpr std::string_view kAfterScales = "one fp32 add after the scales";
constexpr std::string_view kAfterChain = "one fp32 add after the chain";

constexpr std::string_view kHopperSet = "golden/witness/numerics/gemm_hopper";
constexpr std::string_view kExtremesSet = "golden/witness/numerics/mma_extremes";
constexpr std::array kFastRuns{Recording{kHopperSet, ".fast.f32"}, Recording{kHopperSet, ".fast.bf16"}};
constexpr std::array kPromotedRuns{Recording{kHopperSet, "k160.promoted.f32"}, Recording{kHopperSet, "k160.promoted.bf16"}};
constexpr std::array kRowBlockRuns{Recording{kHopperSet, "gemm.blk1x128_1x128."}};
constexpr std::array kBlockRuns{Recording{kHopperSet, "gemm.blk1x128_128x128."}};
constexpr std::string_view kTinySet = "golden/witness/numerics/bf16_tiny_h100";
constexpr std::array kBf16Runs{Recording{kHopperSet, "gemm.bf16_"}, Recording{kHopperSet, "mma_sync.bf16"}, Recording{kExtremesSet, "mma_sync.bf16"},
                               Recording{kTinySet, "mma.bf16."}, Recording{kTinySet, "triton.dot.bf16"}};
constexpr std::array kUnboundedBf16Runs{kBf16Runs[0], kBf16Runs[1], kBf16Runs[2]};
constexpr std::array kFp16Runs{Recording{kHopperSet, "gemm.fp16_"}, Recording{kHopperSet, "mma_sync.fp16"}, Recording{kExtremesSet, "mma_sync.fp16"},
                               Recording{kTinySet, "mma.fp16."}};
constexpr std::array kMmaFp8Runs{Recording{kHopperSet, "mma_sync.e4m3fn"}, Recording{kHopperSet, "mma_sync.e5m2"}};
constexpr std::array kVdpbf16ps{Recording{"tests/numerics/bf16_dot.cpp"}};
constexpr std::array kTdpbf16ps{Recording{"tests/numerics/bf16_pair.cpp"}};

/// What all contracts of the FP8 wgmma instruction share.
constexpr ContractRow hopper_fp8(Contract contract, std::string_view name, std::string_view accumulation, int restart, ScaleEntry scales,
                                 std::span<const Recording> recordings) {
  return {.contract = contract,
          .name = name,
          .operands = "e4m3fn or e5m2 codes as they are",
          .accumulation = accumulation,
          .bias = kAfterScales,
          .a_formats = kFp8,
          .b_formats = kFp8,
          .scales = scales,
          .step = Step::aligned,
          .group = 32,
          .alignment_bits = 13,
          .kept_bits = 14,
          .zero_sign = SumZero::plus,
          .restart = restart,
          .nan = kCudaNan,
          .evidence = Evidence::silicon,
          .grounds = Grounds::run,
          .source = kHopperFp8Source,
          .recordings = recordings};
}

constexpr std::string_view kGroups16 = "groups of 16 truncated to 25 bits below their largest exponent and to 24 significant bits, one chain from C";
constexpr std::string_view kBoundedGroups16 =
    "groups of 16 truncated to 25 bits below their largest exponent, which is at least -133, and to 24 significant bits, one chain from C";
/// Source: outputs of an H100 (wgmma, mma.sync, Triton 3.6.0). Products of fp16 numbers begin at 2^-28 and cannot show it.
constexpr int kLeastBf16 = -133;

/// What the 16-bit instructions (wgmma and mma.sync alike) share.
constexpr ContractRow hopper_16(Contract contract, std::string_view name, std::string_view operands, const Format* cast,
                                std::span<const Recording> recordings, int least_exponent = kAnyExponent, std::string_view known_to_differ = {}) {
  return {.contract = contract,
          .name = name,
          .operands = operands,
          .accumulation = least_exponent == kAnyExponent ? kGroups16 : kBoundedGroups16,
          .bias = kAfterChain,
          .cast = cast,
          .step = Step::aligned,
          .group = 16,
          .least_exponent = least_exponent,
          .alignment_bits = 25,
          .kept_bits = 24,
          .zero_sign = SumZero::plus,
          .nan = kCudaNan,
          .evidence = Evidence::silicon,
          .grounds = Grounds::run,
          .source = kHopperSource,
          .recordings = recordings,
          .known_to_differ = known_to_differ};
}

constexpr std::array kContracts{
    ContractRow{.contract = Contract::exact,
                .name = "exact",
                .operands = "times their scale, exactly",
                .accumulation = "the exact sum of the exact products, rounded once to fp32, nearest even",
                .bias = "a term of the exact sum",
                .bias_in_sum = true,
                .source = "the yardstick"},
    ContractRow{.contract = Contract::f32_sequential,
                .name = "f32-sequential",
                .operands = "times their scale, rounded to fp32, nearest even",
                .accumulation = "k ascending from +0, one fp32 fused multiply-add each",
                .bias = kAfterChain,
                .cast = &kF32,
                .step = Step::fused,
                .source = "what a scalar loop computes"},
    ContractRow{.contract = Contract::bf16_chain,
                .name = "bf16-chain",
                .operands = "times their scale, rounded to bf16, nearest even, subnormals flushed",
                .accumulation = "of each pair of k the odd element, then the even one: one fp32 fused multiply-add each, subnormals flushed",
                .bias = kAfterChain,
                .cast = &kBf16,
                .flush = true,
                .order = kOddThenEven,
                .step = Step::fused,
                .evidence = Evidence::silicon,
                .grounds = Grounds::run,
                .source = "Intel SDM volume 2, VDPBF16PS; held against the instruction by tests/numerics/bf16_dot.cpp",
                .recordings = kVdpbf16ps},
    ContractRow{.contract = Contract::bf16_block,
                .name = "bf16-block",
                .operands = "without their scale, rounded to bf16, nearest even, subnormals flushed",
                .accumulation = "bf16-chain over each scale block from +0, then one fp32 fused multiply-add of its sum, the scale and the total",
                .bias = kAfterScales,
                .cast = &kBf16,
                .flush = true,
                .scales = ScaleEntry::chain_product,
                .order = kOddThenEven,
                .step = Step::fused,
                .restart = kScaleBlock,
                .source = "bf16-chain with the scales outside"},
    ContractRow{.contract = Contract::bf16_pair,
                .name = "bf16-pair",
                .operands = "times their scale, rounded to bf16, nearest even, subnormals flushed",
                .accumulation =
                    "per 32 of k one chain over the even and one over the odd k, each from +0, one fp32 fused multiply-add each; both are "
                    "added, then to the total, two fp32 additions; subnormals flushed",
                .bias = kAfterChain,
                .cast = &kBf16,
                .flush = true,
                .order = kEvenThenOdd,
                .step = Step::fused,
                .lanes = 2,
                .restart = kTileK,
                .evidence = Evidence::silicon,
                .grounds = Grounds::run,
                .source = "Intel SDM volume 2, TDPBF16PS; held against the instruction by tests/numerics/bf16_pair.cpp",
                .recordings = kTdpbf16ps},
    ContractRow{
        .contract = Contract::int8_block,
        .name = "int8-block",
        .operands = "mxint8 by mxint8, e2m1 or e2m3 codes without their scale",
        .accumulation = "the exact sum over each scale block as fp32, then one fp32 fused multiply-add of it, the scales' product and the total",
        .bias = kAfterScales,
        .a_formats = kInt8,
        .b_formats = kInt8Weights,
        .scales = ScaleEntry::chain_product,
        .restart = kScaleBlock,
        .source = "8-bit integer dot products with 32-bit sums"},
    hopper_fp8(Contract::hopper_fp8, "hopper-fp8",
               "groups of 32 truncated to 13 bits below their largest exponent and to 14 significant bits, one chain from C", 0,
               ScaleEntry::total_product, kFastRuns),
    hopper_fp8(Contract::hopper_fp8_promoted, "hopper-fp8-promoted", kChains128, kPromotion, ScaleEntry::total_product, kPromotedRuns),
    hopper_fp8(Contract::hopper_fp8_block_1x128, "hopper-fp8-block-1x128", kChains128, kPromotion, ScaleEntry::chain_one_by_one, kRowBlockRuns),
    hopper_fp8(Contract::hopper_fp8_block_128x128, "hopper-fp8-block-128x128", kChains128, kPromotion, ScaleEntry::chain_product, kBlockRuns),
    hopper_16(Contract::hopper_bf16, "hopper-bf16", "times their scale, rounded to bf16, nearest even", &kBf16, kBf16Runs, kLeastBf16),
    hopper_16(Contract::hopper_fp16, "hopper-fp16", "times their scale, rounded to fp16, nearest even", &kFp16, kFp16Runs),
    ContractRow{.contract = Contract::hopper_mma_fp8,
                .name = "hopper-mma-fp8",
                .operands = "e4m3fn or e5m2 codes as fp16, exactly",
                .accumulation = "per 32 of k two groups of 16 (k mod 4 below 2, then the rest) as in hopper-fp16, from +0, then added to C in fp32",
                .bias = kAfterScales,
                .a_formats = kFp8,
                .b_formats = kFp8,
                .cast = &kFp16,
                .scales = ScaleEntry::total_product,
                .order = kMmaFp8,
                .step = Step::aligned,
                .group = 16,
                .alignment_bits = 25,
                .kept_bits = 24,
                .zero_sign = SumZero::plus,
                .restart = 32,
                .nan = kCudaNan,
                .evidence = Evidence::silicon,
                .grounds = Grounds::run,
                .source = kHopperMmaFp8Source,
                .recordings = kMmaFp8Runs},
    // As edition v1 of the vectors has it.
    hopper_16(Contract::hopper_bf16_v1, "hopper-bf16@v1", "times their scale, rounded to bf16, nearest even", &kBf16, kUnboundedBf16Runs,
              kAnyExponent, "a group of products below 2^-132 behind a sum of zero: the device truncates to 2^-158 and no lower"),
};

}  // namespace

std::span<const Format> factor_formats() {
  static const std::vector<Format> kFormats = [] {
    std::vector<Format> formats(all_formats().begin(), all_formats().end());
    formats.push_back(kTf32);
    return formats;
  }();
  return kFormats;
}

const Format& factor_format_named(std::string_view name) { return same_name(name, kTf32.name) ? factor_formats().back() : format_named(name); }

std::span<const ContractRow> all_contracts() { return fault::rows_of<ContractRow>(fault::Table::contracts, kContracts); }

std::string_view name_of(Contract contract) { return row_of(contract).name; }

}  // namespace mx
