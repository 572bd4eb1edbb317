// What HPC's fused MoE needs of a layer. F/ is vllm fused_moe/ at 7ca49fbe4; the class reads the same in 0.33.0.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/hpc/family.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 1> kHpc = {"HPCExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kHpc, {}, kernel_class, error, read, "SM90, and package hpc", "no such operator",
        [](const Placement& p) { return cuda_in(p, 90, 90) && p.deployment.software.has_hpc; }, "F/hpc_moe.py _supports_current_device", {},
        deployment::since(deployment::kVllm2026_08)),
    need("activation", kHpc, {}, kernel_class, error, read, "SILU", "an assertion", is_silu, "F/hpc_moe.py apply", {},
         deployment::since(deployment::kVllm2026_08)),
    need(
        "hidden", kHpc, {}, kernel_class, error, read, "H a multiple of 128: groups of activations and tiles of the product", "the class refuses",
        [](const Placement& p) { return p.hidden % 128 == 0; }, "F/hpc_moe.py _supports_shape", {}, deployment::since(deployment::kVllm2026_08)),
    need("rank_experts", kHpc, {}, kernel, silent, assumed, "how the kernel finds a rank's experts from its number and the sum of all", "not known",
         nullptr, "F/hpc_moe.py apply hands on rank_ep and num_expert_total", {}, deployment::since(deployment::kVllm2026_08)),
};

constexpr std::array kClasses = {
    KernelClassFacts{"HPCExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
};

constexpr std::array kTables = {NeedTable{kFp8Oracles, false, kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kHpcNeeds{kTables};
constinit const std::span<const KernelClassFacts> kHpcClasses{kClasses};

}  // namespace mx::families
