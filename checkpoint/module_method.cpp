// Which method the experts of a layer have: entries of tables and lists held against their names, by the rows of the engine.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <utility>

#include "checkpoint/configuration.hpp"
#include "checkpoint/module_pattern.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using Text = std::string_view;
using engine::Against;
using engine::EntryRule;

constexpr Text kExpression = "re:";

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

struct FactRow {
  Text path;
  Text key;
};
/// Of the method, in the quantization configuration.
constexpr std::array<FactRow, 8> kFacts{{{"bits", "bits"},
                                         {"quant_algo", "algo"},
                                         {"quantization.quant_algo", "algo"},
                                         {"quantization.group_size", "group"},
                                         {"weight_block_size", "square"},
                                         {"activation_scheme", "activation_scheme"},
                                         {"group_size", "group"},
                                         {"moe_quant_algo", "moe_algo"}}};
/// Of the model.
constexpr std::array<FactRow, 3> kModelFacts{
    {{"model_type", "model"}, {"expert_dtype", "expert_dtype"}, {"text_config.expert_dtype", "expert_dtype"}}};
/// Of a scheme.
constexpr std::array<FactRow, 17> kSchemeFacts{{{"bits", "bits"},
                                                {"weights.num_bits", "bits"},
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
                                                {"weight.0.dtype", "dtype"},
                                                {"weight.0.qscheme", "qscheme"},
                                                {"weight.0.group_size", "group"},
                                                {"weight.block_size", "square"},
                                                {"weight.scale_format", "scale_format"}}};
/// What a method takes where the files do not say it. Source: vllm quantization/fp8.py Fp8Config.from_config, models/deepseek_v4/quant_config.py,
/// quark/quark_moe.py.
struct DefaultRow {
  Text method;
  Text key;
  Text value;
};
constexpr std::array kDefaults{DefaultRow{"modelopt_fp4", "activations", "fp4"}, DefaultRow{"quark", "activations", "none"},
                               DefaultRow{"fp8", "square", "none"}, DefaultRow{"deepseek_v4_fp8", "expert_dtype", "fp4"},
                               DefaultRow{"deepseek_v4_fp8", "moe_algo", "none"}};
constexpr Text kMixed = "MIXED_PRECISION";

std::string lower(Text text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

/// The module, and its other name in models of several kinds, which the engine maps.
std::vector<std::string> names_of(const std::string& module) {
  constexpr Text kFile = "model.language_model.", kEngine = "language_model.model.";
  std::vector<std::string> names{module};
  if (module.starts_with(kFile)) names.push_back(std::string(kEngine) + module.substr(kFile.size()));
  if (module.starts_with(kEngine)) names.push_back(std::string(kFile) + module.substr(kEngine.size()));
  return names;
}

/// Words of what quantizes activations, and the names of what they say.
struct InputWords {
  Text of;  ///< "input_activations"
  Text bits, type, strategy, dynamic;
};
constexpr std::array kInputs{InputWords{"input_activations", "num_bits", "type", "strategy", "dynamic"},
                             InputWords{"input_tensors", "dtype", "", "qscheme", "is_dynamic"},
                             InputWords{"input_tensors.0", "dtype", "", "qscheme", "is_dynamic"}};

/// The key that says what quantizes activations, and the scheme's name: "none", "fp4", "fp6", "fp8-token", "fp8-tensor-static".
std::pair<Text, std::string> activations_of(const DeclaredScheme& scheme) {
  for (const InputWords& row : kInputs) {
    const auto word = [&](Text key) {
      const auto found = scheme.words.find(fmt::format("{}.{}", row.of, key));
      return found == scheme.words.end() || found->second == "null" ? std::string() : found->second;
    };
    if (scheme.words.contains(std::string(row.of)) && row.of != "input_tensors.0") {
      const bool is_list = scheme.words.contains(fmt::format("{}.0.{}", row.of, row.bits));
      if (!is_list) return {row.of, "none"};
    }
    const std::string bits = word(row.bits);
    if (bits.empty()) continue;
    // Quark's types say the bits: "fp8_e4m3".
    const std::string codes = row.type.empty() ? bits.substr(0, bits.find('_')) : (word(row.type) == "int" ? "int" : "fp") + bits;
    if (codes == "fp4" || codes == "fp6") return {row.of, codes};
    std::string strategy = word(row.strategy);
    if (strategy.starts_with("per_")) strategy.erase(0, 4);
    if (strategy.empty()) strategy = "tensor";
    if (strategy != "tensor") return {row.of, fmt::format("{}-{}", codes, strategy)};
    return {row.of, fmt::format("{}-tensor-{}", codes, word(row.dynamic) == "true" ? "dynamic" : "static")};
  }
  return {};
}

/// Python's re.search of an entry that has a character of expressions; one that is no expression fits nothing.
bool fits_somewhere(Text entry, Text name, const std::string& place) {
  if (entry.find_first_of("*+?^$()[]{}|\\") == Text::npos) return false;
  try {
    return fits_expression(fmt::format(".*(?:{})", entry), name, place);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::input) throw;
    return false;
  }
}

