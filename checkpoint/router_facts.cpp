#include "checkpoint/router_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using Text = std::string_view;

// Keys of one thing, the first that is there counts. Source: the model files of vllm at 7ca49fbe4 models/: deepseek_v2.py, qwen3_moe.py; of others
// bailing_moe.py (score_function), afmoe.py (score_func, route_norm, route_scale), kimi_k3/amd/linear.py (moe_router_activation_func,
// num_expert_group, moe_renormalize), step3p5.py (moe_router_activation, norm_expert_weight, moe_router_scaling_factor), hy_v3.py
// (router_scaling_factor).
constexpr std::array<Text, 6> kScoring{"scoring_func",          "score_function",     "score_func", "moe_router_activation_func",
                                       "moe_router_activation", "router_scoring_func"};
constexpr std::array<Text, 5> kNorm{"norm_topk_prob", "route_norm", "norm_expert_weight", "moe_renormalize", "moe_router_renormalize"};
constexpr std::array<Text, 4> kFactor{"routed_scaling_factor", "route_scale", "moe_router_scaling_factor", "router_scaling_factor"};
constexpr std::array<Text, 2> kGroups{"n_group", "num_expert_group"};
constexpr Text kTopkGroups = "topk_group", kMethod = "topk_method", kUseGroups = "use_grouped_topk";
/// Logits are bounded before they are scored. Source: vllm models/grok1.py of 7e1b45a09, laguna.py of 7ca49fbe4.
constexpr std::array<Text, 2> kSoftCap{"router_logit_softcapping", "moe_router_logit_softcapping"};

/// What a model's file says whatever the configuration does. Empty words: nothing.
struct ModelRow {
  Text model;    ///< model_type begins with it
  Text scoring;  ///< where the configuration says none
  Text norm;     ///< true, false
  Text groups;   ///< yes: one group where the configuration says none
  Text custom;   ///< the engine's name of a function of its own
  Text unknown;  ///< what no row of the table of routers computes
};
// Source: vllm at 7ca49fbe4 models/ of that name, the arguments of FusedMoEFactory; deepseek_v4/nvidia/model.py.
constexpr std::array<ModelRow, 24> kModels{{{"llama4", "sigmoid", "false", {}, "Llama4", {}},
                                            {"gemma4", {}, "true", {}, "Custom", {}},
                                            {"phimoe", {}, {}, {}, "Custom", "two choices with a threshold of their own (sparsemixer)"},
                                            {"cohere2_moe", {}, {}, {}, "Custom", "a choice by tokens with a correction"},
                                            {"interns1_pro", {}, {}, {}, "Custom", "a choice by groups of its own"},
                                            {"longcat", {}, {}, {}, {}, "experts that pass their input on (zero_expert_num)"},
                                            {"ernie4_5", "softmax", "true", {}, {}, {}},
                                            {"olmoe", {}, "false", {}, {}, {}},
                                            {"flex_olmo", {}, "false", {}, {}, {}},
                                            {"jamba", {}, "false", {}, {}, {}},
                                            {"minimax", {}, "true", {}, {}, {}},
                                            {"bailing_moe_v3", "sigmoid", "true", "yes", {}, {}},
                                            {"step3p5", "sigmoid", {}, {}, {}, {}},
                                            {"nemotron_h", "sigmoid", {}, "yes", {}, {}},
                                            {"glm4_moe", "sigmoid", {}, "yes", {}, {}},
                                            {"mimo_v2", "sigmoid", {}, "yes", {}, {}},
                                            {"exaone_moe", "sigmoid", {}, "yes", {}, {}},
                                            {"hy_v3", "sigmoid", {}, "yes", {}, {}},
                                            {"lfm2_moe", "sigmoid", {}, "yes", {}, {}},
                                            {"pangu", "sigmoid", {}, "yes", {}, {}},
                                            {"deepseek_v4", "sqrtsoftplus", {}, {}, {}, {}},
                                            {"deepseek", "softmax", {}, "yes", {}, {}},
                                            {"laguna", "sigmoid", {}, {}, {}, {}},
                                            {"gpt_oss", {}, "true", {}, {}, {}}}};

