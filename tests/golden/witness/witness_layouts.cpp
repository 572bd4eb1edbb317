// The form layout-vectors/2: recorded entries changed in one way per row, and small permutations written by hand.

#include "tests/catch.hpp"
#include "tests/golden/witness/layout_changes.hpp"
#include "tests/json_text.hpp"

namespace mx::tests::witness {
namespace {

const std::string kScale = "fi.shuffle_matrix_sf_a.tile128.m128_k4";
const std::string kWeight = "e2e.gptoss.FLASHINFER_TRTLLM_MXFP4_BF16.e1_i128_h128.w13_weight";
const std::string kBias = "e2e.gptoss.FLASHINFER_TRTLLM_MXFP4_BF16.e1_i128_h128.w13_bias";
const std::string kHash = "hash.std.FLASHINFER_CUTLASS_MXFP4_MXFP8.w2_weight_scale.e2_i768_h1024";
const std::string kNoBias = "oracle.err.trtllm.nobias";
const std::string kFewRows = "fi.err.shuffle_sf_a.m64";

const LayoutChange kChanges[] = {
    {"as recorded, scale", kScale, [](Json&, const auto&) {}, 0, "equal"},
    {"as recorded, weight", kWeight, [](Json&, const auto&) {}, 0, "equal"},
    {"as recorded, bias", kBias, [](Json&, const auto&) {}, 0, "equal"},
    {"as recorded, hash", kHash, [](Json&, const auto&) {}, 0, "equal"},
    {"as recorded, refusal", kNoBias, [](Json&, const auto&) {}, 0, "equal"},
    {"as recorded, refusal of rows", kFewRows, [](Json&, const auto&) {}, 0, "equal"},

    {"one unit from elsewhere", kScale, [](Json& e, const auto& dir) { set_unit(dir, e, 5, 77); }, 1,
     "destination unit 5 (byte 5): recorded unit 77 (batch=0 rows=19 cols=1), model unit"},
    {"one row from elsewhere", kWeight, [](Json& e, const auto& dir) { set_unit(dir, e, 3, 200); }, 1,
     "destination unit 3 (byte 192): recorded unit 200 (E=0 half=gate I=100 K=0)"},
    {"padding where the model has data", kScale, [](Json& e, const auto& dir) { set_unit(dir, e, 5, -1); }, 1, "recorded padding"},
    {"a unit that the input does not have", kScale, [](Json& e, const auto& dir) { set_unit(dir, e, 5, 1 << 30); }, 1,
     "which the input does not have"},
    {"a position that is not written", kScale, [](Json& e, const auto& dir) { set_unit(dir, e, 5, -2); }, 0, "1 skipped"},
    {"another value after the cast", kBias, [](Json& e, const auto&) { e["value_map"]["803f"] = Json::array({"00003f80"}); }, 1,
     "value 0x3F80: recorded 0x803F0000, model 0x3F800000"},
    {"another digest of random input", kScale, [](Json& e, const auto&) { e["check_output_fnv1a64"] = "0000000000000000"; }, 1,
     "recorded 0000000000000000"},
    {"another digest", kHash, [](Json& e, const auto&) { e["output"]["fnv1a64"] = "0123456789abcdef"; }, 1, "recorded 0123456789abcdef"},
    {"another seed", kHash, [](Json& e, const auto&) { e["input"]["seed"] = 1; }, 1, "for seed 1"},
    {"another layout", kWeight, [](Json& e, const auto&) { e["layout"] = "oracle.gpt_oss.FLASHINFER_CUTLASS_MXFP4_MXFP8"; }, 1, "destination unit"},
    {"another order of the checkpoint", kWeight, [](Json& e, const auto&) { e["layout"] = "oracle.standard.FLASHINFER_TRTLLM_MXFP4_BF16"; }, 1,
     "destination unit"},
    {"a refusal of what the model accepts", kNoBias,
     [](Json& e, const auto&) {
       e["params"]["intermediate"] = 128;
       e["precondition"]["value"] = true;
       e["params"]["has_bias"] = true;
       e["precondition"]["equals"] = false;
     },
     1, "the model does not"},
    {"a refusal for another reason", kFewRows, [](Json& e, const auto&) { e["precondition"]["multiple_of"] = 3; }, 1, "for the same reason"},
    {"a refusal read in the source", kNoBias,
     [](Json& e, const auto&) {
       e["level"] = "info";
       e["observed"] = false;
     },
     0, "info"},

    {"an unknown layout", kScale, [](Json& e, const auto&) { e["layout"] = "trtllm.origami"; }, 5, "no layout model for trtllm.origami"},
    {"a layout before its last stage", kWeight, [](Json& e, const auto&) { e["stage"] = "before_swizzle"; }, 5,
     "no layout model for stage before_swizzle"},
    {"another version", kWeight, [](Json& e, const auto&) { e["converter_version"] = "vllm-2031-01"; }, 5, "at version vllm-2031-01"},
    {"an unknown kind", kScale, [](Json& e, const auto&) { e["kind"] = "sketch"; }, 5, "unknown kind 'sketch'"},
    {"an unknown unit", kScale, [](Json& e, const auto&) { e["unit"] = "trit"; }, 5, "unknown unit 'trit'"},
    {"an unknown parameter", kScale, [](Json& e, const auto&) { e["params"]["phase"] = 1; }, 5, "unknown key 'phase' in params"},
    {"an unknown key", kScale, [](Json& e, const auto&) { e["mood"] = 1; }, 5, "unknown key 'mood' in entry"},
    {"an unknown role", kWeight, [](Json& e, const auto&) { e["role"] = "w14_weight"; }, 5, "unknown role 'w14_weight'"},
    {"an unknown quantity", kFewRows, [](Json& e, const auto&) { e["precondition"]["quantity"] = "luck"; }, 5, "unknown quantity 'luck'"},
    {"an unknown generator", kHash, [](Json& e, const auto&) { e["input"]["generator"] = "dice"; }, 5, "unknown generator 'dice'"},

    {"no file", kScale, [](Json& e, const auto& dir) { std::filesystem::remove(dir / e["files"]["perm"].get<std::string>()); }, 3, "no file"},
    {"a file of another length", kScale,
     [](Json& e, const auto& dir) {
       write_bytes(dir / e["files"]["perm"].get<std::string>(), {0, 0, 0, 0});
     },
     3, "has 4 bytes"},
    {"a path out of the set", kScale, [](Json& e, const auto&) { e["files"]["perm"] = "a/b"; }, 3, "not a plain file name"},
    {"a shape that is not the input's", kScale,
     [](Json& e, const auto&) {
       e["input"]["shape"] = Json::array({128, 8});
     },
     3, "the parameters give 128 rows of 32 bits"},
    {"units that do not divide the output", "sf128x4.flashinfer.b1_m128_n4",
     [](Json& e, const auto& dir) {
       e["params"] = {{"batch", 1}, {"rows", 43}, {"cols", 12}};
       e["input"]["shape"] = Json::array({43, 12});
       e["unit"] = "row";
       e["unit_bits"] = 1376;
       e["src_units"] = 3;
       e["dst_units"] = 8;
       e.erase("check_random_seed");
       e.erase("check_output_fnv1a64");
       e["output"]["shape"] = Json::array({1376});
       write_bytes(dir / e["files"]["perm"].get<std::string>(), std::vector<std::uint8_t>(32, 0));
     },
     3, "do not divide an output of"},
    {"a number that means nothing", kScale, [](Json& e, const auto& dir) { set_unit(dir, e, 5, -4); }, 3, "the only negative numbers"},
    {"no params", kScale, [](Json& e, const auto&) { e.erase("params"); }, 3, "entry has no 'params'"},
    {"a digest that is none", kHash, [](Json& e, const auto&) { e["output"]["fnv1a64"] = "xyz"; }, 3, "a digest is 16 hexadecimal digits"},
    {"a precondition that params do not break", kFewRows, [](Json& e, const auto&) { e["precondition"]["value"] = 96; }, 3, "not what params say"},
};

TEST_CASE("a layout entry that disagrees, says something unknown, or breaks its form", "[witness]") { check_changes(kChanges); }

TEST_CASE("duplicate ids in a layout set are refused", "[witness]") {
  const Scratch scratch("layout_ids");
  Json manifest = single_layout(kNoBias, scratch.path());
  manifest["entries"].push_back(manifest["entries"][0]);
  write_text(scratch.path() / "manifest.json", manifest.dump());
  CHECK(run(scratch.path()).text.find("two entries have the id") != std::string::npos);
}

// Three rows of scales in a tile of 128 rows and 4 columns: row 0 at 0, row 1 at 16, row 2 at 32, the rest zero padding.
TEST_CASE("padding is compared by place and value", "[witness]") {
  struct Case {
    std::string pads;
    std::int32_t first_pad;
    int exit;
  };
  for (const Case& one : {Case{"[0]", -1, 0}, Case{"[127]", -1, 1}, Case{"null", -1, 0}, Case{"[0]", 0, 1}}) {
    INFO(one.pads << " " << one.first_pad);
    const Scratch scratch("padding");
    Json manifest = single_layout("sf128x4.flashinfer.b1_m128_n4", scratch.path());
    Json& entry = manifest["entries"][0];
    entry["params"]["rows"] = 3;
    entry["input"]["shape"] = Json::array({3, 4});
    entry["src_units"] = 12;
    entry["pad_values"] = parsed(one.pads);
    entry.erase("check_random_seed");
    entry.erase("check_output_fnv1a64");
    for (std::size_t unit = 0; unit < 512; ++unit) {
      const bool holds = unit < 48 && unit % 16 < 4;
      set_unit(scratch.path(), entry, unit, holds ? static_cast<std::int32_t>(4 * (unit / 16) + unit % 16) : unit == 511 ? one.first_pad : -1);
    }
    write_text(scratch.path() / "manifest.json", manifest.dump());
    const Outcome outcome = run(scratch.path());
    INFO(outcome.text);
    CHECK(outcome.exit == one.exit);
  }
}

}  // namespace
}  // namespace mx::tests::witness
