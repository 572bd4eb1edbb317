// Configurations as public files of July to November 2026 have them, cut to what decides: what their experts are asked with, or the true reason why
// nobody can ask. Sources: ai-dynamo/aiconfigurator 095f58a5 (2026-08-21) model_configs/; intel/neural-compressor examples/.../auto_round/deepseekv4;
// vllm-project/vllm#52347, #49977, #54047; vllm 0.22.1, 0.29.0 and 0.33.0, which answer as the rows say.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/configuration.hpp"
#include "checkpoint/expert_scheme.hpp"
#include "checkpoint/source_forms.hpp"
#include "model/deployment/models.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace mx::tests {
namespace {

using checkpoint::Configuration;
using checkpoint::ExpertScheme;
using checkpoint::ModuleMethod;
using deployment::kVllm2026_05;
using deployment::kVllm2026_08;
using deployment::kVllm2026_11;

support::Json json_of(const std::string& text) {
  constexpr support::JsonLimits kLimits{.bytes = 1 << 20, .depth = 16, .memory = 1 << 24};
  return text.empty() ? support::Json() : support::parse_json(text, kLimits, "test");
}

/// "nvfp4 kNvfp4Static kNvfp4Dynamic own", or what it is refused with.
std::string asked(const std::string& config, const std::string& sidecar, const std::string& module, deployment::Engine engine) {
  std::string answer;
  const std::optional<Error> error = error_of([&] {
    const Configuration configuration(json_of(config), json_of(sidecar), engine, "config.json");
    const support::Json json = json_of(config);
    const support::Json* const expert_dtype = json.is_object() ? json.find("expert_dtype") : nullptr;
    const ModuleMethod method = configuration.method_of({.name = module, .projections = {"w1", "w3", "w2"}});
    std::vector<const std::map<std::string, std::string>*> groups;
    for (const checkpoint::DeclaredScheme& one : configuration.schemes()) {
      if (one.table == "config_groups") groups.push_back(&one.words);
    }
    const ExpertScheme scheme =
        checkpoint::expert_scheme({.method = method.quantized ? std::string_view(method.method) : std::string_view(),
                                   .whole = configuration.words(),
                                   .scheme = method.scheme == nullptr ? nullptr : &method.scheme->words,
                                   .groups = groups,
                                   .expert_dtype = expert_dtype != nullptr ? std::string_view(expert_dtype->text()) : std::string_view(),
                                   .path = configuration.root(),
                                   .engine = engine,
                                   .dropped = method.dropped},
                                  "config.json");
    answer = scheme.oracle + " " + scheme.weight_key + " " + scheme.activation_key + " " + scheme.quant_method;
    if (!method.quantized) answer += ": " + method.entry;
  });
  return error ? error->what() : answer;
}

struct Public {
  std::string name;
  std::string config;   ///< quantization_config with what stands beside it
  std::string sidecar;  ///< hf_quant_config.json
  std::string module;
  deployment::Engine engine;
  std::string answer;  ///< a part of it
};

const std::string kModelOpt = R"("producer": {"name": "modelopt"}, )";
const std::string kMinimax =
    R"({"model_type": "minimax_m3_vl", "quantization_config": {"quant_algo": "MIXED_PRECISION", "kv_cache_quant_algo": null, "exclude_modules": ["lm_head",
      "language_model.model.layers.3.block_sparse_moe.gate"], "quantized_layers": {"language_model.model.layers.0.mlp.down_proj": {"quant_algo": "MXFP8"},
      "language_model.model.layers.3.block_sparse_moe.shared_experts.down_proj": {"quant_algo": "MXFP8"},
      "language_model.model.layers.3.block_sparse_moe.experts.0.w1": {"quant_algo": "NVFP4", "group_size": 16}}, "quant_method": "modelopt"}})";
const std::string kQwen =
    R"({"model_type": "qwen3_5_moe", "quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "ignore": ["mtp.layers.0*", "mtp*"],
      "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}, "targets": ["model.language_model.layers.0.linear_attn.out_proj"]}},
      "quantized_layers": {"model.language_model.layers.0.linear_attn.out_proj": {"quant_algo": "FP8"},
      "model.language_model.layers.0.mlp.experts": {"quant_algo": "W4A16_NVFP4", "group_size": 16}}}})";
