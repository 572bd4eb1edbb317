// Every form that hubs have: read into the canonical experts, converted and given back, verified; several kinds of layers in one checkpoint.

#include "tests/checkpoint/published_forms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <set>
#include <string>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/layer_reader.hpp"
#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"
#include "tests/checkpoint/form_drafts.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using layout::Role;

checkpoint::ConvertOptions options_of(const PublishedForm& form) {
  families::Setting setting{};
  // AutoRound's MX formats came with 2026-08.
  const bool is_later = form.format == layout::WeightFormat::mxfp4 || form.id.starts_with("autoround");
  setting.engine = is_later ? deployment::kVllm2026_08 : deployment::kVllm2026_05;
  return {.backend = form.backend, .setting = setting};
}

/// What a checkpoint of the draft is refused with; "" where it is read.
std::string refusal_of(const Draft& draft) {
  const TemporaryDirectory directory;
  draft.write(directory.path());
  const std::optional<Error> error = error_of([&] { checkpoint::Checkpoint(directory.path()).require_convertible(); });
  return error ? std::string(error->what()) : "";
}

/// A layer of BF16 experts of I x H = 32 x 32 under a prefix: "mtp.layers.0.mlp.experts.".
void add_plain(Draft& draft, const std::string& prefix) {
  for (int expert = 0; expert < 2; ++expert) {
    for (const char* const name : {"gate_proj", "up_proj", "down_proj"})
      draft.shards["model.safetensors"].push_back({prefix + std::to_string(expert) + "." + name + ".weight",
                                                   "BF16",
                                                   {32, 32},
                                                   std::vector<std::uint8_t>(2048, static_cast<std::uint8_t>(expert + 1))});
  }
}

void add_tensors(Draft& draft, const std::string& id, const std::string& before, int layer) {
  for (support::TensorData& tensor : published_tensors(published_form(id), before, layer))
    draft.shards["model.safetensors"].push_back(std::move(tensor));
}

std::vector<std::string> texts_of(const std::vector<checkpoint::LayerGroup>& layer_groups) {
  std::vector<std::string> texts;
  for (const checkpoint::LayerGroup& layer_group : layer_groups) texts.push_back(layer_group.text());
  return texts;
}

}  // namespace

TEST_CASE("every form is written by a test") {
  // The last in agreement_test.cpp: the engine quantizes such layers since 2026-11.
  std::set<std::string> tested{"gpt-oss (Hugging Face names)", "gpt-oss (original names)", "ModelOpt FP8_PB_WO, MIXED_PRECISION"};
  for (const FormCase& form : form_cases()) tested.insert(form.title);
  for (const PublishedForm& form : published_forms()) tested.insert(form.title);
  for (const checkpoint::SourceForm& form : checkpoint::source_forms()) {
    INFO(form.title);
    CHECK(tested.contains(std::string(form.title)) == form.converts());
  }
}

TEST_CASE("every published form gives the canonical experts") {
  for (const PublishedForm& form : published_forms()) {
    INFO(form.id);
    const TemporaryDirectory directory;
    published_draft(form).write(directory.path());
    const checkpoint::Checkpoint checkpoint(directory.path());
    CHECK(checkpoint.form() == form.title);
    const checkpoint::MoeLayer read = checkpoint.layer(0);
    const layout::CanonicalLayer expected = published_layer(form);
    CHECK(read.experts.form == expected.form);
    CHECK(read.experts.sizes == expected.sizes);
    CHECK(checkpoint::LayerReader(checkpoint, 0, expected.sizes.experts, checkpoint::Fp8Codes::e4m3fn).requantization_losses().empty());
    for (const Role role : layout::kAllRoles) {
      INFO(layout::name_of(role));
      CHECK((read.experts[role] == expected[role]));
    }
  }
}

TEST_CASE("every published form is converted and restored to the same file") {
  for (const PublishedForm& form : published_forms()) {
    INFO(form.id);
    const TemporaryDirectory directory;
    const fs::path source = directory.path() / "source", packed = directory.path() / "packed";
    fs::create_directory(source);
    published_draft(form).write(source);
    const checkpoint::ConvertReport report = checkpoint::convert_checkpoint(source, packed, options_of(form));
    CHECK(report.layers == 1);
    CHECK(report.losses.empty());
    CHECK(file_differences(source, restored_from({packed}, directory.path() / "restored")) == "");
    CHECK(packed_difference(packed / kFirstLayer, published_layer(form), form.backend, report.converted.front().setting) == "");
  }
}

