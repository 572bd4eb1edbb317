// Programs of laws: ours and one that holds something of its own to the laws. What fails names its law first, ends with a line that replays it, and
// is a file on request.

#include "props/program.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "props/failure_file.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run.hpp"

namespace {

struct Ran {
  std::string output;
  int status;
};

/// Without CI, in which replays are refused.
Ran ran(const std::string& command) {
  Ran ran{};
  std::array<char, 4096> buffer{};
  FILE* pipe = popen(("env -u CI " + command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) ran.output += buffer.data();
  ran.status = WEXITSTATUS(pclose(pipe));
  return ran;
}

const std::string kExample = MXACT_LAWS_EXAMPLE;
const std::string kLaws = MXACT_LAWS_PROGRAM;

/// The line behind "BROKEN ID ...": the first of the message.
std::string first_line(const std::string& output, const std::string& law) {
  const std::size_t broken = output.find("BROKEN " + law);
  REQUIRE(broken != std::string::npos);
  const std::size_t begin = output.find('\n', broken) + 1;
  return output.substr(begin, output.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("a program of laws says what it takes, and refuses a law or an option that there is not, whatever stands beside it") {
  const Ran help = ran(kLaws + " --help");
  CHECK(help.status == 0);
  CHECK(help.output.find("usage:") != std::string::npos);
  const Ran list = ran(kLaws + " --list");
  CHECK(list.status == 0);
  CHECK(list.output.find("N2/e4m3fn ") != std::string::npos);
  const Ran misspelt = ran(kLaws + " N1/e2m1 N1/e2m9");
  CHECK(misspelt.status == 2);
  CHECK(misspelt.output == "mxact_laws: N1/e2m9: no law's id begins so (--list names them)\n");
  CHECK(ran(kLaws + " --lits").status == 2);
  CHECK(ran(kLaws + " --junit").status == 2);
}

TEST_CASE("an encoder, a converter and an oracle that are right pass the laws that are theirs") {
  const Ran right = ran(kExample + " right");
  INFO(right.output);
  CHECK(right.status == 0);
  for (const char* law : {"N1/libm-e4m3", "N2/libm-e4m3", "N3/libm-e4m3", "L1/my-xpu", "L2/my-xpu", "L4/my-xpu", "L7/my-xpu", "O1/my-w4a8",
                          "O3/my-w4a8", "O4/my-w4a8"}) {
    CHECK(right.output.find("held   " + std::string(law)) != std::string::npos);
  }
}

TEST_CASE("ones that are wrong break a law, named first, and are replayed from what is printed and from the file") {
  const mx::tests::ScratchDirectory scratch;
  const Ran wrong = ran(kExample + " wrong --failures " + scratch.path().string());
  INFO(wrong.output);
  CHECK(wrong.status == 1);
  // What each mistake leaves alone still holds.
  for (const char* law : {"N1/libm-e4m3", "N3/libm-e4m3", "L1/my-xpu", "O4/my-w4a8"})
    CHECK(wrong.output.find("held   " + std::string(law)) != std::string::npos);
  for (const std::string law : {"N2/libm-e4m3", "L2/my-xpu", "L7/my-xpu", "O1/my-w4a8", "O3/my-w4a8"}) {
    CHECK(first_line(wrong.output, law).starts_with(law));
  }
  const std::vector<std::filesystem::path> files = mx::props::failure_files(scratch.path());
  REQUIRE(files.size() == 5);
  for (const std::filesystem::path& path : files) {
    const mx::props::FailureFile failure = mx::props::read_failure(path);
    INFO(path);
    CHECK(failure.program == "mxact_laws_example wrong");
    CHECK(failure.counterexample.front().starts_with(failure.law));
    CHECK(failure.replay.find("RC_PARAMS='" + failure.reproduce + "'") == 0);
    CHECK(failure.command.starts_with("mxact "));
    const Ran replayed = ran("RC_PARAMS='" + failure.reproduce + "' " + kExample + " wrong " + failure.law);
    INFO(replayed.output);
    CHECK(replayed.status == 1);
    CHECK(replayed.output.find("Falsifiable after 1 tests") != std::string::npos);
  }
  // The files come first when they are named as regressions, and only those of the law that is asked for.
  const Ran again = ran(kExample + " wrong O3 --regressions " + scratch.path().string());
  CHECK(again.status == 1);
  CHECK(again.output.starts_with("BROKEN O3/my-w4a8 as in O3-my-w4a8.json"));
}

TEST_CASE("a run in CI refuses to replay one case, and a property without a name is refused anywhere") {
  const Ran refused = ran("CI=true RC_PARAMS=reproduce=x " + kLaws + " N1/e2m1");
  INFO(refused.output);
  CHECK(refused.status == 2);
  CHECK(refused.output.find("RC_PARAMS has reproduce= while CI is set") != std::string::npos);
  CHECK(ran("CI=false RC_PARAMS=seed=3 " + kLaws + " N1/e2m1").status == 0);
  CHECK(ran("CI=true RC_PARAMS=seed=3 " + kLaws + " N1/e2m1").status == 0);
  CHECK_THROWS_AS(mx::props::check_property({"", "nothing", nullptr}, [] {}), std::logic_error);
}

TEST_CASE("a folder of failures that is none, and files that are none, are errors") {
  const mx::tests::ScratchDirectory scratch;
  CHECK(ran(kLaws + " N1/e2m1 --regressions " + (scratch.path() / "missing").string()).status == 3);
  CHECK(ran(kLaws + " N1/e2m1 --failures").status == 2);
  std::FILE* const file = std::fopen((scratch.path() / "broken.json").c_str(), "w");
  REQUIRE(file != nullptr);
  std::fputs("[]", file);
  std::fclose(file);
  const Ran broken = ran(kLaws + " N1/e2m1 --regressions " + scratch.path().string());
  CHECK(broken.status == 3);
  CHECK(broken.output.find("broken.json") != std::string::npos);
}
