#include "cli/verb.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>
#include <optional>
#include <sstream>
#include <vector>

namespace mx::cli {

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

void Option::report_missing() const { throw CLI::RequiredError(option_->get_name()); }

Verb Verb::add_verb(const std::string& name, const std::string& meaning) const { return Verb(app_->add_subcommand(name, meaning)); }

template <typename T>
Option Verb::add_option(const std::string& names, T& value, const std::string& meaning) const {
  return Option(app_->add_option(names, value, meaning));
}

template Option Verb::add_option(const std::string&, std::string&, const std::string&) const;
template Option Verb::add_option(const std::string&, int&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::optional<std::uint64_t>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::optional<std::string>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::vector<int>&, const std::string&) const;

Option Verb::add_option(const std::string& names, const std::function<void(const std::string&)>& take, const std::string& meaning) const {
  return Option(app_->add_option_function<std::string>(names, take, meaning));
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

std::string Verb::help_of(const std::string& path) const {
  const CLI::App* verb = app_;
  std::string above;
  std::istringstream words(path);
  for (std::string word; words >> word;) {
    above += (above.empty() ? "" : " ") + verb->get_name();
    verb = verb->get_subcommand(word);
  }
  return verb->help(above);
}

}  // namespace mx::cli