// Source: vllm at 7ca49fbe4 model_executor/model_loader/default_loader.py, load_format mistral.
TEST_CASE("files that Mistral names are found and keep their names") {
  const PublishedForm& form = published_form("mistral-native");
  for (const char* const name : {"consolidated.safetensors", "consolidated-00001-of-00001.safetensors"}) {
    INFO(name);
    const TemporaryDirectory directory;
    const fs::path source = directory.path() / "source", packed = directory.path() / "packed";
    fs::create_directory(source);
    Draft draft = published_draft(form);
    draft.shards = {{name, draft.shards.at("model.safetensors")}};
    draft.write(source);
    CHECK(checkpoint::convert_checkpoint(source, packed, options_of(form)).layers == 1);
    CHECK(file_differences(source, restored_from({packed}, directory.path() / "restored")) == "");
    CHECK(fs::exists(directory.path() / "restored" / name));
  }
}

TEST_CASE("every published form is verified, by the scheme that its configuration declares") {
  for (const PublishedForm& form : published_forms()) {
    INFO(form.id);
    const TemporaryDirectory directory;
    published_draft(form).write(directory.path());
    sim::VerifyOptions options;
    options.platforms = {"SM100"};
    options.tp = {1};
    options.tokens = 1;
    const sim::VerifyReport report = sim::verify(checkpoint::Checkpoint(directory.path()), options);
    CHECK(report.form == form.title);
    CHECK(report.count(sim::Verdict::failed) == 0);
    if (form.id == "ct-mxfp4-w4a4") {
      // The method's own class, whose memory is not modelled; no other backend takes FP4 activations.
      CHECK(report.cells.front().kernel_class == "CutlassExpertsMxfp4");
      CHECK(report.count(sim::Verdict::not_modelled) == 1);
    } else if (form.id == "modelopt-pb-wo" || form.id == "modelopt-fp8-channel" || form.id == "quark-fp8-block" || form.id == "quark-mxfp8" ||
               form.id == "quark-mxfp4-w4a4" || form.id == "quark-mxfp4-w4a8") {
      // ModelOpt's method has one scale a tensor, Quark's no experts in blocks and of MXFP8; no backend of NVIDIA takes MXFP4 with these activations
      // (vllm 0.29.0, run).
      CHECK(report.count(sim::Verdict::refused) == static_cast<std::int64_t>(report.cells.size()));
      CHECK(report.exit_code() == 4);
    } else {
      CHECK(report.held() > 0);
    }
  }
  // Weights alone are another deployment: the engine takes another kernel.
  const auto chosen = [](const std::string& id) {
    const TemporaryDirectory directory;
    published_draft(published_form(id)).write(directory.path());
    sim::VerifyOptions options;
    options.platforms = {"SM100"};
    options.tp = {1};
    return sim::planned_report(checkpoint::Checkpoint(directory.path()), options).cells.front().backend;
  };
  CHECK(chosen("ct-nvfp4") == "FLASHINFER_TRTLLM");
  CHECK(chosen("ct-nvfp4a16") == "MARLIN");
  CHECK(chosen("modelopt-w4a16-nvfp4") == "MARLIN");
}

TEST_CASE("ranks of a checkpoint with narrow scales and of one that lies input-major are cut and joined") {
  for (const char* const id : {"ct-fp8-channel", "llama4-nvfp4", "mxfp4-stacked"}) {
    INFO(id);
    const PublishedForm& form = published_form(id);
    const TemporaryDirectory directory;
    const fs::path source = directory.path() / "source";
    fs::create_directory(source);
    published_draft(form).write(source);
    CHECK(rank_differences(source, options_of(form), 2, directory.path()) == "");
  }
}

