#include "sim/checkpoint/layer_router.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "model/error.hpp"
#include "model/numerics/convert.hpp"
#include "sim/checkpoint/form_search.hpp"
#include "sim/checkpoint/source_memory.hpp"
#include "support/quote.hpp"

namespace mx::sim {
namespace {

using Text = std::string_view;

/// Names behind a layer's prefix. Source: transformers modeling_qwen3_moe.py, modeling_deepseek_v3.py and glm4_moe, modeling_minimax_m2.py,
/// modeling_llama4.py; DeepSeek-V4 inference/model.py Gate; modeling_gemma4.py Gemma4TextRouter.
struct RouterNames {
  Text weight;
  std::array<Text, 2> corrections;
  Text expert_factors;
  Text input_scale;
};
constexpr std::array<RouterNames, 4> kNames{{{".gate.weight", {".gate.e_score_correction_bias", ".e_score_correction_bias"}, {}, {}},
                                             {".gate.weight", {".gate.bias", {}}, {}, {}},
                                             {".router.weight", {}, {}, {}},
                                             {".router.proj.weight", {}, ".router.per_expert_scale", ".router.scale"}}};

/// The way a configuration stands for; the first row whose words all fit. An empty word fits whatever is said.
struct WayRow {
  Text model;      ///< model_type begins with it
  Text scoring;    ///< scoring_func, or what stands for it
  int correction;  ///< 1: there is one, 0: there is none, -1: either
  int groups;      ///< likewise of n_group above 1
  Text norm;       ///< norm_topk_prob
  Text recipe;
};
// Where norm_topk_prob is not said, weights are normalized: so have Mixtral and its kin it, which know no such key.
constexpr std::array<WayRow, 10> kWays{{{"llama4", {}, -1, -1, {}, "llama4"},
                                        {{}, "sqrtsoftplus", -1, -1, {}, "deepseek-v4"},
                                        {{}, "sigmoid", 1, 1, {}, "deepseek-v3-vllm"},
                                        {{}, "sigmoid", 1, 0, {}, "minimax-m2"},
                                        {{}, "sigmoid", 0, -1, "false", "sigmoid"},
                                        {{}, "sigmoid", 0, -1, {}, "sigmoid-renorm"},
                                        {{}, "softmax", -1, 1, {}, "deepseek-v2-grouped-vllm"},
                                        {{}, "softmax", 0, 0, "false", "softmax-topk"},
                                        {{}, "softmax", 0, 0, {}, "softmax-topk-norm"},
                                        {{}, "softmax", 1, 0, {}, {}}}};

/// A tensor of floating-point numbers of that shape; none where there is no such name.
std::optional<std::vector<std::uint32_t>> numbers_of(const CheckpointFiles& files, const std::string& name, const std::vector<std::int64_t>& shape) {
  const auto found = files.tensors.find(name);
  if (found == files.tensors.end()) return std::nullopt;
  const TensorView& view = *found->second.view;
  const std::string place = place_of(found->second, name);
  constexpr std::array<Text, 3> kDtypes{"BF16", "F16", "F32"};
  if (std::ranges::find(kDtypes, view.dtype->name) == kDtypes.end())
    throw Error(ErrorCode::input, fmt::format("dtype is {}, expected BF16, F16 or F32 of a router", view.dtype->name), place);
  if (view.shape != shape)
    throw Error(ErrorCode::input, fmt::format("shape is {}, expected {} of a router", shape_text(view.shape), shape_text(shape)), place);
  return f32_numbers(*found->second.file, view);
}

/// A number of the configuration, or what it is where nothing is said.
double number_of(const CheckpointConfig& config, Text key, double unsaid) {
  const Text word = config.word(key);
  if (word.empty()) return unsaid;
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc{} && end == word.data() + word.size()) return value;
  throw Error(ErrorCode::input, fmt::format("{} is {}, expected a number", key, in_quotes(word)), config.path.string());
}

/// Likewise a whole number from 1 to `most`.
std::int64_t count_of(const CheckpointConfig& config, Text key, std::int64_t most) {
  const double value = number_of(config, key, 1);
  if (value >= 1 && value <= static_cast<double>(most) && value == std::floor(value)) return static_cast<std::int64_t>(value);
  throw Error(ErrorCode::input, fmt::format("{} is {}, expected a whole number from 1 to {}", key, value, most), config.path.string());
}

Text scoring_of(const CheckpointConfig& config, bool correction) {
  for (const Text key : {Text("scoring_func"), Text("moe_router_activation_func"), Text("router_scoring_func")}) {
    if (const Text word = config.word(key); !word.empty()) return word;
  }
  return correction ? "sigmoid" : "softmax";
}

const moe::RouterRecipe& recipe_of(const CheckpointConfig& config, bool correction, bool groups) {
  const Text scoring = scoring_of(config, correction), norm = config.word("norm_topk_prob"), model = config.word("model_type");
  const auto fits = [](int wanted, bool is) { return wanted < 0 || (wanted == 1) == is; };
  const auto* const row = std::ranges::find_if(kWays, [&](const WayRow& one) {
    return model.starts_with(one.model) && (one.scoring.empty() || one.scoring == scoring) && fits(one.correction, correction) &&
           fits(one.groups, groups) && (one.norm.empty() || one.norm == norm);
  });
  if (row != kWays.end() && !row->recipe.empty()) return moe::router_named(row->recipe);
  throw Error(ErrorCode::unsupported,
              fmt::format("a router of {} scores{} is not known here", in_quotes(scoring), correction ? " with a correction" : ""),
              config.path.string());
}

}  // namespace

