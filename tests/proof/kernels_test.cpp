// The programs mxact_kernels_proof and mxact_moe_proof, and what the former rests on.

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/functions/functions.hpp"
#include "tests/cli/run.hpp"
#include "tests/engine/vllm/expect_error.hpp"
#include "tests/proof/work.hpp"

using namespace mx::tests;

using mx::tests::Run;
using mx::tests::ScratchDirectory;

namespace {

Run run(const std::string& arguments) { return mx::tests::run_program(MXACT_KERNELS_PROOF_PROGRAM, arguments); }

}  // namespace

TEST_CASE("one wrong result of one implementation is counted and named") {
  constexpr std::uint32_t kChunk = 63;
  constexpr std::uint32_t kPattern = kChunk * kChunkInputs + 12345;
  const auto& tier = mx::kernels::isa_tiers().front();
  const ManyResults right = [&](std::span<const std::uint32_t> x, std::span<std::uint32_t> y) {
    mx::kernels::apply(mx::kernels::elementary_function_named("tanh"), x, y, tier);
  };
  const ManyResults wrong = [&](std::span<const std::uint32_t> x, std::span<std::uint32_t> y) {
    right(x, y);
    const auto found = std::ranges::find(x, kPattern);
    if (found != x.end()) ++y[static_cast<std::size_t>(found - x.begin())];
  };
  const ManyResults both[]{right, wrong};
  const ChunkResult result = check_function_chunk("tanh", kChunk, both);
  CHECK(result.inputs == kChunkInputs);
  CHECK(result.wrong == 1);
  CHECK(result.first_wrong == kPattern);
}

TEST_CASE("the proof of the kernels runs in pieces, resumes, and fails on a wrong answer on record") {
  const ScratchDirectory scratch;
  const std::filesystem::path path = scratch.path() / "state";
  const std::string exp2 = "functions --only exp2 --tier portable --threads 1 --state '" + path.string() + "' ";
  const Run first = run(exp2 + "--shard 3/256");
  CHECK(first.status == 0);
  CHECK(says(first.out, "| exp2 | 16777216 | 4294967296 | 0 |"));
  const Run second = run(exp2 + "--shard 3/128");
  CHECK(second.status == 0);
  CHECK(says(second.out, "| exp2 | 33554432 | 4294967296 | 0 |"));
  std::ofstream(path, std::ios::app) << "vectors exp2/portable 7 16777216 1 07000000 0\n";
  const Run third = run(exp2 + "--shard 8/256");
  CHECK(third.status == 1);
  CHECK(says(third.out, "| exp2 | 50331648 | 4294967296 | 1 |"));
  const Run none = run("quantizers --only nothing");
  CHECK(none.status == 5);
  CHECK(says(none.out, "0 cases on the tiers"));
  CHECK(run("functions --shard 5/4").status == 2);
}

TEST_CASE("misuse of the proofs of the kernels gets one line and exit 2, --help exit 0") {
  struct Row {
    const char* program;
    std::string arguments;
    std::string says;
  };
  const std::vector<Row> rows{
      {MXACT_KERNELS_PROOF_PROGRAM, "", "no verb: mxact_kernels_proof takes quantizers, dequantizers, thresholds, functions"},
      {MXACT_KERNELS_PROOF_PROGRAM, "quantizer", "unknown verb 'quantizer' (did you mean quantizers?)"},
      {MXACT_KERNELS_PROOF_PROGRAM, "quantizers --blocks many", "--blocks: 'many' is no whole number, or too large"},
      {MXACT_KERNELS_PROOF_PROGRAM, "functions --threads 1025", "--threads: Value 1025 not in range 1 to 1024"},
      {MXACT_KERNELS_PROOF_PROGRAM, "dequantizers --state file", "unknown option '--state'"},
      {MXACT_MOE_PROOF_PROGRAM, "--layers 0", "--layers: '0' is not a positive number"},
      {MXACT_MOE_PROOF_PROGRAM, "--minutes -1", "--minutes: '-1' is not a positive number"},
      {MXACT_MOE_PROOF_PROGRAM, "--layers 1.5", "--layers: '1.5' is no whole number, or too large"},
      {MXACT_MOE_PROOF_PROGRAM, "all", "'all' is one word too many: mxact_moe_proof takes options alone"},
  };
  for (const Row& row : rows) {
    const Run result = mx::tests::run_program(row.program, row.arguments);
    INFO(row.program << " " << row.arguments << "\n" << result.out << result.err);
    CHECK(result.status == 2);
    CHECK(says(result.err, row.says));
    CHECK(std::ranges::count(result.err, '\n') == 1);
  }
  const Run help = mx::tests::run_program(MXACT_MOE_PROOF_PROGRAM, "--help");
  CHECK(help.status == 0);
  CHECK(says(help.out, "--minutes"));
}
