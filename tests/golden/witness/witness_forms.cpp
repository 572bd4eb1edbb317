// The form mxact-witness/1: a small set whose expected codes come from OFP8, then broken in one way per row.

#include <functional>

#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"
#include "tests/json_text.hpp"

namespace mx::tests::witness {
namespace {

// 0, 1, 448, 464 (rounds down), 465 (overflows), -0, NaN, 2^-10 (a tie to zero). OFP8 1.0: 0x38 is 1, 0x7E is 448, saturating; NaN 0x7F here.
const std::vector<std::uint32_t> kInputs{0x00000000, 0x3F800000, 0x43E00000, 0x43E80000, 0x43E88000, 0x80000000, 0x7FC00000, 0x3A800000};
const std::vector<std::uint8_t> kCodes{0x00, 0x38, 0x7E, 0x7E, 0x7E, 0x80, 0x7F, 0x00};

std::vector<std::uint8_t> bytes_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint32_t word : words) {
    for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  }
  return bytes;
}

Json small_manifest() {
  return parsed(R"({"format": "mxact-witness/1", "set": "small", "split": "public", "entries": [
    {"id": "one", "op": "encode",
     "params": {"source": "f32", "format": "e4m3fn", "rounding": "nearest_even", "overflow": "saturate", "nan_pos": "0x7F", "nan_neg": "0x7F"},
     "profile": {"implementation": "mine", "device": "cpu", "build": "default", "version": "1"},
     "inputs": {"x": {"file": "x.bin", "dtype": "f32", "shape": [2, 4]}},
     "outputs": {"codes": {"file": "codes.bin", "dtype": "u8", "shape": [2, 4]}},
     "relation": {"codes": {"kind": "bits"}}, "grounds": "library", "level": "must"}]})");
}

void write_small(const std::filesystem::path& directory, const Json& manifest) {
  write_bytes(directory / "x.bin", bytes_of(kInputs));
  write_bytes(directory / "codes.bin", kCodes);
  write_text(directory / "manifest.json", manifest.dump());
}

Json& entry(Json& manifest) { return manifest["entries"][0]; }
Json& params(Json& manifest) { return manifest["entries"][0]["params"]; }

struct Change {
  std::string name;
  std::function<void(Json&, const std::filesystem::path&)> change;
  int exit;
  std::string text;  ///< that the outcome must contain
};

