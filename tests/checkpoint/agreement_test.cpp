// A configuration and tensors that say different things of a layer's experts: refused with the module, what decides and the tensor, whichever of the
// two says that the experts are quantized; and what the engine loads all the same.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/compare/compare_checkpoints.hpp"
#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"
#include "tests/checkpoint/form_drafts.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace mx::tests {
namespace {

using deployment::Engine;
using deployment::kVllm2026_05;
using deployment::kVllm2026_08;
using deployment::kVllm2026_11;
using Garbage = checkpoint::Checkpoint::Garbage;

const std::string kFile = "model.safetensors";

/// The experts of a layer of the form, in 16 bits.
void add_plain_layer(Draft& draft, const PublishedForm& form, int layer) {
  for (int expert = 0; expert < kPublishedExperts; ++expert) {
    for (const std::string& projection : form.projections) {
      const bool w13 = projection != form.projections.back();
      const std::int64_t rows = w13 ? kPublishedIntermediate : kPublishedHidden, columns = w13 ? kPublishedHidden : kPublishedIntermediate;
      draft.shards[kFile].push_back({form.before + std::to_string(layer) + form.after + std::to_string(expert) + "." + projection + ".weight",
                                     "BF16",
                                     {rows, columns},
                                     std::vector<std::uint8_t>(static_cast<std::size_t>(2 * rows * columns), 1)});
    }
  }
}

void add_coded_layer(Draft& draft, const PublishedForm& form, int layer) {
  for (support::TensorData& tensor : published_tensors(form, form.before, layer)) draft.shards[kFile].push_back(std::move(tensor));
}

/// Two layers of a form, the second as it is or in 16 bits, and more words in its quantization configuration.
Draft two_layers(const std::string& id, bool plain, const std::string& list) {
  const PublishedForm& form = published_form(id);
  Draft draft = published_draft(form);
  if (plain) {
    add_plain_layer(draft, form, 1);
  } else {
    add_coded_layer(draft, form, 1);
  }
  if (list.empty()) return draft;
  std::string& config = *draft.config;
  const std::string method = "\"quant_method\": ";
  const std::size_t old = config.find(list.substr(0, list.find(':')) + ": [\"lm_head\"], ");
  if (old != std::string::npos) config.erase(old, list.find(':') + 15);
  config.insert(config.find(method), list + ", ");
  return draft;
}

/// What opening the checkpoint says; "" where it is read.
std::string refusal_of(const Draft& draft, Engine engine = kVllm2026_08) {
  const TemporaryDirectory directory;
  draft.write(directory.path());
  const std::optional<Error> error = error_of([&] { checkpoint::Checkpoint(directory.path(), 0, engine).require_convertible(); });
  if (error) CHECK(error->code() == ErrorCode::input);
  return error ? std::string(error->what()) : "";
}

/// Whether a text has all of them.
bool says(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (text.find(word) != std::string::npos) continue;
    UNSCOPED_INFO("without " << word << ": " << text);
    return false;
  }
  return true;
}