LayerRouter LayerRouter::first(std::int64_t experts, std::int64_t all) const {
  LayerRouter cut = *this;
  const auto kept = static_cast<std::size_t>(experts);
  cut.weight.resize(weight.size() / static_cast<std::size_t>(all) * kept);
  if (!correction.empty()) cut.correction.resize(kept);
  if (!expert_factors.empty()) cut.expert_factors.resize(kept);
  if (experts < all) cut.groups = cut.topk_groups = 1;
  return cut;
}

std::vector<std::vector<moe::Slot>> LayerRouter::route(std::span<const std::uint32_t> x, std::int64_t hidden, std::int64_t top_k) const {
  const auto width = static_cast<std::size_t>(hidden);
  moe::Router router{static_cast<std::int64_t>(weight.size() / width), hidden, {}, {}};
  for (const std::uint32_t bits : weight) router.weight.push_back(decode(kF32, bits));
  const moe::F32Arithmetic arithmetic(Contract::f32_sequential);
  const moe::RouterSizes sizes{top_k, groups, topk_groups, decode(kF32, factor)};
  std::vector<std::vector<moe::Slot>> slots;
  for (std::size_t token = 0; token * width < x.size(); ++token) {
    std::vector<Value> values;
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const double number = std::bit_cast<float>(x[token * width + i] << 16U);
      squares += number * number;
    }
    const double root = std::sqrt(squares / static_cast<double>(hidden) + epsilon) * std::sqrt(static_cast<double>(hidden));
    for (std::size_t i = 0; i < width; ++i) {
      std::uint32_t bits = x[token * width + i] << 16U;
      if (!input_scale.empty())
        bits = std::bit_cast<std::uint32_t>(
            static_cast<float>(std::bit_cast<float>(bits) / root * static_cast<double>(std::bit_cast<float>(input_scale[i]))));
      values.push_back(decode(kF32, bits));
    }
    slots.push_back(moe::route_logits<moe::F32Arithmetic>(*recipe, sizes, moe::router_logits(arithmetic, values, router), correction));
    for (moe::Slot& slot : slots.back()) {
      if (!expert_factors.empty()) slot.weight = moe::F32Arithmetic::mul(slot.weight, expert_factors[static_cast<std::size_t>(slot.expert)]);
    }
  }
  return slots;
}

std::optional<LayerRouter> read_router(const CheckpointFiles& files, const CheckpointConfig& config, std::string_view prefix, std::int64_t experts,
                                       std::int64_t hidden) {
  for (const RouterNames& names : kNames) {
    const auto name = [&](Text suffix) { return std::string(prefix) + std::string(suffix); };
    std::optional<std::vector<std::uint32_t>> weight = numbers_of(files, name(names.weight), {experts, hidden});
    if (!weight) continue;
    LayerRouter router{nullptr, 1, 1, 0x3F800000U, std::move(*weight), {}, {}, {}, 0};
    for (const Text suffix : names.corrections) {
      if (suffix.empty() || !router.correction.empty()) continue;
      if (auto found = numbers_of(files, name(suffix), {experts})) router.correction = std::move(*found);
    }
    // The same weight's name may stand for another family, which has its correction elsewhere.
    const bool elsewhere = router.correction.empty() && &names == kNames.data() && files.tensors.contains(name(kNames[1].corrections[0]));
    if (elsewhere) continue;
    if (!names.expert_factors.empty())
      router.expert_factors = numbers_of(files, name(names.expert_factors), {experts}).value_or(std::vector<std::uint32_t>{});
    if (!names.input_scale.empty()) {
      router.input_scale = numbers_of(files, name(names.input_scale), {hidden}).value_or(std::vector<std::uint32_t>{});
      router.epsilon = number_of(config, "rms_norm_eps", 1e-6);
    }
    router.groups = count_of(config, "n_group", experts);
    router.topk_groups = count_of(config, "topk_group", router.groups);
    if (experts % router.groups != 0)
      throw Error(ErrorCode::input, fmt::format("n_group is {}, which does not divide the {} experts", router.groups, experts), config.path.string());
    router.factor = std::bit_cast<std::uint32_t>(static_cast<float>(number_of(config, "routed_scaling_factor", 1)));
    router.recipe = &recipe_of(config, !router.correction.empty(), router.groups > 1);
    return router;
  }
  return std::nullopt;
}

}  // namespace mx::sim
