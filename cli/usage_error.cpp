#include "cli/usage_error.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <string_view>

#include "cli/numbers.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::cli {
namespace {

std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string_view> views(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

/// The verb that was typed, the deepest one; `path` is what was typed of it: "mxact layout where".
const CLI::App& verb_of(const CLI::App& program, std::string& path) {
  const CLI::App* app = &program;
  path = program.get_name();
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    path += " " + app->get_name();
  }
  return *app;
}

/// Names of the verb's options as they are typed, the long one of each.
std::vector<std::string> names_of_options(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool is_option(const std::string& word) { return word.starts_with('-') && !looks_like_a_value(word); }

/// What a verb takes without an option in front: " takes FORMAT CODE.."
std::string positionals_of(const CLI::App& verb) {
  std::string text;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_positional()) text += " " + option->get_name(true) + (option->get_items_expected_max() > 1 ? ".." : "");
  }
  return text.empty() ? " takes options alone" : " takes" + text;
}

/// CLI11 hands back what it could not place from the last word to the first.
std::string extras_message(const CLI::App& verb, const std::string& path, const std::vector<std::string>& words) {
  std::vector<std::string> left = verb.remaining(true);
  const auto typed_before = [&](const std::string& a, const std::string& b) { return std::ranges::find(words, a) < std::ranges::find(words, b); };
  std::ranges::sort(left, typed_before);
  const auto option = std::ranges::find_if(left, is_option);
  if (option != left.end()) {
    const std::vector<std::string> known = names_of_options(verb);
    return unknown_name("option", option->substr(0, option->find('=')), views(known));
  }
  return fmt::format("'{}' is one word too many: {}{}", left.empty() ? "" : left.front(), path, positionals_of(verb));
}

}  // namespace

void check_verbs(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* app = &program;
  std::string path = program.get_name();
  for (const std::string& word : words) {
    if (app->get_require_subcommand_min() == 0) return;
    const std::vector<std::string> names = names_of_verbs(*app);
    if (word.starts_with('-')) {
      // --help and --version need no verb; CLI11 knows the program's other options.
      std::vector<std::string> known = names_of_options(*app);
      known.emplace_back("-h");
      if (std::ranges::find(known, word) == known.end()) throw Error(ErrorCode::usage, unknown_name("option", word, views(known)));
      return;
    }
    if (std::ranges::find(names, word) == names.end()) {
      throw Error(ErrorCode::usage, unknown_name(app == &program ? "verb" : "verb of " + path, word, views(names)));
    }
    app = app->get_subcommand(word);
    path += " " + word;
  }
  if (app->get_require_subcommand_min() == 0) return;
  if (app == &program)
    throw Error(ErrorCode::usage, "no verb: `mxact verify` is the main job, `mxact help` lists what there is, `mxact --help` the options");
  throw Error(ErrorCode::usage,
              fmt::format("no verb: {} takes {} ({} --help says what each does)", path, fmt::join(names_of_verbs(*app), ", "), path));
}

std::string usage_message(const CLI::App& program, const CLI::ParseError& error, const std::vector<std::string>& words) {
  std::string path;
  const CLI::App& verb = verb_of(program, path);
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    message = extras_message(verb, path, words);
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    // "Could not convert: --tp = x"
    const std::size_t name = message.find(": ");
    const std::size_t value = message.find(" = ");
    if (name != std::string::npos && value != std::string::npos && name < value) {
      message = fmt::format("{}: '{}' is no whole number, or too large", message.substr(name + 2, value - name - 2), message.substr(value + 3));
    }
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !message.starts_with("-") &&
             message.find(" is required") != std::string::npos) {
    message += fmt::format(": {}{}", path, positionals_of(verb));
  }
  return fmt::format("{} ({} --help lists what it takes)", message, path);
}

}  // namespace mx::cli
