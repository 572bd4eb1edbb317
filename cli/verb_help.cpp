// mxact help, completion, manual: what the program takes, for people and for their shells.

#include "cli/verb_help.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/completion.hpp"
#include "cli/help_topics.hpp"
#include "cli/manual.hpp"
#include "cli/output.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::cli {
namespace {

struct HelpOptions {
  std::vector<std::string> words;
  bool json = false;
};

Json json_of(const VerbEntry& verb) {
  Json json{{"verb", verb.path}, {"meaning", verb.meaning}, {"options", Json::array()}, {"verbs", Json::array()}};
  for (const OptionEntry& option : verb.options) {
    json["options"].push_back({{"names", option.names},
                               {"meaning", option.meaning},
                               {"positional", option.positional},
                               {"takes_value", option.takes_value},
                               {"required", option.required},
                               {"repeats", option.repeats}});
  }
  for (const VerbEntry& below : verb.verbs) json["verbs"].push_back(json_of(below));
  return json;
}

int list_all(const VerbEntry& program, bool as_json) {
  if (as_json) {
    Json json = json_head("help");
    json["program"] = json_of(program);
    for (const HelpTopic& topic : help_topics()) json["topics"].push_back({{"name", topic.name}, {"meaning", topic.meaning}});
    print_json(json);
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"verb", "what it does (mxact help VERB)"}};
  for (const VerbEntry* verb : all_verbs(program)) {
    if (!verb->path.empty()) rows.push_back({verb->path, verb->meaning});
  }
  print_table(rows);
  fmt::print("\n");
  rows = {{"topic", "what it explains (mxact help TOPIC)"}};
  for (const HelpTopic& topic : help_topics()) rows.push_back({std::string(topic.name), std::string(topic.meaning)});
  print_table(rows);
  return 0;
}

/// Everything that can be asked about, for the nearest name.
[[noreturn]] void report_unknown(const VerbEntry& program, const std::string& asked) {
  std::vector<std::string_view> known;
  for (const VerbEntry* verb : all_verbs(program)) {
    if (!verb->path.empty()) known.push_back(verb->path);
  }
  for (const HelpTopic& topic : help_topics()) known.push_back(topic.name);
  throw Error(ErrorCode::usage, unknown_name("verb or topic", asked, known), "mxact help");
}

int help(Verb program, const HelpOptions& options) {
  const VerbEntry table = program.option_table();
  if (options.words.empty()) return list_all(table, options.json);
  const std::string asked = fmt::format("{}", fmt::join(options.words, " "));
  Json json = json_head("help");
  for (const HelpTopic& topic : help_topics()) {
    if (topic.name != asked) continue;
    json.update({{"topic", topic.name}, {"meaning", topic.meaning}, {"text", topic.text}});
    options.json ? print_json(json) : fmt::print("{}: {}\n\n{}\n", topic.name, topic.meaning, topic.text);
    return 0;
  }
  for (const VerbEntry* verb : all_verbs(table)) {
    if (verb->path.empty() || verb->path != asked) continue;
    if (options.json) {
      json["program"] = json_of(*verb);
      print_json(json);
    } else {
      fmt::print("{}", program.verb(verb->path).help());
    }
    return 0;
  }
  report_unknown(table, asked);
}

int completion(Verb program, const std::string& shell) {
  if (shell == "bash") {
    fmt::print("{}", bash_completion(program.option_table()));
  } else if (shell == "zsh") {
    fmt::print("{}", zsh_completion(program.option_table()));
  } else {
    throw Error(ErrorCode::usage, unknown_name("shell", shell, std::vector<std::string_view>{"bash", "zsh"}), "SHELL");
  }
  return 0;
}

void add_completion(Verb app, Action& action) {
  const auto shell = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  const Verb verb = app.add_verb("completion", "completion of command lines for a shell: source <(mxact completion bash)");
  verb.add_option("SHELL", *shell, "bash or zsh").required();
  verb.add_flag("--json", *json, "machine-readable output: what the completion is made of");
  verb.callback(
      [app, &action, shell, json] { action = [app, shell, json] { return *json ? list_all(app.option_table(), true) : completion(app, *shell); }; });
}

void add_manual(Verb app, Action& action) {
  const auto json = std::make_shared<bool>(false);
  const Verb verb = app.add_verb("manual", "the manual page, mxact(1): mxact manual | man -l -");
  verb.add_flag("--json", *json, "machine-readable output: what the page is made of");
  verb.callback([app, &action, json] {
    action = [app, json] {
      if (*json) return list_all(app.option_table(), true);
      fmt::print("{}", manual_page(app.option_table()));
      return 0;
    };
  });
}

}  // namespace

void add_help(Verb app, Action& action) {
  const auto options = std::make_shared<HelpOptions>();
  const Verb verb = app.add_verb("help", "a verb, as its --help does, or a topic; without either the list of both");
  verb.add_option("TOPIC", options->words, "verb (layout where) or topic (exit-status)");
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([app, &action, options] { action = [app, options] { return help(app, *options); }; });
  add_completion(app, action);
  add_manual(app, action);
}

}  // namespace mx::cli
