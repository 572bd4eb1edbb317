// mxact layer as a user types it: a checkpoint, what convert makes of it, arrays and containers, somebody else's stages, misuse.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "sim/execute/stages.hpp"
#include "support/file.hpp"
#include "support/json.hpp"
#include "support/npy.hpp"
#include "support/safetensors.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::support::Json;
using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;
using mx::tests::tiny;

/// The recorded tokens of the committed checkpoint, through its own router.
const std::string kTokens = " --layer 0 --x " + tiny() + "/expected.safetensors:layers.0.mlp.x --router";

void write(const std::filesystem::path& path, const std::vector<std::uint8_t>& bytes) { mx::support::write_file(path, bytes, true); }

/// An array of little-endian words.
template <class Word>
std::vector<std::uint8_t> npy(const std::string& type, const std::vector<std::int64_t>& shape, const std::vector<Word>& words) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  return mx::support::npy_bytes(type, shape, {bytes, words.size() * sizeof(Word)});
}

Json digests(const Json& document) {
  Json all = Json::object();
  for (const Json& stage : document["stages"]) all[stage["stage"].text()] = stage["digest"];
  return all;
}

}  // namespace

TEST_CASE("layer writes a backend's stages, from the checkpoint, from what convert wrote, and from one file of that") {
  const ScratchDirectory scratch;
  const std::string out = quoted(scratch.path() / "stages.safetensors"), packed = quoted(scratch.path() / "packed");
  const Json made = run_json("layer " + tiny() + " --backend TRITON --platform SM90 --engine 2026-05" + kTokens + " -o " + out);
  CHECK(made["backend"] == "TRITON");
  CHECK(made["arithmetic"] == "none x hopper-bf16, run");
  CHECK(made["stages"][0]["stage"] == "h13");
  CHECK(made["stages"][0]["dtype"] == "F32");
  CHECK(made["stages"][0]["shape"] == Json::array({36, 512}));
  CHECK(made["stages"][3]["shape"] == Json::array({9, 256}));
  const mx::support::SafetensorsFile file(scratch.path() / "stages.safetensors");
  CHECK(file.tensors().size() == 4);
  CHECK(file.metadata().at("mxact.layer-stages").find("\"arithmetic\":\"none x hopper-bf16") != std::string::npos);

  REQUIRE(run_mxact("convert " + tiny() + " --backend TRITON --platform SM90 --engine 2026-05 -o " + packed).status == 0);
  write(scratch.path() / "ids.npy", npy<std::int32_t>("<i4", {9, 1}, {0, 1, 2, 3, 4, 5, 6, 7, -1}));
  write(scratch.path() / "weights.npy", npy("<f4", {9, 1}, std::vector<float>(9, 0.5F)));
  const std::string tokens = kTokens.substr(0, kTokens.find(" --router")) + " --ids " + quoted(scratch.path() / "ids.npy") + " --weights " +
                             quoted(scratch.path() / "weights.npy");
  const Json want = digests(run_json("layer " + tiny() + " --backend TRITON --platform SM90 --engine 2026-05" + tokens));
  CHECK(digests(run_json("layer " + packed + tokens)) == want);
  // A packed layer's file goes to another machine; of gpt-oss it says what it computes by itself.
  const std::filesystem::path alone = scratch.path() / "alone.safetensors";
  std::filesystem::copy_file(scratch.path() / "packed" / "mxact-layer-00000.safetensors", alone);
  CHECK(digests(run_json("layer " + quoted(alone) + tokens)) == want);
  CHECK(run_mxact("layer " + quoted(alone) + " --platform SM90" + tokens).err.find("--platform: ") != std::string::npos);
  CHECK(run_mxact("layer " + quoted(alone) + kTokens).err.find("a router is the checkpoint's: give --ids and --weights") != std::string::npos);
}

