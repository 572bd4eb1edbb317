// The recorder that users run, end to end.

#include <cstdlib>

#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"
#include "tests/skip.hpp"

namespace mx::tests::witness {
namespace {

TEST_CASE("what python/mxact/_record.py records is verified", "[witness]") {
  const std::string python = "'" MXACT_PYTHON "'";
  if (std::system((python + " -c 'import numpy' 2>/dev/null").c_str()) != 0) {
    tests::skip_without("tool: NumPy of " MXACT_PYTHON);
    return;
  }
  const Scratch scratch("record");
  const std::string command =
      python + " '" + std::string(MXACT_ROOT) + "/python/mxact/_record.py' --self-test '" + scratch.path().string() + "/sets'";
  REQUIRE(std::system(command.c_str()) == 0);
  const Outcome outcome = run(scratch.path() / "sets");
  INFO(outcome.text);
  CHECK(outcome.exit == 0);
  REQUIRE(outcome.sets.size() == 2);
  CHECK(outcome.sets[0].count(golden::EntryStatus::equal) == 3);
  CHECK(outcome.sets[0].compared() > 65536 + 2 * 7900);
  CHECK(outcome.sets[1].count(golden::EntryStatus::equal) == 3);
  // Recordings are not overwritten.
  CHECK(std::system((command + " 2>/dev/null").c_str()) != 0);
}

}  // namespace
}  // namespace mx::tests::witness