/// The names that a row is held against: the module's, or those of its first expert's projections.
std::vector<std::string> held(Against against, const ExpertsModule& module) {
  if (against == Against::module) return {module.name};
  static const ExpertsModule kOwn;
  std::vector<std::string> names;
  for (const std::string& projection : against == Against::projections ? module.projections : kOwn.projections)
    names.push_back(fmt::format("{}.0.{}", module.name, projection));
  return names;
}

}  // namespace

bool Configuration::fits(EntryRule rule, Text entry, Text name) const {
  switch (rule) {
    case EntryRule::equal: return entry == name;
    case EntryRule::of_experts:
      if (fault::planted(fault::Fault::lists_want_whole_names)) return entry == name;
      return entry.find("experts") != Text::npos && entry.find(name) != Text::npos;
    case EntryRule::around: return entry.find('*') == Text::npos && entry.find(name) != Text::npos;
    case EntryRule::part:
      if (fault::planted(fault::Fault::parts_end_at_dots)) return name.starts_with(std::string(entry) + ".");
      return name.find(entry) != Text::npos;
    case EntryRule::below: return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '.';
    case EntryRule::beside: {
      constexpr Text kExperts = ".experts";
      return name.ends_with(kExperts) && entry.starts_with(std::string(name.substr(0, name.size() - kExperts.size())) + ".");
    }
    case EntryRule::end: return entry == name || name.ends_with("." + std::string(entry));
    case EntryRule::wildcard: return fits_wildcards(entry, name);
    case EntryRule::star: return entry.find('*') != Text::npos && fits_wildcards(entry, name);
    case EntryRule::expression:
      return entry.starts_with(kExpression) && fits_expression(entry.substr(kExpression.size()), name, place_ + ": " + root_);
    case EntryRule::search: return fits_somewhere(entry, name, place_);
    case EntryRule::kind: break;
  }
  return entry == "Linear" || (!entry.starts_with(kExpression) && lower(engine::kExpertsClass).find(lower(entry)) != std::string::npos);
}

const DeclaredScheme* Configuration::scheme_in(const engine::SchemeTableRow& table, const std::string& name) const {
  for (const std::span<const EntryRule> pass : table.passes) {
    for (const DeclaredScheme& scheme : schemes_) {
      if (scheme.table != table.key) continue;
      for (const std::string& target : scheme.targets) {
        for (const std::string& alias : names_of(name)) {
          if (std::ranges::any_of(pass, [&](EntryRule rule) { return fits(rule, target, alias); })) return &scheme;
        }
      }
    }
  }
  const auto all = std::ranges::find(schemes_, table.otherwise, &DeclaredScheme::table);
  return table.otherwise.empty() || all == schemes_.end() ? nullptr : &*all;
}

Configuration::Left Configuration::left_by(const engine::LeftRow& row, const std::string& name) const {
  const auto key = std::ranges::find_if(row.keys, [&](Text one) { return lists_.contains(std::string(one)); });
  if (key == row.keys.end()) return {};
  for (const bool writers : {false, true}) {
    for (const std::string& entry : lists_.at(std::string(*key))) {
      for (const std::string& alias : names_of(name)) {
        const auto fits_it = [&](EntryRule rule) { return fits(rule, entry, alias); };
        if (!std::ranges::any_of(writers ? row.writers_rules : row.rules, fits_it)) continue;
        return {
            fmt::format("{}.{}: {}{}", root_, *key, support::in_quotes(entry), writers ? ", a wildcard that the engine's method does not read" : ""),
            writers};
      }
    }
  }
  return {};
}

deployment::Engine Configuration::version() const { return fault::planted(fault::Fault::configurations_of_may) ? deployment::kVllm2026_05 : engine_; }

const engine::SchemeTableRow* Configuration::table() const {
  const engine::SchemeTableRow* first = nullptr;
  for (const engine::SchemeTableRow& row : engine::scheme_tables()) {
    if (row.method != method_ || !row.versions.has(version())) continue;
    if (words_.contains(std::string(row.key)) || !row.otherwise.empty()) return &row;
    if (first == nullptr) first = &row;
  }
  return first;
}

const engine::LeftRow* Configuration::list() const {
  const auto rows = engine::left_rows();
  const auto row = std::ranges::find_if(
      rows, [&](const engine::LeftRow& one) { return one.method == method_ && one.versions.has(version()) && is_model(one.models); });
  return row == rows.end() || fault::planted(fault::Fault::lists_are_forgotten) ? nullptr : &*row;
}

