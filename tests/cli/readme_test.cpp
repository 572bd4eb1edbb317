// The commands that the README and docs/ show are run, and print what the text shows.

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"

namespace {

struct Example {
  std::string command;   ///< after "$ mxact "
  std::string expected;  ///< the lines below it, up to a blank one or the end of the block
};

std::vector<Example> examples_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  REQUIRE(stream.good());
  std::vector<Example> examples;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    const std::string prompt = "$ mxact ";
    if (line.starts_with(prompt)) {
      examples.push_back({line.substr(prompt.size()), {}});
      inside = true;
    } else if (line.empty() || line.starts_with("```")) {
      inside = false;
    } else if (inside) {
      examples.back().expected += line + "\n";
    }
  }
  return examples;
}

}  // namespace

TEST_CASE("the examples of the README and the docs print what they show") {
  std::filesystem::current_path(MXACT_SOURCE_DIR);
  std::vector<std::filesystem::path> files{"README.md"};
  for (const auto& entry : std::filesystem::directory_iterator("docs")) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  int run = 0;
  for (const std::filesystem::path& file : files) {
    for (const Example& example : examples_of(file)) {
      const std::string out = mx::tests::run_mxact(example.command).out;
      INFO(file << ": mxact " << example.command);
      // The text may stop before the output does.
      CHECK(out.substr(0, example.expected.size()) == example.expected);
      CHECK_FALSE(example.expected.empty());
      ++run;
    }
  }
  CHECK(run >= 3);
}