/// The row of the table of routers that a way stands for; the first that fits. An empty recipe: none.
struct WayRow {
  Text model;  ///< model_type begins with it
  Text scoring;
  int correction;  ///< 1: there is one, 0: there is none, -1: either
  int grouped;
  int norm;
  Text recipe;
};
// What fits none has no row.
constexpr std::array<WayRow, 11> kWays{{{"llama4", {}, -1, -1, -1, "llama4"},
                                        {"gpt_oss", {}, 0, 0, -1, "gpt-oss"},
                                        {{}, "sqrtsoftplus", -1, 0, 1, "deepseek-v4"},
                                        {{}, "sigmoid", 1, 1, 1, "deepseek-v3-vllm"},
                                        {{}, "sigmoid", 1, 0, 1, "minimax-m2"},
                                        {{}, "sigmoid", 0, 0, 0, "sigmoid"},
                                        {{}, "sigmoid", 0, 0, 1, "sigmoid-renorm"},
                                        {"deepseek_v2", "softmax", 0, 0, 0, "deepseek-v2-greedy"},
                                        {{}, "softmax", 0, 1, 0, "deepseek-v2-grouped-vllm"},
                                        {{}, "softmax", 0, 0, 0, "softmax-topk"},
                                        {{}, "softmax", 0, 0, 1, "softmax-topk-norm"}}};

Text first_of(const CheckpointConfig& config, std::span<const Text> keys) {
  for (const Text key : keys) {
    if (const Text word = config.word(key); !word.empty()) return word;
  }
  return {};
}
Text key_of(const CheckpointConfig& config, std::span<const Text> keys) {
  const auto key = std::ranges::find_if(keys, [&](Text one) { return !config.word(one).empty(); });
  return key == keys.end() ? keys.front() : *key;
}

/// The model, and what its text part is where the checkpoint is of several kinds.
bool is_of(const CheckpointConfig& config, Text model) {
  if (model.empty()) return true;
  for (const char* const key : {"model_type", "text_config.model_type"}) {
    const auto found = config.words.find(key);
    if (found != config.words.end() && Text(found->second).starts_with(model)) return true;
  }
  return false;
}

const ModelRow& model_of(const CheckpointConfig& config) {
  static constexpr ModelRow kOther{};
  const auto* const row = std::ranges::find_if(kModels, [&](const ModelRow& one) { return is_of(config, one.model); });
  return row == kModels.end() ? kOther : *row;
}

/// A whole number from 1 to `most`; 1 where nothing is said.
std::int64_t count_of(const CheckpointConfig& config, Text key, std::int64_t most) {
  const double value = config.number(key).value_or(1);
  if (value >= 1 && value <= static_cast<double>(most) && value == std::floor(value)) return static_cast<std::int64_t>(value);
  throw Error(ErrorCode::input, fmt::format("{} is {}, expected a whole number from 1 to {}", key, value, most), config.path.string());
}

/// Groups that do not divide the experts, or of one expert each, are none: all experts are chosen from. Source: vllm
/// fused_moe/router/grouped_topk_router.py valid_grouping, 0.22.1 to 0.33.0.
void set_groups(std::int64_t groups, std::int64_t topk_groups, std::int64_t experts, RouterFacts& facts) {
  const bool valid = experts > groups && experts % groups == 0;
  facts.groups = valid ? groups : 1;
  facts.topk_groups = valid ? topk_groups : 1;
}

void read_groups(const CheckpointConfig& config, const ModelRow& model, std::int64_t experts, RouterFacts& facts) {
  const Text key = key_of(config, kGroups);
  if (config.word(kUseGroups) == "false") return;
  constexpr std::int64_t kMostGroups = 1 << 16;
  const std::int64_t groups = count_of(config, key, kMostGroups);
  set_groups(groups, count_of(config, kTopkGroups, groups), experts, facts);
  facts.grouped = !config.word(key).empty() || config.word(kUseGroups) == "true" || model.groups == "yes";
}

/// What the engine's class makes of the configuration, its defaults among it.
void take_reading(const engine::RouterReading& reading, std::int64_t experts, RouterFacts& facts) {
  facts.scoring = reading.scoring;
  facts.renormalises = reading.renormalizes;
  facts.factor = reading.factor;
  facts.grouped = reading.groups > 0;
  set_groups(std::max(1, reading.groups), std::max(1, reading.topk_groups), experts, facts);
}