/// A form with the list that names its second layer, and the entry that names it.
struct Listed {
  std::string id;
  std::string list;
  std::string entry;
  bool loads;  ///< codes of the form, as numbers
};
const std::vector<Listed> kListed{
    {"modelopt-w4a16-nvfp4", R"("ignore": ["model.layers.1.mlp.experts*", "lm_head"])", "quantization_config.ignore: 'model.layers.1.mlp.experts*'",
     false},
    {"mixtral", R"("ignore": ["model.layers.1.block"])", "quantization_config.ignore: 'model.layers.1.block'", false},
    {"modelopt-fp8-1x1", R"("ignore": ["model.layers.1.mlp.experts*"])", "quantization_config.ignore", true},
    {"modelopt-fp8-channel", R"("ignore": ["model.layers.1.mlp.experts*"])", "quantization_config.ignore", true},
    {"modelopt-mxfp8-e8m0", R"("ignore": ["model.layers.1.mlp.experts*"])", "quantization_config.ignore", true},
    {"fp8-scale-inv", R"("modules_to_not_convert": ["lm_head", "model.layers.1.mlp.experts"])",
     "quantization_config.modules_to_not_convert: 'model.layers.1.mlp.experts'", true},
    {"fp8-block-F32", R"("ignored_layers": ["model.layers.1.mlp.experts.0.up_proj"])",
     "quantization_config.ignored_layers: 'model.layers.1.mlp.experts.0.up_proj'", true},
    {"ct-nvfp4", R"("ignore": ["re:.*layers.1\\.mlp\\.experts.*"])", "quantization_config.ignore: 're:.*layers.1", false},
    {"ct-mxfp4-w4a16", R"("ignore": ["re:.*layers.1\\.mlp\\.experts.*"])", "quantization_config.ignore", false},
    {"ct-fp8-channel", R"("ignore": ["re:.*layers.1\\.mlp\\.experts.*"])", "quantization_config.ignore", true},
    {"quark-fp8", R"("exclude": ["re:model.layers.1.mlp.experts"])", "quantization_config.exclude: 're:model.layers.1.mlp.experts'", true},
    {"quark-nvfp4", R"("exclude": ["model.layers.1.mlp.experts.1.up_proj"])", "quantization_config.exclude: 'model.layers.1.mlp.experts.1.up_proj'",
     false},
    {"deepseek-v4-fp8", R"("ignored_layers": ["layers.1.ffn.experts"])", "quantization_config.ignored_layers: 'layers.1.ffn.experts'", true},
    {"deepseek-v4-f4", R"("ignored_layers": ["layers.1.ffn.experts"])", "quantization_config.ignored_layers: 'layers.1.ffn.experts'", false},
    {"autoround-mxfp4", R"("extra_config": {"model.layers.1.mlp.experts": {"bits": 16}})",
     "quantization_config.extra_config: 'model.layers.1.mlp.experts'", false},
    {"autoround-mxfp8", R"("extra_config": {"layers\\.1\\.": {"bits": 16}})", "quantization_config.extra_config: 'layers", true},
    {"quark-mxfp8", R"("exclude": ["model.layers.1.mlp.experts"])", "quantization_config.exclude: 'model.layers.1.mlp.experts'", true},
    {"ling-3", R"("ignored_layers": ["layers.1.mlp.experts"])", "quantization_config.ignored_layers: 'layers.1.mlp.experts'", false},
};

}  // namespace

TEST_CASE("experts that a list leaves out and whose tensors are quantized are refused, by every method") {
  for (const Listed& row : kListed) {
    INFO(row.id);
    const PublishedForm& form = published_form(row.id);
    const std::string module = form.before + "1" + form.after.substr(0, form.after.size() - 1);
    const std::string text = refusal_of(two_layers(row.id, false, row.list));
    CHECK(says(text, {module + ".0.", "is left out by " + row.entry, "'" + module + "'",
                      row.loads ? "would load it without an error and compute garbage" : "does not load it"}));
    // In 16 bits they are what the list says, and the other layer is read.
    CHECK(refusal_of(two_layers(row.id, true, row.list)) == "");
  }
}

TEST_CASE("experts that no list leaves out and whose tensors are not quantized are refused, by every method") {
  for (const Listed& row : kListed) {
    INFO(row.id);
    const PublishedForm& form = published_form(row.id);
    const std::string module = form.before + "1" + form.after.substr(0, form.after.size() - 1);
    CHECK(says(refusal_of(two_layers(row.id, true, "")),
               {module + ".0.", "is BF16, not quantized, but '" + module + "' has the method", "no list leaves it out"}));
    CHECK(refusal_of(two_layers(row.id, false, "")) == "");
  }
}

TEST_CASE("a layer whose experts are quantized in part is refused with one of each kind") {
  Draft draft = published_draft(published_form("quark-nvfp4"));
  for (const std::string projection : {"gate_proj", "up_proj", "down_proj"}) {
    const std::string name = "model.layers.0.mlp.experts.1." + projection;
    for (const char* const suffix : {".weight_scale", ".weight_scale_2", ".input_scale_2"}) draft.remove(name + suffix);
    draft.tensor(name + ".weight").dtype = "BF16";
    std::vector<std::uint8_t>& bytes = draft.tensor(name + ".weight").bytes;
    draft.tensor(name + ".weight").shape = {static_cast<std::int64_t>(bytes.size() / 128), 64};
  }
  const std::string kBoth = "experts.0.down_proj.weight' of the same layer is U8, quantized";
  CHECK(says(refusal_of(draft), {"experts.1.down_proj.weight", "is BF16, not quantized", kBoth, "has the method quark"}));
  draft.config->replace(draft.config->find("\"lm_head\""), 9, R"("model.layers.0.mlp.experts.1.gate_proj")");
  CHECK(says(refusal_of(draft),
             {"experts.0.down_proj.weight", "is U8, quantized", "experts.1.down_proj.weight' of the same layer is BF16, not quantized",
              "is left out by quantization_config.exclude: 'model.layers.0.mlp.experts.1.gate_proj'"}));
  draft.config.reset();
  CHECK(says(refusal_of(draft), {"experts.1.down_proj.weight", kBoth, "the engine has one method for a layer's experts"}));
}