// 3: the file breaks its form. 4: the reader does not know something that it says. 1: it disagrees with the model. 5: nothing was compared.
const Change kChanges[] = {
    {"as written", [](Json&, const auto&) {}, 0, "8 values"},
    {"a wrong code",
     [](Json&, const auto& dir) {
       auto codes = kCodes;
       codes[5] = 0x00;
       write_bytes(dir / "codes.bin", codes);
     },
     1, "codes[1][1]: recorded 0x00 = 0, model 0x80 = -0; from x[1][1] = 0x80000000 = -0; relation {\"kind\":\"bits\"}"},
    {"a wrong code in an entry for information",
     [](Json& m, const auto& dir) {
       auto codes = kCodes;
       codes[5] = 0;
       write_bytes(dir / "codes.bin", codes);
       entry(m)["level"] = "info";
     },
     0, "1 of 8 values differ"},
    {"recorded values of which none is another than the others",
     [](Json&, const auto& dir) {
       write_bytes(dir / "x.bin", bytes_of(std::vector<std::uint32_t>(8, 0)));
       write_bytes(dir / "codes.bin", std::vector<std::uint8_t>(8, 0));
     },
     5, "MISTRUSTED"},
    {"one of them another one",
     [](Json&, const auto& dir) {
       write_bytes(dir / "x.bin", bytes_of({0, 0, 0, 0x3F800000U, 0, 0, 0, 0}));
       write_bytes(dir / "codes.bin", {0, 0, 0, 0x38, 0, 0, 0, 0});
     },
     0, "8 values"},
    {"a bound that zeros are within",
     [](Json& m, const auto&) {
       entry(m)["relation"]["codes"] = {{"kind", "steps"}, {"max", 255}, {"max_count", 8}};
     },
     5, "MISTRUSTED"},
    {"another rounding", [](Json& m, const auto&) { params(m)["rounding"] = "toward_positive"; }, 1, "codes[1][3]: recorded 0x00 = 0, model 0x01"},
    {"another NaN code", [](Json& m, const auto&) { params(m)["nan_pos"] = "0xFF"; }, 1, "codes[1][2]"},

    {"no data file", [](Json&, const auto& dir) { std::filesystem::remove(dir / "codes.bin"); }, 3, "no file 'codes.bin'"},
    {"a short file",
     [](Json&, const auto& dir) {
       write_bytes(dir / "codes.bin", {1, 2});
     },
     3, "'codes.bin' has 2 bytes, its description says 8"},
    {"a long file",
     [](Json&, const auto& dir) {
       auto codes = kCodes;
       codes.push_back(0);
       write_bytes(dir / "codes.bin", codes);
     },
     3, "has 9 bytes"},
    {"a path out of the set", [](Json& m, const auto&) { entry(m)["inputs"]["x"]["file"] = "../x.bin"; }, 3, "'../x.bin' is not a plain file name"},
    {"a parent directory", [](Json& m, const auto&) { entry(m)["inputs"]["x"]["file"] = ".."; }, 3, "not a plain file name"},
    {"a shape that overflows",
     [](Json& m, const auto&) {
       entry(m)["inputs"]["x"]["shape"] = Json::array({4294967296, 4294967296, 4294967296});
     },
     3, "more than 2^40"},
    {"a shape without elements",
     [](Json& m, const auto&) {
       entry(m)["inputs"]["x"]["shape"] = Json::array({0, 4});
     },
     3, "extent 0"},
    {"a negative extent",
     [](Json& m, const auto&) {
       entry(m)["inputs"]["x"]["shape"] = Json::array({-2, -4});
     },
     3, "extent -2"},
    {"an output of another shape", [](Json& m, const auto&) { entry(m)["outputs"]["codes"]["shape"] = Json::array({8}); }, 3, "another shape"},
    {"too much to generate",
     [](Json& m, const auto&) { entry(m)["inputs"]["x"] = parsed(R"({"generate":"iota","dtype":"f32","shape":[1099511627776]})"); }, 3,
     "more than 2^26"},
    {"a delta outside",
     [](Json& m, const auto& dir) {
       write_bytes(dir / "d.bin", bytes_of({8, 0}));
       entry(m)["outputs"]["codes"]["delta"] = {{"file", "d.bin"}, {"count", 1}};
     },
     3, "delta 'd.bin' changes element 8 of 8"},
    {"a delta of another length",
     [](Json& m, const auto& dir) {
       write_bytes(dir / "d.bin", bytes_of({1}));
       entry(m)["outputs"]["codes"]["delta"] = {{"file", "d.bin"}, {"count", 1}};
     },
     3, "'d.bin' has 4 bytes"},
    {"a delta that changes a code",
     [](Json& m, const auto& dir) {
       write_bytes(dir / "d.bin", bytes_of({2, 0x7D}));
       entry(m)["outputs"]["codes"]["delta"] = {{"file", "d.bin"}, {"count", 1}};
     },
     1, "codes[0][2]: recorded 0x7D"},
    {"duplicate ids", [](Json& m, const auto&) { m["entries"].push_back(entry(m)); }, 3, "two entries have the id 'one'"},
    {"no id", [](Json& m, const auto&) { entry(m).erase("id"); }, 3, "entry number 1"},
    {"no params", [](Json& m, const auto&) { entry(m).erase("params"); }, 3, "entry has no 'params'"},
    {"no rounding", [](Json& m, const auto&) { params(m).erase("rounding"); }, 5, "params has no 'rounding'"},
    {"no relation", [](Json& m, const auto&) { entry(m)["relation"] = Json::object(); }, 3, "no relation for output 'codes'"},
    {"a relation too many",
     [](Json& m, const auto&) {
       entry(m)["relation"]["scales"] = {{"kind", "bits"}};
     },
     3, "relation for 'scales', which is no output"},
    {"no input", [](Json& m, const auto&) { entry(m)["inputs"] = Json::object(); }, 3, "no input 'x'"},
    {"a source that the input is not", [](Json& m, const auto&) { params(m)["source"] = "bf16"; }, 3, "'x' is f32, the parameters say bf16"},
    {"an unknown format", [](Json& m, const auto&) { m["format"] = "mxact-witness/9"; }, 5, "unknown format \"mxact-witness/9\""},
    {"a format that is no text", [](Json& m, const auto&) { m["format"] = 3; }, 3, "'format' must be a text, not 3"},
    {"a later format with the words of the first", [](Json& m, const auto&) { m["format"] = "mxact-witness/3"; }, 0, "(mxact-witness/3)"},
    {"no format", [](Json& m, const auto&) { m.erase("format"); }, 3, "'format'"},
    {"entries that are no list", [](Json& m, const auto&) { m["entries"] = 7; }, 3, "entries must be an array"},
    {"a file that nobody has",
     [](Json& m, const auto&) {
       m["other_files"] = {{"names.txt", "row_names"}};
     },
     3, "no file 'names.txt'"},

    {"an unknown operation", [](Json& m, const auto&) { entry(m)["op"] = "divine"; }, 5, "unknown operation 'divine'"},
    {"an unknown key in an entry", [](Json& m, const auto&) { entry(m)["mood"] = "good"; }, 5, "unknown key 'mood' in entry"},
    {"an unknown parameter", [](Json& m, const auto&) { params(m)["seed"] = 1; }, 5, "unknown key 'seed' in params"},
    {"a parameter that does not apply", [](Json& m, const auto&) { params(m)["zero"] = "0x00"; }, 5, "unknown key 'zero' in params"},
    {"an unknown word", [](Json& m, const auto&) { params(m)["rounding"] = "sideways"; }, 5, "unknown rounding 'sideways'"},
    {"an unknown element type", [](Json& m, const auto&) { entry(m)["inputs"]["x"]["dtype"] = "f80"; }, 5, "unknown dtype 'f80'"},
    {"an unknown generator", [](Json& m, const auto&) { entry(m)["inputs"]["x"] = parsed(R"({"generate":"noise","dtype":"f32","shape":[8]})"); }, 5,
     "unknown generator 'noise'"},
    {"an unknown level", [](Json& m, const auto&) { entry(m)["level"] = "perhaps"; }, 5, "unknown level 'perhaps'"},
    {"an unknown relation",
     [](Json& m, const auto&) {
       entry(m)["relation"]["codes"] = {{"kind", "near"}};
     },
     5, "unknown relation 'near'"},
    {"an unknown skip rule",
     [](Json& m, const auto&) {
       entry(m)["skip"]["codes"] = {{"on_mondays", true}};
     },
     5, "unknown key 'on_mondays' in skip rule of codes"},
    {"a number that is no integer", [](Json& m, const auto&) { params(m)["nan_pos"] = 127; }, 5, "must be a string, not 127"},
    {"a code of too many digits", [](Json& m, const auto&) { params(m)["nan_pos"] = "0x007F"; }, 5, "must be 0x and 2 hexadecimal digits"},
    {"an overflow that the format lacks", [](Json& m, const auto&) { params(m)["overflow"] = "inf"; }, 5,
     "overflow inf asks for what e4m3fn does not have"},
    {"a rounding of another format", [](Json& m, const auto&) { params(m)["rounding"] = "nearest_up"; }, 5, "for e8m0 alone"},
    {"one NaN and not the other", [](Json& m, const auto&) { params(m).erase("nan_neg"); }, 5, "params has no 'nan_neg'"},
    {"E8M0 without its zero and sign", [](Json& m, const auto&) { params(m)["format"] = "e8m0"; }, 5, "params has no 'zero'"},
    {"nothing about NaN, and a NaN among the inputs",
     [](Json& m, const auto&) {
       params(m).erase("nan_pos");
       params(m).erase("nan_neg");
     },
     5, "does not say what becomes of x[1][2] = 0x7FC00000 = nan"},
    {"nothing about NaN, and NaN skipped",
     [](Json& m, const auto&) {
       params(m).erase("nan_pos");
       params(m).erase("nan_neg");
       entry(m)["skip"]["codes"] = {{"input_nan", true}};
     },
     0, "7 values, 1 skipped"},
    {"everything skipped",
     [](Json& m, const auto& dir) {
       write_bytes(dir / "mask.bin", std::vector<std::uint8_t>(8, 1));
       entry(m)["skip"]["codes"] = {{"mask", {{"file", "mask.bin"}, {"dtype", "u8"}, {"shape", Json::array({2, 4})}}}};
     },
     5, "every value of 'codes' is skipped"},
    {"no entries", [](Json& m, const auto&) { m["entries"] = Json::array(); }, 5, "0 values compared"},
    {"an unknown key in the manifest", [](Json& m, const auto&) { m["mood"] = "good"; }, 4, "unknown key 'mood' in manifest"},
    {"one entry with model and one without",
     [](Json& m, const auto&) {
       Json second = entry(m);
       second["id"] = "two";
       second["op"] = "divine";
       m["entries"].push_back(second);
     },
     4, "divine"},
    {"the same for information",
     [](Json& m, const auto&) {
       Json second = entry(m);
       second["id"] = "two";
       second["op"] = "divine";
       second["level"] = "info";
       m["entries"].push_back(second);
     },
     0, "divine"},
};

