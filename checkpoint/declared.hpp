#pragma once
// What a checkpoint's configuration declares of one module: the quantizer's groups, tables by layer and lists of what it left, in one vocabulary.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/json.hpp"

namespace mx::checkpoint {

/// A scheme that is declared for the modules that its targets name.
struct DeclaredGroup {
  std::string path;                          ///< "quantization_config.config_groups.group_0"
  std::map<std::string, std::string> words;  ///< below it: "weights.num_bits" -> "4"
};

/// A pattern and the group that it belongs to, or the list that names what is left.
struct DeclaredPattern {
  std::string pattern;
  std::size_t group;
  std::string path;
};

/// Everything that config.json and hf_quant_config.json say of quantization.
struct Declarations {
  std::vector<DeclaredGroup> groups;
  std::map<std::string, std::size_t, std::less<>> names;  ///< modules that a group names
  std::vector<DeclaredPattern> patterns;                  ///< in the order of the groups
  std::vector<DeclaredPattern> left;                      ///< ignore, exclude_modules, modules_to_not_convert
  std::map<std::string, std::string> words;  ///< the rest, by path: "quantization_config.quant_method" -> "fp8"; numbers and lists as JSON
};

/// Adds what a file says: the object of config.json under "", that of hf_quant_config.json under "hf_quant_config".
void add_declarations(const support::Json& json, const std::string& root, Declarations& declarations);

/// One thing that is declared.
struct DeclaredFact {
  std::string_view key;  ///< "method", "algo", "bits": what source forms are held to
  std::string path;      ///< where it stands
  std::string value;
};

/// All that is declared of a module.
struct Declared {
  std::vector<DeclaredFact> facts;
  std::string left;  ///< where a list names the module as not quantized: "quantization_config.ignore: 'mtp.layers.0*'"; empty: nowhere
};

/// Names go before expressions, those before classes; of alike ones the first group counts. `modules` are names of one thing, the narrowest first.
/// Throws Error(input) as match_module does.
Declared declared_of(const Declarations& declarations, std::span<const std::string> modules, const std::string& where);

}  // namespace mx::checkpoint
