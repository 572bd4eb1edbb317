// A checkpoint that looks like gpt-oss, generated from a seed.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "support/json.hpp"
#include "support/random.hpp"
#include "support/safetensors.hpp"

namespace mx::checkpoint {
namespace {

constexpr std::int64_t kVocabulary = 64;
constexpr std::int64_t kHeadDim = 32;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kKeyValueHeads = 2;
constexpr std::int64_t kGroup = 32;

/// A stream of its own per tensor, so that a tensor does not depend on what else is written. FNV-1a, 64 bits.
std::uint64_t seed_of(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return seed ^ hash;
}

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  return elements;
}

/// What a tensor holds.
enum class Fill { codes, scales, values, ones };

/// Two fp4 codes a byte.
std::uint8_t random_codes(std::uint64_t random) { return static_cast<std::uint8_t>(random >> 56); }

/// 2^-10 to 2^-4, as trained weights have.
std::uint8_t random_scale(std::uint64_t random) { return static_cast<std::uint8_t>(117 + (random >> 32) % 7); }

/// Either sign, any fraction, magnitudes from 2^-9 to 2^-3.
std::uint16_t random_bf16(std::uint64_t random) {
  const std::uint64_t exponent = 118 + (random >> 32) % 6;
  return static_cast<std::uint16_t>((random >> 63) << 15 | exponent << 7 | (random & 0x7F));
}

support::TensorData make_tensor(std::uint64_t seed, const std::string& name, std::vector<std::int64_t> shape, Fill fill) {
  const bool is_byte = fill == Fill::codes || fill == Fill::scales;
  support::TensorData tensor{name, is_byte ? "U8" : "BF16", std::move(shape), {}};
  const auto elements = static_cast<std::size_t>(product(tensor.shape));
  tensor.bytes.reserve(elements * (is_byte ? 1 : 2));
  support::SplitMix64 random(seed_of(seed, name));
  for (std::size_t i = 0; i < elements; ++i) {
    if (is_byte) {
      tensor.bytes.push_back(fill == Fill::codes ? random_codes(random.next()) : random_scale(random.next()));
    } else {
      const std::uint16_t code = fill == Fill::ones ? std::uint16_t{0x3F80} : random_bf16(random.next());
      tensor.bytes.push_back(static_cast<std::uint8_t>(code & 0xFF));
      tensor.bytes.push_back(static_cast<std::uint8_t>(code >> 8));
    }
  }
  return tensor;
}

struct TensorPlan {
  std::string name;
  std::vector<std::int64_t> shape;
  Fill fill;
};

std::vector<TensorPlan> plan_layer(const SyntheticShape& shape, int layer) {
  const std::int64_t e = shape.experts, h = shape.hidden, i = shape.intermediate;
  const std::int64_t queries = kHeads * kHeadDim, keys = kKeyValueHeads * kHeadDim;
  const std::string prefix = fmt::format("model.layers.{}.", layer);
  return {
      {prefix + "input_layernorm.weight", {h}, Fill::ones},
      {prefix + "mlp.experts.down_proj_bias", {e, h}, Fill::values},
      {prefix + "mlp.experts.down_proj_blocks", {e, h, i / kGroup, kGroup / 2}, Fill::codes},
      {prefix + "mlp.experts.down_proj_scales", {e, h, i / kGroup}, Fill::scales},
      {prefix + "mlp.experts.gate_up_proj_bias", {e, 2 * i}, Fill::values},
      {prefix + "mlp.experts.gate_up_proj_blocks", {e, 2 * i, h / kGroup, kGroup / 2}, Fill::codes},
      {prefix + "mlp.experts.gate_up_proj_scales", {e, 2 * i, h / kGroup}, Fill::scales},
      {prefix + "mlp.router.bias", {e}, Fill::values},
      {prefix + "mlp.router.weight", {e, h}, Fill::values},
      {prefix + "post_attention_layernorm.weight", {h}, Fill::ones},
      {prefix + "self_attn.k_proj.bias", {keys}, Fill::values},
      {prefix + "self_attn.k_proj.weight", {keys, h}, Fill::values},
      {prefix + "self_attn.o_proj.bias", {h}, Fill::values},
      {prefix + "self_attn.o_proj.weight", {h, queries}, Fill::values},
      {prefix + "self_attn.q_proj.bias", {queries}, Fill::values},
      {prefix + "self_attn.q_proj.weight", {queries, h}, Fill::values},
      {prefix + "self_attn.sinks", {kHeads}, Fill::values},
      {prefix + "self_attn.v_proj.bias", {keys}, Fill::values},
      {prefix + "self_attn.v_proj.weight", {keys, h}, Fill::values},
  };
}

/// The first shard holds the embeddings and the first half of the layers, the second one the rest and the last norm.
std::vector<TensorPlan> plan_shard(const SyntheticShape& shape, int shard) {
  const int half = (shape.layers + 1) / 2;
  std::vector<TensorPlan> plans;
  if (shard == 0) {
    plans.push_back({"lm_head.weight", {kVocabulary, shape.hidden}, Fill::values});
    plans.push_back({"model.embed_tokens.weight", {kVocabulary, shape.hidden}, Fill::values});
  }
  for (int layer = shard == 0 ? 0 : half; layer < (shard == 0 ? half : shape.layers); ++layer) {
    for (TensorPlan& plan : plan_layer(shape, layer)) plans.push_back(std::move(plan));
  }
  if (shard == 1) plans.push_back({"model.norm.weight", {shape.hidden}, Fill::ones});
  // The reference writer sorts by alignment, then by name: the bytes come last.
  const auto is_byte = [](const TensorPlan& plan) { return plan.fill == Fill::codes || plan.fill == Fill::scales; };
  std::sort(plans.begin(), plans.end(),
            [&](const TensorPlan& a, const TensorPlan& b) { return std::pair(is_byte(a), a.name) < std::pair(is_byte(b), b.name); });
  return plans;
}

/// Keys and constants of a gpt-oss config. Source: openai/gpt-oss-20b config.json; transformers GptOssConfig.
support::Json config_of(const SyntheticShape& shape) {
  std::vector<std::string> layer_types;
  for (int layer = 0; layer < shape.layers; ++layer) layer_types.emplace_back(layer % 2 == 0 ? "sliding_attention" : "full_attention");
  return {
      {"architectures", support::Json::array({"GptOssForCausalLM"})},
      {"model_type", "gpt_oss"},
      {"attention_bias", true},
      {"attention_dropout", 0.0},
      {"head_dim", kHeadDim},
      {"hidden_act", "silu"},
      {"hidden_size", shape.hidden},
      {"initializer_range", 0.02},
      {"intermediate_size", shape.intermediate},
      {"layer_types", layer_types},
      {"max_position_embeddings", 256},
      {"num_attention_heads", kHeads},
      {"num_experts_per_tok", shape.top_k},
      {"num_hidden_layers", shape.layers},
      {"num_key_value_heads", kKeyValueHeads},
      {"num_local_experts", shape.experts},
      {"output_router_logits", false},
      {"quantization_config",
       {{"modules_to_not_convert", support::Json::array({"model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"})},
        {"quant_method", "mxfp4"}}},
      {"rms_norm_eps", 1e-05},
      {"rope_scaling",
       {{"beta_fast", 32.0},
        {"beta_slow", 1.0},
        {"factor", 32.0},
        {"original_max_position_embeddings", 4096},
        {"rope_type", "yarn"},
        {"truncate", false}}},
      {"rope_theta", 150000},
      {"router_aux_loss_coef", 0.9},
      {"sliding_window", 32},
      {"swiglu_limit", 7.0},
      {"tie_word_embeddings", false},
      {"torch_dtype", "bfloat16"},
      {"use_cache", true},
      {"vocab_size", kVocabulary},
  };
}

void check_shape(const SyntheticShape& shape) {
  const auto check = [](std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high, std::int64_t multiple) {
    if (value < low || value > high || value % multiple != 0) {
      throw Error(ErrorCode::usage, fmt::format("{} is {}, not from {} to {}{}", name, value, low, high,
                                                multiple > 1 ? fmt::format(" in multiples of {}", multiple) : ""));
    }
  };
  check("layers", shape.layers, 1, 1024, 1);
  check("experts", shape.experts, 1, 4096, 1);
  check("hidden", shape.hidden, kGroup, 1 << 16, kGroup);
  check("intermediate", shape.intermediate, kGroup, 1 << 16, kGroup);
  check("top_k", shape.top_k, 1, shape.experts, 1);
  // The shards are put together in memory.
  constexpr std::int64_t kMostElements = std::int64_t{1} << 33;
  const std::int64_t elements = 3 * std::int64_t{shape.layers} * shape.experts * shape.hidden * shape.intermediate;
  if (elements > kMostElements) {
    throw Error(ErrorCode::usage, fmt::format("{} layers of {} experts of {} x {} have {} weights, more than {}", shape.layers, shape.experts,
                                              shape.hidden, shape.intermediate, elements, kMostElements));
  }
}

void make_empty_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(ErrorCode::resource, "cannot be created: " + error.message(), directory.string());
  const bool empty = std::filesystem::is_empty(directory, error);
  if (error) throw Error(ErrorCode::resource, "cannot be listed: " + error.message(), directory.string());
  if (!empty) throw Error(ErrorCode::input, "is not empty; a checkpoint is written into an empty directory", directory.string());
}

