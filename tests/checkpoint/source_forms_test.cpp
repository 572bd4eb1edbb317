// Checkpoints in every form: found, read, converted and given back; what is ambiguous, mixed or contradictory is refused.

#include "checkpoint/source_forms.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/shard.hpp"
#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"
#include "tests/checkpoint/form_drafts.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using layout::Role;

/// The factors that a form's inverse global scales stand for: divided in double, which fp32 division equals after one rounding.
std::vector<std::uint8_t> inverses(const std::vector<std::uint8_t>& scales) {
  std::vector<std::uint8_t> bytes(scales.size());
  for (std::size_t i = 0; i < scales.size(); i += 4) {
    std::uint32_t bits = 0;
    for (std::size_t b = 4; b-- > 0;) bits = bits << 8 | scales[i + b];
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(1.0 / static_cast<double>(std::bit_cast<float>(bits))));
    for (std::size_t b = 0; b < 4; ++b) bytes[i + b] = static_cast<std::uint8_t>(bits >> 8 * b);
  }
  return bytes;
}

checkpoint::ConvertOptions options_of(const FormCase& form) {
  families::Setting setting{};
  setting.engine = form.engine;
  return {.backend = form.backend, .setting = setting};
}

std::string draft_defect(const Draft& draft, const std::vector<std::string>& parts) {
  const TemporaryDirectory directory;
  draft.write(directory.path());
  return input_error_defect(error_of([&] { checkpoint::Checkpoint{directory.path()}; }), parts);
}

}  // namespace

TEST_CASE("every form gives the canonical experts, with and without its configuration") {
  for (const FormCase& form : form_cases()) {
    for (const bool with_config : {true, false}) {
      INFO(form.title << (with_config ? "" : ", no config.json"));
      const TemporaryDirectory directory;
      Draft draft = form_draft(form);
      if (!with_config) draft.config.reset();
      draft.write(directory.path());
      const checkpoint::Checkpoint checkpoint(directory.path());
      CHECK(checkpoint.form() == form.title);
      CHECK(checkpoint.layer_count() == 2);
      CHECK_FALSE(checkpoint.has_bias());
      for (const int layer : {0, 1}) {
        const checkpoint::MoeLayer read = checkpoint.layer(layer);
        layout::CanonicalLayer expected = form_layer(form, layer);
        if (form.inverse) {
          for (const Role role : {Role::w13_global_scale, Role::w2_global_scale}) expected[role] = inverses(expected[role]);
        }
        CHECK(read.prefix == "model.layers." + std::to_string(layer) + ".mlp");
        CHECK(read.experts.sizes == expected.sizes);
        CHECK(read.experts.form == expected.form);
        CHECK(read.up_scales_dropped == 0);
        for (const Role role : layout::kAllRoles) {
          INFO(layout::name_of(role));
          CHECK((read.experts[role] == expected[role]));
        }
      }
    }
  }
}

TEST_CASE("every form is converted and restored to the same files") {
  for (const FormCase& form : form_cases()) {
    INFO(form.title);
    const TemporaryDirectory directory;
    const fs::path source = directory.path() / "source", packed = directory.path() / "packed", restored = directory.path() / "restored";
    fs::create_directory(source);
    form_draft(form).write(source);
    const checkpoint::ConvertReport report = checkpoint::convert_checkpoint(source, packed, options_of(form));
    CHECK(report.finished);
    CHECK(report.layers == 2);
    CHECK(report.losses.empty());
    CHECK(file_differences(source, restored_from({packed}, restored)) == "");
    // What is packed is what the model's conversion of the canonical layer makes.
    CHECK(packed_difference(packed / kFirstLayer, checkpoint::Checkpoint(source).layer(0).experts, form.backend, report.converted.front().setting) ==
          "");
  }
}

TEST_CASE("ranks of block and group scales are cut and joined") {
  for (const char* title : {"ModelOpt NVFP4", "ModelOpt FP8", "Quark MXFP4"}) {
    INFO(title);
    const FormCase& form = form_case(title);
    const TemporaryDirectory directory;
    const fs::path source = directory.path() / "source";
    fs::create_directory(source);
    form_draft(form).write(source);
    CHECK(rank_differences(source, options_of(form), 2, directory.path()) == "");
  }
  const TemporaryDirectory directory;
  form_draft(form_case("FP8 block")).write(directory.path());
  checkpoint::ConvertOptions options = options_of(form_case("FP8 block"));
  options.setting.tp_size = 2;
  const std::optional<Error> error = error_of([&] { checkpoint::convert_checkpoint(directory.path(), directory.path() / "out", options); });
  REQUIRE(error);
  CHECK(std::string(error->what()).find("not a whole number of scale groups of 128") != std::string::npos);
}

