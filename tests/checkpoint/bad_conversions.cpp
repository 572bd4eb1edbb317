// Conversions that must be refused: directories, tags that lie, shards that break off.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/kernel_platforms.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using support::Json;

/// A small checkpoint and its conversion.
struct Converted {
  TemporaryDirectory directory;
  fs::path source = directory.path() / "source";
  fs::path packed = directory.path() / "packed";
  fs::path restored = directory.path() / "restored";

  Converted() {
    checkpoint::write_synthetic_checkpoint(source, {.layers = 2, .experts = 2, .hidden = 64, .intermediate = 64, .top_k = 2});
    checkpoint::convert_checkpoint(source, packed, triton());
  }

  /// Defect of the refusal to restore; what was begun must be gone.
  std::string refusal(const std::vector<std::string>& parts) const {
    const std::string defect = input_error_defect(error_of([&] { restored_from({packed}, restored); }), parts);
    return fs::exists(restored) || entries_of(directory.path()).size() != 2 ? "something was written; " + defect : defect;
  }
};

std::string usage_defect(const std::optional<Error>& error, const std::string& part) {
  if (!error) return "was accepted";
  if (error->code() != ErrorCode::usage) return "has code " + std::to_string(static_cast<int>(error->code())) + ": " + error->what();
  return std::string(error->what()).find(part) == std::string::npos ? std::string("lacks \"") + part + "\": " + error->what() : "";
}

}  // namespace

