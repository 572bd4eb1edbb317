#include "checkpoint/configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "support/file.hpp"
#include "support/python_json.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using Text = std::string_view;
using support::Json;

// A table of every projection of every expert has megabytes.
constexpr support::JsonLimits kLimits{.bytes = std::uint64_t{16} << 20, .depth = 16, .memory = std::uint64_t{128} << 20};

constexpr std::array kKeys{"quantization_config", "compression_config"};

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

std::string text_of(const Json& json) { return json.is_string() ? json.get<std::string>() : json.dump(); }

std::string lower(Text text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

/// A member that is there and not null.
const Json* member(const Json& json, const std::string& key) {
  const Json* const found = json.is_object() ? json.find(key) : nullptr;
  return found == nullptr || found->is_null() ? nullptr : found;
}

/// What a scheme says, without the modules that it is for; of a list of several things by their numbers: "weight.0.dtype" -> "fp4".
std::map<std::string, std::string> scheme_words(const Json& scheme) {
  std::map<std::string, std::string> words;
  if (!scheme.is_object()) return words;
  for (const auto& [word, value] : scheme.items()) {
    if (word == "targets") continue;
    add_words(value, word, words);
    for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
      if (value[i].is_object()) add_words(value[i], fmt::format("{}.{}", word, i), words);
    }
  }
  return words;
}

bool is_table(const std::string& key) {
  return std::ranges::any_of(engine::scheme_tables(), [&](const engine::SchemeTableRow& row) { return row.key == key || row.otherwise == key; });
}
bool is_list(const std::string& key) {
  const auto has_it = [&](const auto& row) { return std::ranges::find(row.keys, key) != row.keys.end(); };
  return std::ranges::any_of(engine::left_rows(), has_it) || std::ranges::any_of(engine::only_rows(), has_it);
}

/// Names with commas between them.
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ',') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

/// Quantization configurations are objects wherever the engine looks for one.
void require_objects(const Json& config, const std::string& where) {
  for (const Json* const part : {&config, member(config, "text_config")}) {
    for (const char* const key : kKeys) {
      const Json* const found = part == nullptr ? nullptr : member(*part, key);
      if (found != nullptr && !found->is_object()) fail(where, fmt::format("{} is {}, must be an object", key, found->dump()));
    }
  }
}

}  // namespace

void add_words(const Json& json, const std::string& path, std::map<std::string, std::string>& words) {
  if (!json.is_object() || json.empty()) {
    words[path] = text_of(json);
    return;
  }
  for (const auto& [key, value] : json.items()) add_words(value, path.empty() ? key : path + "." + key, words);
}

Configuration::Configuration(const Json& config, const Json& sidecar, deployment::Engine engine, const std::string& place)
    : engine_(engine), place_(place) {
  for (const char* const key : {"model_type", "expert_dtype"}) {
    for (const std::string& at : {std::string(), std::string("text_config")}) {
      const Json* const object = at.empty() ? &config : member(config, at);
      const Json* const found = object == nullptr ? nullptr : member(*object, key);
      if (found != nullptr) model_[at.empty() ? key : at + "." + key] = text_of(*found);
    }
  }
  if (const Json* const architectures = member(config, "architectures"); architectures != nullptr && architectures->is_array()) {
    for (const Json& one : *architectures) model_[fmt::format("architectures.{}", model_.size())] = text_of(one);
  }
  find(config, sidecar);
  says_ = !root_.empty() || member(config, "model_type") != nullptr || member(config, "architectures") != nullptr;
  if (root_.empty()) return;
  method_ = lower(word("quant_method"));
  if (method_ == "compressed_tensors") method_ = "compressed-tensors";
  apply_hooks();
  const bool is_older = std::ranges::any_of(words_, [](const auto& one) { return one.first.starts_with("quantization."); });
  for (const engine::RequiredRow& row : engine::required_words()) {
    if (!is_older || row.method != method_) continue;
    const auto missing = std::ranges::find_if(row.keys, [&](Text key) { return !words_.contains(std::string(key)); });
    if (missing != row.keys.end()) fail(place_, fmt::format("{} has no {}: the engine raises ValueError for method {}", root_, *missing, method_));
  }
}

/// Which object counts. Source: vllm transformers_utils/config.py get_config, model_arch_config_convertor.py get_quantization_config.
void Configuration::find(const Json& config, const Json& sidecar) {
  require_objects(config, place_);
  const Json* found = member(config, kKeys[0]);
  root_ = kKeys[0];
  if (found == nullptr && sidecar.is_object()) {
    found = &sidecar;
    root_ = "hf_quant_config";
  }
  const Json* const text = member(config, "text_config");
  for (const std::string& at : {std::string(), std::string("text_config.")}) {
    for (const char* const key : kKeys) {
      if (found != nullptr) break;
      const Json* const part = at.empty() ? &config : text;
      found = part == nullptr ? nullptr : member(*part, key);
      root_ = at + key;
    }
  }
  if (found == nullptr) {
    root_.clear();
    return;
  }
  for (const auto& [key, value] : found->items()) {
    if (key != "quantization" || !value.is_object()) {
      take(value, key);
      continue;
    }
    for (const auto& [inner, below] : value.items()) take(below, key + "." + inner);
  }
}