const std::string kLightning =
    "{" + kModelOpt +
    R"("quantization": {"quant_algo": "MIXED_PRECISION", "kv_cache_quant_algo": "FP8", "exclude_modules": ["backbone.layers.1.mixer.gate", "mtp*"],
      "quantized_layers": {"backbone.layers.0.mixer.in_proj": {"quant_algo": "FP8"}, "backbone.layers.1.mixer.experts.0.down_proj": {"quant_algo": "W4A16_NVFP4",
      "group_size": 16}}}})";
std::string v4(const std::string& model, const std::string& block) {
  return R"({"model_type": ")" + model +
         R"(", "quantization_config": {"activation_scheme": "dynamic", "quant_method": "fp8", "quant_algo": "MIXED_PRECISION",
      "moe_quant_algo": "NVFP4", "group_size": 16, "weight_block_size": )" +
         block + R"(, "ignore": ["*.attn.*", "*.ffn.shared_experts.*", "head", "mtp.*"],
      "quantized_layers": {"layers.0.ffn.experts": {"group_size": 16, "quant_algo": "NVFP4"}}, "config_groups": {"group_0": {"targets": ["Linear"], "weights":
      {"num_bits": 4, "type": "float", "group_size": 16}}}}})";
}
std::string round(const std::string& words) {
  return R"({"model_type": "qwen3_moe", "quantization_config": {"quant_method": "auto-round", "sym": true, )" + words + "}}";
}
std::string quark(const std::string& weight, const std::string& input) {
  return R"({"model_type": "qwen3_5_moe", "quantization_config": {"quant_method": "quark", "exclude": ["lm_head"], "layer_quant_config": {}, "global_quant_config": {"weight": )" +
         weight + R"(, "input_tensors": )" + input + "}}}";
}
std::string mx(const std::string& dtype) {
  return R"({"dtype": ")" + dtype + R"(", "qscheme": "per_group", "group_size": 32, "is_dynamic": true, "scale_format": "e8m0"})";
}
std::string mixed(const std::string& algorithm) {
  return R"({"model_type": "qwen3_next", "quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers":
      {"model.layers.0.mlp.experts": {"quant_algo": ")" +
         algorithm + R"("}}}})";
}
const std::string kGranite =
    R"({"model_type": "granitemoehybrid", "quantization_config": {"quant_method": "compressed-tensors", "format": "int-quantized", "config_groups": {"group_0":
      {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": true}, "input_activations": {"num_bits": 8,
      "type": "int", "strategy": "token", "dynamic": true}}}, "ignore": ["lm_head"]}})";

const std::string kExperts = "model.layers.0.mlp.experts";

