// Checkpoints into backends' layouts and back, as files.

#include "checkpoint/convert.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "model/families/memory.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;

using families::Setting;

/// A device that each backend runs on; TRITON's layouts differ between devices.
std::vector<families::Arch> archs_of(std::string_view family) {
  if (family == "triton_kernels") return {families::Arch::sm90, families::Arch::sm100, families::Arch::gfx950, families::Arch::gfx942};
  if (family == "aiter") return {families::Arch::gfx950, families::Arch::gfx1250};
  return {families::Arch::sm100};
}

struct Case {
  std::string backend;
  Setting setting;
};

/// Every MXFP4 backend that converts gpt-oss checkpoints, under both engines, on its devices, with the options that its converter looks at.
std::vector<Case> every_case() {
  std::vector<Case> cases;
  for (const families::BackendLayout& row : families::all_backend_layouts()) {
    for (const deployment::Engine engine : families::kConversionEngines) {
      if (!row.converts(layout::SourceOrder::gpt_oss, engine)) continue;
      for (const families::Arch arch : archs_of(row.family)) {
        cases.push_back({std::string(row.backend), {.sizes = {}, .padded = {}, .form = {}, .engine = engine, .arch = arch}});
      }
    }
  }
  return cases;
}

std::string name_of(const Case& c) {
  return c.backend + " " + std::string(deployment::name_of(c.setting.engine)) + " " + std::string(families::name_of(c.setting.arch));
}

checkpoint::ConvertOptions options_of(const Case& c) { return {.backend = c.backend, .setting = c.setting}; }

}  // namespace

TEST_CASE("every backend that takes the rounded sizes gives the same files back") {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source";
  checkpoint::write_synthetic_checkpoint(source, {.layers = 3, .experts = 2, .hidden = 96, .intermediate = 160, .top_k = 2});
  std::set<std::string> backends;
  for (const Case& c : every_case()) {
    INFO(name_of(c));
    const fs::path packed = directory.path() / "packed", restored = directory.path() / "restored";
    const checkpoint::ConvertReport report = checkpoint::convert_checkpoint(source, packed, options_of(c));
    CHECK(report.finished);
    CHECK(report.layers == 3);
    CHECK(report.losses.empty());
    CHECK(report.other_tensors == 3 * 13 + 3);
    CHECK(file_differences(source, restored_from({packed}, restored)) == "");
    backends.insert(c.backend);
    fs::remove_all(packed);
    fs::remove_all(restored);
  }
  CHECK(backends == std::set<std::string>{"AITER_MXFP4_BF16", "AITER_MXFP4_FP8", "AITER_MXFP4_MXFP4", "BATCHED_MARLIN", "CPU", "DEEPGEMM_MXFP4",
                                          "EMULATION", "FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8",
                                          "FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "HUMMING", "MARLIN", "TRITON",
                                          "TRITON_UNFUSED", "XPU"});
}

TEST_CASE("any bytes come back, under either naming, with or without index, biases and routers, from one file") {
  for (const Names names : {Names::hugging_face, Names::original}) {
    for (const int variant : {0, 1, 2, 3, 4}) {
      INFO("variant " << variant);
      const TemporaryDirectory directory;
      const fs::path source = directory.path() / "source";
      fs::create_directory(source);
      Draft draft = good_draft(names);
      if (variant == 1) draft.has_index = false;
      if (variant == 2 || variant == 3) {
        draft.config.reset();
        for (const int layer : {0, 1}) {
          for (const std::size_t part : {2U, 5U, 6U, 7U}) draft.remove(tensor_name(names, layer, part));
        }
      }
      draft.raw["tokenizer.json"] = "{}";
      draft.raw["modeling_x.py"] = "pass";
      draft.raw["LICENSE"] = "free";
      draft.raw[".gitattributes"] = "a file like any other";
      draft.raw["weights.bin"] = "of another form, left where it is";
      draft.write(source);
      const fs::path packed = directory.path() / "packed", restored = directory.path() / "restored";
      const fs::path from = variant == 4 ? source / kSecondShard : source;
      const checkpoint::ConvertReport report = checkpoint::convert_checkpoint(from, packed, triton());
      CHECK(report.finished);
      restored_from({packed}, restored);
      if (variant == 4) {
        CHECK(read_bytes(restored / kSecondShard) == read_bytes(source / kSecondShard));
        CHECK(std::distance(fs::directory_iterator(restored), fs::directory_iterator()) == 1);
        continue;
      }
      REQUIRE(report.left.size() == 1);
      CHECK(report.left[0].name == "weights.bin");
      fs::remove(source / "weights.bin");
      CHECK(file_differences(source, restored) == "");
    }
  }
}

