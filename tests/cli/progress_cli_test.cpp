// What long verbs say while they work, and how they end when they are interrupted.

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_mxact;
using mx::tests::run_program;
using mx::tests::ScratchDirectory;
using mx::tests::tiny;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Runs a shell script, whatever it holds.
Run run_script(const std::string& script) {
  std::string escaped;
  for (const char c : script) escaped += (c == '$' || c == '"' || c == '\\' ? std::string("\\") : std::string()) + c;
  return run_program("sh -c", "\"" + escaped + "\"");
}

/// A verb that is sent a signal as soon as it has said how far it is; what it says from then on goes into `said`.
Run interrupted_at_work(const std::string& arguments, const std::string& signal, const std::filesystem::path& folder) {
  const std::string pipe = quoted(folder / "progress");
  return run_script("mkfifo " + pipe + " && { " + MXACT_PROGRAM + " " + arguments + " --progress 2>" + pipe + " & } && exec 3<" + pipe +
                    " && read -r line <&3 && kill -" + signal + " $! && cat <&3 >" + quoted(folder / "said") + "; wait $!");
}

std::string last_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string last;
  for (std::string line; std::getline(stream, line);) last = line;
  return last;
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
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
      {"run " + at("plan.json") + " --again --job 0,1,2,3", "job 0, layer 0: comparing with the plan"},
      {"verify " + tiny() + " --platform SM90 --backend MARLIN --layers 1 --tp 1 --contract f32-sequential", "layer 0: the checkpoint's form"},
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
  // Far more tokens than are done before the signal comes.
  const ScratchDirectory scratch;
  const Run run = interrupted_at_work("verify --tokens 64", signal, scratch.path());
  INFO(run.out << run.err);
  CHECK(run.status == status);
  CHECK(run.out.empty());
  CHECK(last_line(scratch.path() / "said") == "mxact: interrupted; not every layer was verified, and no verdict stands");
}

TEST_CASE("convert ends with the signal's status when it is interrupted, and leaves nothing, also within a tensor") {
  const auto [signal, status] = GENERATE(std::pair("INT", 130), std::pair("TERM", 143));
  const ScratchDirectory scratch;
  const std::filesystem::path source = scratch.path() / "source", output = scratch.path() / "out";
  std::filesystem::create_directory(output);
  mx::checkpoint::write_synthetic_checkpoint(source, {.layers = 1, .experts = 8, .hidden = 1024, .intermediate = 1024, .top_k = 2});
  // The model moves bit by bit and is asked nothing meanwhile: a second is over before a tensor is.
  const Run run = interrupted_at_work("convert " + quoted(source) + " --backend MARLIN --platform SM90 --reference -o " + quoted(output / "packed"),
                                      signal, scratch.path());
  INFO(run.out << run.err);
  CHECK(run.status == status);
  CHECK(run.out.empty());
  CHECK(last_line(scratch.path() / "said").find("mxact: interrupted") == 0);
  CHECK(names_in(output).empty());
}

TEST_CASE("whatever else takes long ends with the signal's status") {
  const auto [signal, status] = GENERATE(std::pair("INT", 130), std::pair("TERM", 143));
  const ScratchDirectory scratch;
  // Zeros lie alike in every layout: none can be told from the others before all of it was looked at.
  std::ofstream(scratch.path() / "zeros").close();
  std::filesystem::resize_file(scratch.path() / "zeros", std::uintmax_t{1} << 28);
  const std::string zeros = quoted(scratch.path() / "zeros"), example = std::string("'") + MXACT_SOURCE_DIR + "/docs/examples/sim-b200.info'";
  for (const std::string& arguments :
       {std::string("audit"), "sim " + example + " --compare --tokens 64", "layout identify " + zeros + " " + zeros + " --shape 32x4096x2048"}) {
    INFO(arguments);
    const Run run = run_script(std::string(MXACT_PROGRAM) + " " + arguments + " & sleep 0.3; kill -" + signal + " $!; wait $!");
    INFO(run.out << run.err);
    CHECK(run.status == status);
    CHECK(run.out.empty());
    CHECK(run.err == "mxact: interrupted\n");
  }
}