TEST_CASE("layers of another kind are layer groups of their own: what is not converted is copied, counted and named") {
  const PublishedForm& nvfp4 = published_form("mixtral");
  struct Row {
    std::string id;
    std::function<void(Draft&)> add;
    std::string ignore;    ///< more of the configuration
    std::string text;      ///< of the second layer group
    std::int64_t tensors;  ///< that stay where they are
    int layers;            ///< converted
  };
  const std::vector<Row> rows{
      {"a block in 16 bits", [](Draft& d) { add_plain(d, "mtp.layers.0.mlp.experts."); }, R"(, "ignore": ["mtp.layers.0*"])",
       "2 experts in 1 layer (mtp.layers.N.mlp): not quantized, for further tokens, named in quantization_config.ignore: 'mtp.layers.0*'", 6, 1},
      {"a block in the same form", [](Draft& d) { add_tensors(d, "mixtral", "mtp.layers.", 0); }, "",
       "2 experts in 1 layer (mtp.layers.N.block_sparse_moe): ModelOpt NVFP4, for further tokens", 12, 2},
      {"a layer left by its name", [](Draft& d) { add_plain(d, "model.layers.1.mlp.experts."); }, R"(, "exclude_modules": ["model.layers.1"])",
       "2 experts in 1 layer (model.layers.N.mlp): not quantized, named in quantization_config.exclude_modules: 'model.layers.1'", 6, 1},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const TemporaryDirectory directory;
    const fs::path source = directory.path() / "source", packed = directory.path() / "packed";
    fs::create_directory(source);
    Draft draft = published_draft(nvfp4);
    row.add(draft);
    draft.config->replace(draft.config->find("\"NVFP4\""), 7, "\"NVFP4\"" + row.ignore);
    draft.write(source);
    const checkpoint::Checkpoint checkpoint(source);
    CHECK(checkpoint.form() == "ModelOpt NVFP4");
    REQUIRE(checkpoint.layer_groups().size() == 2);
    CHECK(checkpoint.layer_groups()[1].text() == row.text);
    const checkpoint::ConvertReport report = checkpoint::convert_checkpoint(source, packed, options_of(nvfp4));
    CHECK(report.layers == row.layers);
    // Scales of one number stay in their shards.
    CHECK(report.other_tensors == row.tensors + 12);
    CHECK(file_differences(source, restored_from({packed}, directory.path() / "restored")) == "");
  }
}

TEST_CASE("a layer behind the hidden ones is no ordinary layer") {
  Draft draft = published_draft(published_form("mixtral"));
  add_tensors(draft, "mixtral", "model.layers.", 1);
  draft.config->insert(1, R"("num_hidden_layers": 1, "num_nextn_predict_layers": 1, )");
  const TemporaryDirectory directory;
  draft.write(directory.path());
  const checkpoint::Checkpoint checkpoint(directory.path());
  CHECK(texts_of(checkpoint.layer_groups()) ==
        std::vector<std::string>{"2 experts in 1 layer (model.layers.N.block_sparse_moe): ModelOpt NVFP4",
                                 "2 experts in 1 layer (model.layers.N.block_sparse_moe): ModelOpt NVFP4, for further tokens"});
  CHECK(checkpoint::Checkpoint(directory.path(), 1).layer_index(0) == 1);
  CHECK_THROWS_AS(checkpoint::Checkpoint(directory.path(), 2), Error);
}

TEST_CASE("the configuration is read for each layer: names before expressions, tables by layer") {
  // The expression fits both layers; the names of the first group are layer 1's.
  Draft groups = published_draft(published_form("ct-nvfp4"));
  add_tensors(groups, "ct-fp8-channel", "model.layers.", 1);
  groups.config = R"({"quantization_config": {"quant_method": "compressed-tensors", "format": "mixed-precision", "config_groups": {
      "group_0": {"targets": ["model.layers.1.mlp.experts.0.gate_proj", "model.layers.1.mlp.experts.0.up_proj", "model.layers.1.mlp.experts.0.down_proj"],
                  "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}, "input_activations": {"num_bits": 8, "type": "float", "strategy": "token"}},
      "group_1": {"targets": ["re:.*mlp.*\\.(gate|up|down)_proj$"],
                  "weights": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16},
                  "input_activations": {"num_bits": 4, "type": "float", "strategy": "tensor_group"}}}}})";
  const TemporaryDirectory first;
  groups.write(first.path());
  CHECK(texts_of(checkpoint::Checkpoint(first.path()).layer_groups()) ==
        std::vector<std::string>{"2 experts in 1 layer (model.layers.N.mlp): compressed-tensors NVFP4",
                                 "2 experts in 1 layer (model.layers.N.mlp): compressed-tensors FP8 channel"});
  // A backend of the second form converts the second layer group.
  checkpoint::ConvertOptions options = options_of(published_form("ct-fp8-channel"));
  options.backend = "VLLM_CUTLASS";
  options.layer_group = 1;
  CHECK(checkpoint::convert_checkpoint(first.path(), first.path().string() + ".packed", options).converted.front().layer_group == 1);
  fs::remove_all(first.path().string() + ".packed");

  Draft table = published_draft(published_form("nemotron"));
  table.config =
      R"({"model_type": "nemotron_h", "mlp_hidden_act": "relu2", "quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
      "quantized_layers": {"backbone.layers.0.mixer.experts.0.up_proj": {"quant_algo": "NVFP4", "group_size": 16}, "backbone.layers.0.mixer.in_proj": {"quant_algo": "FP8"}}}})";
  CHECK(refusal_of(table) == "");
  table.config->replace(table.config->find("\"NVFP4\""), 7, "\"MXFP8\"");
  CHECK(refusal_of(table).find("quantized_layers.backbone.layers.0.mixer.experts.0.up_proj.quant_algo is 'MXFP8', where ModelOpt NVFP4 has NVFP4") !=
        std::string::npos);
}