TEST_CASE("a converted tensor lies as the backend's kernel reads it") {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source";
  checkpoint::write_synthetic_checkpoint(source, {.layers = 1, .experts = 1, .hidden = 256, .intermediate = 256, .top_k = 1});
  checkpoint::convert_checkpoint(source, directory.path() / "packed", {.backend = "FLASHINFER_TRTLLM_MXFP4_BF16", .setting = {}});
  const support::SafetensorsFile packed(directory.path() / "packed" / kFirstLayer);
  const checkpoint::MoeLayer layer = checkpoint::Checkpoint(source).layer(0);
  // layouts.md, section 2: destination row 0 is source row 1 (up 0), row 1 is 5 (up 2), row 8 is 0 (gate 0), row 9 is 4.
  const support::TensorView& weight = *packed.find("model.layers.0.mlp.experts.w13_weight");
  CHECK(weight.dtype->name == "U8");
  REQUIRE(weight.bytes.size() == 512 * 128);
  const std::vector<std::uint8_t>& from = layer.experts[layout::Role::w13_weight];
  for (const auto& [row, source_row] : std::vector<std::pair<int, int>>{{0, 1}, {1, 5}, {8, 0}, {9, 4}}) {
    CHECK(std::equal(weight.bytes.begin() + row * 128, weight.bytes.begin() + (row + 1) * 128, from.begin() + source_row * 128));
  }
  const support::TensorView& bias = *packed.find("model.layers.0.mlp.experts.w13_bias");
  CHECK(bias.dtype->name == "F32");
  CHECK(bias.bytes.size() == 512 * 4);
  // bf16 in the upper half of fp32, low byte first: source row 1.
  const std::vector<std::uint8_t>& bf16 = layer.experts[layout::Role::w13_bias];
  CHECK(std::vector<std::uint8_t>(bias.bytes.begin(), bias.bytes.begin() + 4) == std::vector<std::uint8_t>{0, 0, bf16[2], bf16[3]});
}

TEST_CASE("the tags say what was done") {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source";
  checkpoint::write_synthetic_checkpoint(source, {.layers = 2, .experts = 2, .hidden = 96, .intermediate = 160, .top_k = 2});
  Setting setting{};
  setting.arch = families::Arch::sm90;
  setting.engine = deployment::kVllm2026_08;
  checkpoint::convert_checkpoint(source, directory.path() / "packed", {.backend = "triton", .setting = setting});
  const support::Json tags = tags_of(directory.path() / "packed" / "mxact-layer-00001.safetensors");
  CHECK(tags["version"] == 2);
  CHECK(tags["backend"] == "TRITON");
  CHECK(tags["prefix"] == "model.layers.1.mlp");
  CHECK(tags["layer"] == 1);
  CHECK(tags["rank"] == 0);
  CHECK(tags["losses"].empty());
  CHECK(tags["setting"]["engine"] == "vllm@2026-08");
  CHECK(tags["setting"]["platform"] == "sm90");
  CHECK(tags["setting"]["weight-format"] == "mxfp4");
  CHECK(tags["setting"]["source-order"] == "gpt_oss");
  CHECK(tags["setting"]["sizes"] == support::Json{{"experts", 2}, {"intermediate", 160}, {"hidden", 96}, {"group", 32}});
  CHECK(tags["setting"]["padded"] == support::Json{{"experts", 2}, {"intermediate", 192}, {"hidden", 96}, {"group", 32}});
  REQUIRE(tags["tensors"].size() == 6);
  CHECK(tags["tensors"][0]["role"] == "w13_weight");
  CHECK(tags["tensors"][0]["name"] == "model.layers.1.mlp.experts.w13_weight");
  CHECK(tags["tensors"][0]["cast"] == "keep");
  CHECK(tags["tensors"][2]["cast"] == "bf16_to_f32");
  REQUIRE(tags["source"].size() == 6);
  CHECK(tags["source"][4] == support::Json{{"role", "w2_weight_scale"},
                                       {"name", "model.layers.1.mlp.experts.down_proj_scales"},
                                       {"dtype", "U8"},
                                       {"shape", support::Json::array({2, 96, 5})},
                                       {"shard", kSecondShard}});
}

