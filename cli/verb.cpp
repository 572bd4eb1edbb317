#include "cli/verb.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include "cli/usage_error.hpp"
#include "model/error.hpp"

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
  VerbEntry entry{path, app.get_description(), app.get_require_subcommand_min() != 0, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) entry.options.push_back(entry_of(*option));
  }
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    entry.verbs.push_back(entry_of(*verb, path.empty() ? verb->get_name() : path + " " + verb->get_name()));
  return entry;
}

/// Without the "--" before words that are no options whatever stands before them.
std::vector<std::string> without_dashes(std::vector<std::string> words) {
  const auto dashes = std::ranges::find(words, "--");
  const auto is_plain = [](const std::string& word) { return !word.starts_with('-') || looks_like_a_value(word); };
  if (dashes != words.end() && std::all_of(dashes + 1, words.end(), is_plain)) words.erase(dashes);
  return words;
}

/// Arguments as CLI11 wants them: last first. It would take the value "-inf" for an option -i, but not with a space before it.
std::vector<std::string> reversed(const std::vector<std::string>& typed) {
  const std::vector<std::string> words = without_dashes(typed);
  std::vector<std::string> arguments;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    const bool value = looks_like_a_value(*word) && std::isdigit(static_cast<unsigned char>((*word)[1])) == 0;
    arguments.push_back(value ? " " + *word : *word);
  }
  return arguments;
}

Refusal::Reason reason_of(const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return Refusal::Reason::extra_words;
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return Refusal::Reason::no_number;
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return Refusal::Reason::missing;
  return Refusal::Reason::other;
}

constexpr const char* kNotEmpty = "not empty";

/// An empty word is what a shell makes of a variable that is not set: it must not count as a word that was left out.
CLI::Option* refuse_empty(CLI::Option* option) {
  return option->check([](const std::string& word) { return word.empty() ? "is empty: say a value, or leave it out" : std::string(); }, "",
                       kNotEmpty);
}

/// Of the verb that was typed, the deepest one.
Refusal refusal_of(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* verb = &program;
  std::string path = program.get_name();
  while (!verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
    path += " " + verb->get_name();
  }
  return {path, entry_of(*verb, ""), reason_of(error), error.what(), verb->remaining(true)};
}

}  // namespace

Option Option::required(bool yes) const {
  option_->required(yes);
  return *this;
}

Option Option::excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::needs(Option other) const {
  option_->needs(other.option_);
  return *this;
}

Option Option::in_range(int low, int high) const {
  option_->check(CLI::Range(low, high));
  return *this;
}

Option Option::check(const std::function<std::string(const std::string&)>& problem) const {
  option_->check(problem);
  return *this;
}

Option Option::transform(const std::function<std::string(const std::string&)>& changed) const {
  option_->transform(changed);
  return *this;
}

Option Option::listed() const {
  option_->delimiter(',')->allow_extra_args(false);
  return *this;
}

Option Option::repeated() const {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::old_word() const {
  option_->group("");
  return *this;
}

Option Option::distinct(char end) const {
  const auto seen = std::make_shared<std::set<std::string>>();
  option_->check([seen, end](const std::string& word) {
    const std::string name = word.substr(0, word.find(end));
    return seen->insert(name).second ? std::string() : "'" + name + "' is given twice";
  });
  return *this;
}

Option Option::empty_too() const {
  option_->get_validator(kNotEmpty)->active(false);
  return *this;
}

void Option::report_missing() const { throw CLI::RequiredError(option_->get_name()); }

Verb Verb::add_verb(const std::string& name, const std::string& meaning) const { return Verb(app_->add_subcommand(name, meaning)); }

template <typename T>
Option Verb::add_option(const std::string& names, T& value, const std::string& meaning) const {
  return Option(refuse_empty(app_->add_option(names, value, meaning)));
}

template Option Verb::add_option(const std::string&, std::string&, const std::string&) const;
template Option Verb::add_option(const std::string&, int&, const std::string&) const;
template Option Verb::add_option(const std::string&, double&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::optional<int>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::optional<std::uint64_t>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::optional<std::string>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::vector<int>&, const std::string&) const;

Option Verb::add_option(const std::string& names, const std::function<void(const std::string&)>& take, const std::string& meaning) const {
  return Option(refuse_empty(app_->add_option_function<std::string>(names, take, meaning)));
}

Option Verb::add_switch(const std::string& names, const std::function<void()>& then, const std::string& meaning) const {
  return Option(app_->add_flag_callback(names, then, meaning));
}

Option Verb::add_flag(const std::string& names, bool& value, const std::string& meaning) const {
  return Option(app_->add_flag(names, value, meaning));
}

Option Verb::add_flag(const std::string& names, std::string& value, const std::string& meaning) const {
  return Option(app_->add_flag(names, value, meaning));
}

void Verb::callback(const std::function<void()>& then) const { app_->callback(then); }

void Verb::require_verb() const { app_->require_subcommand(1); }

void Verb::footer(const std::string& text) const { app_->footer(text); }

bool Verb::went_on() const { return !app_->get_subcommands().empty(); }

std::string Verb::first_given() const {
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() != 0) return option->get_name();
  }
  return {};
}

Verb Verb::verb(const std::string& path) const {
  CLI::App* verb = app_;
  std::istringstream words(path);
  for (std::string word; words >> word;) verb = verb->get_subcommand(word);
  return Verb(verb);
}

std::string Verb::help() const {
  std::string above;
  for (const CLI::App* verb = app_->get_parent(); verb != nullptr; verb = verb->get_parent()) {
    above = verb->get_name() + (above.empty() ? "" : " ") + above;
  }
  return app_->help(above);
}

VerbEntry Verb::option_table() const { return entry_of(*app_, ""); }

Program::Program(const std::string& name, const std::string& meaning) : app_(std::make_unique<CLI::App>(meaning, name)) {
  app_->get_formatter()->label("SUBCOMMAND", "VERB");
  app_->get_formatter()->label("Subcommands", "Verbs");
  app_->get_formatter()->label("Positionals", "By their place");
}

Program::~Program() = default;

Verb Program::root() const { return Verb(app_.get()); }

void Program::version_flag(const std::function<std::string()>& text) const { app_->set_version_flag("--version", text); }

bool Program::parse(const std::vector<std::string>& words) const {
  check_verbs(app_->get_name(), root().option_table(), words);
  try {
    app_->parse(reversed(words));
  } catch (const CLI::Success& help) {
    app_->exit(help);
    if (!std::cout.flush()) throw Error(ErrorCode::resource, "stdout cannot be written");
    return false;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::usage, usage_message(refusal_of(*app_, error), words));
  }
  return true;
}

}  // namespace mx::cli
