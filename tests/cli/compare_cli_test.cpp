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
  const mx::support::Json same = run_json(compare + changed);
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
  const mx::support::Json json = run_json(compare + changed, 1);
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
  const std::vector<Row> rows{
      {tiny() + " --layer 1 --tensor 'expert 3'", 0, "3 of 3 equal"},
      {tiny() + " --layer 0-1 --tensor 'expert 3'", 0, "6 of 6 equal"},
      {tiny() + " --layer 1,0 --tensor 'expert 3'", 0, "6 of 6 equal"},
      // A comma is part of a name; an option for each name, and the checkpoints may stand behind it.
      {tiny() + " --tensor 'layers.0.mlp.experts.gate_up_proj_blocks, expert 3, up'", 0, "1 of 1 equal"},
      {"--tensor 'blocks, expert 3, up' --tensor 'blocks, expert 4, gate' " + tiny(), 0, "4 of 4 equal"},
      {changed + " --layer 0", 0, "24 of 24 equal"},
      {changed + " --layer 0-1 --tensor 'expert 7, up'", 1, "1 of 2 equal"},
      {tiny() + " --layer 1-0", 2, "--layer: '1-0' ends before it begins"},
      {tiny() + " --layer 1-", 2, "--layer: '1-' is no layer, from 0, and no range of layers such as 0-3"},
      {tiny() + " --layer x", 2, "--layer: 'x' is no layer"},
      {tiny() + " --layer 0-10000", 2, "--layer: '0-10000' is not in 0..9999"},
      {tiny() + " --layer 0-3", 2, "layer 2 has no experts in the first checkpoint"},
      {tiny() + " --tensor nowhere", 2, "has 'nowhere' in its name"},
      {tiny() + " --layer 7", 2, "layer 7 has no experts in the first checkpoint"},
      {tiny() + " --rest 1", 2, "are for two profiles"},
      {tiny() + " e4m3fn --layer 0", 2, "are for two checkpoints"},
      {tiny() + " e4m3fn", 2, "unknown profile"},
      {quoted(scratch.path() / "none"), 2, "is no file or directory: two arguments are checkpoints, two profiles want a FORMAT behind them"},
      {quoted(scratch.path()), 3, scratch.path().string()}};
  for (const Row& row : rows) {
    INFO(row.arguments);
    const Run run = run_mxact(compare + row.arguments);
    INFO(run.out << run.err);
    CHECK(run.status == row.status);
    CHECK((run.out + run.err).find(row.says) != std::string::npos);
  }
}

TEST_CASE("what differs between two checkpoints is a failed case of JUnit each, and a line of Markdown") {
  const ScratchDirectory scratch;
  const std::filesystem::path& at = scratch.path();
  REQUIRE(std::system(("cp -r " + tiny() + " " + quoted(at / "changed")).c_str()) == 0);
  {
    const std::filesystem::path file = at / "changed/model-00002-of-00002.safetensors";
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-1, std::ios::end);
    const auto byte = static_cast<char>(stream.get() ^ 0x10);
    stream.seekp(-1, std::ios::end);
    stream.put(byte);
  }
  const auto text_of = [](const std::filesystem::path& path) {
    std::ifstream stream(path);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const auto files = [&](const std::string& name) {
    return " --junit " + quoted(at / (name + ".xml")) + " --markdown " + quoted(at / (name + ".md"));
  };
  CHECK(run_mxact("compare " + tiny() + " " + quoted(at / "changed") + files("differ")).status == 1);
  const std::string junit = text_of(at / "differ.xml"), markdown = text_of(at / "differ.md");
  INFO(junit << markdown);
  CHECK(junit.find("name=\"model.layers.1.mlp.experts.gate_up_proj_blocks, expert 7, up\"") != std::string::npos);
  CHECK(junit.find("28 of 65536 values differ, by a factor of at most 65536") != std::string::npos);
  CHECK(markdown.find("FAILED") != std::string::npos);
  CHECK(markdown.find("expert 7, up") != std::string::npos);
  CHECK(run_mxact("compare " + tiny() + " " + tiny() + files("same")).status == 0);
  CHECK(text_of(at / "same.xml").find("<failure") == std::string::npos);
  CHECK(text_of(at / "same.md").find("PASSED") != std::string::npos);
  // What was there stays unless it is to be replaced, and nothing is compared before that is known.
  CHECK(run_mxact("compare " + tiny() + " " + tiny() + files("same")).status == 3);
  // A converted checkpoint is none.
  REQUIRE(run_mxact("convert " + tiny() + " --backend TRITON --platform SM90 -o " + quoted(at / "packed")).status == 0);
  const Run converted = run_mxact("compare " + tiny() + " " + quoted(at / "packed"));
  CHECK(converted.status == 3);
  CHECK(converted.err.find("is converted already") != std::string::npos);
}
