// The form layout-vectors/2, word by word: units of every size, stages, versions and parameters, literal bytes, and what a refusal must agree with.

#include "tests/golden/witness/layout_changes.hpp"

namespace mx::tests::witness {
namespace {

using Directory = std::filesystem::path;

void as_recorded(Json&, const Directory&) {}

/// Changes one byte of a tensor of an entry.
void flip_byte(const Directory& directory, const Json& tensor, std::size_t at, std::uint8_t bits) {
  const Directory file = directory / tensor["file"].get<std::string>();
  std::vector<std::uint8_t> bytes = read_bytes(file);
  bytes.at(at) ^= bits;
  write_bytes(file, bytes);
}

const std::string kBits = "triton.hopper_value.v37.mma3.e1_n64_kb64";
const std::string kNibbles = "marlin.repack.w4a16.k32_n64";
const std::string kBytes = "triton.blackwell_value.v35.e2_n32_kb96";
const std::string kHalves = "cpu.weight.bfloat16.e1_n32_k32";
const std::string kWords = "deepgemm.mn_major_fp32.b1_mn100_k5";
const std::string kRows = "e2e.std.TRITON.e1_i64_h64.w2_weight";
const std::string kValues = "e2e.gptoss.MARLIN.bf16.e1_i64_h128.w2_weight_scale";
const std::string kUnwritten = "triton.blackwell_value.v37.e1_n32_kb64";
const std::string kNeutral = "e2e.std.AITER_MXFP4_BF16.e1_i128_h256.w2_weight_scale";
const std::string kPacked = "deepgemm.pack_ue8m0.b1_mn100_k5";

const LayoutChange kUnits[] = {
    {"bits", kBits, as_recorded, 0, "1 equal"},
    {"nibbles", kNibbles, as_recorded, 0, "1 equal"},
    {"bytes of two experts", kBytes, as_recorded, 0, "1 equal"},
    {"16-bit elements", kHalves, as_recorded, 0, "1 equal"},
    {"32-bit elements", kWords, as_recorded, 0, "1 equal"},
    {"rows", kRows, as_recorded, 0, "1 equal"},
    {"values", kValues, as_recorded, 0, "1 equal"},
    {"positions left unwritten", kUnwritten, as_recorded, 0, "2048 skipped"},
    {"neutral padding", kNeutral, as_recorded, 0, "1 equal"},
    {"packed words", kPacked, as_recorded, 0, "1 equal"},

    {"a bit from elsewhere", kBits, [](Json& e, const auto& dir) { set_unit(dir, e, 9, 3); }, 1, "destination unit 9 (byte 1 bit 1)"},
    {"a nibble from elsewhere", kNibbles, [](Json& e, const auto& dir) { set_unit(dir, e, 1, 3); }, 1, "destination unit 1 (byte 0 bit 4)"},
    {"a byte of the second expert from the first", kBytes, [](Json& e, const auto& dir) { set_unit(dir, e, 4096, 0); }, 1,
     "model unit 3072 (batch=1 rows=0 cols=0)"},
    {"an element from elsewhere", kHalves, [](Json& e, const auto& dir) { set_unit(dir, e, 2, 3); }, 1, "destination unit 2 (byte 4)"},
    {"a word from elsewhere", kWords, [](Json& e, const auto& dir) { set_unit(dir, e, 1, 1); }, 1, "recorded unit 1 (batch=0 rows=0 cols=1)"},
    {"a row from elsewhere", kRows, [](Json& e, const auto& dir) { set_unit(dir, e, 1, 2); }, 1, "destination unit 1 (byte 32)"},
    {"a value from elsewhere", kValues, [](Json& e, const auto& dir) { set_unit(dir, e, 1, 1); }, 1, "destination unit 1"},
    {"padding of another value", kNeutral, [](Json& e, const auto&) { e["pad_values"] = Json::array({0}); }, 1, "recorded padding"},
    {"data where the model leaves memory as it was", kUnwritten,
     [](Json& e, const auto& dir) {
       for (std::size_t unit = 64; unit < 128; ++unit) set_unit(dir, e, unit, -1);
     },
     1, "model an unwritten position"},
    {"a unit of another size than its word", kNibbles, [](Json& e, const auto&) { e["unit"] = "byte"; }, 3, "a byte does not have 4 bits"},
};

TEST_CASE("units of every word are compared one by one", "[witness]") { check_changes(kUnits); }

const std::string kHash = "triton.hopper_value.v37.mma3.hash.e1_n256_kb1440";
const std::string kWarps = "triton.hopper_scale.v35.w4.e1_n256_g4";
const std::string kBefore = "e2e.std.TRITON.e1_i64_h64.w13_weight";
const std::string kGroups = "marlin.permute_scales.g4_n64_gs32_k64_a80";
const std::string kAtom = "sf128x4.cutlass_atom.v16.mn128_k64_l1";

const LayoutChange kParams[] = {
    {"a digest of version 3.7", kHash, as_recorded, 0, "1 equal"},
    {"the padding of another version", kHash, [](Json& e, const auto&) { e["converter_version"] = "triton_kernels-3.5"; }, 1, "size of the output"},
    {"another mma version", kHash, [](Json& e, const auto&) { e["params"]["mma_version"] = 2; }, 1, "digest of the output"},
    {"an operand that is not transposed lies alike", kHash, [](Json& e, const auto&) { e["params"]["mx_axis"] = "last"; }, 0, "1 equal"},
    {"an axis that is none", kHash, [](Json& e, const auto&) { e["params"]["mx_axis"] = "M"; }, 5, "unknown key 'mx_axis'"},
    {"a conversion that both versions of the engine make alike", kValues, [](Json& e, const auto&) { e["converter_version"] = "vllm-2026-05"; }, 0,
     "1 equal"},
    {"a conversion by a later commit of a version", kValues, [](Json& e, const auto&) { e["converter_version"] = "vllm-2026-08-22"; }, 0, "1 equal"},
    {"a whole conversion whose building block knows no such version", "e2e.nvfp4.MARLIN.e1_i64_h128",
     [](Json& e, const auto&) { e["converter_version"] = "vllm-2026-08-22"; }, 0, "1 equal"},
    {"a commit without a label", kValues, [](Json& e, const auto&) { e["converter_version"] = "vllm-2026-07"; }, 5, "at version vllm-2026-07"},
    {"another number of warps", kWarps, [](Json& e, const auto&) { e["params"]["num_warps"] = 8; }, 1, "destination unit"},
    {"a number of warps that the converter refuses", kWarps, [](Json& e, const auto&) { e["params"]["num_warps"] = 6; }, 1,
     "the model refuses this conversion"},
    {"scales for activations of 8 bits", kGroups, [](Json& e, const auto&) { e["params"]["is_a_8bit"] = true; }, 1, "destination unit"},
    {"bits that the layout's name contradicts", kNibbles, [](Json& e, const auto&) { e["params"]["num_bits"] = 8; }, 1,
     "the model refuses this conversion"},
    {"elements that do not fit the input", kNibbles, [](Json& e, const auto&) { e["params"]["size_k"] = 64; }, 3,
     "the parameters give 64 rows of 256 bits"},
    {"an alignment that is none", kWords, [](Json& e, const auto&) { e["params"]["tma_aligned_mn"] = 104; }, 3, "'tma_aligned_mn' does not fit"},
    {"before the swizzle the standard order is kept for the last axis", kBefore, as_recorded, 0, "1 equal"},
    {"the whole conversion is another", kBefore, [](Json& e, const auto&) { e["stage"] = "full"; }, 1, "differ"},
    {"a device that is none", kBefore, [](Json& e, const auto&) { e["arch"] = "abacus"; }, 5, "unknown arch 'abacus'"},
    {"elements of K and of a scale", kAtom, as_recorded, 0, "1 equal"},
    {"fewer elements a scale are more scales", kAtom, [](Json& e, const auto&) { e["params"]["sf_vec"] = 32; }, 3,
     "the parameters give 128 rows of 16 bits"},
};

TEST_CASE("versions, stages and parameters select the formula", "[witness]") { check_changes(kParams); }

const std::string kUpcast = "deepgemm.upcast_e8m0.all256";
const std::string kNvfp4 = "e2e.nvfp4.MARLIN.e1_i64_h128";
const std::string kEncode = "w4a8.encode_and_reorder.e1_n16_k256";

const LayoutChange kBytesInAndOut[] = {
    {"a block that changes values", kUpcast, as_recorded, 0, "1 equal"},
    {"a whole conversion", kNvfp4, as_recorded, 0, "1 equal"},
    {"two outputs", kEncode, as_recorded, 0, "1 equal"},
    {"one byte out", kUpcast, [](Json& e, const auto& dir) { flip_byte(dir, e["outputs"]["scale"], 4, 1); }, 1,
     "scale[1]: recorded 0x800001, model 0x800000"},
    {"within the tolerance", kUpcast,
     [](Json& e, const auto& dir) {
       flip_byte(dir, e["outputs"]["scale"], 4, 1);
       e["ulp_tolerance"] = {{"scale", 1}};
     },
     0, "1 equal"},
    {"beyond the tolerance", kUpcast,
     [](Json& e, const auto& dir) {
       flip_byte(dir, e["outputs"]["scale"], 4, 2);
       e["ulp_tolerance"] = {{"scale", 1}};
     },
     1, "1 of 256 values differ"},
    {"a tolerance for no output", kUpcast,
     [](Json& e, const auto&) {
       e["ulp_tolerance"] = {{"weight", 1}};
     },
     3, "which is no output"},
    {"one byte in", kNvfp4, [](Json& e, const auto& dir) { flip_byte(dir, e["inputs"]["w2"], 0, 1); }, 1, "w2[0]"},
    {"an output of another size", kUpcast,
     [](Json& e, const auto& dir) {
       e["outputs"]["scale"]["shape"] = Json::array({255});
       const Directory file = dir / e["outputs"]["scale"]["file"].template get<std::string>();
       std::vector<std::uint8_t> bytes = read_bytes(file);
       bytes.resize(1020);
       write_bytes(file, bytes);
     },
     1, "size of output 'scale': recorded 1020 bytes, model 1024"},
    {"an output that the model does not have", kUpcast,
     [](Json& e, const auto&) {
       e["outputs"]["chan"] = e["outputs"]["scale"];
       e["outputs"].erase("scale");
     },
     5, "no model for output 'chan'"},
    {"an input that the model does not take", kNvfp4,
     [](Json& e, const auto&) {
       e["inputs"]["delta"] = e["inputs"]["w2"];
       e["inputs"].erase("w2");
     },
     1, "the model refuses"},
    {"a file of another size", kUpcast, [](Json& e, const auto&) { e["inputs"]["scale"]["shape"] = Json::array({255}); }, 3, "bytes"},
};

TEST_CASE("literal bytes are compared element by element", "[witness]") { check_changes(kBytesInAndOut); }

const std::string kCutRows = "triton.err.cdna4.v35.n48";
const std::string kInt8 = "marlin.err.mxfp4_int8act";
const std::string kNoCpu = "oracle.err.std.cpu";
const std::string kMixedRows = "fi.err.sm90_scale.rows96";

void set_precondition(Json& entry, const char* quantity, const char* word, const Json& operand, const Json& value) {
  entry["precondition"] = {{"quantity", quantity}, {word, operand}, {"value", value}};
}

const LayoutChange kRefusals[] = {
    {"rows of a version without padding", kCutRows, as_recorded, 0, "1 equal"},
    {"an activation dtype", kInt8, as_recorded, 0, "1 equal"},
    {"a backend that another backend is asked for instead", kNoCpu, as_recorded, 0, "1 equal"},
    {"rows of the mixed GEMM", kMixedRows, as_recorded, 0, "1 equal"},

    {"a version that pads", kCutRows, [](Json& e, const auto&) { e["converter_version"] = "triton_kernels-3.7"; }, 1, "the model does not"},
    {"another quantity", kCutRows, [](Json& e, const auto&) { set_precondition(e, "groups", "multiple_of", 3, 8); }, 1, "for another reason (rows"},
    {"a multiple that does not help", kCutRows, [](Json& e, const auto&) { set_precondition(e, "rows", "multiple_of", 5, 48); }, 1,
     "for the same reason"},
    {"a value that is not the input's", kCutRows, [](Json& e, const auto&) { set_precondition(e, "rows", "multiple_of", 32, 40); }, 3,
     "not what params say"},
    {"a precondition that holds", kCutRows, [](Json& e, const auto&) { set_precondition(e, "rows", "multiple_of", 16, 48); }, 3,
     "the precondition holds"},
    {"a list with what the converter refuses too", kInt8,
     [](Json& e, const auto&) {
       set_precondition(e, "activation_dtype", "one_of", Json::array({"none", "int8"}), "int8");
     },
     3, "the precondition holds"},
    {"a list with a backend that is refused too", kNoCpu,
     [](Json& e, const auto&) {
       set_precondition(e, "backend", "one_of", Json::array({"TRITON", "NONE"}), "CPU");
     },
     1, "for the same reason (backend)"},
    {"an operator that is none", kCutRows, [](Json& e, const auto&) { set_precondition(e, "rows", "near", 32, 48); }, 5, "unknown operator"},
    {"warps", kWarps,
     [](Json& e, const auto&) {
       e["kind"] = "error";
       e["params"]["num_warps"] = 6;
       set_precondition(e, "num_warps", "power_of_two", true, 6);
     },
     0, "1 equal"},
    {"a dtype", "sf128x4.vllm_swizzle_blockscale.b1_m128_n16",
     [](Json& e, const auto&) {
       e["kind"] = "error";
       e["input"]["dtype"] = "float32";
       set_precondition(e, "dtype", "one_of", Json::array({"float8_e4m3fn"}), "float32");
     },
     0, "1 equal"},
    {"a dtype that is taken", "sf128x4.vllm_swizzle_blockscale.b1_m128_n16",
     [](Json& e, const auto&) {
       e["kind"] = "error";
       set_precondition(e, "dtype", "one_of", Json::array({"uint8"}), "float8_e4m3fn");
     },
     1, "the model does not"},
    {"a rank", "sf128x4.vllm_swizzle_blockscale.b1_m128_n16",
     [](Json& e, const auto&) {
       e["kind"] = "error";
       e["input"]["shape"] = Json::array({1, 1, 128, 16});
       set_precondition(e, "rank", "one_of", Json::array({2, 3}), 4);
     },
     0, "1 equal"},
    {"elements of whole scales", kGroups,
     [](Json& e, const auto&) {
       e["kind"] = "error";
       e["params"]["size_n"] = 30;
       e["input"]["shape"] = Json::array({4, 30});
       set_precondition(e, "elements", "multiple_of", 64, 120);
     },
     0, "1 equal"},
    {"experts that the caller does not count", "aiter.shuffle_scale_a16w4.gu1.e1_n64_g8",
     [](Json& e, const auto&) {
       e["kind"] = "error";
       e["params"]["experts_given"] = false;
       set_precondition(e, "experts_given", "equals", true, false);
     },
     0, "1 equal"},
    {"scales along K that cannot be halved", kBefore,
     [](Json& e, const auto&) {
       e["kind"] = "error";
       e["params"]["hidden"] = 96;
       e["input"]["shape"] = Json::array({1, 128, 48});
       set_precondition(e, "w13_groups", "multiple_of", 2, 3);
     },
     0, "1 equal"},
    {"K of a tensor is a size of its layer", "e2e.fp8.FLASHINFER_TRTLLM.block.e1_i128_h128.w13",
     [](Json& e, const auto&) {
       e["kind"] = "error";
       e["params"]["hidden"] = 192;
       e["input"]["shape"] = Json::array({1, 256, 192});
       set_precondition(e, "K", "multiple_of", 128, 192);
     },
     0, "1 equal"},
    {"static input scales", kBefore,
     [](Json& e, const auto&) {
       e["kind"] = "error";
       e["layout"] = "oracle.gpt_oss.AITER_MXFP4_FP8";
       e["arch"] = "gfx950";
       e["params"]["input_scale_given"] = false;
       set_precondition(e, "input_scale_given", "equals", true, false);
     },
     0, "1 equal"},
    {"a backend that the table does not name", kNoCpu,
     [](Json& e, const auto&) {
       e["layout"] = "oracle.gpt_oss.NONE";
       e["params"]["backend"] = "NONE";
       set_precondition(e, "backend", "one_of", Json::array({"CPU", "TRITON"}), "NONE");
     },
     0, "1 equal"},
    {"the largest byte of a scale", kInt8,
     [](Json& e, const auto&) {
       e["params"]["input_dtype"] = "float8_e4m3fn";
       e["params"]["scale_byte"] = 250;
       e["role"] = "w13_weight_scale";
       e["input"]["shape"] = Json::array({1, 128, 4});
       set_precondition(e, "scale_byte", "max", 249, 250);
     },
     0, "1 equal"},
};

TEST_CASE("a refusal agrees with its precondition", "[witness]") { check_changes(kRefusals); }

}  // namespace
}  // namespace mx::tests::witness
