// The program mxact_kernels_proof, and what it rests on.

#include <algorithm>
#include <fstream>
#include <string>

#include "kernels/functions/functions.hpp"
#include "tests/cli/run.hpp"
#include "tests/oracle/expect_error.hpp"
#include "tests/proof/work.hpp"

using namespace mx::test;
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