TEST_CASE("experts that no scheme names are not quantized") {
  const auto with = [](const std::string& id, const std::string& quantization) {
    Draft draft = published_draft(published_form(id));
    draft.config = R"({"model_type": "qwen3_moe", "quantization_config": {)" + quantization + "}}";
    return refusal_of(draft);
  };
  const std::string mixed = R"("quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {)";
  CHECK(
      says(with("modelopt-w4a16-nvfp4", mixed + R"("model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"}})"),
           {"experts.0.down_proj.weight", "quantization_config.quantized_layers names nothing of 'model.layers.0.mlp.experts'", "does not load it"}));
  CHECK(says(
      with("modelopt-w4a16-nvfp4", mixed + R"("model.layers.0.block_sparse_moe.experts.0.gate_proj": {"quant_algo": "NVFP4", "group_size": 16}})"),
      {"names nothing of 'model.layers.0.mlp.experts'"}));
  CHECK(says(with("ct-nvfp4", R"("quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["re:.*self_attn.*"]}})"),
             {"quantization_config.config_groups names nothing of 'model.layers.0.mlp.experts.0.gate_proj'"}));
  CHECK(says(with("modelopt-w4a16-nvfp4", R"("bits": 4)"), {"quantization_config has no quant_method"}));
  Draft none = published_draft(published_form("modelopt-w4a16-nvfp4"));
  none.config = R"({"model_type": "qwen3_moe"})";
  CHECK(says(refusal_of(none), {"is U8, quantized", "is not quantized: there is no quantization_config"}));
  // A method's own words: blocks of scales under one scale.
  CHECK(says(with("fp8-block-F32", R"("quant_method": "fp8", "activation_scheme": "dynamic")"),
             {"quantization_config.weight_block_size is 'none', where FP8 block has [128,128]"}));
}

// vLLM reads no wildcards in Quark's list (0.22.1 to 0.33.0, quark/utils.py should_ignore_layer); Quark means them.
TEST_CASE("a wildcard that the engine does not read leaves what it is for to be said") {
  const std::string list = R"("exclude": ["*layers.1.mlp.experts*"])";
  CHECK(says(refusal_of(two_layers("quark-nvfp4", false, list)), {"is left out by quantization_config.exclude: '*layers.1.mlp.experts*', a wildcard "
                                                                  "that the engine's method does not read, so that vllm@2026-08 "
                                                                  "takes the experts as quantized all the same"}));
  CHECK(refusal_of(two_layers("quark-nvfp4", true, list)) == "");
}

TEST_CASE("layers for further tokens are of a model of their own") {
  Draft draft = published_draft(published_form("mixtral"));
  add_plain_layer(draft, published_form("mixtral"), 1);
  draft.config->insert(1, R"("num_hidden_layers": 1, "num_nextn_predict_layers": 1, )");
  const TemporaryDirectory directory;
  draft.write(directory.path());
  const checkpoint::Checkpoint checkpoint(directory.path());
  CHECK(checkpoint.form() == "ModelOpt NVFP4");
  REQUIRE(checkpoint.layer_groups().size() == 2);
  CHECK(says(checkpoint.layer_groups()[1].text(), {"for further tokens", "is BF16, not quantized, but", "has the method modelopt_fp4"}));
}

