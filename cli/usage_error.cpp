#include "cli/usage_error.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::cli {
namespace {

/// Names of the verb's options as they are typed, the long one of each.
std::vector<std::string_view> names_of_options(const VerbEntry& verb) {
  std::vector<std::string_view> names;
  for (const OptionEntry& option : verb.options) {
    std::ranges::copy_if(option.names, std::back_inserter(names), [](const std::string& name) { return name.starts_with("--"); });
  }
  return names;
}

bool is_option(const std::string& word) { return word.starts_with('-') && !looks_like_a_value(word); }

/// What a verb takes without an option in front: " takes FORMAT CODE.."
std::string positionals_of(const VerbEntry& verb) {
  std::string text;
  for (const OptionEntry& option : verb.options) {
    if (option.positional) text += " " + option.names.front() + (option.repeats ? ".." : "");
  }
  return text.empty() ? " takes options alone" : " takes" + text;
}

std::string extras_message(const Refusal& refusal, const std::vector<std::string>& words) {
  // The parser has them in an order of its own.
  std::vector<std::string> left = refusal.left;
  const auto typed_before = [&](const std::string& a, const std::string& b) { return std::ranges::find(words, a) < std::ranges::find(words, b); };
  std::ranges::sort(left, typed_before);
  const auto option = std::ranges::find_if(left, is_option);
  if (option != left.end()) return unknown_name("option", option->substr(0, option->find('=')), names_of_options(refusal.verb));
  return "'" + (left.empty() ? "" : left.front()) + "' is one word too many: " + refusal.path + positionals_of(refusal.verb);
}

}  // namespace

bool looks_like_a_value(const std::string& text) {
  if (text.size() < 2 || text[0] != '-' || text[1] == '-') return false;
  char* end = nullptr;
  static_cast<void>(std::strtof(text.c_str(), &end));
  return end == text.c_str() + text.size();
}

void check_verbs(const std::string& name, const VerbEntry& program, const std::vector<std::string>& words) {
  const VerbEntry* verb = &program;
  std::string path = name;
  for (const std::string& word : words) {
    if (!verb->needs_verb) return;
    if (word.starts_with('-')) {
      // --help and --version need no verb; the parser knows the program's other options.
      std::vector<std::string_view> known = names_of_options(*verb);
      known.emplace_back("-h");
      if (std::ranges::find(known, word) == known.end()) throw Error(ErrorCode::usage, unknown_name("option", word, known));
      return;
    }
    const auto below = std::ranges::find(verb->verbs, word, name_of);
    if (below == verb->verbs.end()) {
      std::vector<std::string_view> known;
      std::ranges::transform(verb->verbs, std::back_inserter(known), name_of);
      throw Error(ErrorCode::usage, unknown_name(verb == &program ? "verb" : "verb of " + path, word, known));
    }
    verb = &*below;
    path += " " + word;
  }
  if (!verb->needs_verb) return;
  std::string verbs;
  for (const VerbEntry& below : verb->verbs) verbs.append(verbs.empty() ? "" : ", ").append(name_of(below));
  throw Error(ErrorCode::usage, "no verb: " + path + " takes " + verbs + " (" + path + " --help says what each does)");
}

std::string usage_message(const Refusal& refusal, const std::vector<std::string>& words) {
  std::string message = refusal.message;
  if (refusal.reason == Refusal::Reason::extra_words) {
    message = extras_message(refusal, words);
  } else if (refusal.reason == Refusal::Reason::no_number) {
    // "Could not convert: --tp = x"
    const std::size_t name = message.find(": ");
    const std::size_t value = message.find(" = ");
    if (name != std::string::npos && value != std::string::npos && name < value) {
      message = message.substr(name + 2, value - name - 2) + ": '" + message.substr(value + 3) + "' is no whole number, or too large";
    }
  } else if (refusal.reason == Refusal::Reason::missing && !message.starts_with("-") && message.find(" is required") != std::string::npos) {
    message += ": " + refusal.path + positionals_of(refusal.verb);
  }
  return message + " (" + refusal.path + " --help lists what it takes)";
}

}  // namespace mx::cli
