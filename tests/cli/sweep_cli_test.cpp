// sweep and its states from outside, and what an interruption leaves. Digests are recorded ones (golden/witness/numerics).

#include <filesystem>
#include <fstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;

const std::filesystem::path kSweeps = std::filesystem::path(MXACT_SOURCE_DIR) / "golden/witness/numerics/sweep32";
const std::string kEntry = "f32.e4m3fn.nearest_even.saturate.ptx";

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("sweep prints the digests that hardware gave, in shards") {
  const std::string sweep = "sweep e4m3fn --profile ptx-satfinite --shard 68/256 --against " + quoted(kSweeps / kEntry);
  const mx::support::Json shard = run_json(sweep);
  CHECK(shard["complete"] == true);
  CHECK(shard["computed_by"] == "twin");
  REQUIRE(shard["chunks"].size() == 1);
  CHECK(shard["chunks"][0]["chunk"] == 67);
  CHECK(shard["chunks"][0]["inputs"] == "0x43000000-0x43ffffff");
  CHECK(shard["against"]["compared"] == 1);
  CHECK(shard["against"]["differing"].empty());
  // Chunk 0x43 holds 464, above which ml_dtypes has NaN.
  const Run other = run_mxact("sweep e4m3fn --profile ml_dtypes --shard 68/256 --against " + quoted(kSweeps / kEntry));
  CHECK(other.status == 1);
  CHECK(other.out.find("chunk 67 (fp32 0x43000000-0x43ffffff): recorded 0x") != std::string::npos);
}

TEST_CASE("states of shards merge into the recorded sweep, and only whole and agreeing ones do") {
  const ScratchDirectory scratch;
  const auto first = scratch.path() / "first";
  const auto second = scratch.path() / "second";
  const auto bad = scratch.path() / "bad";
  REQUIRE(run_mxact("sweep e4m3fn --profile ptx-satfinite --shard 1/256 --state " + quoted(first)).status == 0);
  const std::string head = read(first).substr(0, read(first).find('\n') + 1);
  const std::string recorded = read(kSweeps / "e4m3fn.cuda_hw.satfinite.u64.bin");
  const auto line = [&](std::size_t chunk, unsigned flip) {
    std::uint64_t word = flip;
    for (std::size_t byte = 0; byte < 8; ++byte) word ^= std::uint64_t{static_cast<unsigned char>(recorded[chunk * 8 + byte])} << (8 * byte);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "chunk %zu 0x%016llx\n", chunk, static_cast<unsigned long long>(word));
    return std::string(text.data());
  };
  CHECK(read(first) == head + line(0, 0));
  for (std::size_t chunk = 1; chunk < 256; ++chunk) {
    std::ofstream(chunk % 2 == 0 ? first : second, std::ios::app) << (chunk == 1 ? head : "") << line(chunk, 0);
  }
  std::ofstream(bad) << head << line(200, 1);

  const auto out = scratch.path() / "out";
  const std::string both = "sweep merge " + quoted(first) + " " + quoted(second);
  const Run merged = run_mxact(both + " --out " + quoted(out) + " --against " + quoted(kSweeps / kEntry));
  INFO(merged.err);
  CHECK(merged.status == 0);
  CHECK(merged.out.find("0 of 256 chunks differ from") != std::string::npos);
  CHECK(read(out) == recorded);
  CHECK(run_mxact(both + " --out " + quoted(out)).status == 3);
  CHECK(run_mxact(both + " --force --out " + quoted(out)).status == 0);
  CHECK(run_json(both)["chunks"].size() == 256);
  CHECK(merged.out.starts_with("2 states of one sweep: "));

  const auto whole = scratch.path() / "whole";
  std::ofstream(whole) << head;
  for (std::size_t chunk = 0; chunk < 256; ++chunk) std::ofstream(whole, std::ios::app) << line(chunk, 0);
  CHECK(run_mxact("sweep merge " + quoted(whole)).out.starts_with("1 state of one sweep: "));
  // The report is there even when the file cannot be: no file system takes such a name.
  const Run unnamed = run_mxact(both + " --force --out " + quoted(scratch.path() / std::string(300, 'n')));
  CHECK(unnamed.status == 6);
  CHECK(unnamed.out == run_mxact(both).out);

  const Run gap = run_mxact("sweep merge " + quoted(second));
  CHECK(gap.status == 3);
  CHECK(gap.err.find("the states leave out chunks 0, 2, 4") != std::string::npos);
  const Run contradiction = run_mxact(both + " " + quoted(bad));
  CHECK(contradiction.status == 3);
  CHECK(contradiction.err.find("chunk 200 has digest") != std::string::npos);
  const Run other = run_mxact("sweep e5m2 --shard 1/256 --state " + quoted(first));
  CHECK(other.status == 3);
  CHECK(other.err.find("another conversion") != std::string::npos);
  const auto foreign = scratch.path() / "foreign";
  const std::string digest = head.substr(head.find("build="), 22);
  std::ofstream(foreign) << head.substr(0, head.find(digest)) << "build=0000000000000000" << head.substr(head.find(digest) + digest.size())
                         << line(0, 0);
  const std::string kept = read(foreign);
  const Run another = run_mxact("sweep e4m3fn --profile ptx-satfinite --shard 1/256 --state " + quoted(foreign));
  CHECK(another.status == 3);
  CHECK(another.err.find("another build: build=0000000000000000") != std::string::npos);
  CHECK(read(foreign) == kept);
  CHECK(run_mxact("sweep merge " + quoted(first) + " " + quoted(foreign)).status == 3);
}

TEST_CASE("an interrupted sweep ends with 130, keeps its state and goes on from it") {
  const ScratchDirectory scratch;
  const auto state = scratch.path() / "state";
  // By the model a whole sweep takes a minute and more.
  const std::string command = "exec timeout --preserve-status -s INT 3 " MXACT_PROGRAM " sweep e4m3fn --reference --state " + quoted(state) + " 2> " +
                              quoted(scratch.path() / "stderr") + " > /dev/null";
  const int status = std::system(command.c_str());
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(read(scratch.path() / "stderr").find("interrupted") != std::string::npos);
  const std::string kept = read(state);
  CHECK(kept.starts_with("mxact-sweep/2 build="));
  CHECK(kept.back() == '\n');
  const Run resumed = run_mxact("sweep e4m3fn --reference --shard 1/256 --state " + quoted(state));
  CHECK(resumed.status == 0);
  CHECK(read(state).starts_with(kept));
}

TEST_CASE("an interrupted comparison ends with 130 and shows no counts") {
  const ScratchDirectory scratch;
  // Rounding to odd has no fast twin: over all of fp32 it takes minutes.
  const std::string command = "exec timeout --preserve-status -s INT 2 " MXACT_PROGRAM " compare ocp round=odd,overflow=saturate,nan=7f e4m3fn 2> " +
                              quoted(scratch.path() / "stderr") + " > " + quoted(scratch.path() / "stdout");
  const int status = std::system(command.c_str());
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(read(scratch.path() / "stderr").find("interrupted") != std::string::npos);
  CHECK(read(scratch.path() / "stdout").empty());
}