TEST_CASE("tags that contradict their tensors, or themselves, are refused") {
  struct Row {
    std::string id;
    std::function<void(Json&)> change;
    std::vector<std::string> parts;
    bool in_every_layer = false;
  };
  const std::vector<Row> rows{
      {"a later version",
       [](Json& t) { t["version"] = 3; },
       {"the tags have version 3, this program reads version 2", "convert the checkpoint again"}},
      {"tags from before tensors had digests",
       [](Json& t) {
         t["version"] = 1;
         for (Json& tensor : t["tensors"]) tensor.erase("content");
       },
       {"the tags have version 1, this program reads version 2", "convert the checkpoint again"}},
      {"no version", [](Json& t) { t.erase("version"); }, {"'version' is missing"}},
      {"no setting", [](Json& t) { t.erase("setting"); }, {"'setting' is missing"}},
      {"no engine", [](Json& t) { t["setting"].erase("engine"); }, {"setting", "'engine' is missing"}},
      {"a key too much", [](Json& t) { t["colour"] = 1; }, {"unknown key 'colour'"}},
      {"a setting too much", [](Json& t) { t["setting"]["colour"] = 1; }, {"unknown key 'colour'"}},
      {"a number for a word", [](Json& t) { t["setting"]["engine"] = 5; }, {"'engine' is '5', not a string"}},
      {"an engine that is not known", [](Json& t) { t["setting"]["engine"] = "2026-06"; }, {"setting: engine", "vllm@2026-06 is not known"}},
      {"a backend that is not known", [](Json& t) { t["backend"] = "TRITOM"; }, {"TRITOM", "did you mean TRITON"}, true},
      {"another engine than the other layer's", [](Json& t) { t["setting"]["engine"] = "2026-05"; }, {"is of another conversion than"}},
      {"another backend", [](Json& t) { t["backend"] = "XPU"; }, {"w13_weight", "program"}, true},
      {"another device",
       [](Json& t) { t["setting"]["platform"] = "sm90"; },
       {"w13_weight", "the setting makes it [E=2, half=2, I=64, K=64, bit=4]"},
       true},
      {"another program", [](Json& t) { t["tensors"][1]["program"] = "fnv1a64:0"; }, {"w13_weight_scale", "'fnv1a64:0'"}},
      {"another cast", [](Json& t) { t["tensors"][2]["cast"] = "keep"; }, {"w13_bias", "the cast 'keep'", "bf16_to_f32"}},
      {"another name", [](Json& t) { t["tensors"][0]["name"] = "w"; }, {"tensor 'w'", "should be named"}},
      {"another extent", [](Json& t) { t["tensors"][0]["logical"][0]["extent"] = 3; }, {"the tags say [E=3", "makes it [E=2"}},
      {"other sizes", [](Json& t) { t["setting"]["sizes"]["hidden"] = 32; }, {"their sizes"}, true},
      {"other rounded sizes", [](Json& t) { t["setting"]["padded"]["hidden"] = 96; }, {"w13_weight", "program"}, true},
      {"sizes that are no groups", [](Json& t) { t["setting"]["sizes"]["hidden"] = 63; }, {"63", "multiples of the group of 32"}},
      {"sizes beyond everything", [](Json& t) { t["setting"]["sizes"]["hidden"] = std::uint64_t{1} << 63; }, {"'hidden' is '9223372036854775808'"}},
      {"sizes beyond the file",
       [](Json& t) {
         for (const char* key : {"sizes", "padded"}) {
           for (const char* size : {"experts", "intermediate", "hidden"}) t["setting"][key][size] = 1 << 18;
         }
       },
       {"their sizes"},
       true},
      {"rounded sizes beyond the file", [](Json& t) { t["setting"]["padded"]["intermediate"] = 1 << 30; }, {"but the file holds"}, true},
      {"rounded sizes below the sizes", [](Json& t) { t["setting"]["padded"]["hidden"] = 32; }, {"do not hold"}},
      {"a rank beyond the ranks", [](Json& t) { t["rank"] = 1; }, {"rank 1 of 1"}},
      {"a tensor too few", [](Json& t) { t["tensors"].erase(2); }, {"w13_bias", "not in the tags"}},
      {"a tensor twice", [](Json& t) { t["tensors"].push_back(t["tensors"][0]); }, {"list w13_weight twice"}},
      {"a role that is not known", [](Json& t) { t["tensors"][0]["role"] = "w3_weight"; }, {"w3_weight"}},
      {"a source too few", [](Json& t) { t["source"].erase(2); }, {"gate_up_proj_bias"}},
      {"a source with another shape",
       [](Json& t) {
         t["source"][0]["shape"] = Json::array({2, 128, 2, 15});
       },
       {"gate_up_proj_blocks", "[2, 128, 2, 15]"}},
      {"a source with another dtype", [](Json& t) { t["source"][0]["dtype"] = "U9"; }, {"unknown dtype 'U9'"}},
      {"a source elsewhere", [](Json& t) { t["source"][0]["shard"] = "../x.safetensors"; }, {"'../x.safetensors'", "not a plain file name"}},
      {"a source in no shard", [](Json& t) { t["source"][0]["shard"] = "x.safetensors"; }, {"x.safetensors"}},
      {"a source of another name", [](Json& t) { t["source"][0]["name"] = "x"; }, {"gate_up_proj_blocks"}},
      {"the other layer's number", [](Json& t) { t["layer"] = 1; }, {"is layer 1, and so is"}},
      {"losses that are none",
       [](Json& t) {
         t["losses"] = Json::array({{{"role", "w13_bias"}, {"what", "x"}, {"units", 0}}});
       },
       {"'units' is '0'"}},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const Converted converted;
    retag(converted.packed / kFirstLayer, row.change);
    if (row.in_every_layer) retag(converted.packed / "mxact-layer-00001.safetensors", row.change);
    CHECK(converted.refusal(row.parts) == "");
  }
}

