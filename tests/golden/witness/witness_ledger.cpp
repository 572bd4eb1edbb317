// The ledger excuses what its rows describe, counts it apart and hides nothing else.

#include <algorithm>

#include "golden/witness/ledger.hpp"
#include "golden/witness/ops.hpp"
#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"
#include "tests/json_text.hpp"

namespace mx::tests::witness {
namespace {

// A HIP entry as anyone may record it, without a skip rule: 2^-73 with either sign, 1, 0, 2^-48, 2^-10 (a tie to zero). Codes by OFP8 1.0.
const std::vector<std::uint32_t> kInputs{0x1B000000, 0x9B000000, 0x3F800000, 0x00000000, 0x27800000, 0x3A800000};
const std::vector<std::uint8_t> kCodes{0x00, 0x80, 0x38, 0x00, 0x00, 0x00};

Json hip_manifest() {
  return parsed(R"({"format": "mxact-witness/1", "set": "hip", "split": "public", "entries": [
    {"id": "one", "op": "encode",
     "params": {"source": "f32", "format": "e4m3fn", "rounding": "nearest_even", "overflow": "saturate", "nan_pos": "0x7F", "nan_neg": "0xFF"},
     "profile": {"implementation": "hip_header", "device": "cpu", "build": "software-path", "version": "1"},
     "inputs": {"x": {"file": "x.bin", "dtype": "f32", "shape": [6]}},
     "outputs": {"codes": {"file": "codes.bin", "dtype": "u8", "shape": [6]}},
     "relation": {"codes": {"kind": "bits"}}, "grounds": "library", "level": "must"}]})");
}

struct Change {
  std::string name;
  std::size_t element;
  std::uint8_t recorded;
  std::string implementation;
  std::string build;
  int exit;
  std::int64_t differing;
  std::int64_t excused;
};

const Change kChanges[] = {
    {"as the format has it", 0, 0x00, "hip_header", "software-path", 0, 0, 0},
    {"the smallest subnormal for a tiny input", 0, 0x01, "hip_header", "software-path", 0, 0, 1},
    {"the same with a sign", 1, 0x81, "hip_header", "software-path", 0, 0, 1},
    {"the largest code seen there", 0, 0x10, "hip_header", "software-path", 0, 0, 1},
    {"one above it", 0, 0x11, "hip_header", "software-path", 1, 1, 0},
    {"the smallest subnormal for 2^-48, the bound itself", 4, 0x01, "hip_header", "software-path", 1, 1, 0},
    {"the smallest subnormal for zero", 3, 0x01, "hip_header", "software-path", 1, 1, 0},
    {"the smallest subnormal for a tie", 5, 0x01, "hip_header", "software-path", 1, 1, 0},
    {"another implementation", 0, 0x01, "mine", "software-path", 1, 1, 0},
    {"another build", 0, 0x01, "hip_header", "default", 1, 1, 0},
};

TEST_CASE("a tiny input of the HIP header is excused, no other value is", "[witness]") {
  const Scratch scratch("ledger");
  std::vector<std::uint8_t> inputs;
  for (const std::uint32_t word : kInputs) {
    for (unsigned shift = 0; shift < 32; shift += 8) inputs.push_back(static_cast<std::uint8_t>(word >> shift));
  }
  write_bytes(scratch.path() / "x.bin", inputs);
  for (const Change& row : kChanges) {
    INFO(row.name);
    Json manifest = hip_manifest();
    manifest["entries"][0]["profile"]["implementation"] = row.implementation;
    manifest["entries"][0]["profile"]["build"] = row.build;
    std::vector<std::uint8_t> codes = kCodes;
    codes[row.element] = row.recorded;
    write_bytes(scratch.path() / "codes.bin", codes);
    write_text(scratch.path() / "manifest.json", manifest.dump());
    const Outcome outcome = run(scratch.path());
    INFO(outcome.text);
    CHECK(outcome.exit == row.exit);
    REQUIRE(outcome.sets.size() == 1);
    const golden::EntryResult& entry = outcome.sets[0].entries.at(0);
    CHECK(entry.compared == 6);
    CHECK(entry.differing == row.differing);
    CHECK(entry.excused == row.excused);
    CHECK(entry.status == (row.differing > 0 ? golden::EntryStatus::differs : golden::EntryStatus::equal));
  }
}