TEST_CASE("the tags say the form in which a kernel is handed a tensor, and other ones are refused") {
  const ScratchDirectory scratch;
  const auto forms = [&](const char* backend, const std::string& how) {
    const std::filesystem::path packed = scratch.path() / backend;
    REQUIRE(run_mxact("convert " + tiny() + " --backend " + backend + " --platform SM90 " + how + " -o " + quoted(packed)).status == 0);
    const mx::support::SafetensorsFile file(packed / "mxact-layer-00000.safetensors");
    const std::string tags = file.metadata().at("mxact.layer");
    const Json json = mx::support::parse_json(std::span(reinterpret_cast<const std::uint8_t*>(tags.data()), tags.size()),
                                              {.bytes = 1U << 24U, .depth = 8, .memory = 1U << 28U}, "tags");
    std::string text;
    for (const Json& tensor : json["tensors"]) text += tensor["role"].text() + " " + tensor["kernel"].dump() + "\n";
    return text;
  };
  // Eight experts of 256 x 256. Tiles of 16 along k, two words for each row; gate's and up's rows are one axis.
  CHECK(forms("MARLIN", "") ==
        "w13_weight {\"dtype\":\"int32\",\"shape\":[8,16,1024],\"strides\":[16384,1024,1]}\n"
        "w13_weight_scale {\"dtype\":\"float8_e8m0fnu\",\"shape\":[8,8,512],\"strides\":[4096,512,1]}\n"
        "w13_bias {\"dtype\":\"bfloat16\",\"shape\":[8,512],\"strides\":[512,1]}\n"
        "w2_weight {\"dtype\":\"int32\",\"shape\":[8,16,512],\"strides\":[8192,512,1]}\n"
        "w2_weight_scale {\"dtype\":\"float8_e8m0fnu\",\"shape\":[8,8,256],\"strides\":[2048,256,1]}\n"
        "w2_bias {\"dtype\":\"bfloat16\",\"shape\":[8,256],\"strides\":[256,1]}\n");
  // k is the fastest axis: four rows' bytes lie together, scales of 32 rows.
  CHECK(forms("TRITON", "--engine 2026-05") ==
        "w13_weight {\"dtype\":\"uint8\",\"shape\":[8,512,128],\"strides\":[65536,1,512]}\n"
        "w13_weight_scale {\"dtype\":\"uint8\",\"shape\":[8,256,16],\"strides\":[4096,1,256]}\n"
        "w13_bias {\"dtype\":\"float32\",\"shape\":[8,512],\"strides\":[512,1]}\n"
        "w2_weight {\"dtype\":\"uint8\",\"shape\":[8,512,64],\"strides\":[32768,1,512]}\n"
        "w2_weight_scale {\"dtype\":\"uint8\",\"shape\":[8,256,8],\"strides\":[2048,1,256]}\n"
        "w2_bias {\"dtype\":\"float32\",\"shape\":[8,256],\"strides\":[256,1]}\n");

  // Tags without it are those of an mxact that did not say it; another form is of no conversion.
  const std::filesystem::path packed = scratch.path() / "MARLIN" / "mxact-layer-00000.safetensors";
  std::vector<std::uint8_t> bytes = mx::support::read_file(packed, std::uint64_t{1} << 30U);
  const std::string wrong = "[8,16,1042]", right = "[8,16,1024]";
  const std::string text(bytes.begin(), bytes.end());
  const std::size_t place = text.find(right);
  REQUIRE(place != std::string::npos);
  std::ranges::copy(wrong, bytes.begin() + static_cast<std::ptrdiff_t>(place));
  write(scratch.path() / "alone.safetensors", bytes);
  write(scratch.path() / "ids.npy", npy<std::int32_t>("<i4", {9, 1}, {0, 1, 2, 3, 4, 5, 6, 7, -1}));
  const std::string tokens = kTokens.substr(0, kTokens.find(" --router")) + " --ids " + quoted(scratch.path() / "ids.npy");
  const Run refused = run_mxact("layer " + quoted(scratch.path() / "alone.safetensors") + tokens);
  CHECK(refused.status == 3);
  CHECK(refused.err.find("the tags say int32 [8, 16, 1042], strides [16384, 1024, 1], which is not what MARLIN makes of them") != std::string::npos);
}

