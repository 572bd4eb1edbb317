// compare of two checkpoints as a user types it.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;
using mx::tests::tiny;

}  // namespace

TEST_CASE("two checkpoints are compared as typed, with the exit status of what is found") {
  const ScratchDirectory scratch;
  const std::string changed = quoted(scratch.path() / "changed"), compare = "compare " + tiny() + " ";
  REQUIRE(std::system(("cp -r " + tiny() + " " + changed).c_str()) == 0);
  const mx::sim::Json same = run_json(compare + changed);
  CHECK(same["schema"] == "mxact-compare-checkpoints/1");
  CHECK(same["differences"].empty());
  CHECK(same["tensors"]["compared"] == same["tensors"]["equal"]);
  // The last byte of the file is the scale of up's last 32 numbers, of expert 7: 28 of them are not 0. 2^16 less than it was.
  {
    const std::filesystem::path file = scratch.path() / "changed/model-00002-of-00002.safetensors";
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-1, std::ios::end);
    const auto byte = static_cast<char>(stream.get() ^ 0x10);
    stream.seekp(-1, std::ios::end);
    stream.put(byte);
  }
  const mx::sim::Json json = run_json(compare + changed, 1);
  REQUIRE(json["differences"].size() == 1);
  CHECK(json["differences"][0]["differing"] == 28);
  CHECK(json["differences"][0]["ratio"] == 65536.0);
  CHECK(json["differences"][0]["tensor"] == "model.layers.1.mlp.experts.gate_up_proj_blocks, expert 7, up");
  CHECK(json["tensors"]["compared"].get<int>() == json["tensors"]["equal"].get<int>() + 1);
  struct Row {
    std::string arguments;
    int status;
    std::string says;
  };
  const std::vector<Row> rows{{tiny() + " --layer 1 --tensor 'expert 3'", 0, "3 of 3 equal"},
                              {tiny() + " --tensor nowhere", 2, "has 'nowhere' in its name"},
                              {tiny() + " --layer 7", 2, "layer 7 has no experts in the first checkpoint"},
                              {tiny() + " --rest 1", 2, "are for two profiles"},
                              {tiny() + " e4m3fn --layer 0", 2, "are for two checkpoints"},
                              {quoted(scratch.path() / "none"), 2, "is no file or directory"},
                              {quoted(scratch.path()), 3, scratch.path().string()}};
  for (const Row& row : rows) {
    INFO(row.arguments);
    const Run run = run_mxact(compare + row.arguments);
    INFO(run.out << run.err);
    CHECK(run.status == row.status);
    CHECK((run.out + run.err).find(row.says) != std::string::npos);
  }
}
