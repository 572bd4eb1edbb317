// What the program says about itself: help by verb and topic, the manual page, completions. All come from the options themselves.

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/skip.hpp"

namespace {

using mx::support::Json;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::run_program;
using mx::tests::skip_without;

void collect(const Json& verb, std::vector<Json>& all) {
  if (verb["verb"] != "") all.push_back(verb);
  for (const Json& below : verb["verbs"]) collect(below, all);
}

std::vector<Json> every_verb() {
  std::vector<Json> all;
  collect(run_json("help")["program"], all);
  REQUIRE(all.size() >= 35);
  return all;
}

bool installed(const std::string& program) { return run_program("command", "-v " + program).status == 0; }

/// What bash offers after the words, of which the last one is being typed.
std::set<std::string> offered(const std::string& words) {
  const std::string script = "source <(" MXACT_PROGRAM " completion bash); COMP_WORDS=(" + words +
                             "); COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )); _mxact; printf \"%s\\n\" \"${COMPREPLY[@]}\"";
  const Run run = run_program("bash", "-c " + ("'" + script + "'"));
  INFO(words << "\n" << run.err);
  REQUIRE(run.status == 0);
  REQUIRE(run.err.empty());
  std::set<std::string> lines;
  std::istringstream text(run.out);
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) lines.insert(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("help of a verb is what its --help prints, and lists each of its options") {
  for (const Json& verb : every_verb()) {
    const std::string path = verb["verb"].text();
    INFO(path);
    const Run by_option = run_mxact(path + " --help");
    CHECK(by_option.status == 0);
    CHECK(run_mxact("help " + path).out == by_option.out);
    for (const Json& option : verb["options"]) CHECK(by_option.out.find(option["names"].back().text()) != std::string::npos);
  }
}

TEST_CASE("the help of every verb ends with an example, which runs where it names nothing of the reader's own") {
  const mx::tests::ScratchDirectory scratch;
  for (const char* name : {"docs", "golden"}) std::filesystem::create_symlink(std::filesystem::path(MXACT_SOURCE_DIR) / name, scratch.path() / name);
  int run = 0;
  for (const Json& verb : every_verb()) {
    const std::string help = run_mxact(verb["verb"].text() + " --help").out;
    INFO(verb["verb"]);
    const std::string mark = "for example: mxact ";
    const std::size_t begin = help.find(mark);
    REQUIRE(begin != std::string::npos);
    const std::string command = help.substr(begin + mark.size(), help.find('\n', begin) - begin - mark.size());
    INFO(command);
    // Options are the verb's own, whether or not the example can be run.
    std::istringstream words(command.substr(0, command.find(" | ")));
    for (std::string word; words >> word;) {
      if (word.starts_with("--") && command.find("gen ") != 0) CHECK(help.find(word) != std::string::npos);
    }
    bool readers_own = false;
    for (const char* word : {"MODEL", "CHECKPOINT", "CONVERTED", "PLAN", "FIRST", "DEVICE", "DIRECTED", "./my_"})
      readers_own = readers_own || command.find(word) != std::string::npos;
    if (readers_own) continue;
    const Run result = run_program("cd '" + scratch.path().string() + "' && " MXACT_PROGRAM, command);
    INFO(result.err);
    // Profiles and layouts that differ end with 1.
    CHECK(result.status == (command.starts_with("compare") || command.starts_with("layout diff") ? 1 : 0));
    CHECK(result.out.size() > 10);
    ++run;
  }
  CHECK(run >= 20);
}

TEST_CASE("help topics are explained, named unlike any verb, and in the manual") {
  const Json list = run_json("help");
  const std::string manual = run_mxact("manual").out;
  std::set<std::string> verbs;
  for (const Json& verb : every_verb()) verbs.insert(verb["verb"].text());
  REQUIRE(list["topics"].size() >= 10);
  for (const Json& topic : list["topics"]) {
    const std::string name = topic["name"].text();
    INFO(name);
    CHECK(verbs.count(name) == 0);
    CHECK(run_mxact("help " + name).out.size() > 100);
    CHECK(manual.find(".SS \"" + (name == "exit-status" ? "exit\\-status" : name) + "\"") != std::string::npos);
  }
  CHECK(run_mxact("help exit-status").out.find("130") != std::string::npos);
}

TEST_CASE("commands that help topics show are ones that the program takes") {
  int shown = 0;
  const Json list = run_json("help");
  for (const Json& topic : list["topics"]) {
    std::istringstream text(run_json("help " + topic["name"].text())["text"].text());
    for (std::string line; std::getline(text, line);) {
      if (line.rfind("    mxact ", 0) != 0) continue;
      std::string verb = line.substr(10, line.find(' ', 10) - 10);
      INFO(line);
      CHECK(run_mxact("help " + verb).status == 0);
      ++shown;
    }
  }
  CHECK(shown >= 10);
}

TEST_CASE("an unknown topic, verb or shell gets the nearest name") {
  for (const auto& [arguments, message] :
       std::vector<std::pair<std::string, std::string>>{{"help layuot", "unknown verb or topic 'layuot' (did you mean layout?)"},
                                                        {"help layout wher", "unknown verb or topic 'layout wher' (did you mean layout where?)"},
                                                        {"completion bsh", "unknown shell 'bsh' (did you mean bash?)"},
                                                        {"completion", "SHELL"}}) {
    const Run run = run_mxact(arguments);
    INFO(arguments);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK(run.err.find(message) != std::string::npos);
  }
}

TEST_CASE("the manual names every verb and option") {
  const Run manual = run_mxact("manual");
  REQUIRE(manual.status == 0);
  for (const Json& verb : every_verb()) {
    std::string path = verb["verb"].text();
    INFO(path);
    CHECK(manual.out.find(".SS \"mxact " + path + " ") != std::string::npos);
  }
  for (const char* option : {"\\-\\-library", "\\-\\-coord", "\\-\\-with\\-expected"}) CHECK(manual.out.find(option) != std::string::npos);
}

TEST_CASE("troff takes the manual without a warning") {
  if (!installed("groff")) {
    skip_without("tool: groff");
    return;
  }
  const Run formatted = run_program("sh", std::string("-c '" MXACT_PROGRAM " manual | groff -man -Tutf8 -ww -z'"));
  CHECK(formatted.status == 0);
  CHECK(formatted.err.empty());
}

TEST_CASE("bash completes verbs, options and names from the tables") {
  std::set<std::string> verbs;
  const Json list = run_json("help");
  for (const Json& verb : list["program"]["verbs"]) verbs.insert(verb["verb"].text());
  CHECK(offered("mxact \"\"") == verbs);
  CHECK(offered("mxact lay") == std::set<std::string>{"layer", "layout"});
  CHECK(offered("mxact layout w") == std::set<std::string>{"where"});
  CHECK(offered("mxact layout where TRITON_") == std::set<std::string>{"TRITON_MXFP8", "TRITON_UNFUSED"});
  CHECK(offered("mxact layout where TRITON --coo") == std::set<std::string>{"--coord"});
  CHECK(offered("mxact convert model --backend MARL") == std::set<std::string>{"MARLIN"});
  CHECK(offered("mxact convert model --platform sm12") == std::set<std::string>{"sm120", "sm121"});
  CHECK(offered("mxact select model --platform SM12") == std::set<std::string>{"SM120", "SM121"});
  CHECK(offered("mxact audit model --engine SM12").empty());
  CHECK(offered("mxact gen f32_to_e4m3fnu") == std::set<std::string>{"f32_to_e4m3fnuz"});
  CHECK(offered("mxact sweep mer") == std::set<std::string>{"merge"});
  CHECK(offered("mxact help exit") == std::set<std::string>{"exit-status"});
  for (const Json& verb : every_verb()) {
    const std::string path = verb["verb"].text();
    std::set<std::string> options;
    for (const Json& option : verb["options"]) {
      if (option["positional"].flag()) continue;
      for (const Json& name : option["names"]) {
        if (name.text().rfind("--", 0) == 0) options.insert(name.text());
      }
    }
    INFO(path);
    CHECK(offered("mxact " + path + " --") == options);
  }
}

TEST_CASE("zsh reads its completion") {
  if (!installed("zsh")) {
    skip_without("tool: zsh");
    return;
  }
  const Run run = run_program("sh", std::string("-c '" MXACT_PROGRAM " completion zsh | zsh -n'"));
  CHECK(run.status == 0);
  CHECK(run.err.empty());
}