TEST_CASE("a set that breaks its form, says something unknown, or disagrees", "[witness]") {
  for (const Change& row : kChanges) {
    INFO(row.name);
    const Scratch scratch("forms");
    Json manifest = small_manifest();
    write_small(scratch.path(), manifest);
    row.change(manifest, scratch.path());
    write_text(scratch.path() / "manifest.json", manifest.dump());
    const Outcome outcome = run(scratch.path());
    INFO(outcome.text);
    CHECK(outcome.exit == row.exit);
    CHECK(outcome.text.find(row.text) != std::string::npos);
    // Errors name the file; the outcome of an entry names the entry.
    CHECK(outcome.text.find(row.exit == 3 ? "manifest.json" : scratch.path().string()) != std::string::npos);
    if (row.exit == 4) CHECK(run(scratch.path(), true).exit == 0);
  }
}

TEST_CASE("a set in an unknown form does not keep the others from being read", "[witness]") {
  const Scratch scratch("beside");
  Json manifest = small_manifest();
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directory(scratch.path() / name);
    write_small(scratch.path() / name, manifest);
    manifest["format"] = "mxact-witness/9";
  }
  for (const bool allow : {false, true}) {
    const Outcome outcome = run(scratch.path(), allow);
    INFO(outcome.text);
    CHECK(outcome.exit == 5);
    REQUIRE(outcome.sets.size() == 2);
    CHECK(outcome.sets[0].count(golden::EntryStatus::equal) == 1);
    CHECK(outcome.sets[1].name == "b");
    CHECK(outcome.sets[1].count(golden::EntryStatus::unmodelled) == 1);
  }
  write_bytes(scratch.path() / "a" / "codes.bin", std::vector<std::uint8_t>(8, 0x55));
  CHECK(run(scratch.path()).exit == 1);
}

