// docs/deployment.md lists exactly the keys that the reader knows, its document the variables. The reader names them itself when it meets one that is
// like none of them.

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "model/engine/vllm/env.hpp"
#include "support/deployment_file.hpp"
#include "support/file.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

namespace {

using Words = std::set<std::string>;

const std::string kUnlikeAll = "zzzzzzzzzzzzzzzz";
const std::string kSizes = "experts 8 top_k 2 hidden 64 intermediate 64";

/// The names in "(known: a b c)".
Words known_in(const std::string& text) {
  const std::string message = mx::tests::message_of(mx::ErrorCode::input, [&] { mx::support::parse_deployment(text, "f.info"); });
  INFO(message);
  const std::string mark = "(known: ";
  const std::size_t start = message.find(mark);
  REQUIRE(start != std::string::npos);
  std::istringstream names(message.substr(start + mark.size(), message.rfind(')') - start - mark.size()));
  Words words;
  for (std::string name; names >> name;) words.insert(name);
  return words;
}

/// Words in backquotes.
void add_quoted(Words& words, const std::string& text) {
  for (std::size_t open = text.find('`'); open != std::string::npos;) {
    const std::size_t close = text.find('`', open + 1);
    REQUIRE(close != std::string::npos);
    words.insert(text.substr(open + 1, close - open - 1));
    open = text.find('`', close + 1);
  }
}

/// The keys of the lists that follow the mark, by section: what stands before the parenthesis of an item. A list ends with the next text.
std::map<std::string, Words> documented() {
  std::ifstream page(std::string(MXACT_SOURCE_DIR) + "/docs/deployment.md");
  REQUIRE(page.good());
  std::map<std::string, Words> keys;
  std::string section;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (line == "<!-- keys -->")
      inside = true;
    else if (!line.empty() && !line.starts_with("* ") && !line.starts_with("  "))
      inside = false;
    else if (inside && line.starts_with("* "))
      add_quoted(keys[section], line.substr(0, line.find('(')));
  }
  return keys;
}

}  // namespace

TEST_CASE("the page on deployment files lists the reader's keys, all of them and no others") {
  const std::map<std::string, Words> keys = documented();
  const std::map<std::string, Words> reader = {
      {"Top level", known_in("platform SM90\nlayer { " + kSizes + " }\n" + kUnlikeAll + " 1\n")},
      {"`layer`", known_in("platform SM90\nlayer { " + kSizes + " " + kUnlikeAll + " 1 }\n")},
      {"`parallel`", known_in("platform SM90\nlayer { " + kSizes + " }\nparallel { " + kUnlikeAll + " 1 }\n")},
      {"`platform` and `hardware`", known_in("hardware { platform cuda capability 90 " + kUnlikeAll + " 1 }\nlayer { " + kSizes + " }\n")},
  };
  for (const auto& [section, known] : reader) {
    INFO(section);
    CHECK(keys.at(section) == known);
  }
  CHECK(keys.size() == reader.size());
}

TEST_CASE("the page lists every package probe, its document every variable") {
  std::ifstream page(std::string(MXACT_SOURCE_DIR) + "/docs/deployment.md");
  std::stringstream text;
  text << page.rdbuf();
  for (const std::string& name : known_in("platform SM90\nlayer { " + kSizes + " }\nsoftware { " + kUnlikeAll + " true }\n")) {
    INFO(name);
    CHECK(text.str().find("`" + name + "`") != std::string::npos);
  }
  const std::string document = std::string(MXACT_SOURCE_DIR) + "/docs/measured/deployment.json";
  const auto bytes = mx::support::read_file(document, 1U << 20U);
  const mx::support::Json parsed = mx::support::parse_json(bytes, {.bytes = 1U << 20U}, document);
  Words variables;
  for (const auto& table : parsed.at("tables"))
    if (table.at("name").get<std::string>() == "variables")
      for (const auto& row : table.at("rows")) add_quoted(variables, row.begin()->get<std::string>());
  // Written as "the same with `_CUTLASS`" beside the one that it prolongs.
  REQUIRE(variables.erase("_CUTLASS") == 1);
  variables.insert("VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS");
  const auto known = mx::engine::env_names();
  CHECK(variables == Words(known.begin(), known.end()));
}
