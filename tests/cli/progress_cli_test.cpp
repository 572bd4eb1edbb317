// What long verbs say while they work, and how they end when they are interrupted.

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"

namespace {

using mx::tests::Run;
using mx::tests::run_mxact;
using mx::tests::run_program;
using mx::tests::ScratchDirectory;

std::string tiny() { return std::string("'") + MXACT_SOURCE_DIR + "/golden/witness/checkpoints/tiny-gpt-oss'"; }
std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("progress goes to stderr when it is asked for: percent, rate and time left") {
  const ScratchDirectory scratch;
  const auto at = [&](const char* name) { return quoted(scratch.path() / name); };
  const std::string how = tiny() + " --backend MARLIN --platform SM90";
  CHECK(run_mxact("plan " + how + " --converted " + at("merged") + " -o " + at("plan.json")).status == 0);
  const struct {
    std::string arguments;
    const char* phrase;  ///< of some line
  } rows[] = {
      {"convert " + how + " --force -o " + at("packed"), "layer 0"},
      {"restore " + at("packed") + " --force -o " + at("restored"), "layer 0"},
      {"run " + at("plan.json") + " --again --unit 0,1,2,3", "unit 0, layer 0: reading and converting"},
      {"verify " + tiny() + " --platform SM90 --backend MARLIN --layers 1 --tp 1 --contract f32-sequential",
       "layer 0: the checkpoint's form"},
      {"merge " + at("plan.json"), "checking mxact-layer-0000"},
  };
  for (const auto& row : rows) {
    const bool again = row.arguments.substr(0, 5) != "merge";  // which takes its units away
    const Run run = run_mxact(row.arguments + " --progress");
    INFO(row.arguments << "\n" << run.out << run.err);
    CHECK(run.status == 0);
    const std::vector<std::string> lines = lines_of(run.err);
    REQUIRE(lines.size() >= 2);
    CHECK(run.err.find(row.phrase) != std::string::npos);
    CHECK(lines.front().substr(0, 7) == "  0 %  ");
    CHECK(lines.back().substr(0, 7) == "100 %  ");
    CHECK(lines.back().find("B/s, 0:00 left") != std::string::npos);
    CHECK(run.err.find('\r') == std::string::npos);
    if (!again) continue;
    for (const char* quiet : {"", " --progress=never", " --progress=auto"}) {
      const Run silent = run_mxact(row.arguments + quiet);
      INFO(quiet);
      CHECK(silent.status == 0);
      CHECK(silent.err.empty());
      CHECK(silent.out == run.out);
    }
    CHECK(run_mxact(row.arguments + " --progress=often").err.find("unknown word 'often' (known: auto always never)") != std::string::npos);
  }
}

TEST_CASE("verify ends with the signal's status when it is interrupted, and gives no verdict") {
  const auto [signal, status] = GENERATE(std::pair("INT", 130), std::pair("TERM", 143));
  // Far more tokens than are done before the signal comes, which is sent as soon as the first line of progress is there.
  const ScratchDirectory scratch;
  const std::string pipe = quoted(scratch.path() / "progress"), said = quoted(scratch.path() / "said");
  const std::string script = "mkfifo " + pipe + " && { " + MXACT_PROGRAM + " verify --tokens 64 --progress 2>" + pipe + " & } && exec 3<" + pipe +
                             " && read -r line <&3 && kill -" + signal + " $! && cat <&3 >" + said + "; wait $!";
  const Run run = run_program(
      "sh -c", "\"" + [&] {
        std::string escaped;
        for (const char c : script) escaped += (c == '$' || c == '"' ? std::string("\\") : std::string()) + c;
        return escaped;
      }() + "\"");
  INFO(run.out << run.err);
  CHECK(run.status == status);
  CHECK(run.out.empty());
  std::ifstream stream(scratch.path() / "said");
  std::string last;
  for (std::string line; std::getline(stream, line);) last = line;
  CHECK(last == "mxact: interrupted; not every layer was verified, and no verdict stands");
}