TEST_CASE("every form is verified, and a flipped bit is found") {
  for (const FormCase& form : form_cases()) {
    INFO(form.title);
    const TemporaryDirectory directory;
    form_draft(form, 1).write(directory.path());
    const checkpoint::Checkpoint checkpoint(directory.path());
    sim::VerifyOptions options;
    // May's choices are executed, all of them.
    options.engine = mx::deployment::kVllm2026_05;
    options.platforms = {"SM100"};
    options.tp = {1};
    options.tokens = 1;
    const sim::VerifyReport report = sim::verify(checkpoint, options);
    CHECK(report.form == form.title);
    CHECK(report.held() > 0);
    CHECK(report.count(sim::Verdict::failed) == 0);
    CHECK(report.contracts.empty());
    for (const sim::ConversionResult& result : report.conversions) {
      if (result.verdict != sim::Verdict::passed) continue;
      INFO(result.backend << ": " << result.execution);
      CHECK(result.outputs_compared > 0);
      CHECK(result.execution.find(" x ") != std::string::npos);
    }
    sim::VerifyOptions asked = options;
    asked.contracts = {Contract::f32_sequential};
    const sim::VerifyReport sequential = sim::verify(checkpoint, asked);
    CHECK(sequential.held() == report.held());
    for (const sim::ConversionResult& result : sequential.conversions) {
      if (result.verdict == sim::Verdict::passed) CHECK(result.execution.ends_with(" x f32-sequential, as asked"));
    }
    options.tamper = [](families::PackedLayer& packed) { packed.tensors.front().bytes[5] ^= 0x10; };
    const sim::VerifyReport tampered = sim::verify(checkpoint, options);
    CHECK(tampered.held() == 0);
    // The byte is one of the first expert's, which the token goes to: execution notices it too.
    CHECK(std::ranges::any_of(tampered.conversions, [](const sim::ConversionResult& result) { return result.outputs_differing > 0; }));
  }
}

// The engine quantizes such blocks anew as it loads them: no refusal, and a pass with its price.
TEST_CASE("FP8 blocks on DEEPGEMM pass with what their new scales lose, by tensor") {
  const FormCase& form = form_case("FP8 block");
  const TemporaryDirectory directory;
  form_draft(form, 1).write(directory.path());
  const checkpoint::Checkpoint checkpoint(directory.path());
  for (const std::string platform : {"SM90", "SM100"}) {
    INFO(platform);
    sim::VerifyOptions options;
    options.platforms = {platform};
    options.backends = {"DEEPGEMM"};
    options.tp = {1};
    options.tokens = 1;
    const sim::VerifyReport report = sim::verify(checkpoint, options);
    CHECK(report.held() > 0);
    CHECK(report.exit_code() == 0);
    std::map<Role, std::int64_t> lost;
    for (const sim::ConversionResult& result : report.conversions) {
      for (const layout::Loss& loss : result.losses) lost[loss.role] += loss.units;
    }
    // No scale of the draft is a power of two: each of the 128 x 128 blocks gets another one.
    CHECK(lost[Role::w13_weight_scale] == kFormExperts * 2 * (kFormIntermediate / 128) * (kFormHidden / 128));
    CHECK(lost[Role::w2_weight_scale] == kFormExperts * (kFormHidden / 128) * (kFormIntermediate / 128));
    CHECK(lost[Role::w13_weight] > 0);
    CHECK(lost[Role::w2_weight] > 0);
  }
}

TEST_CASE("a model's first layers may have no experts") {
  Draft draft = form_draft(form_case("FP8 block"), 3);
  const auto is_first = [](const support::TensorData& tensor) { return tensor.name.starts_with("model.layers.0.mlp."); };
  std::erase_if(draft.shards[kFirstShard], is_first);
  CHECK(draft_defect(draft, {"layer 0 is missing"}) == "");
  draft.shards[kFirstShard].push_back({"model.layers.0.mlp.gate_proj.weight", "BF16", {1, 1}, {0, 0}});
  const TemporaryDirectory directory;
  draft.write(directory.path());
  const checkpoint::Checkpoint checkpoint(directory.path());
  CHECK(checkpoint.layer_count() == 2);
  CHECK(checkpoint.layer_index(0) == 1);
  draft.config->replace(draft.config->find("\"num_hidden_layers\": 3"), 22, "\"num_hidden_layers\": 4");
  CHECK(draft_defect(draft, {"num_hidden_layers is 4", "hold 3 layers"}) == "");
}