const std::vector<Public> kPublic{
    {"nvidia/MiniMax-M3-NVFP4", kMinimax, "", "language_model.model.layers.3.block_sparse_moe.experts", kVllm2026_08,
     "nvfp4 kNvfp4Static kNvfp4Dynamic own"},
    {"nvidia/Qwen3.6-35B-A3B-NVFP4", kQwen, "", "model.language_model.layers.0.mlp.experts", kVllm2026_08, "nvfp4 kNvfp4Static None own"},
    {"nvidia/Qwen3.6-35B-A3B-NVFP4, drafts", kQwen, "", "mtp.layers.0.mlp.experts", kVllm2026_08, "unquantized None None own: "},
    {"nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4", "", kLightning, "backbone.layers.1.mixer.experts", kVllm2026_08,
     "nvfp4 kNvfp4Static None own"},
    {"the same, drafts", "", kLightning, "mtp.layers.0.mixer.experts", kVllm2026_08, "unquantized"},
    {"nvidia/DeepSeek-V4-Flash-NVFP4", v4("deepseek_v4", "[128, 128]"), "", "layers.0.ffn.experts", kVllm2026_08,
     "nvfp4 kNvfp4Static kNvfp4Dynamic own"},
    {"its drafts, of which 2026-08 makes NVFP4", v4("deepseek_v4", "[128, 128]"), "", "mtp.0.ffn.experts", kVllm2026_08, "nvfp4 "},
    {"its drafts, which stay MXFP4", v4("deepseek_v4", "[128, 128]"), "", "mtp.0.ffn.experts", kVllm2026_11,
     "mxfp4_deepseek_v4 kMxfp4Static None own"},
    {"nvidia/DeepSeek-V4.1-Flash-NVFP4", v4("deepseek_v41", "[32, 32]"), "", "layers.0.ffn.experts", kVllm2026_11,
     "nvfp4 kNvfp4Static kNvfp4Dynamic own"},
    {"its drafts", v4("deepseek_v41", "[32, 32]"), "", "mtp.2.ffn.experts", kVllm2026_11, "mxfp4_deepseek_v4 kMxfp4Static None own"},
    {"a version without that model", v4("deepseek_v41", "[32, 32]"), "", "layers.0.ffn.experts", kVllm2026_08,
     "fp8 FP8:float32:32,32 kFp8Dynamic128Sym own"},
    {"sgl-project/DeepSeek-V4-Flash-FP8",
     R"({"model_type": "deepseek_ref", "architectures": ["DeepseekV4ForCausalLM"], "quantization_config": {"activation_scheme": "dynamic", "quant_method": "fp8",
        "scale_fmt": "ue8m0", "weight_block_size": [128, 128]}})",
     "", "layers.0.ffn.experts", kVllm2026_11, "fp8 kFp8Static128BlockSym kFp8Dynamic128Sym own"},
    {"AutoRound MXFP8", round(R"("bits": 8, "group_size": 32, "data_type": "mx_fp", "act_bits": 8)"), "", kExperts, kVllm2026_08,
     "mxfp8 kMxfp8Static kMxfp8Dynamic own"},
    {"AutoRound MXFP8, experts of 4 bits",
     round(R"("bits": 8, "group_size": 32, "data_type": "mx_fp", "extra_config": {".*mlp\\.experts.*": {"bits": 4, "data_type": "mx_fp"}})"), "",
     kExperts, kVllm2026_11, "mxfp4 kMxfp4Static None compressed_tensors"},
    {"the same by a name that is none of the experts'",
     round(R"("bits": 8, "group_size": 32, "data_type": "mx_fp", "extra_config": {"mlp.experts": {"bits": 4, "data_type": "mx_fp"}})"), "", kExperts,
     kVllm2026_11, "mxfp8 "},
    {"AutoRound of other blocks",
     round(R"("bits": 4, "group_size": 32, "data_type": "mx_fp", "block_name_to_quantize": "model.layers.1,model.visual")"), "", kExperts,
     kVllm2026_08, "unquantized None None own: quantization_config.block_name_to_quantize is the beginning of other names"},
    {"AutoRound of its blocks", round(R"("bits": 4, "group_size": 32, "data_type": "mx_fp", "block_name_to_quantize": ["model.layers"])"), "",
     kExperts, kVllm2026_08, "mxfp4 "},
    {"AutoRound MXFP8 at 2026-05", round(R"("bits": 8, "group_size": 32, "data_type": "mx_fp")"), "", kExperts, kVllm2026_05,
     "quantization_config.data_type is 'mx_fp', for which the engine raises ValueError: Unsupported data_type"},
    {"AutoRound NVFP4", round(R"("bits": 4, "group_size": 16, "data_type": "nv_fp")"), "", kExperts, kVllm2026_11,
     "quantization_config.data_type is 'nv_fp', for which the engine raises ValueError: Unsupported data_type"},
    {"AutoRound FP8 in blocks", round(R"("bits": 8, "group_size": [128, 128], "data_type": "fp")"), "", kExperts, kVllm2026_11,
     "NotImplementedError: INCFp8Scheme does not support MoE layers"},
    {"Quark MXFP8", quark(mx("fp8_e4m3"), mx("fp8_e4m3")), "", kExperts, kVllm2026_11, "mxfp8 kMxfp8Static kMxfp8Dynamic quark"},
    {"Quark MXFP6 (vllm#52347)", quark(mx("fp6_e3m2"), mx("fp6_e3m2")), "", kExperts, kVllm2026_08,
     "method 'quark': MXFP6 weights or activations are emulated"},
    {"Quark MXFP4 with MXFP6 activations", quark(mx("fp4"), mx("fp6_e2m3")), "", kExperts, kVllm2026_11, "no oracle is asked"},
    {"Quark MXFP4 with FP8 activations of one scale at run time",
     quark(mx("fp4"), R"({"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": true})"), "", kExperts, kVllm2026_08, "NotImplementedError"},
    {"granite, INT8 (vllm#54047)", kGranite, "", kExperts, kVllm2026_08, "int8 kInt8StaticChannelSym kInt8DynamicTokenSym own"},
    {"Qwen3.8-Flash-Next", mixed("FP8_BLOCK_SCALES"), "", kExperts, kVllm2026_11, "fp8 kFp8Static128BlockSym kFp8Dynamic128Sym own"},
    {"the same before", mixed("FP8_PB_WO"), "", kExperts, kVllm2026_08, "has no experts and builds them unquantized"},
    {"MXFP8 in MIXED_PRECISION at 2026-05", mixed("MXFP8"), "", kExperts, kVllm2026_05, "vllm@2026-05's method modelopt_mixed has no experts"},
    {"blocks of GGUF", mixed("IQ2_XS"), "", kExperts, kVllm2026_11, "B12X's alone"},
    {"PhalaCloud/GLM-5.2-W4AFP8 (vllm#49977)", R"({"model_type": "glm_moe_dsa", "quantization_config": {"quant_method": "w4afp8"}})", "", kExperts,
     kVllm2026_11, "'w4afp8' is no quantization method of the engine that has experts"},
    {"MXFP8 beside NVFP4 experts, a fork's",
     R"({"model_type": "glm_moe_dsa", "quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic",
        "weight_block_size": [128, 128], "dense_format": "mxfp8", "store_dtype": "nvfp4"}})",
     "", kExperts, kVllm2026_11, "fp8 kFp8Static128BlockSym"},
};

}  // namespace