TEST_CASE("tensors that contradict their tags are refused") {
  using Tensors = std::vector<support::TensorData>;
  using Metadata = std::map<std::string, std::string>;
  struct Row {
    std::string id;
    std::function<void(Tensors&, Metadata&)> change;
    std::vector<std::string> parts;
  };
  const std::vector<Row> rows{
      {"another shape",
       [](Tensors& t, Metadata&) { t[0].shape = {static_cast<std::int64_t>(t[0].bytes.size())}; },
       {"w13_weight", "but the tags make it U8"}},
      {"fewer bytes",
       [](Tensors& t, Metadata&) {
         t[0].bytes.resize(100);
         t[0].shape = {100};
       },
       {"w13_weight"}},
      {"another dtype", [](Tensors& t, Metadata&) { t[0].dtype = "I8"; }, {"w13_weight", "is I8"}},
      {"a tensor too much",
       [](Tensors& t, Metadata&) {
         t.push_back({"x", "U8", {0}, {}});
       },
       {"'x'", "not in the tags"}},
      {"a tensor too few", [](Tensors& t, Metadata&) { t.pop_back(); }, {"w2_bias"}},
      {"no tags", [](Tensors&, Metadata& m) { m.clear(); }, {"holds no layout tags"}},
      {"tags that are no JSON", [](Tensors&, Metadata& m) { m[std::string(checkpoint::kLayerTagsKey)] = "{"; }, {"mxact.layer", "not valid JSON"}},
      {"a bias that bf16 cannot be", [](Tensors& t, Metadata&) { t[2].bytes[0] = 1; }, {"w13_bias", "bf16_to_f32 never makes"}},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const Converted converted;
    rewrite(converted.packed / kFirstLayer, row.change);

    CHECK(converted.refusal(row.parts) == "");
  }
}

TEST_CASE("what is left of a shard must be in its order") {
  for (const char* order :
       {R"({"version":2,"order":[]})", R"({"version":2,"order":["x"]})", R"({"version":1,"order":[]})", R"({"order":[]})", "[]"}) {
    INFO(order);
    const Converted converted;
    rewrite(converted.packed / kFirstShard, [&](auto&, auto& metadata) { metadata[std::string(checkpoint::kShardTagsKey)] = order; });
    CHECK(converted.refusal({kFirstShard}) == "");
  }
}

TEST_CASE("a directory that convert did not write, or did not end, is refused") {
  const Converted converted;
  const auto refusal = [&](const fs::path& path, const std::vector<std::string>& parts) {
    return input_error_defect(error_of([&] { restored_from({path}, converted.restored); }), parts);
  };
  CHECK(refusal(converted.source, {"holds no layout tags"}) == "");
  CHECK(refusal(converted.directory.path() / "nowhere", {"there is no such directory"}) == "");
  fs::remove(converted.packed / kSecondShard);
  CHECK(refusal(converted.packed, {kSecondShard, "does not exist"}) == "");
  fs::remove(converted.packed / "model.safetensors.index.json");
  CHECK(refusal(converted.packed, {"has no model.safetensors.index.json"}) == "");
}

TEST_CASE("a second conversion is refused, and so is everything else that wants a checkpoint") {
  const Converted converted;
  const std::vector<fs::path> sources{converted.packed, converted.packed / kFirstLayer, converted.packed / kFirstShard};
  for (const fs::path& source : sources) {
    INFO(source);
    CHECK(input_error_defect(error_of([&] { checkpoint::convert_checkpoint(source, converted.restored, triton()); }), {"is converted already"}) ==
          "");
    CHECK(input_error_defect(error_of([&] { checkpoint::Checkpoint{source}; }), {"is converted already"}) == "");
  }
  CHECK_FALSE(fs::exists(converted.restored));
}