void Configuration::add_facts(const DeclaredScheme* scheme, ModuleMethod& module) const {
  const bool has_algo = scheme != nullptr && scheme->words.contains("quant_algo");
  module.facts.push_back({"method",
                          hooked_ == method_ || hooked_.empty()
                              ? fmt::format("{}.quant_method", root_)
                              : fmt::format("{}.quant_method is {}, and the engine's", root_, support::in_quotes(hooked_)),
                          method_});
  const auto of_scheme = [&](Text key) {
    return scheme != nullptr &&
           std::ranges::any_of(kSchemeFacts, [&](const FactRow& row) { return row.key == key && scheme->words.contains(std::string(row.path)); });
  };
  for (const FactRow& row : kFacts) {
    const auto found = words_.find(std::string(row.path));
    if (found == words_.end() || row.path == module.dropped || (row.key == "algo" && found->second == kMixed)) continue;
    // A scheme says of itself what the whole says of most.
    if (of_scheme(row.key) || (row.key == "group" && has_algo)) continue;
    module.facts.push_back({row.key, root_ + "." + found->first, found->second});
  }
  for (const FactRow& row : kModelFacts) {
    if (const auto found = model_.find(std::string(row.path)); found != model_.end()) module.facts.push_back({row.key, found->first, found->second});
  }
  if (scheme != nullptr) {
    for (const FactRow& row : kSchemeFacts) {
      const auto found = scheme->words.find(std::string(row.path));
      if (found != scheme->words.end()) module.facts.push_back({row.key, scheme->path + "." + found->first, found->second});
    }
    if (auto [key, activations] = activations_of(*scheme); !activations.empty())
      module.facts.push_back({"activations", fmt::format("{}.{}", scheme->path, key), std::move(activations)});
  }
  // What quantizes no activations in any of its groups is of weights alone, since 2026-08: modelopt.py ModelOptNvFp4Config.
  constexpr Text kGroups = "config_groups", kInput = "input_activations";
  const auto is_group = [&](const DeclaredScheme& one) { return one.table == kGroups; };
  const auto has_inputs = [&](const DeclaredScheme& one) {
    const auto first = one.words.lower_bound(std::string(kInput));
    return is_group(one) && first != one.words.end() && first->first.starts_with(kInput) && first->second != "null";
  };
  const bool may_be_alone = method_ == "modelopt_fp4" && deployment::since(deployment::kVllm2026_08).has(version());
  if (may_be_alone && std::ranges::any_of(schemes_, is_group) && std::ranges::none_of(schemes_, has_inputs))
    module.facts.push_back({"activations", fmt::format("{}.{}", root_, kGroups), "none"});
  for (const DefaultRow& row : kDefaults) {
    if (row.method != method_) continue;
    const auto said = std::ranges::find(module.facts, row.key, &DeclaredFact::key);
    if (said == module.facts.end()) {
      const auto named = std::ranges::find(kFacts, row.key, &FactRow::key);
      module.facts.push_back(
          {row.key, named == kFacts.end() ? std::string(row.key) : fmt::format("{}.{}", root_, named->path), std::string(row.value)});
    } else if (said->value == "null") {
      said->value = row.value;
    }
  }
}

/// The entry that leaves a layer's experts out.
Configuration::Left Configuration::left_out(const ExpertsModule& module) const {
  const engine::LeftRow* const row = list();
  if (row == nullptr) return {};
  const std::vector<std::string> names = held(row->against, module);
  Left left = left_by(*row, names.front());
  for (const std::string& name : names) {
    const Left other = left_by(*row, name);
    if (other.entry.empty() == left.entry.empty() || fault::planted(fault::Fault::first_projection_decides)) continue;
    fail(place_, fmt::format("{} names {} but not {}: the engine raises ValueError where projections of experts have unlike schemes",
                             left.entry.empty() ? other.entry : left.entry, support::in_quotes(left.entry.empty() ? name : names.front()),
                             support::in_quotes(left.entry.empty() ? names.front() : name)));
  }
  return left;
}

