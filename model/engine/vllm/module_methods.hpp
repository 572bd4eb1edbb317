#pragma once
// Which method an engine gives the experts of a layer, as rows: what its hooks make of the method that a configuration names, how the lists of each
// method say what they leave alone, and how tables of schemes are looked up. Whoever has read a configuration interprets them.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/deployment/version.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// How an entry says which experts it means. The module is their name, "model.layers.1.mlp.experts".
enum class EntryRule : std::uint8_t {
  equal,       ///< it is the module's name
  of_experts,  ///< it has "experts" and the module's name in it
  around,      ///< it has no '*', and the module's name in it
  part,        ///< it is a part of the module's name, wherever it stands
  below,       ///< it begins with the module's name and a dot
  beside,      ///< it begins with the name of what the experts lie in, and a dot
  end,         ///< it is the module's name, or its last components
  wildcard,    ///< fnmatch
  star,        ///< fnmatch of an entry that has a '*'
  expression,  ///< "re:" and an expression that fits from the name's beginning
  search,      ///< it has a character of expressions, and is one that fits somewhere in the name; one that is none names nothing
  kind,        ///< "Linear", or a part of the name of the experts' class
};

/// What a rule is held against.
enum class Against : std::uint8_t {
  module,          ///< the experts' name
  projections,     ///< those of expert 0, by the names that the file has for them
  own_projections  ///< those of expert 0, by gate_proj, up_proj and down_proj
};

/// The list of a method that names what is not quantized.
struct LeftRow {
  std::string_view method;
  std::span<const std::string_view> keys;  ///< in the quantization configuration; the first that has entries counts
  std::span<const EntryRule> rules;        ///< any of them
  Against against;
  std::span<const std::string_view> models = {};  ///< model_type or architecture; empty: any that no other row names
  std::string_view source = {};
  deployment::Versions versions = kAlways;
  std::span<const EntryRule> writers_rules = {};  ///< by which the quantizer means an entry, and which the engine does not have
};

/// The table of a method that gives modules their schemes. A module that it does not name has the method's scheme for all, or is not quantized.
struct SchemeTableRow {
  std::string_view method;
  std::string_view key;
  bool by_key;                                         ///< a scheme's key names modules; else its "targets" do
  std::span<const std::span<const EntryRule>> passes;  ///< one after another, in each the entries in their order, any rule
  Against against;
  std::string_view otherwise = {};  ///< the key of the scheme of all; empty: what no entry names is not quantized
  std::string_view source = {};
  deployment::Versions versions = kAlways;
  bool of_some = false;                               ///< what no entry names has the words of the whole, and one with 16 bits or more leaves out
  std::span<const std::string_view> algorithms = {};  ///< of those that have experts, others build them unquantized; empty: every one has
};

/// A method that quantizes only what begins as a word of it says: names, with commas between them, or a list of them.
struct OnlyRow {
  std::string_view method;
  std::span<const std::string_view> keys;  ///< the first that is there counts
  std::string_view source;
};

/// A word of the quantization configuration that does not count for experts that a wildcard of one of its lists names.
struct DroppedRow {
  std::string_view method;
  std::string_view word;
  std::string_view list;
  std::string_view source;
  deployment::Versions versions = kAlways;
};

/// One thing that a configuration must say.
struct SaysRow {
  std::string_view key;                      ///< in the quantization configuration: "global_quant_config.weight.dtype"
  std::span<const std::string_view> values;  ///< empty: anything but null
};

/// What an engine makes of a method before it looks for one.
struct HookRow {
  std::string_view method;                   ///< as the file has it; empty: it has none
  std::span<const SaysRow> says;             ///< all of them
  std::span<const std::string_view> models;  ///< model_type or architecture, any; empty: any model
  std::string_view becomes;                  ///< empty: it raises
  std::string_view source;
  deployment::Versions versions = kAlways;
  std::string_view raises = {};  ///< of what becomes nothing: the engine's error
};

/// What a method asks for in a file of the older kind, whose words lie under "quantization".
struct RequiredRow {
  std::string_view method;
  std::span<const std::string_view> keys;
  std::string_view source;
};

/// Rows of all versions, in the order in which the engine looks.
std::span<const HookRow> method_hooks();
std::span<const RequiredRow> required_words();
std::span<const LeftRow> left_rows();
std::span<const SchemeTableRow> scheme_tables();
std::span<const OnlyRow> only_rows();
std::span<const DroppedRow> dropped_rows();

/// The engine's class of a layer's experts, which targets of schemes may name.
inline constexpr std::string_view kExpertsClass = "RoutedExperts";

}  // namespace mx::engine
