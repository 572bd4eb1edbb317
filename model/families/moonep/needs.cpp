// What experts behind MoonEP's exchange need of a layer. E/ is vllm fused_moe/experts/ of 0.33.0.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/moonep/family.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 1> kMoonEp = {"MoonEPExperts"};
constexpr std::array<Names, 1> kPlainOracles = {"unquantized"};

constexpr std::array kNeeds = {
    need(
        "exchange", kMoonEp, {}, kernel_class, error, read, "MoonEP's exchange, which delivers rows expert by expert",
        "the weights' layout is missing", [](const Placement& p) { return exchange_is(p, {"moonep"}); }, "E/moonep_experts.py apply", {},
        deployment::since(deployment::kVllm2026_11)),
    need(
        "dtype", kMoonEp, {}, engine, error, read, "bfloat16", "ValueError", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
        "vllm config/vllm.py: moonep", {}, deployment::since(deployment::kVllm2026_11)),
    need("activation", kMoonEp, {}, kernel_class, error, read, "SILU", "an assertion", is_silu, "E/moonep_experts.py apply", {},
         deployment::since(deployment::kVllm2026_11)),
    need(
        "relocated", kMoonEp, {}, kernel_class, error, read, "no relocated experts: the layout has slots of its own behind them", "ValueError",
        [](const Placement& p) { return !p.deployment.parallel.enable_eplb; }, "E/moonep_experts.py _supports_parallel_config", {},
        deployment::since(deployment::kVllm2026_11)),
};

constexpr std::array kClasses = {
    KernelClassFacts{"MoonEPExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kPlainOracles, false, kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kMoonepNeeds{kTables};
constinit const std::span<const KernelClassFacts> kMoonepClasses{kClasses};

}  // namespace mx::families