TEST_CASE("layer says which sums have no fixed value, and writes what can come beside them") {
  const ScratchDirectory scratch;
  const std::string out = quoted(scratch.path() / "stages.safetensors");
  const std::string run =
      "layer " + tiny() + " --backend HUMMING --platform SM90" + kTokens + " --stages h13 --launch tile_k=16,blocks=132,stages=1 ";
  const Json made = run_json(run + "-o " + out);
  const auto count = made["unsettled"][0]["elements"].integer(), most = made["unsettled"][0]["values"].integer();
  CHECK(count > 0);
  const mx::support::SafetensorsFile file(scratch.path() / "stages.safetensors");
  CHECK(file.tensors().at("h13.elements").shape == std::vector<std::int64_t>{count});
  CHECK(file.tensors().at("h13.possible").shape == std::vector<std::int64_t>{count, most});
  CHECK(run_mxact(run + "--expect " + out).status == 0);
  CHECK(run_mxact(run + "-o " + quoted(scratch.path() / "other.safetensors")).out.find("elements have no fixed value") != std::string::npos);
}

TEST_CASE("layer starts from somebody's stage, and compares") {
  const ScratchDirectory scratch;
  const std::string call = "layer " + tiny() + " --backend FLASHINFER_CUTLASS_MXFP4_MXFP8 --platform SM100" + kTokens;
  const std::filesystem::path out = scratch.path() / "stages.safetensors";
  const Json whole = run_json(call + " -o " + quoted(out));
  std::vector<std::string> names;
  for (const Json& stage : whole["stages"]) names.push_back(stage["stage"].text());
  CHECK(names == std::vector<std::string>{"a1_codes", "a1_scales", "h13", "act", "act_codes", "act_scales", "y", "out"});
  for (const char* from : {"a1_codes,a1_scales", "h13", "act", "act_codes,act_scales", "y"}) {
    INFO(from);
    std::string start;
    for (std::string rest = from; !rest.empty();) {
      const std::string name = rest.substr(0, rest.find(','));
      start += (start.empty() ? "" : ",") + name + "=" + out.string();
      rest = rest.size() == name.size() ? "" : rest.substr(name.size() + 1);
    }
    const Json later = run_json(call + " --from " + start);
    CHECK_FALSE(later["stages"].empty());
    for (const Json& stage : later["stages"]) CHECK(digests(whole)[stage["stage"].text()] == stage["digest"]);
  }
  CHECK(run_json(call + " --expect " + quoted(out))["verdict"] == "PASSED");

  // One bit of one scale.
  const mx::support::SafetensorsFile file(out);
  std::vector<mx::support::TensorData> tensors;
  for (const auto& [name, view] : file.tensors()) tensors.push_back({name, std::string(view.dtype->name), view.shape, file.read(view)});
  for (mx::support::TensorData& tensor : tensors) {
    if (tensor.name == "act_scales") tensor.bytes[8 + 3] ^= 1U;
  }
  write(scratch.path() / "wrong.safetensors", mx::support::safetensors_bytes(tensors, {}));
  const Run wrong = run_mxact(call + " --expect " + quoted(scratch.path() / "wrong.safetensors"));
  INFO(wrong.out << wrong.err);
  CHECK(wrong.status == 1);
  CHECK(wrong.out.find("first difference of act_scales: token 0, slot 1 (expert ") != std::string::npos);
  CHECK(wrong.out.find("), scale 3: 0x") != std::string::npos);
  CHECK(wrong.out.find("no rule that is known here makes that token's rows") != std::string::npos);
}