TEST_CASE("the output is a directory of its own, and what is in it stays unless it is to be replaced") {
  const Converted converted;
  const auto convert_into = [&](const fs::path& output, bool force) {
    return error_of([&] {
      checkpoint::ConvertOptions options = triton();
      options.force = force;
      checkpoint::convert_checkpoint(converted.source, output, options);
    });
  };
  const std::set<std::string> before = entries_of(converted.source);
  const fs::path link = converted.directory.path() / "link";
  fs::create_directory_symlink(converted.source, link);
  for (const bool force : {false, true}) {
    CHECK(usage_defect(convert_into(converted.source, force), "is what is read") == "");
    CHECK(usage_defect(convert_into(converted.source / "", force), "is what is read") == "");
    CHECK(usage_defect(convert_into(converted.source / "..", force), "") != "");
    CHECK(usage_defect(convert_into(link, force), "is what is read") == "");
    CHECK(usage_defect(convert_into("", force), "the path is empty") == "");
    CHECK(usage_defect(error_of([&] { checkpoint::restore_checkpoint({converted.packed}, converted.packed, {.force = force}); }),
                       "is what is read") == "");
  }
  CHECK(entries_of(converted.source) == before);
  fs::remove(link);

  CHECK(input_error_defect(convert_into(converted.packed, false), {"is not empty", "--force"}) == "");
  const std::string old = read_bytes(converted.packed / kFirstLayer);
  write_bytes(converted.packed / kFirstLayer, "old");
  write_bytes(converted.packed / "mine.bin", "mine");
  CHECK_FALSE(convert_into(converted.packed, true));
  CHECK(read_bytes(converted.packed / kFirstLayer) == old);
  CHECK(read_bytes(converted.packed / "mine.bin") == "mine");
  CHECK(file_differences(converted.source, restored_from({converted.packed}, converted.restored)) == "");

  write_bytes(converted.directory.path() / "file", "x");
  CHECK(input_error_defect(convert_into(converted.directory.path() / "file", true), {"no directory"}) == "");
  fs::remove(converted.packed / kFirstLayer);
  fs::create_directory(converted.packed / kFirstLayer);
  CHECK(input_error_defect(convert_into(converted.packed, true), {kFirstLayer, "only a regular file is replaced"}) == "");
}

TEST_CASE("a shard that breaks off is refused before anything is written") {
  const Converted converted;
  const std::string whole = read_bytes(converted.source / kSecondShard);
  const fs::path output = converted.directory.path() / "output";
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{7}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    INFO(bytes);
    write_bytes(converted.source / kSecondShard, std::string_view(whole).substr(0, bytes));
    CHECK(input_error_defect(error_of([&] { checkpoint::convert_checkpoint(converted.source, output, triton()); }), {kSecondShard}) == "");
  }
  const std::string layer = read_bytes(converted.packed / kFirstLayer);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, layer.size() / 2, layer.size() - 1}) {
    INFO(bytes);
    write_bytes(converted.packed / kFirstLayer, std::string_view(layer).substr(0, bytes));
    CHECK(converted.refusal({kFirstLayer}) == "");
  }
  CHECK_FALSE(fs::exists(output));
}

TEST_CASE("what a converter or an option refuses is said before anything is written") {
  const Converted converted;
  const fs::path output = converted.directory.path() / "output";
  const auto refused = [&](const std::string& backend, const families::Setting& setting, int rank, const std::string& part) {
    const std::optional<Error> error =
        error_of([&] { checkpoint::convert_checkpoint(converted.source, output, {.backend = backend, .setting = setting, .rank = rank}); });
    return fs::exists(output) ? "something was written" : usage_defect(error, part);
  };
  CHECK(refused("TRITOM", {}, 0, "did you mean TRITON") == "");
  families::Setting ranks{};
  ranks.tp_size = 2;
  CHECK(refused("TRITON", ranks, 2, "rank 2 is not in 0..1") == "");
  CHECK(refused("TRITON", ranks, -1, "rank -1 is not in 0..1") == "");
  ranks.tp_size = 3;
  CHECK(refused("TRITON", ranks, 0, "intermediate size 64 is not divisible by 3 tensor parallel ranks") == "");
  families::Setting int8{};
  int8.input_dtype = families::InputDtype::int8;
  CHECK(refused("MARLIN", int8, 0, "activation dtype int8") == "");
  families::Setting hopper{};
  hopper.arch = families::Arch::sm90;
  hopper.of<families::TritonParameters>().num_warps = 3;
  CHECK(refused("TRITON", hopper, 0, "num_warps = 3 is not a power of two") == "");
  CHECK(refused("AITER_MXFP4_FP8", {.sizes = {}, .padded = {}, .form = {}, .has_input_scale = false}, 0, "input scales are missing") == "");
}

