#include "checkpoint/declared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "checkpoint/module_pattern.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using Text = std::string_view;

/// A table of groups in a configuration: each member is one, told by its key or by its targets.
struct GroupTable {
  Text path;
  bool by_key;
};
constexpr std::array<GroupTable, 4> kGroupTables{{{"quantization_config.config_groups", false},
                                                  {"quantization_config.quantized_layers", true},
                                                  {"quantization_config.layer_quant_config", true},
                                                  {"hf_quant_config.quantization.quantized_layers", true}}};
/// One group for whatever no other names.
constexpr std::array<Text, 1> kGlobalGroups{"quantization_config.global_quant_config"};
constexpr std::array<Text, 8> kLists{"quantization_config.ignore",
                                     "quantization_config.ignored_layers",
                                     "quantization_config.modules_to_not_convert",
                                     "quantization_config.exclude",
                                     "quantization_config.exclude_modules",
                                     "quantization_config.quantization.exclude_modules",
                                     "hf_quant_config.quantization.exclude_modules",
                                     "hf_quant_config.quantization.ignore"};

struct FactRow {
  Text path;
  Text key;
};
/// Of the whole checkpoint.
constexpr std::array<FactRow, 10> kFacts{{{"quantization_config.quant_method", "method"},
                                          {"quantization_config.quant_algo", "algo"},
                                          {"hf_quant_config.quantization.quant_algo", "algo"},
                                          {"hf_quant_config.quantization.group_size", "group"},
                                          {"quantization_config.weight_block_size", "square"},
                                          {"quantization_config.activation_scheme", "activation_scheme"},
                                          {"model_type", "model"},
                                          {"expert_dtype", "expert_dtype"},
                                          {"quantization_config.group_size", "group"},
                                          {"text_config.expert_dtype", "expert_dtype"}}};
/// Of a group.
constexpr std::array<FactRow, 13> kGroupFacts{{{"weights.num_bits", "bits"},
                                               {"weights.type", "type"},
                                               {"weights.strategy", "strategy"},
                                               {"weights.group_size", "group"},
                                               {"weights.block_structure", "square"},
                                               {"weights.symmetric", "symmetric"},
                                               {"quant_algo", "algo"},
                                               {"group_size", "group"},
                                               {"weight.dtype", "dtype"},
                                               {"weight.qscheme", "qscheme"},
                                               {"weight.group_size", "group"},
                                               {"weight.block_size", "square"},
                                               {"weight.scale_format", "scale_format"}}};
constexpr Text kMixed = "MIXED_PRECISION";

void collect_words(const support::Json& json, const std::string& path, std::map<std::string, std::string>& words) {
  if (!json.is_object() || json.empty()) {
    words[path] = json.is_string() ? json.get<std::string>() : json.dump();
    return;
  }
  for (const auto& [key, value] : json.items()) collect_words(value, path.empty() ? key : path + "." + key, words);
}

bool is_name(Text pattern) { return pattern != "Linear" && pattern.find('*') == Text::npos && !pattern.starts_with("re:"); }

void add_target(const std::string& pattern, const std::string& path, Declarations& all) {
  const std::size_t group = all.groups.size() - 1;
  if (is_name(pattern)) {
    all.names.emplace(pattern, group);
  } else {
    all.patterns.push_back({pattern, group, path});
  }
}

void add_group(const std::string& path, const support::Json& json, Declarations& all) {
  all.groups.push_back({path, {}});
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    if (key != "targets") collect_words(value, key, all.groups.back().words);
  }
}

/// Takes a table of groups, or a list, out of the words; false for anything else.
bool take(const support::Json& json, const std::string& path, Declarations& all) {
  if (const auto* const table = std::ranges::find(kGroupTables, path, &GroupTable::path); table != kGroupTables.end() && json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      add_group(fmt::format("{}.{}", path, key), value, all);
      if (table->by_key) {
        add_target(key, path, all);
        continue;
      }
      const support::Json* const targets = value.is_object() ? value.find("targets") : nullptr;
      if (targets == nullptr || !targets->is_array()) {
        add_target("Linear", path, all);
        continue;
      }
      for (const support::Json& target : *targets) {
        if (target.is_string()) add_target(target.text(), all.groups.back().path + ".targets", all);
      }
    }
    return true;
  }
  if (std::ranges::find(kGlobalGroups, path) != kGlobalGroups.end() && json.is_object()) {
    add_group(path, json, all);
    add_target("Linear", path, all);
    return true;
  }
  if (std::ranges::find(kLists, path) == kLists.end() || !json.is_array()) return false;
  for (const support::Json& entry : json) {
    if (entry.is_string()) all.left.push_back({entry.text(), 0, path});
  }
  return true;
}