TEST_CASE("layer runs a contract by the fused kernels, and their bits are the model's") {
  const ScratchDirectory scratch;
  const std::string call = "layer " + tiny() + kTokens + " --contract ";
  for (const char* contract : {"bf16-chain", "bf16-block", "bf16-pair", "int8-block"}) {
    INFO(contract);
    const std::filesystem::path out = scratch.path() / (std::string(contract) + ".safetensors");
    const Json made = run_json(call + contract + " -o " + quoted(out));
    CHECK(made["contract"] == contract);
    CHECK(made["sums_by"] == "fused kernels");
    CHECK(made["kernel"].text().starts_with(contract));
    const Json model = run_json(call + contract + " --reference");
    CHECK(model["sums_by"] == "the model, number by number");
    CHECK(digests(model) == digests(made));
    CHECK(run_json(call + contract + " --expect " + quoted(out))["verdict"] == "PASSED");
    CHECK(digests(run_json(call + contract + " --from h13=" + out.string()))["out"] == digests(made)["out"]);
  }
  CHECK(run_json(call + "bf16-block")["arithmetic"] == "none x bf16-block, swiglu_oai in fp32");
  CHECK(run_json(call + "int8-block")["arithmetic"] == "mxint8 x int8-block, swiglu_oai in fp32");
  CHECK(run_json(call + "hopper-bf16")["sums_by"] == "quick rows");
  const Run other = run_mxact(call + "bf16-chain --stages h13 --expect " + quoted(scratch.path() / "bf16-block.safetensors"));
  CHECK(other.status == 1);
  CHECK(other.out.find("explained by: sums of contract bf16-block") != std::string::npos);

  // What convert wrote is restored first.
  const std::string packed = quoted(scratch.path() / "packed");
  REQUIRE(run_mxact("convert " + tiny() + " --backend MARLIN --platform SM90 -o " + packed).status == 0);
  write(scratch.path() / "ids.npy", npy<std::int32_t>("<i4", {9, 1}, {0, 1, 2, 3, 4, 5, 6, 7, -1}));
  write(scratch.path() / "weights.npy", npy("<f4", {9, 1}, std::vector<float>(9, 0.5F)));
  const std::string tokens = kTokens.substr(0, kTokens.find(" --router")) + " --ids " + quoted(scratch.path() / "ids.npy") + " --weights " +
                             quoted(scratch.path() / "weights.npy") + " --contract bf16-block";
  CHECK(digests(run_json("layer " + packed + tokens)) == digests(run_json("layer " + tiny() + tokens)));

  const auto refused = [&](const std::string& more) { return run_mxact(call + "bf16-block" + more).err; };
  CHECK(refused(" --platform SM90").find("--platform: is of a backend's kernels, and --contract is of none") != std::string::npos);
  CHECK(refused(" --backend TRITON").find("--backend: is of a backend's kernels") != std::string::npos);
  CHECK(refused(" --input-scale 1,1").find("--input-scale: is of a backend's quantizers") != std::string::npos);
  CHECK(run_mxact("layer " + tiny() + kTokens + " --contract bf16-chian").err.find("bf16-chain") != std::string::npos);
}

TEST_CASE("layer reads and writes numpy's arrays") {
  const ScratchDirectory scratch;
  const auto path = [&](const char* name) { return quoted(scratch.path() / name); };
  std::vector<float> x(2 * 256);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i % 13) - 6) / 4;
  write(scratch.path() / "x.npy", npy("<f4", {2, 256}, x));
  write(scratch.path() / "ids.npy", npy<std::int64_t>("<i8", {2, 2}, {5, 0, -1, 3}));
  write(scratch.path() / "weights.npy", npy<float>("<f4", {2, 2}, {0.75F, 0.25F, 1, 0.5F}));
  const std::string call = "layer " + tiny() + " --backend MARLIN --platform SM90 --layer 1 --x " + path("x.npy") + " --ids " + path("ids.npy") +
                           " --weights " + path("weights.npy");
  const Json made = run_json(call + " --stages act -o " + path("act.npy"));
  CHECK(made["stages"][0]["shape"] == Json::array({4, 256}));
  const std::vector<std::uint8_t> written = mx::support::read_file(scratch.path() / "act.npy", 1 << 20);
  const mx::support::NpyArray act = mx::support::npy_array(written, 1 << 20, "act.npy");
  CHECK(act.type() == "uint16");
  CHECK(act.shape == std::vector<std::int64_t>{4, 256});
  CHECK(digests(run_json(call + " --from act=" + path("act.npy")))["out"] == digests(run_json(call))["out"]);
  CHECK(run_json(call + " --stages act --expect " + path("act.npy"))["verdict"] == "PASSED");
  // A stage that is alike everywhere could not have shown an exchange.
  write(scratch.path() / "none.npy", npy<std::int64_t>("<i8", {2, 2}, {-1, -1, -1, -1}));
  write(scratch.path() / "zeros.npy", npy("<u2", {2, 256}, std::vector<std::uint16_t>(512)));
  const std::string nobody = "layer " + tiny() + " --backend MARLIN --platform SM90 --layer 1 --x " + path("x.npy") + " --ids " + path("none.npy") +
                             " --weights " + path("weights.npy");
  CHECK(run_json(nobody + " --stages out --expect " + path("zeros.npy"), 5)["verdict"] == "MISTRUSTED");
}

