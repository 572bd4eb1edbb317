#include "checkpoint/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using Text = std::string_view;

Text dtype_of(const ExpertName& weight) { return weight.at->view->dtype->name; }

bool is_plain(const ExpertName& weight) {
  constexpr std::array<Text, 4> kPlain{"BF16", "F16", "F32", "F64"};
  return std::ranges::find(kPlain, dtype_of(weight)) != kPlain.end();
}

/// "dtype U8, quantized"
std::string kind_of(const ExpertName& weight) { return fmt::format("{}, {}quantized", dtype_of(weight), is_plain(weight) ? "not " : ""); }

/// What the configuration makes of a module: "is left out by quantization_config.ignore: 'model.layers.1*'".
std::string verdict_of(const ModuleMethod& method) {
  if (method.quantized) return fmt::format("has the method {} ({}), and no list leaves it out", method.method, method.entry);
  if (!method.left) return fmt::format("is not quantized: {}", method.entry);
  return fmt::format("is left out by {}", method.entry);
}

/// A fact of the method begins so.
bool is_fact(const ModuleMethod& method, Text key, Text begin) {
  return std::ranges::any_of(method.facts, [&](const DeclaredFact& fact) { return fact.key == key && fact.value.starts_with(begin); });
}

/// Whether the method's weights are FP8 codes, one for each number.
bool has_fp8_weights(const ModuleMethod& method) {
  if (method.method == "fp8") return true;
  if (method.method == "deepseek_v4_fp8") return is_fact(method, "expert_dtype", "fp8");
  if (method.method.starts_with("inc_mx")) return is_fact(method, "bits", "8");
  return is_fact(method, "algo", "FP8") || is_fact(method, "algo", "MXFP8") || is_fact(method, "dtype", "fp8") ||
         (is_fact(method, "bits", "8") && is_fact(method, "type", "float"));
}

}  // namespace

void check_one_kind(std::span<const ExpertName> weights, const ExpertsModule& module, const ModuleMethod& method, bool says) {
  const auto plain = std::ranges::find_if(weights, is_plain);
  const auto coded = std::ranges::find_if_not(weights, is_plain);
  if (plain == weights.end() || coded == weights.end() || fault::planted(fault::Fault::layers_may_be_of_two_kinds)) return;
  const bool is_wrong_plain = !says || method.quantized;
  const ExpertName& wrong = is_wrong_plain ? *plain : *coded;
  const ExpertName& other = is_wrong_plain ? *coded : *plain;
  std::string text = fmt::format("is {}, but {} of the same layer is {}: the engine has one method for a layer's experts", kind_of(wrong),
                                 support::in_quotes(other.name), kind_of(other));
  if (says) text += fmt::format(", and {} {}", support::in_quotes(module.name), verdict_of(method));
  throw Error(ErrorCode::input, text, place_of(*wrong.at, wrong.name));
}

Disagreement disagreement_of(std::span<const ExpertName> weights, const ExpertsModule& module, const ModuleMethod& method,
                             deployment::Engine engine) {
  if (weights.empty() || method.quantized != is_plain(weights.front())) return {};
  if (fault::planted(method.quantized ? fault::Fault::plain_experts_fit_all : fault::Fault::left_experts_may_be_coded)) return {};
  const ExpertName& weight = weights.front();
  const bool loads = method.quantized ? has_fp8_weights(method) : !method.unread && dtype_of(weight) == "F8_E4M3";
  std::string text = fmt::format("is {}, but {} {}", kind_of(weight), support::in_quotes(module.name), verdict_of(method));
  if (method.unread) {
    text += fmt::format(", so that {} takes the experts as quantized all the same", deployment::name_of(engine));
  } else if (!loads) {
    text += fmt::format("; {} does not load it", deployment::name_of(engine));
  } else if (method.quantized) {
    text +=
        fmt::format("; {} would load it without an error and compute garbage: the numbers are rounded to e4m3, and their scales are never written",
                    deployment::name_of(engine));
  } else {
    text += fmt::format("; {} would load it without an error and compute garbage: the codes are taken as numbers, without their scales",
                        deployment::name_of(engine));
  }
  return {place_of(*weight.at, weight.name), std::move(text), loads};
}

}  // namespace mx::checkpoint