TEST_CASE("the ranks of a conversion are the checkpoint together, in any order, and only together") {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source", restored = directory.path() / "restored";
  checkpoint::write_synthetic_checkpoint(source, {.layers = 2, .experts = 2, .hidden = 128, .intermediate = 192, .top_k = 2});
  for (const char* backend : {"TRITON", "MARLIN", "FLASHINFER_TRTLLM_MXFP4_BF16"}) {
    INFO(backend);
    std::vector<fs::path> ranks;
    for (int rank = 0; rank < 3; ++rank) {
      Setting setting{};
      setting.tp_size = 3;
      ranks.push_back(directory.path() / (std::string(backend) + std::to_string(rank)));
      checkpoint::convert_checkpoint(source, ranks.back(), {.backend = backend, .setting = setting, .rank = rank});
    }
    std::swap(ranks[0], ranks[2]);
    CHECK(file_differences(source, restored_from(ranks, restored)) == "");
    fs::remove_all(restored);
    CHECK(input_error_defect(error_of([&] { restored_from({ranks[0], ranks[2]}, restored); }), {"of 3 ranks", "rank 1 is missing"}) == "");
    CHECK(input_error_defect(error_of([&] { restored_from({ranks[0], ranks[1], ranks[1]}, restored); }), {"is rank 1, and so is"}) == "");
    const fs::path other = directory.path() / "other";
    Setting setting{};
    setting.tp_size = 3;
    setting.engine = deployment::kVllm2026_05;
    checkpoint::convert_checkpoint(source, other, {.backend = backend, .setting = setting, .rank = 2});
    CHECK(input_error_defect(error_of([&] { restored_from({ranks[2], ranks[1], other}, restored); }), {other.string(), "another conversion"}) == "");
    fs::remove_all(other);
    CHECK_FALSE(fs::exists(restored));
  }
}

