#include "checkpoint/layer_activation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

/// The first key that is there counts: a model may have another activation outside of its experts.
constexpr std::array<std::string_view, 4> kKeys{"mlp_hidden_act", "moe_hidden_act", "hidden_activation", "hidden_act"};

/// Source: vllm fused_moe/activation.py MoEActivation, and the model files that ask for it (nemotron_h.py, gemma4.py).
struct ActivationRow {
  std::string_view word;
  std::string_view gated;  ///< empty: the model's experts have no gate
  std::string_view alone;
};
constexpr std::array<ActivationRow, 8> kRows{{{"silu", "SILU", "SILU_NO_MUL"},
                                              {"swish", "SILU", "SILU_NO_MUL"},
                                              {"gelu", "GELU", "GELU_NO_MUL"},
                                              {"gelu_pytorch_tanh", "GELU_TANH", "GELU_TANH_NO_MUL"},
                                              {"gelu_tanh", "GELU_TANH", "GELU_TANH_NO_MUL"},
                                              {"situ", "SITU", {}},
                                              {"swigluoai", "SWIGLUOAI_UNINTERLEAVE", {}},
                                              {"relu2", {}, "RELU2_NO_MUL"}}};

/// Where a limit of the activation stands: a number of all layers, or a list of one for each. The first row that fits counts.
struct LimitRow {
  std::string_view model;  ///< model_type begins with it
  std::string_view key;
  std::string_view limited;  ///< the activation of a layer with a limit; empty: it stays what it is
  double only = 0;           ///< the one limit that the engine takes; 0: any
  bool above_zero = true;    ///< what is 0 or below it is none; else it is handed on, and a kernel may bound by it
};
// Source: vllm at 7ca49fbe4 models/step3p5.py, exaone_moe.py, bailing_moe_v3.py; deepseek_v4/nvidia/model.py and minimax_m3/nvidia/model.py.
constexpr std::array<LimitRow, 4> kLimits{{{"step3p5", "swiglu_limits", "SWIGLUSTEP", 7},
                                           {{}, "swiglu_limits", {}},
                                           {{}, "expert_swiglu_limit_list", {}},
                                           {{}, "swiglu_limit", {}, 0, false}}};

/// A constant of an activation, and what it is where the model says nothing.
struct ConstantRow {
  std::string_view activation;  ///< its name begins with it
  std::string_view key;
  std::optional<double> deployment::ActivationConstants::*member;
  std::optional<double> unsaid;
};
// Source: transformers GptOssConfig; vllm at 7ca49fbe4 transformers_utils/configs/minimax_m3.py, models/kimi_k3/nvidia/model.py.
constexpr std::array<ConstantRow, 5> kConstants{{{"SWIGLUOAI", "swiglu_alpha", &deployment::ActivationConstants::swiglu_alpha, 1.702},
                                                 {"SWIGLUOAI", "swiglu_beta", &deployment::ActivationConstants::swiglu_beta, 1},
                                                 {"SWIGLUOAI", "swiglu_limit", &deployment::ActivationConstants::swiglu_limit, 7},
                                                 {"SITU", "activation_situ_beta", &deployment::ActivationConstants::situ_beta, {}},
                                                 {"SITU", "activation_situ_linear_beta", &deployment::ActivationConstants::situ_linear_beta, {}}}};

std::string_view word_of(const CheckpointConfig& config) {
  for (const std::string_view key : kKeys) {
    if (const std::string_view word = config.word(key); !word.empty()) return word;
  }
  return {};
}

/// The engine's name of the word.
std::string_view named(const CheckpointConfig& config, bool gated, std::string_view usual) {
  if (config.word("model_type") == "gpt_oss")
    throw Error(ErrorCode::unsupported, "model_type is 'gpt_oss', whose rows of gate and up alternate: its activation over halves is not known here",
                config.path.string());
  const std::string_view word = word_of(config);
  if (word.empty()) return gated ? usual : "RELU2_NO_MUL";
  const auto* const row = std::ranges::find(kRows, word, &ActivationRow::word);
  const std::string_view name = row == kRows.end() ? std::string_view() : gated ? row->gated : row->alone;
  if (!name.empty()) return name;
  throw Error(ErrorCode::unsupported,
              fmt::format("the activation is {}: which one of the engine's it is, is not known here", support::in_quotes(word)),
              config.path.string());
}

void add_limit(const CheckpointConfig& config, int layer, LayerActivation& activation) {
  const auto* const row = std::ranges::find_if(
      kLimits, [&](const LimitRow& one) { return config.word("model_type").starts_with(one.model) && !config.word(one.key).empty(); });
  if (row == kLimits.end()) return;
  const std::optional<double> said = config.number_of_layer(row->key, layer);
  if (!said || (row->above_zero && *said <= 0)) return;
  const double limit = *said;
  if (row->only != 0 && limit != row->only)
    throw Error(ErrorCode::unsupported, fmt::format("{} is {} of layer {}: the engine takes {} alone", row->key, limit, layer, row->only),
                config.path.string());
  activation.constants.swiglu_limit = limit;
  if (!row->limited.empty()) activation.name = row->limited;
}

}  // namespace

bool may_lack_gate(const CheckpointConfig& config) {
  const std::string_view word = word_of(config);
  const auto* const row = std::ranges::find(kRows, word, &ActivationRow::word);
  return word.empty() || (row != kRows.end() && row->gated.empty());
}

moe::ActivationConstants LayerActivation::bits() const {
  const auto bits = [](std::optional<double> one, std::optional<double> other) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(one.value_or(other.value_or(0))));
  };
  return {bits(constants.swiglu_alpha, {}), bits(constants.swiglu_beta, constants.situ_beta), limit_is_low() ? 0 : bits(constants.swiglu_limit, {}),
          bits(constants.situ_linear_beta, {})};
}

bool LayerActivation::limit_is_low() const { return constants.swiglu_limit && !(*constants.swiglu_limit > 0); }

std::string LayerActivation::text() const {
  return constants.swiglu_limit ? fmt::format("{}, limit {}", name, *constants.swiglu_limit) : std::string(name);
}

std::string_view converted_activation(const CheckpointConfig& config, int layer, bool gated, bool alternates, std::string_view usual) {
  if (!alternates && config.word("model_type") == "gpt_oss") return "SWIGLUOAI";
  try {
    LayerActivation activation{alternates ? usual : named(config, gated, usual), {}};
    if (gated) add_limit(config, layer, activation);
    return activation.name;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return "another";
  }
}

LayerActivation activation_of(const CheckpointConfig& config, int layer, bool gated, bool alternates, std::string_view usual) {
  LayerActivation activation{alternates ? usual : named(config, gated, usual), {}};
  if (!gated) return activation;
  add_limit(config, layer, activation);
  for (const ConstantRow& row : kConstants) {
    std::optional<double>& constant = activation.constants.*row.member;
    if (!activation.name.starts_with(row.activation) || constant) continue;
    constant = config.number(row.key);
    if (!constant) constant = row.unsaid;
  }
  return activation;
}

}  // namespace mx::checkpoint