TEST_CASE("global scales of gate and up that differ are told") {
  const FormCase& nvfp4 = form_case("ModelOpt NVFP4");
  Draft draft = form_draft(nvfp4, 1);
  draft.tensor(form_tensor_name(nvfp4, 0, 1, 1, ".weight_scale_2")).bytes = {0, 0, 0x80, 0x3F};
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source", packed = directory.path() / "packed";
  fs::create_directory(source);
  draft.write(source);
  const checkpoint::MoeLayer layer = checkpoint::Checkpoint(source).layer(0);
  CHECK(layer.up_scales_dropped == 1);
  CHECK((layer.experts[Role::w13_global_scale] == form_layer(nvfp4, 0)[Role::w13_global_scale]));
  CHECK(checkpoint::convert_checkpoint(source, packed, options_of(nvfp4)).up_scales_dropped == 1);
  CHECK(file_differences(source, restored_from({packed}, directory.path() / "restored")) == "");
}

TEST_CASE("forms that are mixed, ambiguous or contradicted are refused") {
  const FormCase& quark = form_case("Quark MXFP4");
  const FormCase& block = form_case("FP8 block");
  const FormCase& packed = form_case("compressed-tensors MXFP4");
  struct Row {
    std::string id;
    const FormCase* form;
    std::function<void(Draft&)> change;
    std::vector<std::string> parts;
  };
  const auto without = [](Draft& draft, const std::string& suffix) {
    for (auto& [file, tensors] : draft.shards) std::erase_if(tensors, [&](const support::TensorData& t) { return t.name.ends_with(suffix); });
  };
  const auto name = [&](const FormCase& form, int expert, int projection, const std::string& suffix) {
    return form_tensor_name(form, 0, expert, projection, suffix);
  };
  const std::vector<Row> rows{
      {"weights alone",
       &quark,
       [&](Draft& d) { d.config.reset(), without(d, ".weight_scale"); },
       {"may be ModelOpt NVFP4", "others", "quantization_config"}},
      {"weights alone, config tells", &quark, [&](Draft& d) { without(d, ".weight_scale"); }, {"experts.0.w1.weight_scale' is missing"}},
      {"a name of another form",
       &block,
       [&](Draft& d) { d.rename(name(block, 1, 0, ".weight_scale_inv"), name(block, 1, 0, ".weight_scale_2")); },
       {"experts.1.gate_proj.weight_scale_2", "ModelOpt NVFP4", "FP8 block", "not mixed"}},
      {"a layer of another form",
       &block,
       [&](Draft& d) {
         Draft other = form_draft(packed, 1);
         for (support::TensorData& t : other.shards[kSecondShard]) {
           t.name.replace(0, 15, "model.layers.9.");
           d.shards[kSecondShard].push_back(t);
         }
       },
       {"quant_method is 'fp8'", "compressed-tensors MXFP4 has compressed-tensors", "model.layers.9."}},
      {"one weight in 16 bits",
       &block,
       [&](Draft& d) { d.retype(name(block, 1, 2, ".weight"), "BF16"); },
       {"experts.1.down_proj.weight", "is BF16, not quantized", "of the same layer is F8_E4M3, quantized"}},
      {"scales of another type",
       &quark,
       [&](Draft& d) { d.retype(name(quark, 1, 2, ".weight_scale"), "BF16"); },
       {"experts.1.w2.weight_scale", "dtype is BF16"}},
      {"no known suffix",
       &block,
       [&](Draft& d) { d.rename(name(block, 0, 0, ".weight"), name(block, 0, 0, ".qweight")); },
       {"experts.0.gate_proj.qweight", "no expert tensor of the form", "gate_proj.weight_scale"}},
      {"no known projection",
       &block,
       [&](Draft& d) { d.rename(name(block, 0, 0, ".weight"), "model.layers.0.mlp.experts.0.gate.weight"); },
       {"experts.0.gate.weight", "no expert tensor of the form"}},
      {"another method",
       &block,
       [](Draft& d) { d.config = R"({"quantization_config": {"quant_method": "awq"}})"; },
       {"config.json", "quant_method is 'awq'", "FP8 block has fp8"}},
      {"another block size",
       &block,
       [](Draft& d) { d.config = R"({"quantization_config": {"quant_method": "fp8", "weight_block_size": [64, 128]}})"; },
       {"weight_block_size is '[64,128]'", "[128,128]"}},
      {"another group size",
       &packed,
       [](Draft& d) { d.config->replace(d.config->find("\"group_size\": 32"), 16, "\"group_size\": 64"); },
       {"config_groups.group_0.weights.group_size is '64'"}},
      {"hf_quant_config says another algorithm",
       &form_case("ModelOpt FP8"),
       [](Draft& d) {
         d.config->replace(d.config->find("quantization_config"), 19, "other");
         d.raw["hf_quant_config.json"] = R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8_PB_WO"}})";
       },
       {"hf_quant_config.quantization.quant_algo is 'FP8_PB_WO'", "ModelOpt FP8 has FP8"}},
      {"an expert missing",
       &block,
       [&](Draft& d) {
         for (int p = 0; p < 3; ++p)
           for (const char* s : {".weight", ".weight_scale_inv"}) d.remove(name(block, 1, p, s));
       },
       {"experts.1.gate_proj.weight' is missing"}},
      {"a projection missing", &block, [&](Draft& d) { d.remove(name(block, 2, 2, ".weight")); }, {"experts.2.down_proj.weight' is missing"}},
      {"expert 01",
       &block,
       [&](Draft& d) { d.rename(name(block, 1, 0, ".weight"), "model.layers.0.mlp.experts.01.gate_proj.weight"); },
       {"expert number '01'"}},
      {"two models",
       &block,
       [&](Draft& d) { d.rename(name(block, 1, 0, ".weight"), "draft.layers.0.mlp.experts.1.gate_proj.weight"); },
       {"model.layers.0.mlp.experts.1.gate_proj.weight' is missing"}},
      {"two namings",
       &quark,
       [&](Draft& d) { d.rename(name(quark, 1, 0, ".weight"), "model.layers.0.mlp.experts.1.gate_proj.weight"); },
       {"gate_proj, up_proj, down_proj", "w1, w3, w2"}},
      {"a transposed weight",
       &block,
       [&](Draft& d) {
         d.reshape(name(block, 1, 0, ".weight"), {256, 128});
       },
       {"[256, 128]", "[128, 256] = [I, H]"}},
      {"a scale of two numbers",
       &form_case("ModelOpt FP8"),
       [&](Draft& d) { d.reshape(name(form_case("ModelOpt FP8"), 1, 0, ".weight_scale"), {2}); },
       {"experts.1.gate_proj.weight_scale", "[2]", "one number"}},
      {"other experts in config", &block, [](Draft& d) { d.config = R"({"n_routed_experts": 4})"; }, {"n_routed_experts is 4", "have 3"}},
      {"another size in config",
       &block,
       [](Draft& d) { d.config = R"({"text_config": {"moe_intermediate_size": 64}})"; },
       {"moe_intermediate_size is 64", "have 128"}},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    Draft draft = form_draft(*row.form);
    row.change(draft);
    CHECK(draft_defect(draft, row.parts) == "");
  }
}