TEST_CASE("what is excused is named with its reason, for each entry and each set", "[witness]") {
  const Scratch scratch("ledger_report");
  write_bytes(scratch.path() / "x.bin", {0x00, 0x00, 0x00, 0x1B, 0x00, 0x00, 0x00, 0x9B});
  Json manifest = hip_manifest();
  manifest["entries"][0]["inputs"]["x"]["shape"] = Json::array({2});
  manifest["entries"][0]["outputs"]["codes"]["shape"] = Json::array({2});
  write_bytes(scratch.path() / "codes.bin", {0x01, 0x82});
  write_text(scratch.path() / "manifest.json", manifest.dump());
  const Outcome outcome = run(scratch.path());
  REQUIRE(outcome.sets.size() == 1);
  CHECK(outcome.exit == 0);
  // Entries with excused values are listed without being asked for.
  const std::string text = text_of(outcome.sets[0], false);
  INFO(text);
  CHECK(text.find("2 values compared, 0 differ, 2 excused, 0 skipped") != std::string::npos);
  CHECK(text.find("\n  2 excused: hip_header/cpu/software-path: the header shifts") != std::string::npos);
  CHECK(text.find("equal            one [encode]: 2 values, 2 excused\n      2 excused: hip_header/cpu/software-path: the header shifts") !=
        std::string::npos);
  const Json json = verbs::body_json(document_of(outcome.sets[0]))["sets"][0];
  CHECK(json["compared"] == 2);
  CHECK(json["differing"] == 0);
  CHECK(json["excused"] == 2);
  for (const Json& excuses : {json["excuses"], json["entries"][0]["excuses"]}) {
    REQUIRE(excuses.size() == 1);
    CHECK(excuses[0]["implementation"] == "hip_header");
    CHECK(excuses[0]["count"] == 2);
    CHECK(excuses[0]["condition"] == "encode, codes: 0 < |x| < 2^-48, at most 16 codes apart");
    CHECK(excuses[0]["reason"].get<std::string>().starts_with("the header shifts by 64 bits"));
  }
}

// The recorded header disagrees with the exact conversion on tiny inputs, which its entries skip: without the rule, the ledger accounts for all of
// it.
TEST_CASE("the ledger accounts for everything that the recorded HIP entries skip", "[witness]") {
  const Scratch scratch("ledger_hip");
  std::filesystem::copy(recorded("numerics/encode32"), scratch.path(), std::filesystem::copy_options::recursive);
  Json manifest = read_json(scratch.path() / "manifest.json");
  Json hip = Json::array();
  for (Json one : manifest["entries"]) {
    if (one["profile"]["implementation"] != "hip_header") continue;
    one.erase("skip");
    hip.push_back(one);
  }
  manifest["entries"] = hip;
  write_text(scratch.path() / "manifest.json", manifest.dump());
  const Outcome outcome = run(scratch.path());
  INFO(outcome.text);
  CHECK(outcome.exit == 0);
  REQUIRE(outcome.sets.size() == 1);
  // Counted from the files: recorded codes of 0 < |x| < 2^-48 that are not zero.
  const std::vector<std::pair<std::string, std::int64_t>> expected{
      {"f32.e4m3fn.nearest_even.saturate.hip", 368},         {"f32.e4m3fn.nearest_even.nan_unrounded.hip", 368},
      {"f32.e5m2.nearest_even.saturate.hip", 279},           {"f32.e5m2.nearest_even.inf_unrounded.hip", 279},
      {"f32.e4m3fnuz.nearest_even.saturate.hip", 360},       {"f32.e4m3fnuz.nearest_even.nan_unrounded.hip", 360},
      {"f32.e4m3fnuz.stochastic_add.saturate.b20.hip", 403}, {"f32.e5m2fnuz.nearest_even.saturate.hip", 298},
      {"f32.e5m2fnuz.nearest_even.nan_unrounded.hip", 298}};
  for (const auto& [id, excused] : expected) {
    INFO(id);
    const auto& entries = outcome.sets[0].entries;
    const auto entry = std::find_if(entries.begin(), entries.end(), [&id = id](const golden::EntryResult& one) { return one.id == id; });
    REQUIRE(entry != entries.end());
    CHECK(entry->skipped == 0);
    CHECK(entry->excused == excused);
  }
  CHECK(outcome.sets[0].entries.size() == expected.size());
}

golden::Tensor bf16_ones(std::int64_t count) {
  golden::Tensor made{&golden::dtype_named("bf16"), {1, count}, std::vector<std::uint8_t>(static_cast<std::size_t>(2 * count))};
  for (std::int64_t i = 0; i < count; ++i) made.set_word(i, 0x3F80);
  return made;
}

