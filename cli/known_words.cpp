#include "cli/known_words.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "cli/help_topics.hpp"
#include "golden/vectors/families.hpp"
#include "model/layout/backend.hpp"
#include "model/layout/stage.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/format.hpp"
#include "model/numerics/profile.hpp"
#include "model/oracle/deployment.hpp"
#include "model/oracle/tables.hpp"

namespace mx::cli {
namespace {

using Words = std::set<std::string>;

/// One member of each row of a table.
template <class Rows>
void add_names(Words& words, const Rows& rows) {
  for (const auto& row : rows) words.emplace(row.name);
}

void add_backends(Words& words) {
  for (const layout::BackendLayout& row : layout::all_backend_layouts()) words.emplace(row.backend);
}

/// Converters' settings spell devices in small letters.
void add_platforms(Words& words, bool small) {
  for (const oracle::PlatformPreset& platform : oracle::all_platforms()) {
    std::string word(platform.name);
    if (small) std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    words.insert(word);
  }
}

void add_operations(Words& words) {
  for (const golden::OpFamily& family : golden::all_op_families()) {
    for (const std::string& name : family.names()) words.insert(name);
  }
}

/// A weight format where layers are meant, a number format elsewhere.
void add_formats(Words& words, bool of_layers) {
  if (of_layers) {
    for (layout::WeightFormat format : layout::kWeightFormats) words.emplace(layout::name_of(format));
    return;
  }
  add_names(words, all_formats());
  add_names(words, all_block_formats());
}

}  // namespace

std::vector<std::string> known_words(const VerbEntry& program, const VerbEntry& verb, const OptionEntry& option) {
  const std::string& name = option.names.back();
  const bool layouts = verb.path.starts_with("layout");
  Words words;
  if (name == "--backend" || (layouts && option.positional)) add_backends(words);
  if (layouts && option.positional) add_names(words, layout::all_stage_layouts());
  if (name == "--platform") add_platforms(words, layouts || verb.path == "convert" || verb.path == "plan");
  if (name == "--oracle") {
    for (std::string_view oracle : oracle::oracle_names()) words.emplace(oracle);
  }
  if (name == "--profile" || name.starts_with("PROFILE_")) add_names(words, all_profiles());
  if (name == "--contract") add_names(words, all_contracts());
  if (name == "--format" || name == "FORMAT") add_formats(words, layouts);
  if (name == "OP") add_operations(words);
  if (name == "TOPIC") {
    add_names(words, help_topics());
    for (const VerbEntry& known : program.verbs) words.insert(known.path);
  }
  return {words.begin(), words.end()};
}

}  // namespace mx::cli