TEST_CASE("a checkpoint that changes while it is read is refused, also when it is cut short") {
  struct Row {
    std::string id;
    std::function<void(const fs::path&)> change;
    std::string part;
  };
  const std::vector<Row> rows{
      {"cut short", [](const fs::path& file) { fs::resize_file(file, 1000); }, "while it was read"},
      {"longer", [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) + 1); }, "changed while it was read"},
      {"written to", [](const fs::path& file) { fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(5)); },
       "it was written to"},
      {"replaced", [](const fs::path& file) { fs::copy_file(file, file.string() + ".new"), fs::rename(file.string() + ".new", file); }, "replaced"},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const TemporaryDirectory directory;
    const fs::path source = directory.path() / "source", packed = directory.path() / "packed";
    checkpoint::write_synthetic_checkpoint(source, {.layers = 2, .experts = 2, .hidden = 64, .intermediate = 64, .top_k = 2});
    checkpoint::ConvertOptions options = triton();
    options.progress = [&](const std::string& what, std::uint64_t, std::uint64_t) {
      if (what == "layer 1") row.change(source / kSecondShard);
    };
    CHECK(input_error_defect(error_of([&] { checkpoint::convert_checkpoint(source, packed, options); }), {kSecondShard, row.part}) == "");
    CHECK(entries_of(directory.path()) == std::set<std::string>{"source"});
  }
}

}  // namespace mx::tests
