#pragma once
// What a program and its verbs take, declared without the headers of the command line library, which cost seconds in every file that sees them.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/option_table.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mx::cli {

/// An option or a flag of a verb; each condition returns it again. A copy is the same option.
class Option {
 public:
  Option required(bool yes = true) const;
  /// Not together with the other one.
  Option excludes(Option other) const;
  /// Only together with the other one.
  Option needs(Option other) const;
  /// A whole number from `low` to `high`.
  Option in_range(int low, int high) const;
  /// `problem` says what is wrong with a word; nothing when it is right.
  Option check(const std::function<std::string(const std::string&)>& problem) const;
  Option transform(const std::function<std::string(const std::string&)>& changed) const;
  /// One value an option, or several with commas: the next word is not one of them.
  Option listed() const;
  /// One value an option, whatever is in it; the option may be repeated.
  Option repeated() const;
  /// The same word twice is refused, or words with the same beginning before `end`: it would count twice, or one of two would hold.
  Option distinct(char end = '\0') const;
  /// Words may be empty, as those of another program's command line; elsewhere an empty word is refused.
  Option empty_too() const;
  /// A word of an earlier release: taken, but in no help, completion or manual page.
  Option old_word() const;

  /// Ends the parse as a missing required option does.
  [[noreturn]] void report_missing() const;

 private:
  friend class Verb;
  explicit Option(CLI::Option* option) : option_(option) {}

  CLI::Option* option_;
};

/// A verb, or the program itself. A copy is the same verb.
class Verb {
 public:
  Verb add_verb(const std::string& name, const std::string& meaning) const;
  /// `names` as they are typed: "FORMAT" for a word by its place, "-o,--output" for an option. `value` must outlive the parse; verb.cpp lists its
  /// types.
  template <typename T>
  Option add_option(const std::string& names, T& value, const std::string& meaning) const;
  /// An option whose every value goes to `take`.
  Option add_option(const std::string& names, const std::function<void(const std::string&)>& take, const std::string& meaning) const;
  Option add_flag(const std::string& names, bool& value, const std::string& meaning) const;
  /// A flag that calls back where it is typed.
  Option add_switch(const std::string& names, const std::function<void()>& then, const std::string& meaning) const;
  /// A flag that gives `value` a word: "--gated{yes}".
  Option add_flag(const std::string& names, std::string& value, const std::string& meaning) const;
  /// Runs when the verb was typed, after its options have their values.
  void callback(const std::function<void()>& then) const;
  /// One of its verbs has to be typed.
  void require_verb() const;
  /// The end of its --help, and of that of verbs that are added later.
  void footer(const std::string& text) const;

  /// True when one of its verbs was typed.
  bool went_on() const;
  /// The first of its own options that was typed; empty when there is none.
  std::string first_given() const;
  /// The verb with that path below this one: "layout where".
  Verb verb(const std::string& path) const;
  /// What --help prints.
  std::string help() const;
  /// All that it takes, and all below it.
  VerbEntry option_table() const;

 private:
  friend class Program;
  explicit Verb(CLI::App* app) : app_(app) {}

  CLI::App* app_;
};

/// What a program takes. Verbs and options are its own, and end with it.
class Program {
 public:
  /// `name` as it is typed; --help begins with the meaning.
  Program(const std::string& name, const std::string& meaning);
  ~Program();

  /// The program as a verb without a path.
  Verb root() const;
  /// Adds --version, which prints what `text` says.
  void version_flag(const std::function<std::string()>& text) const;
  /// Gives every value to who takes it, then calls back; `words` without the program's name. False when help or the version was asked for, which is
  /// printed then. Throws Error(usage) when the words are none that the program takes, Error(resource) when stdout cannot be written.
  bool parse(const std::vector<std::string>& words) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace mx::cli