TEST_CASE("a rank's out is its share: the bias of w2 is the first one's") {
  const ScratchDirectory scratch;
  const auto path = [&](const char* name) { return quoted(scratch.path() / name); };
  write(scratch.path() / "ids.npy", npy<std::int32_t>("<i4", {1, 2}, {7, 0}));
  write(scratch.path() / "weights.npy", npy<float>("<f4", {1, 2}, {0.5F, 0.5F}));
  write(scratch.path() / "act.npy", npy("<u2", {2, 128}, std::vector<std::uint16_t>(256)));
  write(scratch.path() / "zeros.npy", npy("<u2", {1, 256}, std::vector<std::uint16_t>(256)));
  const std::string call = " --layer 0 --ids " + path("ids.npy") + " --weights " + path("weights.npy") + " --from act=" + path("act.npy") +
                           " --stages out --expect " + path("zeros.npy");
  const std::string how = tiny() + " --backend MARLIN --platform SM90 --tp 2 --rank ";
  CHECK(run_json("layer " + how + "0" + call, 1)["compared"][0]["differing"].integer() > 200);
  CHECK(run_json("layer " + how + "1" + call, 5)["compared"][0]["differing"] == 0);
  REQUIRE(run_mxact("convert " + how + "1 -o " + path("packed")).status == 0);
  CHECK(run_json("layer " + path("packed") + call, 5)["compared"][0]["differing"] == 0);
}

TEST_CASE("the page and the help have the table of stages") {
  std::ifstream file(MXACT_SOURCE_DIR "/docs/layer.md");
  std::string page;
  for (std::string line; std::getline(file, line);) page += line.starts_with("  ") ? line.substr(1) : "\n" + line;
  const std::string help = run_mxact("help stages").out;
  for (const mx::sim::StageRow& row : mx::sim::stage_rows()) {
    INFO(row.name);
    const std::string kind = "` (" + std::string(row.dtype) + "; " + std::string(row.shape) + "): ";
    CHECK(page.find("\n* `" + std::string(row.name) + kind + std::string(row.what) + "\n") != std::string::npos);
    CHECK(help.find(std::string(row.shape) + ", " + std::string(row.dtype) + "\n            " + std::string(row.what) + "\n") != std::string::npos);
  }
}

