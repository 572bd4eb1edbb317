#include "checkpoint/checkpoint_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "checkpoint/layout_tags.hpp"
#include "model/error.hpp"
#include "support/json.hpp"
#include "support/model_json.hpp"
#include "support/python_json.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using std::filesystem::path;

constexpr std::string_view kSingleName = "model.safetensors";
/// What weight files' names begin with; the first that is there. Source: transformers; mistralai's own (vllm at 7ca49fbe4
/// model_executor/model_loader/default_loader.py, load_format mistral).
constexpr std::array<std::string_view, 2> kStems{"model", "consolidated"};
constexpr std::string_view kSuffix = ".safetensors";
constexpr support::JsonLimits kIndexLimits{.bytes = std::uint64_t{16} << 20, .depth = 4, .memory = std::uint64_t{64} << 20};
// A table of every projection of every expert has megabytes.
constexpr support::JsonLimits kConfigLimits{.bytes = std::uint64_t{16} << 20, .depth = 16, .memory = std::uint64_t{128} << 20};

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

support::Json read_json_object(const path& file, const support::JsonLimits& limits) {
  support::Json value = support::parse_python_json(support::read_file(file, limits.bytes), limits, file.string());
  if (!value.is_object()) fail(file.string() + ": byte 0", "the top level must be an object");
  return value;
}

/// Tensor name -> shard name, as the index lists them.
using WeightMap = std::map<std::string, std::string>;

/// The order in which the engine reads files: numbers in names by their value. Source: vllm model_loader/weight_utils.py _natural_sort_key.
struct ReadingOrder {
  bool operator()(std::string_view a, std::string_view b) const {
    const std::string_view all_a = a, all_b = b;
    constexpr std::string_view kDigits = "0123456789";
    for (bool digits = false; !a.empty() && !b.empty(); digits = !digits) {
      const auto take = [&](std::string_view& text) {
        const std::size_t end = digits ? text.find_first_not_of(kDigits) : text.find_first_of(kDigits);
        std::string_view part = text.substr(0, end);
        text.remove_prefix(part.size());
        if (digits) part.remove_prefix(std::min(part.find_first_not_of('0'), part.size()));
        return part;
      };
      const std::string_view part_a = take(a), part_b = take(b);
      if (digits && part_a.size() != part_b.size()) return part_a.size() < part_b.size();
      if (part_a != part_b) return part_a < part_b;
    }
    return a.empty() != b.empty() ? a.empty() : all_a < all_b;
  }
};

WeightMap read_index(const path& file) {
  const support::Json index = read_json_object(file, kIndexLimits);
  const auto map = index.find("weight_map");
  if (map == nullptr) fail(file.string(), "has no weight_map");
  if (!map->is_object()) fail(file.string(), "weight_map is not an object");
  WeightMap weights;
  for (const auto& [name, shard] : map->items()) {
    const std::string where = fmt::format("{}: weight_map {}", file.string(), support::in_quotes(name));
    if (!shard.is_string()) fail(where, fmt::format("names the shard {}, which is not a string", support::in_quotes(shard.dump())));
    const std::string& text = shard.text();
    if (!is_shard_name(text)) {
      fail(where, fmt::format("names the shard {}, which is not a plain *{} file name", support::in_quotes(text), kSuffix));
    }
    weights.emplace(name, text);
  }
  if (weights.empty()) fail(file.string(), "weight_map is empty");
  return weights;
}

/// "model-00001-of-00002.safetensors" -> {1, 2}; the original release writes two dashes.
struct ShardNumber {
  unsigned number;
  unsigned count;
};
std::optional<ShardNumber> shard_number(std::string_view name, std::string_view stem) {
  const auto take = [&](std::string_view text) {
    const bool found = name.starts_with(text);
    if (found) name.remove_prefix(text.size());
    return found;
  };
  const auto take_number = [&](unsigned& value) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error == std::errc{}) name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    return error == std::errc{};
  };
  ShardNumber shard{};
  if (!take(stem) || !take("-")) return std::nullopt;
  take("-");
  if (!take_number(shard.number) || !take("-of-") || !take_number(shard.count) || name != kSuffix) return std::nullopt;
  return shard;
}

