#include "cli/option_table.hpp"

#include <CLI/App.hpp>

namespace mx::cli {
namespace {

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.positional = entry.names.empty();
  if (entry.positional) entry.names.push_back(option.get_name(true));
  entry.meaning = option.get_description();
  entry.takes_value = option.get_items_expected_max() != 0;
  entry.required = option.get_required();
  entry.repeats = option.get_items_expected_max() > 1;
  return entry;
}

VerbEntry entry_of(const CLI::App& app, const std::string& path) {
  VerbEntry entry{path, app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) entry.options.push_back(entry_of(*option));
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    entry.verbs.push_back(entry_of(*verb, path.empty() ? verb->get_name() : path + " " + verb->get_name()));
  return entry;
}

void collect(const VerbEntry& verb, std::vector<const VerbEntry*>& all) {
  all.push_back(&verb);
  for (const VerbEntry& below : verb.verbs) collect(below, all);
}

}  // namespace

VerbEntry option_table(Verb program) { return entry_of(program.app(), ""); }

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
