#include "cli/known_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>

#include "cli/help_topics.hpp"
#include "golden/vectors/families.hpp"
#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/format.hpp"
#include "model/numerics/rules.hpp"

namespace mx::cli {
namespace {

using Words = std::set<std::string>;

/// One member of each row of a table.
template <class Rows>
void add_names(Words& words, const Rows& rows) {
  for (const auto& row : rows) words.emplace(row.name);
}

void add_backends(Words& words) {
  for (const families::BackendLayout& row : families::all_backend_layouts()) words.emplace(row.backend);
}

void add_operations(Words& words) {
  for (const golden::OpFamily& family : golden::all_op_families()) {
    for (const std::string& name : family.names()) {
      if (name.find('<') == std::string::npos) words.insert(name);  // a shell reads such a word otherwise
    }
  }
}

void add_formats(Words& words) {
  add_names(words, all_formats());
  add_names(words, all_block_formats());
}

void add_weight_formats(Words& words) {
  for (layout::WeightFormat format : layout::kWeightFormats) words.emplace(layout::name_of(format));
}

void add_layouts(Words& words) {
  add_backends(words);
  add_names(words, families::all_building_blocks());
}

void add_platforms(Words& words) { add_names(words, deployment::all_platforms()); }

/// Converters' settings spell devices in small letters.
void add_devices(Words& words) {
  for (const deployment::PlatformPreset& platform : deployment::all_platforms()) {
    std::string word(platform.name);
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    words.insert(word);
  }
}

void add_oracles(Words& words) {
  for (std::string_view oracle : engine::oracle_names()) words.emplace(oracle);
}

void add_engines(Words& words) {
  for (deployment::Engine engine : deployment::known_engines()) words.emplace(deployment::name_of(engine));
}

void add_profiles(Words& words) {
  add_names(words, all_profiles());
  add_names(words, named_rules());
}
void add_contracts(Words& words) {
  add_names(words, all_contracts());
  add_names(words, tensor_core_contracts());
}
void add_topics(Words& words) { add_names(words, help_topics()); }

/// Whose values come from which table: of rows that fit, the first one.
struct WordsRow {
  std::string_view verb;    ///< beginning of the verb's path
  std::string_view option;  ///< beginning of the last of its names
  void (*add)(Words&);
};
constexpr std::array kRows{
    WordsRow{"", "--backend", add_backends},
    WordsRow{"layout", "--platform", add_devices},
    WordsRow{"convert", "--platform", add_devices},
    WordsRow{"plan", "--platform", add_devices},
    WordsRow{"", "--platform", add_platforms},
    WordsRow{"", "--oracle", add_oracles},
    WordsRow{"", "--engine", add_engines},
    WordsRow{"", "--profile", add_profiles},
    WordsRow{"compare", "PROFILE", add_profiles},
    WordsRow{"", "--contract", add_contracts},
    WordsRow{"layout", "--format", add_weight_formats},
    WordsRow{"", "--format", add_formats},
    WordsRow{"", "FORMAT", add_formats},
    WordsRow{"layout", "NAME", add_layouts},
    WordsRow{"layout diff", "", add_layouts},
    WordsRow{"gen", "OP", add_operations},
    WordsRow{"ver", "OP", add_operations},
    WordsRow{"help", "TOPIC", add_topics},
};

}  // namespace

std::vector<std::string> known_words(const VerbEntry& verb, const OptionEntry& option) {
  Words words;
  for (const WordsRow& row : kRows) {
    if (!verb.path.starts_with(row.verb) || !option.names.back().starts_with(row.option)) continue;
    if (row.option.empty() && !option.positional) continue;
    row.add(words);
    break;
  }
  return {words.begin(), words.end()};
}

}  // namespace mx::cli