/// The numbered shards of a directory; every number from 1 to the count must be there once.
std::vector<path> numbered_shards(const path& directory, std::string_view stem) {
  std::map<unsigned, path> shards;
  std::optional<std::pair<unsigned, path>> first;
  std::error_code error;
  for (std::filesystem::directory_iterator entries(directory, error), end; entries != end; entries.increment(error)) {
    const std::filesystem::directory_entry& entry = *entries;
    const std::optional<ShardNumber> shard = shard_number(entry.path().filename().string(), stem);
    if (!shard) continue;
    if (!first) first = {shard->count, entry.path()};
    if (shard->number < 1 || shard->number > shard->count) {
      fail(entry.path().string(), fmt::format("is shard {} of {}", shard->number, shard->count));
    }
    if (shard->count != first->first) {
      fail(entry.path().string(),
           fmt::format("is one of {} shards, but {} is one of {}", shard->count, first->second.filename().string(), first->first));
    }
    if (!shards.emplace(shard->number, entry.path()).second) {
      fail(entry.path().string(), fmt::format("is shard {}, and so is {}", shard->number, shards[shard->number].filename().string()));
    }
  }
  if (error) fail(directory.string(), "cannot be listed: " + error.message());
  std::vector<path> files;
  for (auto& [number, file] : shards) {
    if (number != files.size() + 1) break;
    files.push_back(file);
  }
  if (first && files.size() != first->first) {
    fail(directory.string(), fmt::format("shard {} of {} is missing beside {}", files.size() + 1, first->first, first->second.filename().string()));
  }
  return files;
}

void add_file(CheckpointFiles& checkpoint, const path& file) { checkpoint.files.emplace_back(file); }

/// Joins the tensors of all files under their names. Of two files with one name the index's counts, where it is the one that the engine reads last:
/// it reads whole files in the order of their names.
void collect_tensors(CheckpointFiles& checkpoint, const WeightMap& weights = {}) {
  for (const support::SafetensorsFile& file : checkpoint.files) {
    for (const auto& [name, view] : file.tensors()) {
      const auto [entry, is_new] = checkpoint.tensors.try_emplace(name, LocatedTensor{&file, &view, true});
      if (is_new) continue;
      const std::string place = fmt::format("{}: tensor {}", file.path().string(), support::in_quotes(name));
      const std::string other = entry->second.file->path().filename().string();
      const auto named = weights.find(std::string(name));
      if (named == weights.end()) fail(place, fmt::format("is in {} too", other));
      if (named->second != file.path().filename().string())
        fail(place, fmt::format("is in {} too, which the index names; the engine reads {} after it and keeps this tensor", other,
                                file.path().filename().string()));
      checkpoint.overlaid.emplace_back(entry->first, entry->second.file);
      entry->second = LocatedTensor{&file, &view, true};
    }
  }
}

/// Holds what is there against what the index promises.
void check_index(CheckpointFiles& checkpoint, const WeightMap& weights, const path& index) {
  for (const auto& [name, shard] : weights) {
    const auto found = checkpoint.tensors.find(name);
    const std::string where = fmt::format("{}: weight_map {}", index.string(), support::in_quotes(name));
    if (found == checkpoint.tensors.end()) fail(where, fmt::format("the tensor is not in {}", support::in_quotes(shard)));
    const std::string actual = found->second.file->path().filename().string();
    if (actual != shard) fail(where, fmt::format("the tensor is not in {} but in {}", support::in_quotes(shard), support::in_quotes(actual)));
  }
  for (auto& [name, tensor] : checkpoint.tensors) tensor.indexed = weights.contains(std::string(name));
}

