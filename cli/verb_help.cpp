// mxact help, completion, manual: what the program takes, for people and for their shells.

#include "cli/verb_help.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/completion.hpp"
#include "cli/document.hpp"
#include "cli/help_topics.hpp"
#include "cli/manual.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::cli {
namespace {

struct HelpOptions {
  std::vector<std::string> words;
  DocumentOptions out;
};

verbs::Table options_of(const VerbEntry& verb) {
  verbs::Table options{{},
                       {verbs::in_json("names"), verbs::in_json("meaning"), verbs::in_json("positional"), verbs::in_json("takes_value"),
                        verbs::in_json("required"), verbs::in_json("repeats")}};
  for (const OptionEntry& option : verb.options)
    options.add({option.names, option.meaning, option.positional, option.takes_value, option.required, option.repeats});
  return options;
}

/// Verbs with their options and their own verbs.
verbs::Table table_of(std::span<const VerbEntry> entries) {
  verbs::Table table{{}, {verbs::in_json("verb"), verbs::in_json("meaning"), verbs::in_json("options"), verbs::in_json("verbs")}};
  for (const VerbEntry& verb : entries) table.add({verb.path, verb.meaning, options_of(verb).json(), table_of(verb.verbs).json()});
  return table;
}

void add_program(verbs::Document& document, const VerbEntry& verb) { document.value("program", table_of({&verb, 1}).json().front()); }

verbs::Document list_of_all(const VerbEntry& program) {
  verbs::Document document{"help"};
  add_program(document, program);
  verbs::Table below{{}, {verbs::in_text("verb"), verbs::in_text("what it does (mxact help VERB)")}};
  for (const VerbEntry* verb : all_verbs(program)) {
    if (!verb->path.empty()) below.add({verb->path, verb->meaning});
  }
  verbs::Table topics{"topics", {{"name", "topic"}, {"meaning", "what it explains (mxact help TOPIC)"}}};
  for (const HelpTopic& topic : help_topics()) topics.add({topic.name, topic.meaning});
  document.table(std::move(below));
  document.line();
  document.table(std::move(topics));
  return document;
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
  if (options.words.empty()) return show(list_of_all(table), options.out);
  const std::string asked = fmt::format("{}", fmt::join(options.words, " "));
  verbs::Document document{"help"};
  for (const HelpTopic& topic : help_topics()) {
    if (topic.name != asked) continue;
    document.value("topic", topic.name);
    document.value("meaning", topic.meaning);
    document.value("text", topic.text);
    document.line(fmt::format("{}: {}\n\n{}", topic.name, topic.meaning, topic.text));
    return show(document, options.out);
  }
  for (const VerbEntry* verb : all_verbs(table)) {
    if (verb->path.empty() || verb->path != asked) continue;
    add_program(document, *verb);
    std::string text = program.verb(verb->path).help();
    if (text.ends_with('\n')) text.pop_back();
    document.line(std::move(text));
    return show(document, options.out);
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
  const auto out = std::make_shared<DocumentOptions>();
  const Verb verb = app.add_verb("completion", "completion of command lines for a shell: source <(mxact completion bash)");
  verb.add_option("SHELL", *shell, "bash or zsh").required();
  add_json_option(verb, *out, "machine-readable output: what the completion is made of");
  verb.callback([app, &action, shell, out] {
    action = [app, shell, out] { return out->json ? show(list_of_all(app.option_table()), *out) : completion(app, *shell); };
  });
}

void add_manual(Verb app, Action& action) {
  const auto out = std::make_shared<DocumentOptions>();
  const Verb verb = app.add_verb("manual", "the manual page, mxact(1): mxact manual | man -l -");
  add_json_option(verb, *out, "machine-readable output: what the page is made of");
  verb.callback([app, &action, out] {
    action = [app, out] {
      if (out->json) return show(list_of_all(app.option_table()), *out);
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
  add_json_option(verb, options->out);
  verb.callback([app, &action, options] { action = [app, options] { return help(app, *options); }; });
  add_completion(app, action);
  add_manual(app, action);
}

}  // namespace mx::cli
