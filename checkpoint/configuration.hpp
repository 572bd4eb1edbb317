#pragma once
// The one reader of a quantization configuration: which of the files counts, what the engine's hooks make of its method, and which method the experts
// of each layer have by its tables and lists, matched as that method's own code matches them.

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/version.hpp"
#include "model/engine/vllm/module_methods.hpp"
#include "support/json.hpp"

namespace mx::checkpoint {

/// One thing that is declared.
struct DeclaredFact {
  std::string_view key;  ///< "method", "algo", "bits": what source forms are held to
  std::string path;      ///< where it stands
  std::string value;
};

/// The experts of a layer, by the names that the checkpoint has for them.
struct ExpertsModule {
  std::string name;  ///< "model.layers.1.mlp.experts"
  std::vector<std::string> projections = {"gate_proj", "up_proj", "down_proj"};
};

struct DeclaredScheme;

/// What the engine does with the experts of a layer.
struct ModuleMethod {
  std::string method;   ///< the engine's name, after its hooks: "modelopt_fp4"; empty: no method at all
  bool quantized;       ///< false: it builds experts in the model's own dtype
  bool left = false;    ///< because a list names them
  bool unread = false;  ///< by a wildcard of the quantizer's, which the engine's method does not read
  std::string entry;    ///< what decides: "quantization_config.ignore: 'model.layers.1*'"; of what is quantized where that is a table's entry
  std::string_view dropped = {};           ///< a word of the whole that does not count for them: "moe_quant_algo"
  const DeclaredScheme* scheme = nullptr;  ///< what a table has for them; lives as long as the Configuration
  std::vector<DeclaredFact> facts;         ///< of the method and of its scheme, as if no list left the module out
};

/// A scheme for some modules: one of config_groups, of layer_quant_config, of quantized_layers, or the scheme of all.
struct DeclaredScheme {
  std::string table;                         ///< "config_groups"; the scheme of all has its own key
  std::string path;                          ///< "quantization_config.config_groups.group_0"
  std::vector<std::string> targets;          ///< its key, or its "targets"
  std::map<std::string, std::string> words;  ///< below it: "weights.num_bits" -> "4"
};

/// What config.json and hf_quant_config.json say of quantization, and an engine's reading of it.
class Configuration {
 public:
  /// `config` is the object of config.json, null where there is none; `sidecar` that of hf_quant_config.json. `place` names config.json in errors.
  /// Throws Error(input) for a word that the method needs, Error(unsupported) for an algorithm that the engine raises for.
  Configuration(const support::Json& config, const support::Json& sidecar, deployment::Engine engine, const std::string& place);
  /// Nothing is said of anything.
  Configuration() : Configuration(support::Json(), support::Json(), deployment::kDefaultEngine, {}) {}

  /// Whether the files say how experts are quantized, or that they are not: a model's configuration without a quantization configuration does.
  bool says() const { return says_; }
  /// The engine's name of the method; empty where there is none.
  const std::string& method() const { return method_; }
  /// What the engine does with a layer's experts. Throws Error(input) where it raises for them, as fits_expression does.
  ModuleMethod method_of(const ExpertsModule& module) const;
  /// Words of the quantization configuration by path, the schemes of its tables, and where it stands: "quantization_config"; empty: nowhere.
  const std::map<std::string, std::string>& words() const { return words_; }
  const std::vector<DeclaredScheme>& schemes() const { return schemes_; }
  const std::string& root() const { return root_; }
  deployment::Engine engine() const { return engine_; }
  /// "quantization_config.quant_method is 'awq'", for errors; empty without a method.
  std::string method_text() const;
  /// Which models the engine gives one of these methods in the place of the file's, where this is none: "; vllm@2026-11 takes deepseek_v4_fp8 for
  /// deepseek_v4, .."; empty: none.
  std::string hook_text(std::span<const std::string_view> methods) const;

 private:
  struct Left {
    std::string entry = {};  ///< with its place; empty: no list names it
    bool unread = false;
  };
  std::string word(std::string_view key) const;
  void find(const support::Json& config, const support::Json& sidecar);
  void take(const support::Json& json, const std::string& key);
  void apply_hooks();
  bool is_model(std::span<const std::string_view> models) const;
  bool fits(engine::EntryRule rule, std::string_view entry, std::string_view name) const;
  const DeclaredScheme* scheme_in(const engine::SchemeTableRow& table, const std::string& name) const;
  Left left_by(const engine::LeftRow& row, const std::string& name) const;
  deployment::Engine version() const;
  const engine::SchemeTableRow* table() const;
  const engine::LeftRow* list() const;
  Left left_out(const ExpertsModule& module) const;
  const DeclaredScheme* scheme_of(const ExpertsModule& module, bool alike, ModuleMethod& made) const;
  void look_at_scheme(const engine::SchemeTableRow& row, const DeclaredScheme& scheme, const std::string& name, ModuleMethod& made) const;
  std::string outside_of_all(const std::string& name) const;
  std::string_view dropped_for(const std::string& name) const;
  void add_facts(const DeclaredScheme* scheme, ModuleMethod& module) const;

  deployment::Engine engine_;
  std::string place_;
  bool says_ = false;
  std::string root_;  ///< "quantization_config"
  std::string method_;
  std::string hooked_;                        ///< what the file's own method is where a hook took another
  std::map<std::string, std::string> words_;  ///< of the quantization configuration: "quant_algo" -> "NVFP4"
  std::map<std::string, std::vector<std::string>> lists_;
  std::vector<DeclaredScheme> schemes_;
  std::map<std::string, std::string> model_;  ///< model_type, architectures, expert_dtype, at the top or below text_config
};

/// Adds what a value has, by path: "text_config.model_type" -> "kimi_k2"; numbers and lists as JSON.
void add_words(const support::Json& json, const std::string& path, std::map<std::string, std::string>& words);

/// Of a checkpoint's directory; files that are not there say nothing. Throws Error(input) for a file that is no object, and as Configuration does.
Configuration read_configuration(const std::filesystem::path& directory, deployment::Engine engine);

}  // namespace mx::checkpoint
