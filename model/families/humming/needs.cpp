// What Humming needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/humming/family.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 3> kHumming = {"BatchedHummingGroupedExperts", "HummingGroupedExperts", "HummingIndexedExperts"};

constexpr Names kInputConfig = "VLLM_HUMMING_INPUT_QUANT_CONFIG";

/// Whether the engine is told to quantize activations to FP8. Source: vllm envs.py: JSON with the key "dtype".
bool has_fp8_inputs(const Placement& p) {
  const auto found = p.deployment.env.find(std::string(kInputConfig));
  return found != p.deployment.env.end() && found->second.find("float8") != std::string::npos;
}
bool fills_whole_blocks(const Placement& p) {
  // Up to humming-kernels 0.1.0 what fills columns counts with scale 1 too.
  const bool columns = p.engine >= deployment::kVllm2026_08 || both_divide(p, 128);
  return !has_fp8_inputs(p) || (divides(256, {w13_rows(p), p.hidden}) && columns);
}

constexpr std::array kNeeds = {
    need(
        "device", kHumming, {}, kernel_class, error, read, "cuda from capability 75 on", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 75, 1000); }, "E/fused_humming_moe.py _supports_current_device, which selection never asks"),
    need("scale_padding", kHumming, {}, converter, silent, run,
         "MXFP4 with FP8 activations: rows of w13 and w2 in whole blocks of 256, or scales near 2^0: rows that fill a block count with scale 1",
         "weights whose scales lie more than 2^11 below that are rounded to larger ones, most of them to zero", fills_whole_blocks,
         "humming-kernels process_mxfp4_w4a8; vllm quantization/utils/humming.py: N padded to 256, K to 128"),
    need("kernel_sizes", kHumming, {}, kernel_class, error, assumed, "sizes for which some block configuration fits", "ValueError", nullptr,
         "E/fused_humming_moe.py: computed from the layer's metadata"),
};

constexpr std::array kClasses = {
    KernelClassFacts{"BatchedHummingGroupedExperts", ClassKind::batched, ExpertIds::other, WeightOnInput::refused},
    KernelClassFacts{"HummingGroupedExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::refused},
    KernelClassFacts{"HummingIndexedExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::refused},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kHummingNeeds{kTables};
constinit const std::span<const KernelClassFacts> kHummingClasses{kClasses};

}  // namespace mx::families