/// A table of schemes, a list of names, or words.
void Configuration::take(const Json& json, const std::string& key) {
  if (!is_table(key) || !json.is_object()) {
    add_words(json, key, words_);
    if (is_list(key) && json.is_array()) {
      for (const Json& entry : json) {
        if (entry.is_string()) lists_[key].push_back(entry.text());
      }
    }
    const bool is_only =
        std::ranges::any_of(engine::only_rows(), [&](const auto& row) { return std::ranges::find(row.keys, key) != row.keys.end(); });
    if (is_only && json.is_string()) lists_[key] = names_in(json.text());
    return;
  }
  // Conditions of hooks look into the scheme of all.
  const bool of_all = std::ranges::any_of(engine::scheme_tables(), [&](const engine::SchemeTableRow& row) { return row.otherwise == key; });
  if (of_all) {
    add_words(json, key, words_);
    schemes_.push_back({key, root_ + "." + key, {}, scheme_words(json)});
    return;
  }
  words_[key] = "{}";
  const bool by_key = std::ranges::find(engine::scheme_tables(), key, &engine::SchemeTableRow::key)->by_key;
  for (const auto& [name, scheme] : json.items()) {
    DeclaredScheme made{key, fmt::format("{}.{}.{}", root_, key, name), {}, scheme_words(scheme)};
    const Json* const targets = scheme.is_object() ? scheme.find("targets") : nullptr;
    if (by_key) {
      made.targets.push_back(name);
    } else if (targets == nullptr || !targets->is_array()) {
      made.targets.emplace_back("Linear");
    } else {
      for (const Json& target : *targets) {
        if (target.is_string()) made.targets.push_back(target.text());
      }
    }
    schemes_.push_back(std::move(made));
  }
}

std::string Configuration::word(Text key) const {
  const auto found = words_.find(std::string(key));
  return found == words_.end() || found->second == "null" ? std::string() : found->second;
}

bool Configuration::is_model(std::span<const Text> models) const {
  return models.empty() || std::ranges::any_of(model_, [&](const auto& one) { return std::ranges::find(models, one.second) != models.end(); });
}

void Configuration::apply_hooks() {
  const auto says = [&](const engine::SaysRow& row) {
    const std::string found = word(row.key);
    return !found.empty() && (row.values.empty() || std::ranges::any_of(row.values, [&](Text value) { return lower(found) == lower(value); }));
  };
  for (const engine::HookRow& row : engine::method_hooks()) {
    if (!row.versions.has(engine_) || fault::planted(fault::Fault::hooks_are_forgotten) || row.method != method_ || !is_model(row.models) ||
        !std::ranges::all_of(row.says, says))
      continue;
    if (row.becomes.empty())
      throw Error(ErrorCode::unsupported,
                  fmt::format("{}.{} is {}, for which the engine raises {}", root_, row.says.back().key,
                              support::in_quotes(word(row.says.back().key)), row.raises),
                  place_);
    hooked_ = method_;
    method_ = row.becomes;
    return;
  }
}

std::string Configuration::method_text() const {
  return method_.empty() ? std::string() : fmt::format("{}.quant_method is {}", root_, support::in_quotes(hooked_.empty() ? method_ : hooked_));
}

std::string Configuration::hook_text(std::span<const Text> methods) const {
  for (const engine::HookRow& row : engine::method_hooks()) {
    if (row.method != method_ || row.models.empty() || std::ranges::find(methods, row.becomes) == methods.end() || !row.versions.has(engine_))
      continue;
    return fmt::format("; {} takes {} for {} alone", deployment::name_of(engine_), row.becomes, fmt::join(row.models, ", "));
  }
  return {};
}

Configuration read_configuration(const std::filesystem::path& directory, deployment::Engine engine) {
  const auto read = [&](const char* name) -> Json {
    const std::filesystem::path file = directory / name;
    if (!support::is_there(file)) return {};
    Json json = support::parse_python_json(support::read_file(file, kLimits.bytes), kLimits, file.string());
    if (!json.is_object()) fail(file.string() + ": byte 0", "the top level must be an object");
    return json;
  };
  return {read("config.json"), read("hf_quant_config.json"), engine, (directory / "config.json").string()};
}

}  // namespace mx::checkpoint
