// Needs about a model's constants and biases, derived from the table of what reaches which kernel.

#include "model/engine/vllm/setup/constants.hpp"

#include <array>

#include "model/audit/around.hpp"
#include "model/families/facts.hpp"

namespace mx::audit {
namespace {

using namespace families::facts;
using enum families::Effect;
using enum Grounds;
using enum families::NeedOf;

constexpr deployment::Mask kSilu = deployment::bit(deployment::Activation::silu);
constexpr deployment::Mask kOai = deployment::bit(deployment::Activation::swigluoai);
constexpr deployment::Mask kPacked = deployment::bit(deployment::Activation::swigluoai_uninterleave);
constexpr deployment::Mask kStep = deployment::bit(deployment::Activation::swiglustep);

/// No constant of these that the layer gives ends so, where its activation is one of them.
template <engine::Reach end, deployment::Mask activations, engine::Constant... constants>
bool none_ends(const families::Placement& p) {
  const deployment::LayerConfig& layer = p.deployment.layer;
  if (!deployment::contains(activations, deployment::activation_named(layer.activation))) return true;
  const auto ends = [&](engine::Constant constant) {
    if (!engine::gives(layer, constant)) return false;
    const auto reached = engine::reach(engine::tables_of(p.engine, p.oracle), p.deployment, p.backend, p.kernel_class, constant);
    return reached && reached->reach == end;
  };
  return !(ends(constants) || ...);
}

template <deployment::Mask activations, engine::Constant... constants>
bool may_be_lost(deployment::Engine engine, Names oracle, Names backend, Names kernel_class) {
  const engine::OracleTables& tables = engine::tables_of(engine, oracle);
  return (engine::may_not_reach(tables, backend, kernel_class, activations, constants) || ...);
}

/// Rows whose need is of the choices alone for which the table says that it can be broken.
template <engine::Reach end, deployment::Mask activations, engine::Constant... constants>
constexpr families::KernelNeed of_constants(Names id, families::Effect effect, Names statement, Names consequence) {
  families::KernelNeed row = need(id, {}, {}, kernel_class, effect, read, statement, consequence, none_ends<end, activations, constants...>,
                                  "E/: what the class takes; vllm fused_moe/oracle/ make_*_moe_quant_config: what it is handed (run)",
                                  "vllm issue 49747, pull requests 42209, 42855, 45836, 46492");
  row.of_choice = may_be_lost<activations, constants...>;
  return row;
}

using enum engine::Constant;
using enum engine::Reach;

constexpr std::array kConstantNeeds = {
    of_constants<does_not, kSilu, limit>("silu_limit", silent, "SILU without a limit", "nothing is clamped"),
    of_constants<does_not, kOai, alpha, beta>("oai_alpha", silent, "alpha and beta are 1.702 and 1", "1.702 and 1 are used instead"),
    of_constants<does_not, kOai, limit>("oai_limit", silent, "the limit of SWIGLUOAI is 7", "7 is used instead"),
    of_constants<does_not, kPacked, limit, alpha, beta>("packed_constants", silent, "an activation without limit, alpha and beta",
                                                        "others than the model's are used"),
    of_constants<does_not, kStep, limit>("step_limit", silent, "the limit of SWIGLUSTEP is 7", "7 is used instead"),
    of_constants<raises, deployment::kEverything, limit, alpha, beta>("constants_raise", error, "no limit, alpha or beta beside these weights",
                                                                      "an exception"),
    of_constants<does_not, deployment::kEverything, bias>("bias", silent, "no biases", kDropped),
};

}  // namespace

std::span<const families::KernelNeed> constant_needs() { return kConstantNeeds; }

}  // namespace mx::audit