TEST_CASE("public configurations of the second half of 2026 are asked about as the engine asks, or refused for the engine's reason") {
  for (const Public& row : kPublic) {
    INFO(row.name << " " << deployment::name_of(row.engine));
    const std::string answer = asked(row.config, row.sidecar, row.module, row.engine);
    INFO(answer);
    CHECK(answer.find(row.answer) != std::string::npos);
  }
}

// Two ways lead to what an oracle is asked: a form's row, which `verify` takes, and the configuration alone, which `select` takes.
TEST_CASE("every published form is asked about as its configuration alone is") {
  // ModelOpt's method asks about one scale a tensor whatever the algorithm is, and does not load what the first two have; that of compressed-tensors
  // has no experts for the third, and asks nothing about the fourth.
  const std::vector<std::string> others{"modelopt-pb-wo", "modelopt-fp8-channel", "ct-fp8-dynamic", "ct-mxfp4-w4a4"};
  for (const PublishedForm& form : published_forms()) {
    if (std::ranges::find(others, form.id) != others.end()) continue;
    INFO(form.id);
    std::string text = *published_draft(form).config;
    const std::string compressed = R"("quant_method": "compressed-tensors", )";
    const bool is_nvfp4 = form.format == layout::WeightFormat::nvfp4;
    const bool is_packed = is_nvfp4 || form.format == layout::WeightFormat::mxfp4;
    const std::string written = is_packed ? std::string(is_nvfp4 ? "nvfp4" : "mxfp4") + "-pack-quantized" : "float-quantized";
    if (const std::size_t at = text.find(compressed); at != std::string::npos && text.find("\"format\"") == std::string::npos)
      text.insert(at, R"("format": ")" + written + "\", ");
    const Configuration configuration(json_of(text), support::Json(), kVllm2026_08, "config.json");
    if (configuration.method().empty()) continue;
    const TemporaryDirectory directory;
    published_draft(form).write(directory.path());
    const checkpoint::EngineUse use = checkpoint::Checkpoint(directory.path()).source_form().use;
    const deployment::Scheme& scheme = deployment::scheme_named(use.scheme);
    const std::string activations(scheme.oracle == "mxfp8" ? "kMxfp8Dynamic" : scheme.activation_key);
    const std::string answer = asked(text, "", form.before + "0" + form.after.substr(0, form.after.size() - 1), kVllm2026_08);
    INFO(answer);
    CHECK(answer.starts_with(std::string(scheme.oracle) + " " + std::string(scheme.weight_key) + " " + activations + " "));
    // Which method asks decides where the oracle is mxfp4's.
    if (scheme.oracle == "mxfp4") CHECK(answer.ends_with(" " + std::string(use.quant_method)));
  }
}

}  // namespace mx::tests