void write_json(const std::filesystem::path& path, const support::Json& json) {
  const std::string text = json.dump(2) + "\n";
  support::write_file(path, std::vector<std::uint8_t>(text.begin(), text.end()), false);
}

}  // namespace

void write_synthetic_checkpoint(const std::filesystem::path& directory, const SyntheticShape& shape) {
  check_shape(shape);
  make_empty_directory(directory);
  std::map<std::string, std::string> weight_map;
  std::uint64_t total = 0;
  for (int shard = 0; shard < 2; ++shard) {
    const std::string file = fmt::format("model-{:05}-of-00002.safetensors", shard + 1);
    std::vector<support::TensorData> tensors;
    for (const TensorPlan& plan : plan_shard(shape, shard)) {
      tensors.push_back(make_tensor(shape.seed, plan.name, plan.shape, plan.fill));
      weight_map[plan.name] = file;
      total += tensors.back().bytes.size();
    }
    support::write_file(directory / file, support::safetensors_bytes(tensors, {{"format", "pt"}}), false);
  }
  write_json(directory / "config.json", config_of(shape));
  // Last: a directory that was left half written has no index.
  write_json(directory / "model.safetensors.index.json", {{"metadata", {{"total_size", total}}}, {"weight_map", weight_map}});
}

}  // namespace mx::checkpoint