// models/deepseek_v4/quant_config.py of 0.33.0, _is_nvfp4_expert_layer; nvidia/DeepSeek-V4.1-Flash-NVFP4.
TEST_CASE("experts that DeepSeek-V4's NVFP4 ignores stay MXFP4, since the version that reads the list") {
  Draft draft = published_draft(published_form("deepseek-v4-nvfp4"));
  const PublishedForm& own = published_form("deepseek-v4-f4");
  for (support::TensorData& tensor : published_tensors(own, own.before, 1)) draft.shards[kFile].push_back(std::move(tensor));
  CHECK(says(refusal_of(draft, kVllm2026_11), {"quantization_config.moe_quant_algo is 'NVFP4'", "'layers.1.ffn.experts"}));
  draft.config->insert(draft.config->find("\"quant_method\": "), R"("ignore": ["*.attn.*", "layers.1.*"], )");
  CHECK(refusal_of(draft, kVllm2026_11) == "");
  CHECK(says(refusal_of(draft, kVllm2026_08), {"quantization_config.moe_quant_algo is 'NVFP4'", "'layers.1.ffn.experts"}));
  // What is ignored and NVFP4 all the same.
  draft.config->replace(draft.config->find("layers.1.*"), 10, "layers.0.*");
  CHECK(says(refusal_of(draft, kVllm2026_11), {"moe_quant_algo is 'none'", "'layers.0.ffn.experts"}));
}

TEST_CASE("an algorithm for which the version's mixed method has no experts leaves them unquantized") {
  Draft draft = published_draft(published_form("modelopt-pb-wo"));
  draft.config =
      R"({"model_type": "qwen3_moe", "quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers":
      {"model.layers.0.mlp.experts": {"quant_algo": "FP8_PB_WO"}}}})";
  CHECK(refusal_of(draft, kVllm2026_11) == "");
  const TemporaryDirectory directory;
  draft.write(directory.path());
  CHECK(checkpoint::Checkpoint(directory.path(), 0, kVllm2026_11).form() == "ModelOpt FP8_PB_WO, MIXED_PRECISION");
  CHECK(says(refusal_of(draft, kVllm2026_08),
             {"experts.0.down_proj.weight", "'FP8_PB_WO', for which vllm@2026-08's method modelopt_mixed has no experts", "compute garbage"}));
}

TEST_CASE("what the engine loads and mxact has no layout of is counted, and says what is missing") {
  struct Row {
    const char* config;
    const char* weight;
    std::vector<std::int64_t> shape;  ///< of gate and up, with H = 64 and I = 32
    std::vector<std::int64_t> down;
    const char* scale;
    bool by_group;
    const char* missing;
  };
  const std::string quark = R"("quantization_config": {"quant_method": "quark", "exclude": [], "global_quant_config": {"weight": )";
  const std::string fp6 = quark + R"({"dtype": "fp6_e3m2", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}}})";
  const std::string fp6_inputs =
      quark + R"({"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}, "input_tensors": {"dtype": "fp6_e2m3"}}})";
  const std::string int8 = quark + R"({"dtype": "int8", "qscheme": "per_channel"}}})";
  const std::string ct_int8 =
      R"("quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "int",
        "strategy": "channel", "symmetric": true}, "input_activations": {"num_bits": 8, "type": "int", "strategy": "token"}}}})";
  const std::vector<Row> rows{
      {fp6.c_str(), "U8", {32, 48}, {64, 24}, "U8", true, "Quark MXFP6 E3M2, for which mxact lacks a layout of FP6 codes"},
      {fp6_inputs.c_str(), "U8", {32, 32}, {64, 16}, "U8", true, "Quark MXFP4, FP6 activations, for which mxact lacks what the engine emulates"},
      {int8.c_str(), "I8", {32, 64}, {64, 32}, "F32", false, "Quark INT8 channel, for which mxact lacks a layout of INT8 codes"},
      {ct_int8.c_str(), "I8", {32, 64}, {64, 32}, "BF16", false, "compressed-tensors INT8, for which mxact lacks a layout of INT8 codes"}};
  for (const Row& row : rows) {
    INFO(row.config);
    Draft draft;
    draft.has_index = false;
    draft.config = "{" + std::string(row.config) + "}";
    for (const std::string projection : {"gate_proj", "up_proj", "down_proj"}) {
      const std::string name = "model.layers.0.mlp.experts.0." + projection;
      const bool down = projection == "down_proj";
      const std::vector<std::int64_t>& shape = down ? row.down : row.shape;
      const std::vector<std::int64_t> scales =
          row.by_group ? std::vector<std::int64_t>{down ? 64 : 32, down ? 1 : 2} : std::vector<std::int64_t>{down ? 64 : 32, 1};
      const std::size_t width = std::string(row.scale) == "F32" ? 4 : std::string(row.scale) == "BF16" ? 2 : 1;
      draft.shards[kFile].push_back(
          {name + ".weight", row.weight, shape, std::vector<std::uint8_t>(static_cast<std::size_t>(shape[0] * shape[1]), 1)});
      draft.shards[kFile].push_back(
          {name + ".weight_scale", row.scale, scales, std::vector<std::uint8_t>(width * static_cast<std::size_t>(scales[0] * scales[1]), 60)});
    }
    const TemporaryDirectory directory;
    draft.write(directory.path());
    const std::optional<Error> error = error_of([&] { checkpoint::Checkpoint(directory.path()).require_convertible(); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::unsupported);
    CHECK(says(error->what(), {row.missing}));
  }
}

