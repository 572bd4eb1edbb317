// The program mxact_proof, as a user runs it.

#include <fstream>
#include <string>

#include "kernels/isa.hpp"
#include "tests/cli/run.hpp"
#include "tests/engine/vllm/expect_error.hpp"
#include "tests/proof/work.hpp"

using namespace mx::tests;

using mx::tests::Run;
using mx::tests::ScratchDirectory;

namespace {

Run run(const std::string& arguments) { return mx::tests::run_program(MXACT_PROOF_PROGRAM, arguments); }

std::string in_quotes(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

}  // namespace

TEST_CASE("a proof runs in pieces, resumes, and its merged table knows what is missing") {
  const ScratchDirectory scratch;
  const std::string first = in_quotes(scratch.path() / "first");
  const std::string second = in_quotes(scratch.path() / "second");
  const std::string row = "twin --row e2m1/nearest_even/saturate --threads 2 ";
  const Run part = run(row + "--shard 1/16 --state " + first);
  CHECK(part.status == 0);
  CHECK(part.out == "16 chunks of 2^24 inputs in 1 rows: 16 checked now, 0 before; 0 wrong\n");
  CHECK(run(row + "--shard 1/16 --state " + first).out == "16 chunks of 2^24 inputs in 1 rows: 0 checked now, 16 before; 0 wrong\n");
  CHECK(run(row + "--shard 16/16 --state " + second).status == 0);
  const Run table = run("table --state " + first + " --state " + second);
  CHECK(table.status == 5);
  CHECK(says(table.out, ": 0 rows proven"));
  CHECK(says(table.out, "| e2m1/nearest_even/saturate | 17 | incomplete: 0 | 0 | incomplete: 536,870,912 | 0 |"));
}

TEST_CASE("what the twin did on one tier does not count for another one") {
  const ScratchDirectory scratch;
  const std::string state = in_quotes(scratch.path() / "state");
  const std::string row = "twin --row e2m1/nearest_even/saturate --shard 1/128 --state " + state;
  const auto run_on = [](const std::string& tier, const std::string& arguments) {
    return mx::tests::run_program("MXACT_ISA=" + tier + " " + MXACT_PROOF_PROGRAM, arguments);
  };
  const std::string last(mx::kernels::isa_tier().name);
  const Run plain = run_on("portable", row);
  CHECK(plain.out == "2 chunks of 2^24 inputs in 1 rows: 2 checked now, 0 before; 0 wrong\n");
  const Run table = run_on("portable", "table --kind twin --state " + state);
  CHECK(says(table.out, "inputs, fast twin on portable |"));
  CHECK(says(table.out, "| e2m1/nearest_even/saturate | 17 | incomplete: 33,554,432 | 0 |"));
  if (last == "portable") return;
  const Run other = run_on(last, "table --kind twin --state " + state);
  CHECK(says(other.out, "inputs, fast twin on " + last + " |"));
  CHECK(says(other.out, "| e2m1/nearest_even/saturate | 17 | incomplete: 0 | 0 |"));
  CHECK(run_on(last, row).out == "2 chunks of 2^24 inputs in 1 rows: 2 checked now, 0 before; 0 wrong\n");
  CHECK(run_on("avx1024", row).status == 2);
}

TEST_CASE("a wrong answer on record fails the run and the table") {
  const ScratchDirectory scratch;
  const std::filesystem::path path = scratch.path() / "state";
  const Build build = this_build();  // of the test program: another one
  std::ofstream(path) << "mxact_proof-state-1 build " << build.digest << " commit " << build.commit << "\ntwin e2m1/nearest_even/saturate/"
                      << mx::kernels::isa_tier().name << " 3 16777216 1 03000000 0\n";
  const Run table = run("table --state " + in_quotes(path));
  CHECK(table.status == 1);
  CHECK(says(table.out, "1 with wrong answers"));
  const Run refused = run("twin --row e2m1 --state " + in_quotes(path));
  CHECK(refused.status == 3);
  CHECK(says(refused.err, "is of build " + build.digest));
  CHECK(refused.out.empty());
}

TEST_CASE("misuse of mxact_proof gets one line and exit 2, a bad state exit 3, nothing to do exit 5") {
  struct Row {
    std::string arguments;
    int status;
    std::string says;
  };
  const ScratchDirectory scratch;
  const std::string bad = in_quotes(scratch.path() / "bad");
  std::ofstream(scratch.path() / "bad") << "not a state\n";
  const std::vector<Row> rows{
      {"", 2, "no verb: mxact_proof takes conversions, further, twin, functions, all, table (mxact_proof --help"},
      {"prove", 2, "unknown verb 'prove'"},
      {"table", 2, "--state is required (mxact_proof table --help"},
      {"table --state one --kind conversion", 2, "--kind: unknown kind 'conversion' (did you mean conversions?)"},
      {"conversions --rwo e2m1", 2, "unknown option '--rwo' (did you mean --row?)"},
      {"conversions --row e4m3fm", 2, "unknown row 'e4m3fm' (did you mean e4m3fn?)"},
      {"conversions --row exp", 2, "unknown row 'exp'"},
      {"conversions --shard 0/3", 2, "--shard '0/3'"},
      {"conversions --shard 4/3", 2, "--shard '4/3'"},
      {"conversions --shard 1/3x", 2, "--shard '1/3x'"},
      {"conversions --shard 1", 2, "--shard '1'"},
      {"conversions --threads 0", 2, "--threads: Value 0 not in range 1 to 1024"},
      {"twin --state " + bad, 3, "no state file"},
      {"table --state " + bad, 3, "no state file"},
      {"table --state " + in_quotes(scratch.path() / "none"), 6, "cannot be read"},
      {"twin --row e2m1/nearest_even/saturate --shard 300/300", 5, ""},
  };
  for (const Row& row : rows) {
    const Run result = run(row.arguments);
    INFO(row.arguments << "\n" << result.out << result.err);
    CHECK(result.status == row.status);
    CHECK(says(result.err, row.says));
  }
}
