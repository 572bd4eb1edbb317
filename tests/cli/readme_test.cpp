// The commands that the README and docs/ show are run, print what the text shows and end with 0, or with the exit status that the text shows.

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"

namespace {

struct Example {
  std::string command;   ///< after "$ mxact ", without the exit status
  int status = 0;        ///< as "  # exit status 1" after the command says
  std::string expected;  ///< the lines below it, up to a blank one or the end of the block
};

/// How many examples each document has.
const std::map<std::string, int> kExamples{
    {"README.md", 7},        {"docs/convert.md", 2},     {"docs/deployment.md", 6}, {"docs/faults.md", 1},
    {"docs/findings.md", 2}, {"docs/history.md", 0},     {"docs/laws.md", 0},       {"docs/sim.md", 4},
    {"docs/layouts.md", 8},  {"docs/moe-kernels.md", 0}, {"docs/numerics.md", 36},  {"docs/performance.md", 0},
    {"docs/proofs.md", 0},   {"docs/embed.md", 0},       {"docs/portability.md", 0}, {"docs/fuzzing.md", 0},
    {"docs/report.md", 3},      {"docs/scale.md", 3},      {"docs/vectors.md", 5},
};

Example example_of(const std::string& text) {
  const std::string mark = "  # exit status ";
  const std::size_t end = text.find(mark);
  if (end == std::string::npos) return {text, 0, {}};
  return {text.substr(0, end), std::stoi(text.substr(end + mark.size())), {}};
}

std::vector<Example> examples_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  REQUIRE(stream.good());
  std::vector<Example> examples;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    const std::string prompt = "$ mxact ";
    if (line.starts_with(prompt)) {
      examples.push_back(example_of(line.substr(prompt.size())));
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
  // What an example writes goes into a directory of the test's own, in which the documents' paths are those of the source.
  const mx::tests::ScratchDirectory scratch;
  for (const char* name : {"README.md", "docs", "golden"}) {
    std::filesystem::create_symlink(std::filesystem::path(MXACT_SOURCE_DIR) / name, scratch.path() / name);
  }
  std::filesystem::current_path(scratch.path());
  std::map<std::string, int> run{{"README.md", 0}};
  for (const auto& entry : std::filesystem::directory_iterator("docs")) {
    if (entry.path().extension() == ".md") run[entry.path().string()] = 0;
  }
  for (auto& [file, count] : run) {
    for (const Example& example : examples_of(file)) {
      const mx::tests::Run result = mx::tests::run_mxact(example.command);
      INFO(file << ": mxact " << example.command << "\n" << result.err);
      // The text may stop before the output does.
      CHECK(result.out.substr(0, example.expected.size()) == example.expected);
      CHECK_FALSE(example.expected.empty());
      CHECK(result.status == example.status);
      ++count;
    }
  }
  std::filesystem::current_path(MXACT_SOURCE_DIR);
  // An example that the test no longer sees would be a promise that nobody keeps.
  CHECK(run == kExamples);
}