TEST_CASE("what the engine loads as what it is not fails, where it is asked for by its number") {
  const TemporaryDirectory directory;
  two_layers("fp8-scale-inv", false, R"("modules_to_not_convert": ["model.layers.1.mlp.experts"])").write(directory.path());
  CHECK_THROWS_AS(checkpoint::Checkpoint(directory.path(), 0, kVllm2026_08, Garbage::asked), Error);
  const checkpoint::Checkpoint garbage(directory.path(), 1, kVllm2026_08, Garbage::asked);
  CHECK(garbage.layer_index(0) == 1);
  sim::VerifyOptions options;
  options.platforms = {"SM90"};
  options.tp = {1};
  const sim::VerifyReport report = sim::verify(garbage, options);
  CHECK(report.held() == 0);
  CHECK(report.count(sim::Verdict::failed) > 0);
  CHECK(report.exit_code() == 1);
  CHECK(says(report.conversions.front().detail, {"modules_to_not_convert: 'model.layers.1.mlp.experts'", "compute garbage"}));
  // What it does not load is not to be had.
  const TemporaryDirectory other;
  two_layers("modelopt-w4a16-nvfp4", false, R"("ignore": ["model.layers.1.mlp.experts*"])").write(other.path());
  CHECK_THROWS_AS(checkpoint::Checkpoint(other.path(), 1, kVllm2026_08, Garbage::asked), Error);
}

TEST_CASE("every way into a checkpoint refuses one that its configuration contradicts") {
  const TemporaryDirectory directory;
  const std::filesystem::path model = directory.path() / "model";
  std::filesystem::create_directory(model);
  two_layers("modelopt-fp8-1x1", false, R"("ignore": ["model.layers.1.mlp.experts*"])").write(model);
  checkpoint::ConvertOptions options{.backend = "FLASHINFER_CUTLASS", .setting = {}};
  const auto refuses = [](const auto& call) {
    const std::optional<Error> error = error_of(call);
    return error && error->code() == ErrorCode::input && says(error->what(), {"quantization_config.ignore: 'model.layers.1.mlp.experts*'"});
  };
  CHECK(refuses([&] { static_cast<void>(checkpoint::convert_checkpoint(model, directory.path() / "packed", options)); }));
  CHECK(refuses([&] { static_cast<void>(checkpoint::compare_checkpoints(model, model, {})); }));
}