TEST_CASE("layer says what it does not take, and leaves nothing half written") {
  const ScratchDirectory scratch;
  const auto path = [&](const char* name) { return quoted(scratch.path() / name); };
  write(scratch.path() / "x.npy", npy("<f4", {1, 256}, std::vector<float>(256, 0.1F)));
  write(scratch.path() / "halves.npy", npy("<f4", {1, 128}, std::vector<float>(128, 0.5F)));
  write(scratch.path() / "pairs.npy", npy("<f4", {2, 128}, std::vector<float>(256, 0.5F)));
  write(scratch.path() / "nobody.npy", npy("<f4", {0, 256}, std::vector<float>()));
  write(scratch.path() / "empty.npy", npy("<f4", {1, 0}, std::vector<float>()));
  write(scratch.path() / "noids.npy", npy("<i4", {0, 2}, std::vector<std::int32_t>()));
  write(scratch.path() / "ids.npy", npy<std::int32_t>("<i4", {1, 2}, {8, 0}));
  write(scratch.path() / "good.npy", npy<std::int32_t>("<i4", {1, 2}, {7, 0}));
  write(scratch.path() / "weights.npy", npy<float>("<f4", {1, 2}, {0.5F, 0.5F}));
  const std::string head = "layer " + tiny() + " --backend MARLIN --platform SM90 ";
  const std::string tokens = kTokens.substr(std::string(" --layer 0").size());
  struct Misuse {
    std::string arguments;
    int status;
    const char* sentence;
  };
  for (const Misuse& one : std::vector<Misuse>{
           {head + "--layer 0 --x " + path("x.npy") + " --router", 2, "[0, 0] is 0.1 (0x3dcccccd), which bf16 has not: round x as the engine does"},
           {head + "--layer 0 --x " + path("halves.npy") + " --ids " + path("good.npy"), 2, "x: has 128 columns, the layer's hidden size is 256"},
           // Whole tokens of another width, by their number of values.
           {head + "--layer 0 --x " + path("pairs.npy") + " --router", 2, "x: has 128 columns, the layer's hidden size is 256"},
           {head + "--layer 0 --x " + path("nobody.npy") + " --router", 2,
            "nobody.npy: has shape [0, 256]: no token, and a layer is run on one or more"},
           {head + "--layer 0 --ids " + path("good.npy"), 2, "--x: is missing"},
           {head + "--layer 0" + tokens + " --ids " + path("good.npy"), 2, "--router: the router says what --ids and --weights say"},
           {head + "--layer 0 --x " + path("halves.npy"), 2, "--ids: is missing"},
           {head + "--layer 7" + tokens, 2, "layer 7 is none of those that are converted: 0, 1"},
           {head + kTokens + " --stages h14", 2, "unknown stage 'h14' (did you mean h13?)"},
           {head + kTokens + " --stages a1_codes", 2, "MARLIN has no a1_codes here; its stages are h13, act, y, out"},
           {head + kTokens + " --from h13", 2, "--from: 'h13' is not STAGE=FILE"},
           {head + kTokens + " --from h13=" + path("halves.npy"), 2, "h13: is F32 [1, 128], here it is BF16 [36, 512]"},
           {head + "--layer 0" + tokens.substr(0, tokens.find(" --router")) + " --ids " + path("ids.npy"), 2,
            "ids: token 0, slot 0 goes to expert 8, of 0..7"},
           {head + kTokens + " --expect " + path("x.npy"), 2, "an array is one stage: --stages says which"},
           {head + "--layer 0 --x " + path("empty.npy") + " --router", 2, "empty.npy: has shape [1, 0]: hidden is 0, must be 1 or more"},
           {head + "--layer 0 --x " + path("halves.npy") + " --ids " + path("noids.npy"), 2, "noids.npy: has shape [0, 2]: no token"},
           {head + kTokens + " -o " + path("o.txt"), 2, "-o: takes a file that ends in .safetensors or, of one stage, .npy, not '"},
           {"layer " + quoted(scratch.path() / "nowhere") + " --platform SM90 --layer 0" + tokens, 3, "nowhere: there is no such file or directory"},
           {head + kTokens + " --stages y,out -o " + path("two.npy"), 2, "an array is one stage, not 2"},
           {"layer " + tiny() + kTokens, 2, "--platform: is missing"},
           {"layer " + quoted(scratch.path() / "nowhere") + " --platform SM90" + kTokens, 3, "nowhere"},
           {head + "--layer 0 --router --x " + tiny() + "/expected.safetensors:x", 2, "has no tensor 'x'; it has 'layers.0.mlp.out.bf16'"},
           {head + kTokens + " --input-scale 1", 2, "--input-scale: is FIRST,SECOND"},
           {head + kTokens + " --input-scale 1,1", 2, "--input-scale is given, and quantizer none reads no calibrated scale"},
           {head + kTokens + " -o " + path("x.npy"), 3, "x.npy"},
       }) {
    INFO(one.arguments);
    const Run run = run_mxact(one.arguments);
    INFO(run.out << run.err);
    CHECK(run.status == one.status);
    CHECK(run.err.find(one.sentence) != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(scratch.path() / "two.npy"));
  CHECK_FALSE(std::filesystem::exists(scratch.path() / "o.txt"));
}
