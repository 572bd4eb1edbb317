#include "model/engine/vllm/setup/constants.hpp"

#include <algorithm>
#include <array>

#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/setup/quant_config.hpp"
#include "model/engine/vllm/setup/setup.hpp"
#include "model/fault.hpp"

namespace mx::engine {
namespace {

constexpr std::array<std::string_view, 4> kConstants = {"limit", "alpha", "beta", "biases"};
constexpr std::array<std::string_view, 3> kReaches = {"reaches", "does not", "raises"};
constexpr std::string_view kHumming = "HUMMING";

bool keeps(const QuantConfigRow& row, Constant constant) {
  if (constant == Constant::bias) return row.takes_bias;
  return constant == Constant::limit ? row.takes_limit : row.takes_alpha_beta;
}

/// HUMMING makes its configuration of the layer itself.
bool config_keeps(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend, Constant constant) {
  if (backend == kHumming) return true;
  if (const OwnChoice own = own_choice(tables, deployment); own.taken() && own.backend == backend)
    return deployment::contains(own.constants, constant);
  const std::vector<QuantConfigRow> rows = quant_config_rows(tables.engine, tables.name);
  const QuantConfigRow* row = find_quant_config_row(rows, backend, quant_arguments(tables, deployment, backend));
  return row != nullptr && keeps(*row, constant);
}

/// Of whatever layer.
bool config_always_keeps(const OracleTables& tables, std::string_view backend, Constant constant) {
  if (backend == kHumming) return true;
  bool found = false;
  for (const QuantConfigRow& row : quant_config_rows(tables.engine, tables.name)) {
    if (std::ranges::find(row.backends, backend) == row.backends.end()) continue;
    if (!keeps(row, constant)) return false;
    found = true;
  }
  return found;
}

bool is_about(const ConstantRow& row, deployment::Engine engine, std::string_view backend, std::string_view kernel_class, Constant constant) {
  if (!row.backends.empty() && std::ranges::find(row.backends, backend) == row.backends.end()) return false;
  const deployment::Engine of = fault::planted(fault::Fault::constants_of_may) ? deployment::kVllm2026_05 : engine;
  return row.versions.has(of) && deployment::contains(row.constants, constant) && std::ranges::find(row.classes, kernel_class) != row.classes.end();
}

template <typename Keeps>
Reach end_of(From from, Keeps keeps) {
  switch (from) {
    case From::config: return keeps() ? Reach::reaches : Reach::does_not;
    case From::nowhere: return Reach::does_not;
    case From::raises: return Reach::raises;
    case From::config_or_layer:
    case From::layer: break;
  }
  return Reach::reaches;
}

bool other_than(const std::optional<double>& given, double built_in) { return given && *given != built_in; }

}  // namespace

std::string_view name_of(Constant constant) { return kConstants[static_cast<std::size_t>(constant)]; }
std::string_view name_of(Reach reach) { return kReaches[static_cast<std::size_t>(reach)]; }

std::optional<Reached> reach(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend,
                             std::string_view kernel_class, Constant constant) {
  const deployment::Activation activation = deployment::activation_named(deployment.layer.activation);
  const ConstantCase of{deployment, tables.name, tables.weight_key.value_or(deployment::quant_key_named(deployment.weight_key))};
  for (const ConstantRow& row : constant_rows()) {
    if (!is_about(row, tables.engine, backend, kernel_class, constant) || !deployment::contains(row.activations, activation) ||
        (row.where && !row.where(of)))
      continue;
    return Reached{end_of(row.from, [&] { return config_keeps(tables, deployment, backend, constant); }), &row};
  }
  return std::nullopt;
}

bool may_not_reach(const OracleTables& tables, std::string_view backend, std::string_view kernel_class, deployment::Mask activations,
                   Constant constant) {
  return std::ranges::any_of(constant_rows(), [&](const ConstantRow& row) {
    if (!is_about(row, tables.engine, backend, kernel_class, constant) || (row.activations & activations) == 0) return false;
    if (row.from == From::config) return !config_always_keeps(tables, backend, constant);
    return row.from == From::nowhere || row.from == From::raises;
  });
}

bool gives(const deployment::LayerConfig& layer, Constant constant) {
  if (constant == Constant::bias) return layer.has_bias;
  const deployment::ActivationConstants values = deployment::constants_of(layer);
  const std::optional<double>& value = constant == Constant::limit   ? values.swiglu_limit
                                       : constant == Constant::alpha ? values.swiglu_alpha
                                                                     : values.swiglu_beta;
  switch (deployment::activation_named(layer.activation)) {
    case deployment::Activation::silu: return constant == Constant::limit && value.has_value();
    case deployment::Activation::swiglustep: return constant == Constant::limit && other_than(value, 7);
    case deployment::Activation::swigluoai_uninterleave: return value.has_value();
    case deployment::Activation::swigluoai: break;
    default: return false;
  }
  return other_than(value, constant == Constant::limit ? 7 : constant == Constant::alpha ? 1.702 : 1);
}

}  // namespace mx::engine
