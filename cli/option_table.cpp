#include "cli/option_table.hpp"

namespace mx::cli {
namespace {

void collect(const VerbEntry& verb, std::vector<const VerbEntry*>& all) {
  all.push_back(&verb);
  for (const VerbEntry& below : verb.verbs) collect(below, all);
}

}  // namespace

std::string_view name_of(const VerbEntry& verb) { return std::string_view(verb.path).substr(verb.path.rfind(' ') + 1); }

std::string synopsis(const VerbEntry& verb) {
  std::string text = "[OPTIONS]";
  for (const OptionEntry& option : verb.options) {
    if (!option.positional) continue;
    const std::string word = option.names.front() + (option.repeats ? "..." : "");
    text += option.required ? " " + word : " [" + word + "]";
  }
  if (!verb.verbs.empty()) text += verb.path.empty() ? " VERB" : " [VERB]";
  return text;
}

std::vector<const VerbEntry*> all_verbs(const VerbEntry& program) {
  std::vector<const VerbEntry*> all;
  collect(program, all);
  return all;
}

}  // namespace mx::cli
