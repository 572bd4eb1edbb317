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

/// A base, and what ModelOpt 0.47.0 made of it (golden/witness/checkpoints/README.md).
std::filesystem::path recorded(const std::string& name) { return std::filesystem::path(MXACT_SOURCE_DIR) / "golden/witness/checkpoints" / name; }

/// Where a tensor's bytes begin in a file.
std::size_t begin_of(const std::string& bytes, const std::string& tensor) {
  std::size_t header = 0;
  for (std::size_t byte = 8; byte-- > 0;) header = header << 8U | static_cast<unsigned char>(bytes[byte]);
  const std::size_t at = bytes.find("\"data_offsets\":[", bytes.find("\"" + tensor + "\""));
  return 8 + header + std::stoul(bytes.substr(at + 16));
}

/// A copy of a recorded checkpoint with bytes of a tensor changed.
std::string changed_copy(const ScratchDirectory& scratch, const std::string& name, const std::string& tensor, std::size_t first, std::size_t step,
                         std::size_t count, unsigned char flip) {
  const std::filesystem::path to = scratch.path() / (name + "-changed");
  std::filesystem::remove_all(to);
  std::filesystem::copy(recorded(name), to);
  std::ifstream in(to / "model.safetensors", std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::size_t begin = begin_of(bytes, tensor) + first;
  for (std::size_t i = 0; i < count; ++i) bytes[begin + i * step] = static_cast<char>(static_cast<unsigned char>(bytes[begin + i * step]) ^ flip);
  std::ofstream(to / "model.safetensors", std::ios::binary) << bytes;
  return quoted(to);
}

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

TEST_CASE("who made a checkpoint is named, tensor by tensor, and a block that is another's is found") {
  const ScratchDirectory scratch;
  const std::string base = quoted(recorded("tiny-base")), made = quoted(recorded("tiny-modelopt")), compare = "compare " + base + " ";
  const mx::support::Json json = run_json(compare + made);
  CHECK(json["schema"] == "mxact-made-by/1");
  CHECK(json["sentence"] == "6 of 6 matrices are modelopt-nvfp4's (0.47) of this base");
  CHECK(json["matrices"]["exact"] == 6);
  CHECK(json["makers"][0]["exact"] == 6);
  CHECK(json["makers"][1]["exact"].get<int>() < 6);
  for (const auto& tensor : json["tensors"]) CHECK(tensor["scale_of_all"].get<std::string>().starts_with("of the largest magnitude of "));
  // Up's block (20, 2) of expert 1: rows of 64 elements are 32 bytes, blocks 8.
  const std::string up = "model.layers.0.mlp.experts.1.up_proj.weight";
  const mx::support::Json planted = run_json(compare + changed_copy(scratch, "tiny-modelopt", up, 20 * 32 + 16, 1, 1, 0x01), 1);
  int unexplained = 0;
  for (const auto& tensor : planted["tensors"]) {
    if (!tensor["exact"].empty()) continue;
    ++unexplained;
    CHECK(tensor["tensor"] == up);
    CHECK(tensor["nearest"]["profile"] == "modelopt-nvfp4");
    CHECK(tensor["differing"] == 1);
    CHECK(tensor["codes_differing"] == 1);
    CHECK(tensor["scales_differing"] == 0);
    CHECK(tensor["first"][0] == 20);
    CHECK(tensor["first"][1] == 32);
  }
  CHECK(unexplained == 1);
  CHECK(planted["sentence"] == "5 of 6 matrices are modelopt-nvfp4's (0.47) of this base; 1 is none's");
  struct Row {
    std::string arguments;
    int status;
    std::string says;
  };
  const std::vector<Row> rows{{made + " --proves-lossless", 1, "not lossless"},
                              {base + " --proves-lossless", 0, "lossless: every number is the first's"},
                              {base, 0, "7 of 7 equal"},
                              {made + " --layer 0 --tensor experts.1.down", 0, "1 of 1 matrices are modelopt-nvfp4's"},
                              {made + " --tensor nowhere", 2, "has 'nowhere' in its name"},
                              {made + " --layer 3", 2, "layer 3 has no experts in the base"},
                              {made + " e4m3fn --proves-lossless", 2, "are for two checkpoints"},
                              {made + " --junit " + quoted(scratch.path() / "made.xml"), 0, "6 of 6 matrices"}};
  for (const Row& row : rows) {
    INFO(row.arguments);
    const Run run = run_mxact(compare + row.arguments);
    INFO(run.out << run.err);
    CHECK(run.status == row.status);
    CHECK((run.out + run.err).find(row.says) != std::string::npos);
  }
  // The other way round there is no base: numbers are compared.
  CHECK(run_json("compare " + made + " " + base, 1)["schema"] == "mxact-compare-checkpoints/1");
}

TEST_CASE("what explains that a checkpoint is no rule's is said") {
  const ScratchDirectory scratch;
  const std::string made = quoted(recorded("tiny-modelopt")), down = "model.layers.0.mlp.experts.0.down_proj.weight";
  struct Row {
    std::string id;
    std::string checkpoint;  ///< that is changed
    std::string tensor;
    std::size_t first, step, count;
    unsigned char flip;
    std::string says;
  };
  // Down is [64, 32]: 16 bytes of codes a row; of the base 64. E4M3's exponent begins at bit 3, BF16's at bit 7.
  const std::vector<Row> rows{
      {"scales of every block changed by their lowest bit", "tiny-modelopt", down + "_scale", 0, 1, 128, 0x01, "are not the nearest of their scales"},
      {"codes moved by their lowest bit", "tiny-modelopt", down, 0, 4, 256, 0x01, "adaptive rounding"},
      {"the sign of every second weight of the base", "tiny-base", down, 1, 4, 1024, 0x80, "not a plain rounding of this base"},
  };
  for (const Row& row : rows) {
    const std::string changed = changed_copy(scratch, row.checkpoint, row.tensor, row.first, row.step, row.count, row.flip);
    const bool base = row.checkpoint == "tiny-base";
    const mx::support::Json json = run_json("compare " + (base ? changed + " " + made : quoted(recorded("tiny-base")) + " " + changed), 1);
    for (const auto& tensor : json["tensors"]) {
      INFO(row.id << ": " << tensor["tensor"] << ": " << tensor["cause"]);
      const bool is_changed = tensor["tensor"] == down;
      CHECK(tensor["exact"].empty() == is_changed);
      CHECK((tensor["cause"].get<std::string>().find(row.says) != std::string::npos) == is_changed);
    }
  }
}