TEST_CASE("refusals say what is so") {
  const auto plain = [] {
    Draft draft;
    draft.has_index = false;
    add_plain(draft, "model.layers.0.mlp.experts.");
    return draft;
  }();
  CHECK(refusal_of(plain).find("2 experts in 1 layer (model.layers.N.mlp): not quantized, for which mxact lacks a layout") != std::string::npos);
  Draft int4;
  int4.has_index = false;
  for (int expert = 0; expert < 2; ++expert) {
    for (const char* const name : {"gate_proj", "up_proj", "down_proj"}) {
      const std::string prefix = "model.layers.0.mlp.experts." + std::to_string(expert) + "." + name;
      int4.shards["model.safetensors"].push_back({prefix + ".weight_packed", "I32", {64, 8}, std::vector<std::uint8_t>(2048)});
      int4.shards["model.safetensors"].push_back({prefix + ".weight_scale", "BF16", {64, 2}, std::vector<std::uint8_t>(256)});
      int4.shards["model.safetensors"].push_back({prefix + ".weight_shape", "I64", {2}, std::vector<std::uint8_t>(16)});
    }
  }
  CHECK(refusal_of(int4).find("compressed-tensors int4 (pack-quantized), for which mxact lacks") != std::string::npos);

  // The field that differs from the form that lies nearest.
  Draft algo = published_draft(published_form("modelopt-pb-wo"));
  algo.config->replace(algo.config->find("FP8_PB_WO"), 9, "FP8_OTHER");
  CHECK(refusal_of(algo).find("quant_algo is 'FP8_OTHER', where ModelOpt FP8_PB_WO has FP8_PB_WO") != std::string::npos);
  // How matrices lie follows from the model, never from their shape.
  Draft fused = published_draft(published_form("llama4-nvfp4"));
  fused.config.reset();
  CHECK(refusal_of(fused).find("model_type is not given") != std::string::npos);
  // Names that were found, of no known form.
  Draft unknown;
  unknown.has_index = false;
  unknown.shards["model.safetensors"].push_back({"transformer.blocks.0.ffn.experts_stack.w1", "BF16", {2, 2}, std::vector<std::uint8_t>(8)});
  CHECK(refusal_of(unknown).find("1 tensor is named like experts, in no known way: 'transformer.blocks.0.ffn.experts_stack.w1'") !=
        std::string::npos);
  // A scale of activations alone is no expert.
  Draft alone = published_draft(published_form("mixtral"));
  alone.shards["model.safetensors"].push_back({"mtp.layers.0.block_sparse_moe.experts.1.w3.input_scale", "F32", {}, {0, 0, 0x80, 0x3F}});
  CHECK(refusal_of(alone).find("tensor 'mtp.layers.0.block_sparse_moe.experts.1.w3.weight' is missing, though there is "
                               "'mtp.layers.0.block_sparse_moe.experts.1.w3.input_scale'") != std::string::npos);
  // A gate that the model has is missing, one that it has not is none.
  Draft gated = published_draft(published_form("nemotron"));
  gated.config->replace(gated.config->find("relu2"), 5, "silu");
  CHECK(refusal_of(gated).find("experts.0.gate_proj.weight' is missing") != std::string::npos);
  // An activation that the engine has no name for.
  Draft act = published_draft(published_form("mixtral"));
  act.config->insert(1, R"("hidden_act": "mish", )");
  const TemporaryDirectory directory;
  act.write(directory.path());
  const std::optional<Error> error = error_of([&] { static_cast<void>(checkpoint::Checkpoint(directory.path()).activation(0)); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::unsupported);

  Draft pointer;
  pointer.has_index = false;
  pointer.raw["model.safetensors"] = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4881122304\n";
  CHECK(refusal_of(pointer).find("is a Git LFS pointer to a file of 4881122304 bytes, not the weights: `git lfs pull`") != std::string::npos);
}

}  // namespace mx::tests