/// What no row computes, in words; empty: nothing stands against one.
std::string oddity(const CheckpointConfig& config, const ModelRow& model) {
  if (!model.unknown.empty()) return std::string(model.unknown);
  for (const Text key : kSoftCap) {
    if (config.number(key).value_or(0) > 0) return fmt::format("logits that are bounded ({} is {})", key, config.word(key));
  }
  if (config.expert_hidden) return fmt::format("hidden states that experts do not see ({})", config.expert_hidden->key);
  if (config.number("zero_expert_num").value_or(0) > 0) return "experts that pass their input on (zero_expert_num)";
  return {};
}

void choose_row(const CheckpointConfig& config, RouterFacts& facts) {
  const auto fits = [](int wanted, bool is) { return wanted < 0 || (wanted == 1) == is; };
  // Without a correction one group is none.
  const bool grouped = facts.correction ? facts.grouped : facts.groups > 1;
  const auto* const row = std::ranges::find_if(kWays, [&](const WayRow& one) {
    return is_of(config, one.model) && (one.scoring.empty() || one.scoring == facts.scoring) && fits(one.correction, facts.correction) &&
           fits(one.grouped, grouped) && fits(one.norm, facts.renormalises);
  });
  if (row != kWays.end() && facts.unknown.empty()) facts.recipe = &moe::router_named(row->recipe);
  if (facts.recipe != nullptr || !facts.unknown.empty()) return;
  facts.unknown = fmt::format("{} scores {} a correction, {}, weights {}", facts.scoring, facts.correction ? "with" : "without",
                              grouped ? fmt::format("{} group{}", facts.groups, facts.groups == 1 ? "" : "s") : "no groups",
                              facts.renormalises ? "normalized" : "as they are");
}

}  // namespace

bool declares_correction(const CheckpointConfig& config) { return config.word(kMethod) == "noaux_tc"; }

bool names_router(const CheckpointConfig& config) {
  return !config.word("model_type").empty() || !first_of(config, kScoring).empty() || !first_of(config, kNorm).empty() ||
         !first_of(config, kGroups).empty();
}

RouterFacts router_facts(const CheckpointConfig& config, bool correction, std::int64_t experts) {
  const ModelRow& model = model_of(config);
  RouterFacts facts{.scoring = std::string(first_of(config, kScoring)), .correction = correction, .recipe = nullptr};
  if (config.router && !config.router->scoring.empty()) {
    take_reading(*config.router, experts, facts);
    facts.unknown = oddity(config, model);
    choose_row(config, facts);
    return facts;
  }
  if (facts.scoring.empty()) facts.scoring = !model.scoring.empty() ? model.scoring : correction ? "sigmoid" : "softmax";
  // Where nothing is said, weights are normalized: so have Mixtral and its kin it, which know no such key.
  const Text norm = model.norm.empty() ? first_of(config, kNorm) : model.norm;
  facts.renormalises = norm != "false";
  facts.factor = config.number(key_of(config, kFactor)).value_or(1);
  facts.custom = model.custom;
  read_groups(config, model, experts, facts);
  facts.unknown = oddity(config, model);
  choose_row(config, facts);
  return facts;
}

std::string_view routing_method(const RouterFacts& facts, std::int64_t top_k, deployment::Engine engine) {
  if (!facts.custom.empty()) return facts.custom;
  const bool first = engine == deployment::kVllm2026_05;
  if (facts.scoring == "sqrtsoftplus") return facts.renormalises ? "DeepseekV4" : "Unspecified";
  if (facts.correction) {
    if (facts.scoring != "sigmoid" || (!first && !facts.renormalises)) return "Unspecified";
    if (facts.grouped) return "DeepSeekV3";
    return first || facts.factor == 1 ? "MiniMax2" : "Unspecified";
  }
  if (facts.scoring == "sigmoid") {
    if (first && top_k == 1) return "Llama4";
    return facts.renormalises ? "SigmoidRenorm" : first ? "Unspecified" : "Sigmoid";
  }
  if (facts.scoring == "softmax") return facts.renormalises ? "RenormalizeNaive" : "Default";
  return "Unspecified";
}

}  // namespace mx::checkpoint
