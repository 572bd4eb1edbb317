// Needs about a model's constants and biases, derived from the table of what reaches which kernel.

#include "model/engine/vllm/setup/constants.hpp"

#include <array>

#include "model/audit/around.hpp"
#include "model/families/facts.hpp"

namespace mx::oracle {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr Mask kSilu = bit(Activation::silu);
constexpr Mask kOai = bit(Activation::swigluoai);
constexpr Mask kPacked = bit(Activation::swigluoai_uninterleave);
constexpr Mask kStep = bit(Activation::swiglustep);

/// No constant of these that the layer gives ends so, where its activation is one of them.
template <Reach end, Mask activations, Constant... constants>
bool none_ends(const Placement& p) {
  const LayerConfig& layer = p.deployment.layer;
  if (!contains(activations, activation_named(layer.activation))) return true;
  const auto ends = [&](Constant constant) {
    if (!gives(layer, constant)) return false;
    const auto reached = reach(tables_of(p.engine, p.oracle), p.deployment, p.backend, p.kernel_class, constant);
    return reached && reached->reach == end;
  };
  return !(ends(constants) || ...);
}

template <Mask activations, Constant... constants>
bool may_be_lost(Engine engine, Names oracle, Names backend, Names kernel_class) {
  const OracleTables& tables = tables_of(engine, oracle);
  return (may_not_reach(tables, backend, kernel_class, activations, constants) || ...);
}

/// Rows whose need is of the choices alone for which the table says that it can be broken.
template <Reach end, Mask activations, Constant... constants>
constexpr KernelNeed of_constants(Names id, Effect effect, Names statement, Names consequence) {
  KernelNeed row = need(id, {}, {}, kernel_class, effect, read, statement, consequence, none_ends<end, activations, constants...>,
                        "E/: what the class takes; vllm fused_moe/oracle/ make_*_moe_quant_config: what it is handed (run)",
                        "vllm issue 49747, pull requests 42209, 42855, 45836, 46492");
  row.of_choice = may_be_lost<activations, constants...>;
  return row;
}

using enum Constant;
using enum Reach;

constexpr std::array kConstantNeeds = {
    of_constants<does_not, kSilu, limit>("silu_limit", silent, "SILU without a limit", "nothing is clamped"),
    of_constants<does_not, kOai, alpha, beta>("oai_alpha", silent, "alpha and beta are 1.702 and 1", "1.702 and 1 are used instead"),
    of_constants<does_not, kOai, limit>("oai_limit", silent, "the limit of SWIGLUOAI is 7", "7 is used instead"),
    of_constants<does_not, kPacked, limit, alpha, beta>("packed_constants", silent, "an activation without limit, alpha and beta",
                                                        "others than the model's are used"),
    of_constants<does_not, kStep, limit>("step_limit", silent, "the limit of SWIGLUSTEP is 7", "7 is used instead"),
    of_constants<raises, kEverything, limit, alpha, beta>("constants_raise", error, "no limit, alpha or beta beside these weights", "an exception"),
    of_constants<does_not, kEverything, bias>("bias", silent, "no biases", kDropped),
};

}  // namespace

std::span<const KernelNeed> constant_needs() { return kConstantNeeds; }

}  // namespace mx::oracle