TEST_CASE("what a conversion lost is reported, refused, and marked when it is accepted") {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source", packed = directory.path() / "packed", restored = directory.path() / "restored";
  fs::create_directory(source);
  Draft draft = good_draft();
  // Every scale byte from 0 on: 1..102 and 143..254 do not survive fp16 (layouts.md, section 6.3).
  for (const int layer : {0, 1}) {
    support::TensorData& scales = draft.tensor(tensor_name(Names::hugging_face, layer, 1));
    for (std::size_t i = 0; i < scales.bytes.size(); ++i) scales.bytes[i] = static_cast<std::uint8_t>(i);
    for (const std::size_t part : {2U, 5U}) std::ranges::fill(draft.tensor(tensor_name(Names::hugging_face, layer, part)).bytes, std::uint8_t{0});
    std::ranges::fill(draft.tensor(tensor_name(Names::hugging_face, layer, 4)).bytes, std::uint8_t{120});
  }
  draft.write(source);
  Setting setting{};
  setting.params_dtype = families::ParamsDtype::fp16;
  const checkpoint::ConvertReport report = checkpoint::convert_checkpoint(source, packed, {.backend = "MARLIN", .setting = setting});
  // 0 and 1..102 become one code, 255 and 143..254 another: all of them cannot be told apart. Zero biases can, from each other.
  std::int64_t lost = 0;
  for (const checkpoint::LayerLoss& loss : report.losses) {
    if (loss.loss.role == layout::Role::w13_weight_scale) lost += loss.loss.units;
  }
  CHECK(lost == 2 * (103 + 113));
  const std::optional<Error> refused = error_of([&] { restored_from({packed}, restored); });
  REQUIRE(refused);
  CHECK(refused->code() == ErrorCode::usage);
  CHECK(std::string(refused->what()).find("--accept-losses") != std::string::npos);
  CHECK_FALSE(fs::exists(restored));
  const checkpoint::RestoreReport accepted = checkpoint::restore_checkpoint({packed}, restored, {.accept_losses = true});
  CHECK(accepted.finished);
  CHECK(accepted.losses.size() == report.losses.size());
  const layout::CanonicalLayer before = checkpoint::Checkpoint(source).layer(1).experts, after = checkpoint::Checkpoint(restored).layer(1).experts;
  CHECK(after[layout::Role::w13_weight] == before[layout::Role::w13_weight]);
  const std::vector<std::uint8_t>& scales = after[layout::Role::w13_weight_scale];
  for (std::size_t i = 0; i < scales.size(); ++i) {
    INFO(i);
    CHECK(int{scales[i]} == (i < 103 ? 0 : i < 143 ? static_cast<int>(i) : 143));
  }
}

TEST_CASE("a conversion that is killed leaves no directory, or a whole one") {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source", packed = directory.path() / "packed";
  checkpoint::write_synthetic_checkpoint(source, {.layers = 2, .experts = 2, .hidden = 64, .intermediate = 64, .top_k = 2});
  for (int delay = 0; delay < 12; ++delay) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      checkpoint::convert_checkpoint(source, packed, triton());
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(1500 * delay));
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    if (!fs::exists(packed)) continue;
    const fs::path restored = directory.path() / ("restored" + std::to_string(delay));
    CHECK(file_differences(source, restored_from({packed}, restored)) == "");
    fs::remove_all(packed);
  }
}

TEST_CASE("a file that cannot grow ends the work, and leaves nothing") {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source", packed = directory.path() / "packed", restored = directory.path() / "restored";
  checkpoint::write_synthetic_checkpoint(source, {.layers = 1, .experts = 2, .hidden = 128, .intermediate = 128, .top_k = 2});
  checkpoint::convert_checkpoint(source, packed, triton());
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small {
    40'000, before.rlim_max
  };
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::optional<Error> there = error_of([&] { checkpoint::convert_checkpoint(source, directory.path() / "other", triton()); });
  const std::optional<Error> back = error_of([&] { checkpoint::restore_checkpoint({packed}, restored, {}); });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  for (const std::optional<Error>& error : {there, back}) {
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::resource);
    CHECK(std::string(error->what()).find("cannot write byte") != std::string::npos);
  }
  CHECK(entries_of(directory.path()) == std::set<std::string>{"packed", "source"});
}

TEST_CASE("stopped work leaves nothing") {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source", packed = directory.path() / "packed", restored = directory.path() / "restored";
  checkpoint::write_synthetic_checkpoint(source, {.layers = 3, .experts = 2, .hidden = 64, .intermediate = 64, .top_k = 2});
  for (const int after : {0, 2, 4}) {
    int asked = 0;
    checkpoint::ConvertOptions options = triton();
    options.stop = [&] { return asked++ == after; };
    CHECK_FALSE(checkpoint::convert_checkpoint(source, packed, options).finished);
    CHECK(entries_of(directory.path()) == std::set<std::string>{"source"});
  }
  checkpoint::convert_checkpoint(source, packed, triton());
  int asked = 0;
  checkpoint::RestoreOptions options;
  options.stop = [&] { return asked++ == 1; };
  CHECK_FALSE(checkpoint::restore_checkpoint({packed}, restored, options).finished);
  CHECK(entries_of(directory.path()) == std::set<std::string>{"packed", "source"});
}

}  // namespace mx::tests