TEST_CASE("a manifest that is no JSON is refused with its place", "[witness]") {
  const Scratch scratch("syntax");
  for (const std::string text : {"", "{", "[]", "{\"format\": \"mxact-witness/1\", \"format\": \"mxact-witness/1\"}", "\xFF\xFE"}) {
    INFO(text);
    write_text(scratch.path() / "manifest.json", text);
    const Outcome outcome = run(scratch.path());
    CHECK(outcome.exit == 3);
    CHECK(outcome.text.find("manifest.json") != std::string::npos);
  }
}

TEST_CASE("as many differences are described as asked for, and all are counted", "[witness]") {
  const Scratch scratch("many");
  write_small(scratch.path(), small_manifest());
  write_bytes(scratch.path() / "codes.bin", std::vector<std::uint8_t>(8, 0x55));
  const Outcome outcome = run(scratch.path(), false, 3);
  REQUIRE(outcome.sets.size() == 1);
  CHECK(outcome.sets[0].differing() == 8);
  CHECK(outcome.sets[0].entries[0].differences.size() == 3);
  const Json json = verbs::body_json(document_of(outcome.sets[0]))["sets"][0];
  CHECK(json["entries_differs"] == 1);
  CHECK(json["entries"][0]["differing"] == 8);
  CHECK(json["entries"][0]["status"] == "differs");
}

TEST_CASE("one wrong byte anywhere in a recorded set is found", "[witness]") {
  struct Spoiled {
    std::string set;
    std::string file;
    std::size_t byte;
    std::string text;
  };
  const Spoiled rows[] = {
      {"decode", "e4m3fn.ml_dtypes.u32.bin", 4 * 0x38, "values[56]: recorded 0x3F800001"},
      {"block32", "f32.e2m1.floor.torchao.codes.bin", 16 * 40 + 3, "f32.e2m1.floor.torchao_cpu"},
      {"block32", "f32.e2m1.floor.torchao.scales.bin", 7, "scales[7][0]"},
      {"layout", "to_blocked.130x5.i32.bin", 0, "swizzled[0]: recorded 0x00000000 = 0, model 0x00000001 = 1"},
      {"gemm_hopper", "blk1x128_1x128.fast0.bf16.bin", 2 * (63 * 128 + 127), "d[63][127]: recorded"},
      {"gemm_hopper", "e4e4_bias_k256.bias.bin", 1, "gemm.e4e4_bias_k256.promoted.bf16"},
      {"mma_extremes", "bf16.d.bin", 4 * (128 + 5), "d[1][0][5]: recorded"},
      {"moe_0", "transformers_cpu_float32.out.bin", 3, "relation {\"kind\":\"rel\""},
  };
  for (const Spoiled& row : rows) {
    INFO(row.set << "/" << row.file);
    const Scratch scratch("spoiled");
    std::filesystem::copy(recorded("numerics/" + row.set), scratch.path(), std::filesystem::copy_options::recursive);
    std::vector<std::uint8_t> bytes = read_bytes(scratch.path() / row.file);
    REQUIRE(row.byte < bytes.size());
    bytes[row.byte] ^= 0x01U;
    write_bytes(scratch.path() / row.file, bytes);
    const Outcome outcome = run(scratch.path());
    INFO(outcome.text);
    CHECK(outcome.exit == (row.set == "moe_0" ? 0 : 1));
    CHECK(outcome.text.find(row.text) != std::string::npos);
    REQUIRE(!outcome.sets.empty());
    CHECK(outcome.sets[0].count(golden::EntryStatus::differs) >= 1);
  }
}

}  // namespace
}  // namespace mx::tests::witness
