// The examples that the README, HACKING.md and docs/ show print what the text shows and end with 0, or with the exit status that the text shows.

#include <cstdlib>
#include <string>

#include "tests/cli/pages.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::tests::Page;
using mx::tests::ShownCommand;

const std::filesystem::path kRoot = MXACT_SOURCE_DIR;

/// How many examples each document has.
const std::map<std::string, int> kExamples{
    {"README.md", 1},
    {"HACKING.md", 0},
    {"docs/convert.md", 3},
    {"docs/deployment.md", 8},
    {"docs/faults.md", 1},
    {"docs/findings.md", 2},
    {"docs/history.md", 0},
    {"docs/laws.md", 0},
    {"docs/sim.md", 4},
    {"docs/layouts.md", 8},
    {"docs/moe-kernels.md", 0},
    {"docs/numerics.md", 18},
    {"docs/disagreements.md", 30},
    {"docs/performance.md", 0},
    {"docs/proofs.md", 0},
    {"docs/embed.md", 0},
    {"docs/portability.md", 0},
    {"docs/report.md", 3},
    {"docs/scale.md", 4},
    {"docs/vectors.md", 7},
    {"docs/walk.md", 31},
    {"docs/glossary.md", 0},
    {"docs/sanitizers.md", 0},
    {"docs/trust.md", 0},
    {"docs/fuzzing.md", 0},
    {"docs/moe-kernels-avx2.md", 0},
    {"docs/python.md", 0},
    {"docs/engines.md", 2},
    {"docs/peers.md", 0},
    {"docs/checks.md", 0},
    {"docs/layer.md", 2},
    {"docs/hardware.md", 0},
    {"docs/inspect.md", 2},
    {"docs/for-engines.md", 1},
    {"docs/for-models.md", 1},
    {"docs/for-kernels.md", 1},
    {"docs/interpreter.md", 0},
    {"docs/for-rtl.md", 0},
    {"docs/for-rl.md", 1},
};

/// Pictures of the pages and the command that writes each, which one of the pages shows.
const std::map<std::string, std::string> kPictures{
    {"e2m1.svg", "mxact formats --format e2m1 -o e2m1.svg"},
    {"matrix.svg", "mxact matrix --model gpt-oss-120b --scheme mxfp4 --parallel tp8 -o matrix.svg"},
    {"rules.svg", "mxact study --rules --format mxfp4 -o rules.svg"},
    {"sf_128x4.svg", "mxact layout draw sf_128x4 --shape 100x4 --by memory -o sf_128x4.svg"},
    {"sf_8x4.svg", "mxact layout draw sf_8x4 --shape 12x6 -o sf_8x4.svg"},
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool shows(const Page& page, const std::string& command) {
  for (const ShownCommand& line : page.commands) {
    if (line.line == command) return true;
  }
  for (const ShownCommand& example : page.examples) {
    if ("mxact " + example.line == command) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the examples of the README and the docs print what they show") {
  // What an example writes goes into a directory of the test's own, in which the documents' paths are those of the source.
  const mx::tests::ScratchDirectory scratch;
  for (const char* name : {"README.md", "docs", "golden"}) std::filesystem::create_symlink(kRoot / name, scratch.path() / name);
  std::filesystem::current_path(scratch.path());
  std::map<std::string, int> run;
  for (const Page& page : mx::tests::all_pages(kRoot)) {
    run[page.path] = 0;
    for (const ShownCommand& example : page.examples) {
      const mx::tests::Run result = mx::tests::run_mxact(example.line);
      INFO(page.path << ": mxact " << example.line << "\n" << result.err);
      // The text may stop before the output does.
      INFO("printed:\n" << result.out << "shown:\n" << example.expected);
      CHECK(mx::tests::begins_as_shown(result.out, example.expected));
      CHECK_FALSE(example.expected.empty());
      CHECK(result.status == example.status);
      ++run[page.path];
    }
  }
  std::filesystem::current_path(kRoot);
  // An example that the test no longer sees would be a promise that nobody keeps.
  CHECK(run == kExamples);
}

TEST_CASE("an output is judged by every line that a page shows of it") {
  using mx::tests::begins_as_shown;
  CHECK(begins_as_shown("one\ntwo three\nfour\n", "one\ntwo ...\n"));
  CHECK(begins_as_shown("one\n", "one\n"));
  for (const char* wrong : {"two\n", "one\ntwo\n", "one\ntwo three ...\n", "one\nthree ...\n", "one ...\n", "one\ntwo three\nfour\nfive\n"}) {
    INFO(wrong);
    CHECK_FALSE(begins_as_shown("one\ntwo three\nfour\n", wrong));
  }
}

TEST_CASE("pictures of the pages are what the commands beside them draw") {
  const mx::tests::ScratchDirectory scratch;
  std::filesystem::current_path(scratch.path());
  const std::vector<Page> pages = mx::tests::all_pages(kRoot);
  std::size_t pictures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "docs/pictures")) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    REQUIRE(kPictures.count(name) == 1);
    const std::string& command = kPictures.at(name);
    bool shown = false;
    for (const Page& page : pages) shown = shown || shows(page, command);
    CHECK(shown);
    CHECK(mx::tests::run_mxact(command.substr(command.find(' ') + 1)).status == 0);
    CHECK(text_of(scratch.path() / name) == text_of(entry.path()));
    ++pictures;
  }
  std::filesystem::current_path(kRoot);
  CHECK(pictures == kPictures.size());
}

TEST_CASE("figures of the README are those of the pages that it names") {
  int figures = 0;
  std::istringstream text(text_of(kRoot / "README.md"));
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("|") || line.find("**") == std::string::npos) continue;
    INFO(line);
    std::string pages;
    for (std::size_t at = line.find("](docs/"); at != std::string::npos; at = line.find("](docs/", at + 1)) {
      pages += text_of(kRoot / line.substr(at + 2, line.find(')', at) - at - 2));
    }
    for (std::size_t at = line.find("**"); at != std::string::npos; at = line.find("**", at + 1)) {
      const std::size_t end = line.find("**", at + 2);
      REQUIRE(end != std::string::npos);
      const std::string figure = line.substr(at + 2, end - at - 2);
      INFO(figure);
      CHECK(pages.find(figure) != std::string::npos);
      ++figures;
      at = end;
    }
  }
  CHECK(figures >= 5);
}