golden::Entry stage(const std::string& word, const std::string& output) {
  golden::Entry entry;
  entry.op = "moe_stage";
  entry.params = Json{{"stage", word}};
  entry.profile = {"triton_kernels", "h200", "matmul-ogs"};
  entry.outputs[output] = {};
  return entry;
}

struct StageRow {
  std::string stage;
  std::string output;
  std::int64_t values;
  std::vector<std::uint64_t> recorded;  ///< the first values; the model says 0x3F80 everywhere
  std::int64_t differing;
  std::int64_t excused;
};

const StageRow kStages[] = {
    {"gemm1_swiglu", "act", 4096, {0x3F81}, 0, 1},
    {"gemm1_swiglu", "act", 4096, {0x3F82}, 1, 0},
    {"gemm1_swiglu", "act", 4095, {0x3F81}, 1, 0},
    {"gemm1_swiglu", "act", 4096, {0x3F81, 0x3F7F}, 2, 0},
    {"gemm1_swiglu", "act", 8192, {0x3F81, 0x3F7F}, 0, 2},
    {"gemm1_swiglu", "act", 8192, {0x3F81, 0x3F7F, 0x4000}, 1, 2},
    {"gemm1_swiglu", "out", 4096, {0x3F81}, 1, 0},
    {"gemm2_combine", "out", 4096, {0x3F82}, 0, 1},
    {"gemm2_combine", "out", 4096, {0x3F83}, 1, 0},
    {"gemm2_combine", "act", 4096, {0x3F81}, 1, 0},
    {"gemm1", "act", 4096, {0x3F81}, 1, 0},
};

TEST_CASE("a stage is excused for few values, and for none once there are more", "[witness]") {
  for (const StageRow& row : kStages) {
    INFO(row.stage << " " << row.output << ", " << row.values << " values, " << row.recorded.size() << " changed");
    const golden::Entry entry = stage(row.stage, row.output);
    const std::vector<golden::Excuse> excuses = golden::excuses_for(entry, row.output, [] { return golden::Tensor(); });
    golden::Tensor values = bf16_ones(row.values);
    for (std::size_t i = 0; i < row.recorded.size(); ++i) values.set_word(static_cast<std::int64_t>(i), row.recorded[i]);
    const golden::Recorded recorded{row.output, values, golden::read_relation(parsed(R"({"kind":"bits"})"), row.output, "here"), {}, {}, excuses};
    golden::EntryResult result;
    golden::compare(recorded, {bf16_ones(row.values), nullptr, false, {}}, 8, "here", result);
    CHECK(result.compared == row.values);
    CHECK(result.differing == row.differing);
    CHECK(result.excused == row.excused);
    CHECK(result.differences.size() == static_cast<std::size_t>(row.differing));
  }
}

TEST_CASE("another device's stage is not excused", "[witness]") {
  golden::Entry entry = stage("gemm1_swiglu", "act");
  CHECK(golden::excuses_for(entry, "act", {}).size() == 1);
  // Every card of the architecture runs the same instructions.
  for (const char* device : {"h100", "h200", "NVIDIA H200"}) {
    entry.profile.device = device;
    CHECK(golden::excuses_for(entry, "act", {}).size() == 1);
  }
  entry.profile.device = "b200";
  CHECK(golden::excuses_for(entry, "act", {}).empty());
}

TEST_CASE("the recorded stages need no excuse", "[witness]") {
  const Outcome outcome = run(recorded("numerics/moe_0"));
  REQUIRE(outcome.sets.size() == 1);
  CHECK(outcome.sets[0].compared() > 0);
  CHECK(outcome.sets[0].differing() == 0);
  CHECK(outcome.sets[0].excused() == 0);
}

TEST_CASE("every row of the ledger says whom it excuses, when and why", "[witness]") {
  const verbs::Document document = verbs::ledger_document();
  for (const golden::LedgerRow& row : golden::ledger()) {
    CHECK_FALSE(row.implementation.empty());
    CHECK_FALSE(row.reason.empty());
    CHECK_FALSE(row.condition.output.empty());
    CHECK(row.condition.at_most > 0);
    CHECK(verbs::to_text(document).find(golden::condition_text(row)) != std::string::npos);
  }
  CHECK(verbs::body_json(document)["ledger"].size() == golden::ledger().size());
}

}  // namespace
}  // namespace mx::tests::witness
