// The page of findings and the tests hold each other: every entry on layouts names tests that exist, every test of a hazard is named.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"

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

/// The entries on layouts, each from its title to the next one's.
std::vector<std::string> entries() {
  const std::string page = text_of(std::string(MXACT_SOURCE_DIR) + "/docs/findings.md");
  const std::size_t begin = page.find("\n## Layouts\n");
  REQUIRE(begin != std::string::npos);
  const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  std::vector<std::string> found;
  for (std::size_t at = section.find("\n### "); at != std::string::npos;) {
    const std::size_t next = section.find("\n### ", at + 1);
    found.push_back(section.substr(at, next - at));
    at = next;
  }
  return found;
}

/// The tests that an entry's line "Test ..." or "Tests ..." names.
std::vector<std::string> named_tests(const std::string& entry) {
  const std::vector<std::string> lines = all_matches(entry, "\n(Tests? [^\n]*)");
  if (lines.empty()) return {};
  return all_matches(lines.front(), "\"([^\"]*)\"");
}

}  // namespace

TEST_CASE("every finding on layouts names tests that exist") {
  const std::set<std::string> names = test_names();
  REQUIRE(entries().size() > 10);
  for (const std::string& entry : entries()) {
    INFO(entry.substr(0, 200));
    const std::vector<std::string> tests = named_tests(entry);
    CHECK_FALSE(tests.empty());
    for (const std::string& test : tests) {
      INFO(test);
      CHECK(names.contains(test));
    }
  }
}

TEST_CASE("every test of a hazard belongs to a finding") {
  std::set<std::string> named;
  for (const std::string& entry : entries()) {
    for (const std::string& test : named_tests(entry)) named.insert(test);
  }
  for (const std::string& name : test_names()) {
    if (!name.starts_with("hazard: ")) continue;
    INFO(name);
    CHECK(named.contains(name));
  }
}

TEST_CASE("every finding on layouts says where it comes from and gives a smallest example") {
  for (const std::string& entry : entries()) {
    INFO(entry.substr(0, 200));
    CHECK(entry.find("mallest example") != std::string::npos);
    CHECK((entry.find("Recorded") != std::string::npos || entry.find("Read") != std::string::npos || entry.find("read") != std::string::npos ||
           entry.find("Computed") != std::string::npos));
    CHECK(std::ranges::any_of(std::vector<std::string>{".py", ".cu", ".cpp", ".hpp", ".cuh"},
                              [&](const std::string& suffix) { return entry.find(suffix) != std::string::npos; }));
  }
}