TEST_CASE("whose method a model's experts have is the engine's, by version") {
  const TemporaryDirectory directory;
  published_draft(published_form("kimi-k3")).write(directory.path());
  CHECK(checkpoint::Checkpoint(directory.path(), 0, kVllm2026_05).form() == "compressed-tensors MXFP4");
  CHECK(checkpoint::Checkpoint(directory.path(), 0, kVllm2026_08).form() == "MXFP4 in compressed-tensors' names");
  // Without the hook of its model FP8 has no FP4 experts.
  Draft ling = published_draft(published_form("ling-3"));
  CHECK(refusal_of(ling) == "");
  CHECK(says(refusal_of(ling, kVllm2026_05), {"quantization_config.quant_method is 'fp8'", "where MXFP4 under FP8 has mxfp4_under_fp8"}));
  // FP8 experts under a configuration that calls them FP4, and the other way.
  Draft fp8 = published_draft(published_form("fp8-block-F32"));
  fp8.config->replace(fp8.config->find("\"quant_method\""), 0, R"("store_dtype": "mxfp4", )");
  CHECK(says(refusal_of(fp8), {"is 'mxfp4_under_fp8', where FP8 block has fp8"}));
  Draft v4 = published_draft(published_form("deepseek-v4-nvfp4"));
  v4.config->replace(v4.config->find(R"(, "moe_quant_algo": "NVFP4")"), 27, "");
  CHECK(says(refusal_of(v4), {"quantization_config.moe_quant_algo is 'none', where DeepSeek-V4 NVFP4 has NVFP4"}));
  Draft v41 = published_draft(published_form("deepseek-v4-f4"));
  v41.config->replace(v41.config->find("deepseek_v4"), 11, "deepseek_v41");
  CHECK(refusal_of(v41, kVllm2026_11) == "");
  CHECK(says(refusal_of(v41, kVllm2026_08), {"quantization_config.quant_method is 'fp8', where DeepSeek-V4 MXFP4 has deepseek_v4_fp8; vllm@2026-08 "
                                             "takes deepseek_v4_fp8 for deepseek_v4 alone"}));
}

TEST_CASE("a name with the number behind the projection is said to be one") {
  Draft draft = published_draft(published_form("modelopt-w4a16-nvfp4"));
  for (support::TensorData& tensor : draft.shards.at(kFile)) {
    for (const std::string number : {"0", "1"}) {
      for (const std::string projection : {"gate_proj", "up_proj", "down_proj"}) {
        const std::string from = ".experts." + number + "." + projection + ".";
        if (const std::size_t at = tensor.name.find(from); at != std::string::npos)
          tensor.name.replace(at, from.size(), ".experts." + projection + "." + number + ".");
      }
    }
  }
  const std::string text = refusal_of(draft);
  CHECK(says(text, {"has the expert's number behind its projection, experts.PROJECTION.NUMBER"}));
  CHECK(text.find("ModelOpt") == std::string::npos);
}

TEST_CASE("a shard laid over another counts where the index names it and the engine reads it last") {
  const std::string first = "model-00001-of-00001.safetensors", over = "model-overlay-00001.safetensors",
                    name = "model.layers.0.mlp.experts.0.gate_proj.weight";
  const PublishedForm& form = published_form("modelopt-fp8-1x1");
  Draft draft = published_draft(form);
  draft.has_index = true;
  draft.shards = {{first, draft.shards.at(kFile)}};
  support::TensorData repaired = draft.tensor(name);
  for (std::uint8_t& byte : repaired.bytes) byte ^= 0x80U;
  draft.shards[over] = {repaired};
  draft.index_edits[name] = over;
  const TemporaryDirectory directory;
  draft.write(directory.path());
  layout::CanonicalLayer expected = published_layer(form);
  std::vector<std::uint8_t>& codes = expected[layout::Role::w13_weight];
  for (std::size_t i = 0; i < repaired.bytes.size(); ++i) codes[i] ^= 0x80U;
  CHECK((checkpoint::Checkpoint(directory.path()).layer(0).experts[layout::Role::w13_weight] == codes));
  const std::optional<Error> error = error_of([&] {
    static_cast<void>(checkpoint::convert_checkpoint(directory.path(), directory.path() / "packed", {.backend = form.backend, .setting = {}}));
  });
  CHECK((error && error->code() == ErrorCode::unsupported));
  // A file that the index does not name is not read; one that it names is, whole.
  draft.index_edits[name] = first;
  CHECK(refusal_of(draft) == "");
  draft.shards.at(over).push_back({"model.norm.weight", "BF16", {1}, {0, 0}});
  CHECK(says(refusal_of(draft), {over, name, "which the index names; the engine reads"}));
  // Numbers of names by their value: 10 is read after 9.
  draft.shards = {{"model-9.safetensors", draft.shards.at(first)}, {"model-10.safetensors", {repaired}}};
  draft.index_edits[name] = "model-10.safetensors";
  CHECK(refusal_of(draft) == "");
}

}  // namespace mx::tests