void open_indexed(CheckpointFiles& checkpoint, const path& index) {
  const WeightMap weights = read_index(index);
  std::set<std::string, ReadingOrder> shards;
  for (const auto& [name, shard] : weights) {
    if (!shards.insert(shard).second) continue;
    const path file = checkpoint.directory / shard;
    if (!support::is_there(file)) {
      fail(fmt::format("{}: weight_map {}", index.string(), support::in_quotes(name)),
           fmt::format("the shard {} does not exist", support::in_quotes(shard)));
    }
  }
  for (const std::string& shard : shards) add_file(checkpoint, checkpoint.directory / shard);
  collect_tensors(checkpoint, weights);
  check_index(checkpoint, weights, index);
}

/// Keys of a size in config.json. Source: transformers GptOssConfig, MixtralConfig, Qwen3MoeConfig, DeepseekV3Config, Gemma4TextConfig; Kimi's and
/// Ernie's; vllm at 7ca49fbe4 models/nemotron_h.py (moe_latent_size), step3p5.py (moe_top_k), hunyuan_v1.py (moe_topk); openai/gpt-oss
/// gpt_oss/torch/model.py ModelConfig.
struct ConfigRow {
  std::string_view key;
  std::optional<ConfigSize> CheckpointConfig::*member;
  std::uint64_t least = 1;
};
constexpr std::array<ConfigRow, 17> kConfigRows{{
    {"num_hidden_layers", &CheckpointConfig::layers},
    {"num_local_experts", &CheckpointConfig::experts},
    {"num_experts", &CheckpointConfig::experts},
    {"n_routed_experts", &CheckpointConfig::experts},
    {"num_experts_per_tok", &CheckpointConfig::top_k},
    {"experts_per_token", &CheckpointConfig::top_k},
    {"num_experts_per_token", &CheckpointConfig::top_k},
    {"top_k_experts", &CheckpointConfig::top_k},
    {"moe_top_k", &CheckpointConfig::top_k},
    {"moe_topk", &CheckpointConfig::top_k},
    {"moe_k", &CheckpointConfig::top_k},
    {"moe_num_experts", &CheckpointConfig::experts},
    {"hidden_size", &CheckpointConfig::hidden},
    {"moe_latent_size", &CheckpointConfig::expert_hidden},
    {"intermediate_size", &CheckpointConfig::intermediate},
    {"moe_intermediate_size", &CheckpointConfig::expert_intermediate},
    {"num_nextn_predict_layers", &CheckpointConfig::more_layers, 0},
}};

/// A row's value at the top, else in the part of a model of several kinds that speaks of its text.
const support::Json* value_of(const support::Json& json, std::string_view key) {
  if (const support::Json* const found = json.find(key); found != nullptr) return found;
  const support::Json* const text = json.find("text_config");
  return text == nullptr ? nullptr : text->find(key);
}

