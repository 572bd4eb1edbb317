#include "model/audit/resolve.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "model/audit/placement.hpp"
#include "model/engine/vllm/method.hpp"

namespace mx::audit {
namespace {

template <class T>
const engine::Refusal* refusal_of(const std::optional<engine::Answer<T>>& answer) {
  return answer ? std::get_if<engine::Refusal>(&*answer) : nullptr;
}

/// What a stage raised, or null.
struct Stage {
  std::string_view name;
  const engine::Refusal* (*raised)(const Resolution& resolution);
};
constexpr std::array kStages{
    Stage{"selection", [](const Resolution& r) { return r.decision.refusal ? &*r.decision.refusal : nullptr; }},
    Stage{"allocation", [](const Resolution& r) { return r.setup ? std::get_if<engine::Refusal>(&r.setup->allocated) : nullptr; }},
    Stage{"preparation", [](const Resolution& r) { return refusal_of(r.prepared); }},
    Stage{"configuration", [](const Resolution& r) { return r.setup ? refusal_of(r.setup->quant) : nullptr; }},
    Stage{"construction", [](const Resolution& r) { return r.setup ? refusal_of(r.setup->assembly) : nullptr; }},
};

/// The engine's own code raises, as its sources say; what a class, a converter or a kernel does with such a layer is theirs.
bool raised_by_engine(const families::KernelNeed& need) {
  return need.effect == families::Effect::error && need.of == families::NeedOf::engine &&
         (need.grounds == Grounds::read || need.grounds == Grounds::run);
}

}  // namespace

std::string broken_text(const families::KernelNeed& need) {
  return "needs " + std::string(need.statement) + "; otherwise " + std::string(families::name_of(need.effect)) + ": " + std::string(need.consequence);
}

Resolution resolve(const engine::OracleTables& tables, const deployment::Deployment& given, engine::Decision decision) {
  const deployment::Deployment deployment = engine::as_asked(tables, given);
  Resolution resolution{tables.engine, deployment.layer.moe_backend, std::move(decision), std::nullopt, std::nullopt, {}, std::nullopt};
  if (resolution.decision.choice) {
    const engine::Choice& choice = *resolution.decision.choice;
    resolution.setup = engine::set_up(tables, deployment, choice);
    const auto* const sizes = std::get_if<engine::RoundedSizes>(&resolution.setup->allocated);
    if (sizes != nullptr) resolution.prepared = prepared_sizes(tables, deployment, choice.backend, *sizes);
    if (const auto placement = place(tables, deployment, resolution.decision)) resolution.broken = broken_needs(*placement);
  }
  for (const Stage& stage : kStages) {
    const engine::Refusal* const raised = stage.raised(resolution);
    if (raised == nullptr) continue;
    resolution.failure = Failure{stage.name, *raised};
    return resolution;
  }
  const auto raises = std::ranges::find_if(resolution.broken, [](const families::KernelNeed* need) { return raised_by_engine(*need); });
  if (raises != resolution.broken.end()) resolution.failure = Failure{"run", {"error", broken_text(**raises)}};
  return resolution;
}

Resolution resolve(deployment::Engine engine, const deployment::Deployment& deployment, const LayerRequest& layer, engine::Detail detail) {
  const engine::OracleTables& tables = engine::tables_of(engine, layer.oracle);
  deployment::Deployment with_layer = deployment;
  with_layer.layer = layer.config;
  return resolve(tables, with_layer, engine::decide(tables, with_layer, detail));
}

}  // namespace mx::audit
