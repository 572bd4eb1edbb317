#pragma once
// Runs mxact.

#include <string>

#include "support/json.hpp"
#include "tests/cli/run.hpp"
#include "tests/json_text.hpp"

namespace mx::tests {

/// `arguments` is a shell fragment; paths in it must be quoted by the caller.
inline Run run_mxact(const std::string& arguments, const std::string& input = "/dev/null") { return run_program(MXACT_PROGRAM, arguments, input); }

/// stdout as JSON; the run must have ended with `status` and said nothing on stderr.
inline sim::Json run_json(const std::string& arguments, int status = 0) {
  const Run run = run_mxact(arguments + " --json");
  INFO(arguments << "\n" << run.out << run.err);
  REQUIRE(run.status == status);
  REQUIRE(run.err.empty());
  return parsed(run.out);
}

}  // namespace mx::tests