/// Whoever opens a checkpoint may ask for less than the whole file says: what its class refuses of it is no error here.
std::optional<engine::RouterReading> router_of(const support::Json& json, const path& file, deployment::Engine engine) {
  try {
    // Its dtype alone follows from the card.
    const deployment::Hardware any{.platform = deployment::PlatformKind::cuda, .capability = 90, .gcn_arch = {}};
    return engine::read_model(support::config_value_of(json), file.string(), engine, any).router;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool is_shard_name(std::string_view name) {
  return name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos && name.ends_with(kSuffix);
}

void refuse_onnx(const path& where) {
  if (where.extension() != ".onnx") return;
  throw Error(ErrorCode::unsupported, "is an ONNX model, which the Python package reads: python -m mxact inspect, audit or compare FILE.onnx",
              where.string());
}

CheckpointFiles open_checkpoint_files(const path& where) {
  CheckpointFiles checkpoint{where, true, {}, {}};
  if (where.empty()) throw Error(ErrorCode::input, "the path of a checkpoint is empty");
  if (!support::is_there(where)) fail(where.string(), "there is no such file or directory");
  refuse_onnx(where);
  if (std::error_code error; !std::filesystem::is_directory(where, error)) {
    checkpoint.directory = where.parent_path();
    checkpoint.whole = false;
    add_file(checkpoint, where);
    collect_tensors(checkpoint);
    return checkpoint;
  }
  for (const std::string_view stem : kStems) {
    if (const path index = where / fmt::format("{}{}.index.json", stem, kSuffix); support::is_there(index)) {
      open_indexed(checkpoint, index);
      return checkpoint;
    }
    if (const path single = where / fmt::format("{}{}", stem, kSuffix); support::is_there(single)) {
      add_file(checkpoint, single);
    } else {
      for (const path& shard : numbered_shards(where, stem)) add_file(checkpoint, shard);
    }
    if (!checkpoint.files.empty()) break;
  }
  if (checkpoint.files.empty()) {
    fail(where.string(),
         fmt::format("holds no weights: neither {} nor {} nor model-*-of-*{}, nor such files named consolidated", kIndexName, kSingleName, kSuffix));
  }
  collect_tensors(checkpoint);
  return checkpoint;
}

std::string_view CheckpointConfig::word(std::string_view key) const {
  for (const std::string& place : {std::string(key), fmt::format("text_config.{}", key)}) {
    const auto found = words.find(place);
    if (found != words.end() && found->second != "null") return found->second;
  }
  return {};
}

std::optional<double> CheckpointConfig::number(std::string_view key) const {
  const std::string_view text = word(key);
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (is_number && !texts.contains(key)) return value;
  fail(path.string(), fmt::format("{} is {}{}, expected a number", key, is_number ? "the text " : "", support::in_quotes(text)));
}

std::optional<double> CheckpointConfig::number_of_layer(std::string_view key, int layer) const {
  const std::string_view text = word(key);
  if (!text.starts_with("[")) return number(key);
  const support::Json list = support::parse_json(text, kConfigLimits, path.string());
  if (static_cast<std::size_t>(layer) >= list.size()) return std::nullopt;
  const support::Json& entry = list[static_cast<std::size_t>(layer)];
  if (entry.is_null()) return std::nullopt;
  if (!entry.is_number()) fail(path.string(), fmt::format("{} is {} of layer {}, expected a number", key, support::in_quotes(entry.dump()), layer));
  return entry.number();
}

CheckpointConfig read_checkpoint_config(const path& directory, deployment::Engine engine) {
  CheckpointConfig config;
  const path file = directory / kConfigName;
  config.path = file;
  config.quantization = read_configuration(directory, engine);
  if (!support::is_there(file)) return config;
  const support::Json json = read_json_object(file, kConfigLimits);
  config.router = router_of(json, file, engine);
  for (const auto& [key, value] : json.items()) {
    if (key == "quantization_config" || key == "compression_config") continue;
    add_words(value, key, config.words);
    if (value.is_string()) config.texts.insert(key);
    if (key != "text_config" || !value.is_object()) continue;
    for (const auto& [inner, below] : value.items()) {
      if (below.is_string()) config.texts.insert(inner);
    }
  }
  for (const ConfigRow& row : kConfigRows) {
    const support::Json* const found = value_of(json, row.key);
    if (found == nullptr || found->is_null()) continue;
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 31;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() < row.least || found->get<std::uint64_t>() > kLargest) {
      fail(file.string(), fmt::format("{} is {}, not an integer from {} to {}", row.key, support::in_quotes(found->dump()), row.least, kLargest));
    }
    const auto value = found->get<std::int64_t>();
    std::optional<ConfigSize>& member = config.*row.member;
    if (member && member->value != value) fail(file.string(), fmt::format("{} is {}, but {} is {}", row.key, value, member->key, member->value));
    member = ConfigSize{std::string(row.key), value};
  }
  return config;
}

void refuse_converted(const CheckpointFiles& files) {
  for (const support::SafetensorsFile& file : files.files) {
    if (is_converted(file)) fail(file.path().string(), "is converted already; `mxact restore` of its directory gives the checkpoint back");
  }
}

}  // namespace mx::checkpoint