/// The name of the scheme that quantizes activations: "none", "fp4", "fp8-token", "fp8-tensor-static".
std::string activations_of(const DeclaredGroup& group) {
  const auto word = [&](const char* key) {
    const auto found = group.words.find(std::string("input_activations.") + key);
    return found == group.words.end() ? std::string() : found->second;
  };
  if (group.words.contains("input_activations")) return "none";
  const std::string bits = word("num_bits");
  if (bits.empty()) return {};
  const std::string name = (word("type") == "int" ? "int" : "fp") + bits;
  if (bits == "4") return name;
  std::string strategy = word("strategy");
  if (strategy.empty() || strategy == "null") strategy = "tensor";
  if (strategy != "tensor") return fmt::format("{}-{}", name, strategy);
  return fmt::format("{}-tensor-{}", name, word("dynamic") == "true" ? "dynamic" : "static");
}

/// The group that a name, an expression or a class leads to.
std::optional<std::size_t> group_of(const Declarations& all, std::span<const std::string> modules, const std::string& where) {
  for (const std::string& module : modules) {
    for (Text name = module;; name = name.substr(0, name.rfind('.'))) {
      if (const auto found = all.names.find(name); found != all.names.end()) return found->second;
      if (name.find('.') == Text::npos) break;
    }
  }
  for (const Match wanted : {Match::expression, Match::kind}) {
    for (const DeclaredPattern& pattern : all.patterns) {
      for (const std::string& module : modules) {
        if (match_module(pattern.pattern, module, where + ": " + pattern.path) == wanted) return pattern.group;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void add_declarations(const support::Json& json, const std::string& root, Declarations& declarations) {
  for (const auto& [key, value] : json.items()) {
    const std::string path = root.empty() ? key : root + "." + key;
    if (take(value, path, declarations)) continue;
    const bool is_about_it = path == "quantization_config" || path == "hf_quant_config.quantization";
    if (value.is_object() && is_about_it) {
      add_declarations(value, path, declarations);
    } else {
      collect_words(value, path, declarations.words);
    }
  }
}

Declared declared_of(const Declarations& declarations, std::span<const std::string> modules, const std::string& where) {
  Declared declared;
  const std::optional<std::size_t> chosen = group_of(declarations, modules, where);
  const DeclaredGroup* const group = chosen ? &declarations.groups[*chosen] : nullptr;
  const bool has_algo = group != nullptr && group->words.contains("quant_algo");
  for (const FactRow& row : kFacts) {
    const auto found = declarations.words.find(std::string(row.path));
    if (found == declarations.words.end() || (row.key == "algo" && (has_algo || found->second == kMixed))) continue;
    // A group says of itself what the whole says of most.
    if (row.key == "group" && has_algo) continue;
    declared.facts.push_back({row.key, found->first, found->second});
  }
  if (group != nullptr) {
    for (const FactRow& row : kGroupFacts) {
      const auto found = group->words.find(std::string(row.path));
      if (found != group->words.end()) declared.facts.push_back({row.key, group->path + "." + found->first, found->second});
    }
    if (std::string activations = activations_of(*group); !activations.empty())
      declared.facts.push_back({"activations", group->path + ".input_activations", std::move(activations)});
  }
  for (const DeclaredPattern& left : declarations.left) {
    const auto names = [&](const std::string& module) {
      const Match match = match_module(left.pattern, module, where + ": " + left.path);
      return match == Match::name || match == Match::expression;
    };
    if (std::ranges::none_of(modules, names)) continue;
    declared.left = fmt::format("{}: {}", left.path, support::in_quotes(left.pattern));
    break;
  }
  return declared;
}

}  // namespace mx::checkpoint
