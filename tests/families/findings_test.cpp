// docs/measured/hazards.json and the tests hold each other: every finding on layouts names tests that exist, every test of a hazard is named.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/json_text.hpp"

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// What the first group of a pattern matches, each time.
std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression); at != std::sregex_iterator(); ++at) found.push_back((*at)[1]);
  return found;
}

/// Names of the test cases of all folders.
std::set<std::string> test_names() {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::recursive_directory_iterator(std::string(MXACT_SOURCE_DIR) + "/tests")) {
    if (file.path().extension() != ".cpp") continue;
    for (const std::string& name : all_matches(text_of(file.path()), "TEST_CASE\\(\"([^\"]*)\"")) names.insert(name);
  }
  return names;
}

/// A finding on layouts.
struct Entry {
  std::string title, evidence, text;
  std::vector<std::string> tests;
};

std::vector<Entry> entries() {
  const mx::support::Json document = mx::tests::parsed_file(std::string(MXACT_SOURCE_DIR) + "/docs/measured/hazards.json");
  std::vector<Entry> found;
  for (const mx::support::Json& entry : document["entries"]) {
    found.push_back({entry["title"].get<std::string>(), entry["evidence"].get<std::string>(), entry["text"].get<std::string>(), {}});
    for (const mx::support::Json& test : entry["tests"]) found.back().tests.push_back(test.get<std::string>());
  }
  return found;
}

}  // namespace

TEST_CASE("every finding on layouts names tests that exist") {
  const std::set<std::string> names = test_names();
  REQUIRE(entries().size() > 10);
  for (const Entry& entry : entries()) {
    INFO(entry.title);
    CHECK_FALSE(entry.tests.empty());
    for (const std::string& test : entry.tests) {
      INFO(test);
      CHECK(names.contains(test));
    }
  }
}

TEST_CASE("every test of a hazard belongs to a finding") {
  std::set<std::string> named;
  for (const Entry& entry : entries()) named.insert(entry.tests.begin(), entry.tests.end());
  for (const std::string& name : test_names()) {
    if (!name.starts_with("hazard: ")) continue;
    INFO(name);
    CHECK(named.contains(name));
  }
}

TEST_CASE("every finding on layouts says where it comes from and gives a smallest example") {
  const std::set<std::string> classes{"recorded", "run", "run by parts", "source read"};
  for (const Entry& entry : entries()) {
    INFO(entry.title);
    CHECK(entry.text.find("mallest example") != std::string::npos);
    CHECK(classes.contains(entry.evidence));
    CHECK(std::ranges::any_of(std::vector<std::string>{".py", ".cu", ".cpp", ".hpp", ".cuh"},
                              [&](const std::string& suffix) { return entry.text.find(suffix) != std::string::npos; }));
  }
  // The page of prose counts them.
  CHECK(text_of(std::string(MXACT_SOURCE_DIR) + "/docs/findings.md").find("\n" + std::to_string(entries().size()) + " places where") !=
        std::string::npos);
}
