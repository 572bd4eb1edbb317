#pragma once
// Runs a program as a user does and keeps what it says.

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace mx::tests {

struct Run {
  int status;
  std::string out;
  std::string err;
};

/// `arguments` is a shell fragment; paths in it must be quoted by the caller. However slow the machine is, nothing is said of progress that is not
/// asked for.
inline Run run_program(const std::string& program, const std::string& arguments, const std::string& input = "/dev/null") {
  const ScratchDirectory scratch;
  const std::string errors = (scratch.path() / "stderr").string();
  const std::string command = "export MXACT_PROGRESS=never; " + program + " " + arguments + " < '" + input + "' 2> '" + errors + "'";
  Run run{0, {}, {}};
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) run.out.append(buffer.data(), n);
  const int status = pclose(pipe);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ifstream stream(errors);
  std::stringstream text;
  text << stream.rdbuf();
  run.err = text.str();
  return run;
}

}  // namespace mx::tests
