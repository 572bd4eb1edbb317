#include "model/families/recorded.hpp"

#include <algorithm>
#include <array>

namespace mx::families {
namespace {

constexpr std::string_view kH100 = "H100", kH200 = "H200";
constexpr std::string_view kMay = "vllm 7e1b45a09, torch 2.11.0+cu130, triton 3.6.0, cuda 13.0.88";
constexpr std::string_view kAugust = "vllm 7ca49fbe4, torch 2.11.0+cu130, triton 3.6.0, cuda 13.0.88";
constexpr std::string_view kKernels = "triton_kernels abce3c88f, triton 3.6.0, torch 2.11.0+cu130";
constexpr std::string_view kHumming = "humming-kernels 0.1.19, vllm 0.33.0 (call), torch 2.11.0+cu130, triton 3.6.0, cuda 13.0.88";

constexpr std::string_view kLayer = "golden/witness/hardware/fp8_layer_h100", kProducts = "golden/witness/hardware/fp8_products_h100",
                           kSwap = "golden/witness/hardware/fp8_swap_h100", kSums = "golden/witness/hardware/slot_sum_h100",
                           kQuantizers = "golden/witness/hardware/fp8_quant_h100", kOfHumming = "golden/witness/hardware/humming_product_h100",
                           kStages = "golden/witness/hardware/humming_stages_h100";

constexpr std::array kRuns{
    RecordedRun{{"golden/witness/numerics/moe_0", "triton."},
                "sorted slots, both products and the activation of 8 experts of 256 x 256, 7 tokens of 4 slots",
                "triton_kernels 7064a3b, triton 3.6.0",
                kH200,
                23360},
    RecordedRun{{"golden/witness/hardware/mxfp4_layer_h100", "triton_unfused"},
                "every stage of 8 experts of 256 x 128, 7 tokens of 4 slots",
                kKernels,
                kH100,
                19712},
    RecordedRun{{kLayer, "triton."},
                "every stage of 8 experts of 256 x 128, 7 and 65 tokens of 8 slots, scales in fp32 and powers of two",
                kMay,
                kH100,
                84108},
    RecordedRun{{kProducts, "triton.block"}, "both products of 48 rows and k 384 under 12 tiles, ordinary and extreme scales", kMay, kH100, 24144},
    RecordedRun{{kProducts, "triton.channel"}, "products of 48 rows and k 384 under 5 tiles, ordinary and extreme scales", kMay, kH100, 10800},
    RecordedRun{{kSwap, ".block."},
                "both products of 48 rows and k 384 with operands exchanged, ordinary, nearly cancelling and extreme",
                kAugust,
                kH100,
                4096},
    RecordedRun{{kSwap, ".channel."}, "a product of 48 rows and k 384 with operands exchanged", kAugust, kH100, 960},
    RecordedRun{{kSwap, "sum."}, "sums of 3, 4, 6 and 8 slots", kAugust, kH100, 6144},
    RecordedRun{{kSums}, "sums of 2 to 16 slots, and of two layers", kMay, kH100, 7168},
    RecordedRun{{kSums, "top_k"}, "sums of 2 to 16 slots", kMay, kH100, 4864},
    RecordedRun{{kSums, "layer.deepgemm"}, "sums of 6 slots with their weights", kMay, kH100, 1152},
    RecordedRun{
        {kProducts, "deepgemm"}, "products of 24 rows and k 384, ordinary and extreme scales", "deepgemm 54e22612, cuda 13.0.88", kH100, 1344},
    RecordedRun{{kProducts, "cutlass.channel"}, "products of 48 rows and k 384, of 60 and 288 slots", kMay, kH100, 1104},
    RecordedRun{{kQuantizers, "token.cuda"}, "activations of 128 by token", kMay, kH100, 10062},
    RecordedRun{{kQuantizers, "silu_and_mul.cuda"}, "SiLU of 55 rows of 128", kMay, kH100, 7040},
    RecordedRun{{kQuantizers, "silu_group.triton"}, "SiLU with its quantizer, scales in fp32 and powers of two", kMay, kH100, 14190},
    RecordedRun{{kQuantizers, "group128.cuda"}, "activations in groups of 128, scales in fp32 and powers of two", kMay, kH100, 20124},
    RecordedRun{{"golden/witness/hardware/fp8_squares_h200"},
                "products of 40 rows and k 256 under 7 tiles, squares of 64 and of 32, ordinary, nearly cancelling and extreme",
                "vllm 0.33.0, torch 2.11.0+cu130, triton 3.6.0, cuda 13.0",
                kH200,
                13440},
    RecordedRun{{"golden/witness/hardware/activations_h200", "colmajor.0.29.0"},
                "SiLU with its quantizer on 48 rows of 512, with a limit too, scales in fp32 and powers of two",
                "vllm 0.29.0, torch 2.11.0+cu130, triton 3.6.0, cuda 13.0",
                kH200,
                99072},
    RecordedRun{{"golden/witness/hardware/fp8_requant_h100"}, "weights of a block of 128 x 128 made anew for a power of two", kMay, kH100, 16385},
    RecordedRun{{"golden/witness/hardware/marlin_split_h100", "marlin."},
                "first product of 4 experts of 384 x 256, 24 tokens of 4 slots, tiles 128 x 128 and 64 x 256",
                kMay,
                kH100,
                98304},
    RecordedRun{{"golden/witness/hardware/marlin_fp8_h100"},
                "both products of 2 experts of 256 x 128 in blocks, channels and by tensor, 8 tokens",
                kMay,
                kH100,
                12288},
    RecordedRun{{"golden/witness/hardware/marlin_nvfp4_h100"},
                "second product of 4 experts of 384 x 256, 3 tokens of 4 slots, with and without weights",
                kMay,
                kH100,
                9216},
    RecordedRun{
        {kOfHumming, "mxa16."}, "products of 8 experts of 256 x 128, 7 and 48 tokens, ordinary, nearly cancelling and extreme", kHumming, kH100, 906},
    RecordedRun{{kOfHumming, "nva16."}, "products of 8 experts of 256 x 128 and of 1024 x 2048 in slices, 7 and 48 tokens", kHumming, kH100, 926},
    RecordedRun{{kOfHumming, "m8a16."}, "first product of 8 experts of 256 x 128, 65 tokens, extreme", kHumming, kH100, 384},
    RecordedRun{
        {kOfHumming, "f8a16."}, "products of 8 experts of 256 x 128, 7 and 48 tokens, ordinary, nearly cancelling and extreme", kHumming, kH100, 864},
    RecordedRun{{kOfHumming, "f8ca16."}, "first product of 8 experts of 256 x 128, 65 tokens, extreme", kHumming, kH100, 384},
    RecordedRun{{kOfHumming},
                "products of every form and kind of activation, 7 and 48 tokens, ordinary, nearly cancelling and extreme",
                kHumming,
                kH100,
                7770},
    RecordedRun{{kStages, "act."}, "SiLU, its limit and SwiGLU-OAI", kHumming, kH100, 12288},
    RecordedRun{{kStages, "sum."}, "sums of 3, 4, 6 and 8 slots", kHumming, kH100, 4608},
    RecordedRun{{kStages}, "activations, quantizers and sums of 3 to 8 slots", kHumming, kH100, 41604},
};

}  // namespace

std::span<const RecordedRun> recorded_runs() { return kRuns; }

const RecordedRun* find_run(const Recording& recording) {
  const auto* const run = std::ranges::find_if(
      kRuns, [&](const RecordedRun& one) { return one.recording.path == recording.path && one.recording.entry == recording.entry; });
  return run == kRuns.end() ? nullptr : run;
}

std::span<const Recording> recordings_on(const ExecutionRow& row, Arch arch) {
  const auto held = std::ranges::find_if(row.held, [&](const HeldOn& one) { return one.on(arch); });
  return held == row.held.end() ? row.recordings : held->recordings;
}

}  // namespace mx::families
