// A layer of experts computed: as a backend's kernels do, or under one contract.

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>

#include "model/error.hpp"
#include "model/families/arithmetic.hpp"
#include "python/module/memory.hpp"
#include "sim/execute/run_backend.hpp"
#include "sim/layer/contract_layer.hpp"

namespace mx::python {
namespace {

using Slots = std::vector<std::vector<moe::Slot>>;

/// What enters: x as bf16 codes [tokens, hidden], expert numbers as int32 and weights as fp32 bits [tokens, top_k]; a number of -1 is no slot.
struct Input {
  std::vector<std::uint32_t> x;
  std::vector<std::int32_t> experts;
  std::vector<std::uint32_t> factors;
  Slots slots;

  Input(std::size_t tokens, const Bytes& x_bf16, const Bytes& ids, const Bytes& weights)
      : experts(words_of<std::int32_t>(ids)), factors(words_of<std::uint32_t>(weights)), slots(tokens) {
    for (const std::uint16_t code : words_of<std::uint16_t>(x_bf16)) x.push_back(code);
    for (std::size_t i = 0; i < experts.size(); ++i) {
      if (experts[i] >= 0) slots[i / (experts.size() / tokens)].push_back({experts[i], factors[i]});
    }
  }

  sim::LayerTokens tokens() const { return {static_cast<std::int64_t>(experts.size() / slots.size()), experts, factors, x}; }
};

/// The engine's activations and what they are to the model.
struct ActivationRow {
  std::string_view name;
  std::string_view row;
  std::string_view limited_row;  ///< where a limit is given
  bool has_constants;            ///< that the model configures
};
constexpr std::array kActivations{ActivationRow{"SWIGLUOAI", "swiglu_oai", "swiglu_oai", true},
                                  ActivationRow{"SILU", "silu_and_mul", "silu_and_mul_clamp_torch", false}};
/// fp32 bits, of gate and up; none: the activation's own.
using Limit = std::optional<std::uint32_t>;
const ActivationRow& activation_of(const std::string& name) {
  for (const ActivationRow& row : kActivations) {
    if (row.name == name) return row;
  }
  throw Error(ErrorCode::usage, "activation is '" + name + "', must be SWIGLUOAI or SILU", "activation");
}

/// fp32 bits [tokens, hidden]: the checkpoint's form under one contract, everything between the products in fp32.
nb::object run_contract(const std::string& contract, const std::string& format, const std::string& order, const Extents& extents,
                        const NamedBytes& tensors, const std::string& activation, const Limit& limit, std::size_t tokens, const Bytes& x,
                        const Bytes& ids, const Bytes& weights) {
  const ActivationRow& gated = activation_of(activation);
  const layout::CanonicalLayer layer = layer_of(form_of(format, order), sizes_of(format, extents), tensors);
  const Input input(tokens, x, ids, weights);
  std::vector<std::uint32_t> out;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    const moe::Activation& row = moe::activation_named(limit ? gated.limited_row : gated.row);
    moe::ScaledChoices choices{.contract = row_of(contract_named(contract)).contract, .activation = &row, .constants = row.constants};
    if (limit) choices.constants.limit = *limit;
    const sim::ContractExperts experts = sim::contract_experts(layer, choices, sim::SumsBy::twins);
    out = sim::run_layer(experts, input.tokens(), {}, std::array{sim::LayerStage::out}).front().words;
  }
  return bytes_of_words(out);
}

/// bf16 codes [tokens, hidden] of packed tensors, as the backend's kernels compute; and how, in words.
std::pair<nb::object, std::string> run_kernel(const std::string& spec, const NamedBytes& tensors, const std::string& activation, const Limit& limit,
                                              const std::string& activation_key, std::size_t tokens, const Bytes& x, const Bytes& ids,
                                              const Bytes& weights) {
  const ActivationRow& gated = activation_of(activation);
  const verbs::BackendChoice choice = backend_choice(verbs::query_from(spec, {}));
  const families::PackedLayer packed = packed_of(choice, tensors);
  const Input input(tokens, x, ids, weights);
  sim::KernelOutputs made;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    moe::ActivationConstants constants = gated.has_constants ? moe::activation_named(gated.row).constants : moe::ActivationConstants{};
    if (limit) constants.limit = *limit;
    made = sim::run_kernel(packed, {gated.name, activation_key, input.x, input.slots, constants});
  }
  return {bytes_of_words(made.out), made.how};
}

}  // namespace

void bind_kernels(nb::module_& module) {
  module.def("run_contract", run_contract, nb::arg("contract"), nb::arg("format"), nb::arg("order"), nb::arg("extents"), nb::arg("tensors"),
             nb::arg("activation"), nb::arg("limit").none(), nb::arg("tokens"), nb::arg("x"), nb::arg("ids"), nb::arg("weights"));
  module.def("run_kernel", run_kernel, nb::arg("spec"), nb::arg("tensors"), nb::arg("activation"), nb::arg("limit").none(), nb::arg("activation_key"),
             nb::arg("tokens"), nb::arg("x"), nb::arg("ids"), nb::arg("weights"));
}

}  // namespace mx::python