TEST_CASE("platforms that have a kernel of a backend") {
  // Source: vllm 7e1b45a09 fused_moe/experts/*.py, _supports_current_device and _supports_quant_scheme.
  const std::vector<std::string_view> cuda{"SM75", "SM80", "SM86", "SM89", "SM90", "SM100", "SM103", "SM110", "SM120", "SM121"};
  const std::vector<std::string_view> triton{"SM90", "SM100", "SM103", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"};
  const std::map<std::string_view, std::vector<std::string_view>> expected{
      {"FLASHINFER_TRTLLM_MXFP4_BF16", {"SM100", "SM103"}},
      {"FLASHINFER_TRTLLM_MXFP4_MXFP8", {"SM100", "SM103"}},
      {"FLASHINFER_CUTLASS_MXFP4_BF16", {"SM90"}},
      {"FLASHINFER_CUTLASS_MXFP4_MXFP8", {"SM100", "SM103", "SM120", "SM121"}},
      {"DEEPGEMM_MXFP4", {"SM100", "SM103"}},
      {"MARLIN", cuda},
      {"BATCHED_MARLIN", cuda},
      {"HUMMING", cuda},
      {"TRITON", triton},
      {"TRITON_UNFUSED", triton},
      {"AITER_MXFP4_BF16", {"gfx950"}},
      {"AITER_MXFP4_FP8", {"gfx950"}},
      {"AITER_MXFP4_MXFP4", {"gfx950"}},
      {"XPU", {"XPU"}},
      {"CPU", {"CPU"}},
  };
  for (const auto& [backend, platforms] : expected) {
    INFO(backend);
    CHECK(checkpoint::kernel_platforms(backend, deployment::kVllm2026_05) == platforms);
  }
  // Each version is asked for itself. Source: vllm utils/deep_gemm.py, is_deep_gemm_supported: Hopper and Blackwell of data centers.
  const std::optional<Error> later = error_of([] {
    checkpoint::check_has_kernel("deepgemm_mxfp4",
                                 {.sizes = {}, .padded = {}, .form = {}, .engine = deployment::kVllm2026_08, .arch = families::Arch::sm89});
  });
  REQUIRE(later);
  CHECK(later->code() == ErrorCode::unsupported);
  CHECK(std::string(later->what()).find("engine vllm@2026-08 has no kernel of DEEPGEMM_MXFP4 on sm89") != std::string::npos);
  CHECK(checkpoint::kernel_platforms("EMULATION", deployment::kVllm2026_05).size() == 17);  // all but the CPU
  const families::Setting lovelace{.sizes = {}, .padded = {}, .form = {}, .arch = families::Arch::sm89};
  const std::optional<Error> error = error_of([&] { checkpoint::check_has_kernel("triton", lovelace); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::unsupported);
  CHECK(std::string(error->what()).find("has no kernel of TRITON on sm89; it has on SM90, SM100") != std::string::npos);
  // Of another format the device alone decides. Source: vllm fused_moe/fused_marlin_moe.py, MarlinExperts: cuda, capability 75 and above.
  for (const char* scheme : {"nvfp4", "mxfp8", "fp8-block", "fp8-channel"}) {
    INFO(scheme);
    families::Setting setting{.sizes = {}, .padded = {}, .form = {}, .engine = deployment::kVllm2026_08, .arch = families::Arch::sm75};
    CHECK_NOTHROW(checkpoint::check_takes_device("MARLIN", setting, deployment::scheme_named(scheme)));
    setting.arch = families::Arch::cpu;
    const std::optional<Error> refused = error_of([&] { checkpoint::check_takes_device("MARLIN", setting, deployment::scheme_named(scheme)); });
    REQUIRE(refused);
    CHECK(refused->code() == ErrorCode::unsupported);
    CHECK(std::string(refused->what()).find("has no kernel of MARLIN on cpu; it has on SM75, SM80") != std::string::npos);
  }
}

}  // namespace mx::tests
