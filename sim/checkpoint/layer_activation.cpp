#include "sim/checkpoint/layer_activation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::sim {
namespace {

/// The first key that is there counts: a model may have another activation outside of its experts.
constexpr std::array<std::string_view, 4> kKeys{"mlp_hidden_act", "moe_hidden_act", "hidden_activation", "hidden_act"};

/// Source: vllm fused_moe/activation.py MoEActivation, and the model files that ask for it (nemotron_h.py, gemma4.py).
struct ActivationRow {
  std::string_view word;
  std::string_view gated;  ///< empty: the model's experts have no gate
  std::string_view alone;
};
constexpr std::array<ActivationRow, 6> kRows{{{"silu", "SILU", "SILU_NO_MUL"},
                                              {"swish", "SILU", "SILU_NO_MUL"},
                                              {"gelu", "GELU", "GELU_NO_MUL"},
                                              {"gelu_pytorch_tanh", "GELU_TANH", "GELU_TANH_NO_MUL"},
                                              {"gelu_tanh", "GELU_TANH", "GELU_TANH_NO_MUL"},
                                              {"relu2", {}, "RELU2_NO_MUL"}}};

std::string_view word_of(const CheckpointConfig& config) {
  for (const std::string_view key : kKeys) {
    if (const std::string_view word = config.word(key); !word.empty()) return word;
  }
  return {};
}

}  // namespace

bool may_lack_gate(const CheckpointConfig& config) {
  const std::string_view word = word_of(config);
  const auto* const row = std::ranges::find(kRows, word, &ActivationRow::word);
  return word.empty() || (row != kRows.end() && row->gated.empty());
}

std::string_view activation_of(const CheckpointConfig& config, bool gated, std::string_view usual) {
  const std::string_view word = word_of(config);
  if (word.empty()) return gated ? usual : "RELU2_NO_MUL";
  const auto* const row = std::ranges::find(kRows, word, &ActivationRow::word);
  const std::string_view name = row == kRows.end() ? std::string_view() : gated ? row->gated : row->alone;
  if (!name.empty()) return name;
  throw Error(ErrorCode::unsupported, fmt::format("the activation is {}: which one of the engine's it is, is not known here", in_quotes(word)),
              config.path.string());
}

}  // namespace mx::sim