/// The scheme of a layer's experts; null where the method has no table, or none for them. `alike`: those of its projections must be.
const DeclaredScheme* Configuration::scheme_of(const ExpertsModule& module, bool alike, ModuleMethod& made) const {
  const engine::SchemeTableRow* const row = table();
  if (row == nullptr) {
    made.entry = method_text();
    return nullptr;
  }
  const std::vector<std::string> names = held(row->against, module);
  const DeclaredScheme* const scheme = scheme_in(*row, names.front());
  if (scheme == nullptr && (!row->otherwise.empty() || row->of_some)) {
    made.entry = method_text();
    return nullptr;
  }
  made.quantized = scheme != nullptr;
  made.entry = scheme != nullptr ? scheme->path : fmt::format("{}.{} names nothing of {}", root_, row->key, support::in_quotes(names.front()));
  for (const std::string& name : names) {
    const DeclaredScheme* const other = scheme_in(*row, name);
    if (!alike || (other == nullptr ? scheme == nullptr : scheme != nullptr && other->words == scheme->words)) continue;
    fail(place_, fmt::format("{} has {}, but {} has {}: the engine raises ValueError where projections of experts have unlike schemes",
                             support::in_quotes(names.front()), scheme == nullptr ? "no scheme" : scheme->path, support::in_quotes(name),
                             other == nullptr ? "no scheme" : other->path));
  }
  if (scheme != nullptr) look_at_scheme(*row, *scheme, names.front(), made);
  return scheme;
}

/// Entries that name experts and do not quantize them.
void Configuration::look_at_scheme(const engine::SchemeTableRow& row, const DeclaredScheme& scheme, const std::string& name,
                                   ModuleMethod& made) const {
  if (row.of_some) {
    constexpr int kWide = 16;
    const auto bits = scheme.words.find("bits");
    int count = 0;
    if (bits != scheme.words.end()) std::from_chars(bits->second.data(), bits->second.data() + bits->second.size(), count);
    // An entry by the experts' own name that says no bits leaves them out.
    const bool is_wide = bits == scheme.words.end() ? scheme.targets.front() == name : count >= kWide;
    if (!is_wide) return;
    made.quantized = false;
    made.left = true;
    made.entry = fmt::format("{}.{}: {}", root_, row.key, support::in_quotes(scheme.targets.front()));
    return;
  }
  const auto algorithm = scheme.words.find("quant_algo");
  if (row.algorithms.empty() || algorithm == scheme.words.end()) return;
  std::string upper = algorithm->second;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (std::ranges::find(row.algorithms, upper) != row.algorithms.end()) return;
  made.quantized = false;
  made.entry = fmt::format("{}.quant_algo is {}, for which {}'s method {} has no experts and builds them unquantized", scheme.path,
                           support::in_quotes(algorithm->second), deployment::name_of(engine_), method_);
}

/// What says that a module lies outside of all that is quantized; empty: it does not.
std::string Configuration::outside_of_all(const std::string& name) const {
  const auto rows = engine::only_rows();
  const auto row = std::ranges::find(rows, method_, &engine::OnlyRow::method);
  if (row == rows.end()) return {};
  const auto key = std::ranges::find_if(row->keys, [&](Text one) { return words_.contains(std::string(one)); });
  if (key == row->keys.end() || !lists_.contains(std::string(*key))) return {};
  for (const std::string& begin : lists_.at(std::string(*key))) {
    if (std::ranges::any_of(names_of(name), [&](const std::string& alias) { return alias.starts_with(begin); })) return {};
  }
  return fmt::format("{}.{} is the beginning of other names", root_, *key);
}

/// The word of the whole that a list takes away from a module's experts.
Text Configuration::dropped_for(const std::string& name) const {
  for (const engine::DroppedRow& row : engine::dropped_rows()) {
    const auto list = lists_.find(std::string(row.list));
    if (row.method != method_ || !row.versions.has(version()) || list == lists_.end()) continue;
    const auto fits_it = [&](const std::string& entry) { return fits_wildcards(entry, name); };
    if (std::ranges::any_of(list->second, fits_it)) return row.word;
  }
  return {};
}

ModuleMethod Configuration::method_of(const ExpertsModule& module) const {
  ModuleMethod made{.method = method_, .quantized = !method_.empty(), .entry = {}, .facts = {}};
  if (method_.empty()) {
    made.entry = root_.empty() ? "there is no quantization_config" : fmt::format("{} has no quant_method", root_);
    for (const FactRow& row : kModelFacts) {
      if (const auto found = model_.find(std::string(row.path)); found != model_.end()) made.facts.push_back({row.key, found->first, found->second});
    }
    return made;
  }
  const Left left = left_out(module);
  const DeclaredScheme* const scheme = scheme_of(module, left.entry.empty(), made);
  made.scheme = scheme;
  made.dropped = dropped_for(module.name);
  add_facts(scheme, made);
  if (made.quantized && (scheme == nullptr || scheme->targets.empty() || scheme->targets.front() != module.name)) {
    if (std::string outside = outside_of_all(module.name); !outside.empty()) {
      made.quantized = false;
      made.entry = std::move(outside);
    }
  }
  if (!left.entry.empty() && made.quantized) {
    made.quantized = false;
    made.left = true;
    made.unread = left.unread;
    made.entry = left.entry;
  }
  return made;
}

}  // namespace mx::checkpoint
