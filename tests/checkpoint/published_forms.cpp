#include "tests/checkpoint/published_forms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "sim/execute/sample_layer.hpp"

namespace mx::tests {
namespace {

using Holds = PublishedTensor::Holds;
using Shape = PublishedTensor::Shape;
using Bytes = std::vector<std::uint8_t>;
using layout::Role;
using layout::WeightFormat;

const std::vector<std::string> kNames{"gate_proj", "up_proj", "down_proj"}, kNumbers{"w1", "w3", "w2"}, kNoGate{"up_proj", "down_proj"},
    kTwoLayers{"fc1", "fc2"}, kStacked{"w13", "w2"}, kFused{"gate_up_proj", "down_proj"}, kLinear{"linear", "linear_v", "linear_1"};
const std::string kMlp = ".mlp.experts.";

std::string ct(const std::string& weights, const std::string& inputs) {
  return R"("model_type": "qwen3_moe", "quantization_config": {"quant_method": "compressed-tensors", "ignore": ["lm_head"], "config_groups": {"group_0": {"targets": ["Linear"], "weights": {)" +
         weights + R"(, "symmetric": true, "dynamic": false}, "input_activations": )" + inputs + "}}}";
}
std::string modelopt(const std::string& algo, const std::string& model = "qwen3_moe") {
  return R"("model_type": ")" + model + R"(", "quantization_config": {"quant_method": "modelopt", "quant_algo": ")" + algo + "\"}";
}
std::string fp8(const std::string& rest) { return R"("quantization_config": {"quant_method": "fp8", )" + rest + "}"; }
std::string quark(const std::string& weight, const std::string& more = {}) {
  return R"("quantization_config": {"quant_method": "quark", "exclude": ["lm_head"], "global_quant_config": {"weight": {)" + weight + '}' + more +
         "}}";
}
std::string round(const std::string& words) {
  return R"("quantization_config": {"quant_method": "auto-round", "data_type": "mx_fp", "group_size": 32, "sym": true, )" + words + "}";
}
const std::string kQuarkMx = R"("qscheme": "per_group", "group_size": 32, "scale_format": "e8m0", )";
const std::string kV4 = R"("model_type": "deepseek_v4", "expert_dtype": "fp4", )";
const std::string kFp4Group = R"("num_bits": 4, "type": "float", "strategy": "group", "group_size": 32)";
const std::string kNvfp4Group = R"("num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16)";
const std::string kFp8Of = R"("num_bits": 8, "type": "float", "strategy": )";
const std::string kToken = R"({"num_bits": 8, "type": "float", "strategy": "token", "dynamic": true})";
const std::string kStatic = R"({"num_bits": 8, "type": "float", "strategy": "tensor", "dynamic": false})";
const std::string kFp4Inputs = R"({"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "dynamic": "local"})";
const std::string kSquare = R"("activation_scheme": "dynamic", "weight_block_size": [128, 128])";

std::vector<PublishedTensor> block(const std::string& suffix, const std::string& dtype, Shape shape = Shape::squares) {
  return {{".weight", "F8_E4M3", Holds::weight, Shape::matrix}, {suffix, dtype, Holds::scale, shape}};
}
std::vector<PublishedTensor> one_scale(const std::string& suffix, const std::string& dtype, Shape shape, bool with_input) {
  std::vector<PublishedTensor> tensors{{".weight", "F8_E4M3", Holds::weight, Shape::matrix}, {suffix, dtype, Holds::scale, shape}};
  if (with_input) tensors.push_back({".input_scale", dtype, Holds::input, shape});
  return tensors;
}
std::vector<PublishedTensor> mxfp4(const std::string& weight, const std::string& dtype, const std::string& scale, const std::string& scale_dtype) {
  return {{weight, dtype, Holds::weight, dtype == "U8" ? Shape::halved : Shape::matrix}, {scale, scale_dtype, Holds::scale, Shape::per_group}};
}
std::vector<PublishedTensor> nvfp4(bool with_input) {
  std::vector<PublishedTensor> tensors{{".weight", "U8", Holds::weight, Shape::halved},
                                       {".weight_scale", "F8_E4M3", Holds::scale, Shape::per_group},
                                       {".weight_scale_2", "F32", Holds::global, Shape::number}};
  if (with_input) tensors.push_back({".input_scale", "F32", Holds::input, Shape::number});
  return tensors;
}
std::vector<PublishedTensor> ct_nvfp4(bool with_input) {
  std::vector<PublishedTensor> tensors{{".weight_packed", "U8", Holds::weight, Shape::halved},
                                       {".weight_scale", "F8_E4M3", Holds::scale, Shape::per_group},
                                       {".weight_global_scale", "F32", Holds::global, Shape::list_of_one}};
  if (with_input) tensors.push_back({".input_global_scale", "F32", Holds::input, Shape::list_of_one});
  return tensors;
}

std::vector<PublishedForm> make_forms() {
  const auto each = [](const std::string& id, const std::string& title, WeightFormat format, std::vector<PublishedTensor> tensors,
                       const std::string& config, const std::string& backend) {
    return PublishedForm{id, title, format, "model.layers.", kMlp, kNames, Lies::each, std::move(tensors), config, backend};
  };
  const WeightFormat block_format = WeightFormat::fp8_block, tensor = WeightFormat::fp8_tensor, channel = WeightFormat::fp8_channel,
                     mx4 = WeightFormat::mxfp4, nv4 = WeightFormat::nvfp4, mx8 = WeightFormat::mxfp8;
  const std::string kBlockBackend = "FLASHINFER_TRTLLM", kTensorBackend = "FLASHINFER_CUTLASS", kChannelBackend = "VLLM_CUTLASS",
                    kNvBackend = "FLASHINFER_CUTLASS", kMxBackend = "MARLIN";
  std::vector<PublishedForm> forms;
  // FP8 in blocks: every dtype of scales, every name, both shapes.
  for (const char* const dtype : {"F32", "BF16", "F16", "F8_E8M0", "U8"})
    forms.push_back(
        each(std::string("fp8-block-") + dtype, "FP8 block", block_format, block(".weight_scale_inv", dtype), fp8(kSquare), kBlockBackend));
  forms.push_back(each("fp8-block-weight_scale", "FP8 block", block_format, block(".weight_scale", "BF16"), fp8(kSquare), kBlockBackend));
  forms.push_back(each("ct-fp8-block", "compressed-tensors FP8 block", block_format, block(".weight_scale", "BF16"),
                       ct(kFp8Of + R"("block", "block_structure": [128, 128])",
                          R"({"num_bits": 8, "type": "float", "strategy": "group", "group_size": 128, "dynamic": true})"),
                       kBlockBackend));
  const auto of_four = block(".weight_scale", "F32", Shape::squares_of_four);
  forms.push_back(each("modelopt-pb-wo", "ModelOpt FP8_PB_WO", block_format, of_four, modelopt("FP8_PB_WO"), kBlockBackend));
  forms.push_back(each("quark-fp8-block", "Quark FP8 block", block_format, block(".weight_scale", "F32"),
                       quark(R"("dtype": "fp8_e4m3", "qscheme": "per_block", "block_size": [128, 128], "scale_format": "float32")"), kBlockBackend));
  forms.push_back({"deepseek-v4-fp8", "DeepSeek-V4 FP8", block_format, "layers.", ".ffn.experts.", kNumbers, Lies::each, block(".scale", "F8_E8M0"),
                   R"("model_type": "deepseek_v4", "expert_dtype": "fp8", )" + fp8(kSquare), kBlockBackend});
  // FP8 with one scale: every shape of a number.
  const auto one = [&](const char* id, const char* title, const char* suffix, const char* dtype, Shape shape, bool input, const std::string& config) {
    const auto& [of, backend] = shape == Shape::column ? std::pair(channel, kChannelBackend) : std::pair(tensor, kTensorBackend);
    forms.push_back(each(id, title, of, one_scale(suffix, dtype, shape, input), config, backend));
  };
  one("modelopt-fp8-1x1", "ModelOpt FP8", ".weight_scale", "F32", Shape::one_by_one, true, modelopt("FP8"));
  one("modelopt-fp8-bf16", "ModelOpt FP8", ".weight_scale", "BF16", Shape::number, true, modelopt("FP8"));
  one("fp8-static", "FP8, static", ".weight_scale", "F32", Shape::list_of_one, true, fp8(R"("activation_scheme": "static")"));
  const std::string no_blocks = fp8(R"("activation_scheme": "dynamic", "weight_block_size": null)");
  one("fp8-scale-inv", "FP8, dynamic", ".weight_scale_inv", "BF16", Shape::number, false, no_blocks);
  const std::string by_tensor = kFp8Of + R"("tensor")", by_channel = kFp8Of + R"("channel")";
  one("ct-fp8-static", "compressed-tensors FP8", ".weight_scale", "BF16", Shape::list_of_one, true, ct(by_tensor, kStatic));
  one("ct-fp8-dynamic", "compressed-tensors FP8, dynamic", ".weight_scale", "BF16", Shape::list_of_one, false, ct(by_tensor, kToken));
  one("quark-fp8", "Quark FP8", ".weight_scale", "F32", Shape::number, true, quark(R"("dtype": "fp8_e4m3", "qscheme": "per_tensor")"));
  one("ct-fp8-channel", "compressed-tensors FP8 channel", ".weight_scale", "BF16", Shape::column, false, ct(by_channel, kToken));
  const std::string by_row = modelopt("FP8_PER_CHANNEL_PER_TOKEN");
  one("modelopt-fp8-channel", "ModelOpt FP8_PER_CHANNEL_PER_TOKEN", ".weight_scale", "F32", Shape::column, false, by_row);
  const std::string of_rows = quark(R"("dtype": "fp8_e4m3", "qscheme": "per_channel")");
  one("quark-fp8-channel", "Quark FP8 channel", ".weight_scale", "F32", Shape::column, false, of_rows);
  // MXFP8.
  const auto scaled = mxfp4(".weight", "F8_E4M3", ".weight_scale", "U8"), packed = mxfp4(".weight_packed", "U8", ".weight_scale", "U8");
  const auto e8m0 = mxfp4(".weight_packed", "U8", ".weight_scale", "F8_E8M0"), typed = mxfp4(".weight", "F8_E4M3", ".weight_scale", "F8_E8M0");
  forms.push_back(each("modelopt-mxfp8-e8m0", "ModelOpt MXFP8", mx8, typed, modelopt("MXFP8"), kBlockBackend));
  forms.push_back(each("ct-mxfp8", "compressed-tensors MXFP8", mx8, scaled, ct(kFp8Of + R"("group", "group_size": 32)", "null"), kBlockBackend));
  forms.push_back(each("autoround-mxfp8", "AutoRound MXFP8", mx8, scaled, round(R"("bits": 8)"), kBlockBackend));
  forms.push_back(each("quark-mxfp8", "Quark MXFP8", mx8, scaled, quark(kQuarkMx + R"("dtype": "fp8_e4m3")"), kBlockBackend));
  // MXFP4.
  forms.push_back(each("ct-mxfp4-w4a16", "compressed-tensors MXFP4", mx4, e8m0, ct(kFp4Group, "null"), kMxBackend));
  forms.push_back(each("ct-mxfp4-w4a4", "compressed-tensors MXFP4, FP4 activations", mx4, packed,
                       ct(kFp4Group, R"({"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "dynamic": true})"), kMxBackend));
  forms.push_back(each("ct-mxfp4-w4a8", "compressed-tensors MXFP4, FP8 activations", mx4, packed, ct(kFp4Group, kToken), kMxBackend));
  forms.push_back({"deepseek-v4-f4", "DeepSeek-V4 MXFP4", mx4, "layers.", ".ffn.experts.", kNumbers, Lies::each,
                   mxfp4(".weight", "F4", ".scale", "F8_E8M0"), kV4 + fp8(kSquare), kMxBackend});
  const auto stacked = [&](const char* id, const char* title, const std::string& model) {
    forms.push_back({id, title, mx4, "model.layers.", ".moe.experts.", kStacked, Lies::stacked, mxfp4("_weight", "U8", "_weight_scale", "U8"),
                     model + R"("quantization_config": {"quant_method": "mxfp4"})", kMxBackend});
  };
  stacked("mxfp4-stacked", "MXFP4, w13 and w2 of all experts, of any model", "");
  stacked("mxfp4-stacked-gpt-oss", "MXFP4, w13 and w2 of all experts", R"("architectures": ["GptOssForCausalLM"], )");
  forms.push_back(each("autoround-mxfp4", "AutoRound MXFP4", mx4, packed, round(R"("bits": 4)"), kMxBackend));
  const std::string named_4 = R"("bits": 8, "extra_config": {".*mlp\\.experts.*": {"bits": 4}})";
  forms.push_back(each("autoround-mixed", "AutoRound MXFP4", mx4, packed, round(named_4), kMxBackend));
  const auto quark_fp4 = [&](const char* id, const char* title, const std::string& inputs) {
    forms.push_back(each(id, title, mx4, mxfp4(".weight", "U8", ".weight_scale", "U8"),
                         quark(kQuarkMx + R"("dtype": "fp4")", R"(, "input_tensors": {"dtype": )" + inputs + "}"), kMxBackend));
  };
  quark_fp4("quark-mxfp4-w4a4", "Quark MXFP4, FP4 activations", R"("fp4", "qscheme": "per_group", "group_size": 32, "is_dynamic": true)");
  quark_fp4("quark-mxfp4-w4a8", "Quark MXFP4, FP8 activations", R"("fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": false)");
  // MXFP4 that a hook of the engine takes from another method.
  const std::string kimi = R"("model_type": "kimi_k3", "architectures": ["KimiK3ForConditionalGeneration"], "quantization_config": {"quant_method":
      "compressed-tensors", "format": "mxfp4-pack-quantized", "ignore": ["lm_head"], "config_groups": {"group_0": {"targets": ["Linear"], "weights": {)";
  forms.push_back({"kimi-k3", "MXFP4 in compressed-tensors' names", mx4, "language_model.model.layers.", ".block_sparse_moe.experts.", kNumbers,
                   Lies::each, packed, kimi + kFp4Group + "}}}}", kMxBackend});
  forms.push_back(each("ling-3", "MXFP4 under FP8", mx4, mxfp4(".weight", "U8", ".weight_scale_inv", "U8"),
                       R"("model_type": "bailing_hybrid", )" + fp8(kSquare + R"(, "routed_experts_quant_method": "mxfp4")"), kMxBackend));
  // NVFP4.
  forms.push_back({"deepseek-v4-nvfp4", "DeepSeek-V4 NVFP4", nv4, "layers.", ".ffn.experts.", kNumbers, Lies::each, nvfp4(true),
                   kV4 + fp8(kSquare + R"(, "moe_quant_algo": "NVFP4")"), kNvBackend});
  forms.push_back(each("quark-nvfp4", "Quark NVFP4", nv4, nvfp4(true),
                       R"("quantization_config": {"quant_method": "quark", "exclude": ["lm_head"], "global_quant_config": {"weight":
                          [{"dtype": "fp4", "qscheme": "per_group", "group_size": 16, "scale_format": "float8_e4m3"}, {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}]}})",
                       kNvBackend));
  forms.back().tensors.back().suffix = ".input_scale_2";
  forms.push_back(each("ct-nvfp4", "compressed-tensors NVFP4", nv4, ct_nvfp4(true), ct(kNvfp4Group, kFp4Inputs), kNvBackend));
  forms.back().inverse = true;
  forms.push_back(each("ct-nvfp4a16", "compressed-tensors NVFP4A16", nv4, ct_nvfp4(false), ct(kNvfp4Group, "null"), kNvBackend));
  forms.back().inverse = true;
  const std::string alone = R"(NVFP4", "config_groups": {"group_0": {"input_activations": null}}, "k": ")";
  forms.push_back(each("modelopt-nvfp4-alone", "ModelOpt NVFP4, weights alone", nv4, nvfp4(false), modelopt(alone), kNvBackend));
  forms.push_back(each("modelopt-w4a16-nvfp4", "ModelOpt W4A16_NVFP4", nv4, nvfp4(false), modelopt("W4A16_NVFP4"), kNvBackend));
  const std::vector<PublishedTensor> fused_nvfp4{{"", "U8", Holds::weight, Shape::halved},
                                                 {"_weight_scale", "F8_E4M3", Holds::scale, Shape::per_group},
                                                 {"_weight_scale_2", "F32", Holds::global, Shape::number},
                                                 {"_input_scale", "F32", Holds::input, Shape::number}};
  forms.push_back({"llama4-nvfp4", "ModelOpt NVFP4, fused", nv4, "language_model.model.layers.", ".feed_forward.experts.", kFused, Lies::input_major,
                   fused_nvfp4, modelopt("NVFP4", "llama4"), kNvBackend});
  std::vector<PublishedTensor> fused_fp8 = one_scale("_weight_scale", "F32", Shape::number, false);
  fused_fp8[0].suffix = "";
  fused_fp8.push_back({"_input_scale", "F32", Holds::input, Shape::number});
  forms.push_back({"llama4-fp8", "ModelOpt FP8, fused", tensor, "language_model.model.layers.", ".feed_forward.experts.", kFused, Lies::input_major,
                   fused_fp8, modelopt("FP8", "llama4"), kTensorBackend});
  // All experts in one, the rows of gate before those of up; or gate and up of each expert.
  const auto fused = [](const std::string& scale, const std::string& dtype, Shape shape) {
    return std::vector<PublishedTensor>{{"", "F8_E4M3", Holds::weight, Shape::matrix}, {scale, dtype, Holds::scale, shape}};
  };
  for (const char* const dtype : {"F32", "F8_E8M0"}) {
    forms.push_back({std::string("fp8-block-fused-") + dtype, "FP8 block, fused", block_format, "model.layers.", kMlp, kFused, Lies::stacked,
                     fused("_scale_inv", dtype, Shape::squares), R"("model_type": "qwen3_moe", )" + fp8(kSquare), kBlockBackend});
    forms.push_back({std::string("fp8-block-input-major-") + dtype, "FP8 block, fused, input-major", block_format, "model.language_model.layers.",
                     kMlp, kFused, Lies::input_major, fused("_scale_inv", dtype, Shape::squares), R"("model_type": "qwen3_vl_moe", )" + fp8(kSquare),
                     kBlockBackend});
  }
  forms.push_back({"mistral4", "FP8, static, fused", tensor, "model.language_model.layers.", kMlp, kFused, Lies::stacked,
                   fused("_scale_inv", "F32", Shape::of_experts),
                   R"("model_type": "mistral4", )" + fp8(R"("activation_scheme": "static", "weight_block_size": null)"), kTensorBackend});
  forms.back().tensors.push_back({"_activation_scale", "F32", Holds::input, Shape::of_experts});
  for (const Shape shape : {Shape::of_rows, Shape::of_row_columns}) {
    const std::string config = ct(kFp8Of + R"("channel")", kToken);
    forms.push_back({shape == Shape::of_rows ? "llama4-fp8-channel" : "llama4-fp8-channel-column", "compressed-tensors FP8 channel, fused", channel,
                     "language_model.model.layers.", ".feed_forward.experts.", kFused, Lies::input_major,
                     fused("_scale", shape == Shape::of_rows ? "F32" : "BF16", shape), R"("model_type": "llama4")" + config.substr(config.find(',')),
                     kChannelBackend});
  }
  forms.push_back({"fp8-block-halves", "FP8 block", block_format, "model.layers.", kMlp, kFused, Lies::each, block(".weight_scale_inv", "F32"),
                   R"("model_type": "qwen3_moe", )" + fp8(kSquare), kBlockBackend});
  const std::string no_inputs = ct(kFp4Group, "null");
  forms.push_back({"ct-mxfp4-halves", "compressed-tensors MXFP4", mx4, "model.layers.", kMlp, kStacked, Lies::each, packed, no_inputs, kMxBackend});
  const std::vector<PublishedTensor> native{{".weight", "F8_E4M3", Holds::weight, Shape::matrix},
                                            {".qscale_weight", "F32", Holds::scale, Shape::number},
                                            {".qscale_act", "F32", Holds::input, Shape::number}};
  forms.push_back({"mistral-native", "Mistral FP8", tensor, "layers.", ".experts.", kNumbers, Lies::each, native,
                   fp8(R"("activation_scheme": "static")"), kTensorBackend});
  forms.push_back({"grok", "FP8, static", tensor, "model.layers.", ".moe_block.experts.", kLinear, Lies::each,
                   one_scale(".weight_scale", "F32", Shape::number, true),
                   R"("model_type": "grok-1", "hidden_act": "gelu", )" + fp8(R"("activation_scheme": "static")"), kTensorBackend});
  // Prefixes and projections of models.
  const auto named = [&](const std::string& id, const std::string& before, const std::string& after, const std::vector<std::string>& names,
                         const std::string& more) {
    forms.push_back({id, "ModelOpt NVFP4", nv4, before, after, names, Lies::each, nvfp4(true), modelopt("NVFP4", "any") + more, kNvBackend});
  };
  named("gemma4", "model.language_model.layers.", ".experts.", kNames, R"(, "text_config": {"hidden_activation": "gelu_pytorch_tanh"})");
  named("gemma4-moe", "model.language_model.layers.", ".moe.experts.", kNames, R"(, "hidden_activation": "gelu_pytorch_tanh")");
  named("mixtral", "model.layers.", ".block_sparse_moe.experts.", kNumbers, "");
  named("kimi", "language_model.model.layers.", ".block_sparse_moe.experts.", kNumbers, R"(, "hidden_act": "silu")");
  named("nemotron", "backbone.layers.", ".mixer.experts.", kNoGate, R"(, "mlp_hidden_act": "relu2")");
  named("lfm2", "model.layers.", ".feed_forward.experts.", kNumbers, "");
  named("jamba", "model.layers.", ".feed_forward.experts.", kNames, R"(, "hidden_act": "silu")");
  named("step", "model.layers.", ".moe.experts.", kNames, "");
  named("two-layers", "transformer.h.", ".mlp.experts.", kTwoLayers, "");
  return forms;
}

std::int64_t rows_of(const PublishedForm& form, std::size_t projection) {
  const bool w13 = projection + 1 < form.projections.size();
  if (!w13) return kPublishedHidden;
  return form.lies == Lies::each && !form.halves() ? kPublishedIntermediate : 2 * kPublishedIntermediate;
}
std::int64_t columns_of(const PublishedForm& form, std::size_t projection) {
  return projection + 1 < form.projections.size() ? kPublishedHidden : kPublishedIntermediate;
}

std::vector<std::int64_t> shape_of(const PublishedForm& form, Shape shape, std::int64_t n, std::int64_t k) {
  const std::int64_t group = form.format == WeightFormat::nvfp4 ? 16 : 32;
  std::vector<std::int64_t> dims;
  switch (shape) {
    case Shape::matrix: dims = {n, k}; break;
    case Shape::halved: dims = {n, k / 2}; break;
    case Shape::per_group: dims = {n, k / group}; break;
    case Shape::squares: dims = {(n + 127) / 128, (k + 127) / 128}; break;
    case Shape::squares_of_four: return {(n + 127) / 128, 1, (k + 127) / 128, 1};
    case Shape::column: return {n, 1};
    case Shape::of_rows: return {kPublishedExperts, 1, n};
    case Shape::of_row_columns: return {kPublishedExperts, n, 1};
    case Shape::of_experts: return {kPublishedExperts, 1, 1};
    case Shape::number: return {};
    case Shape::list_of_one: return {1};
    case Shape::one_by_one: return {1, 1};
  }
  if (form.lies == Lies::stacked) dims.insert(dims.begin(), kPublishedExperts);
  if (form.lies == Lies::input_major) dims = {kPublishedExperts, dims[1], dims[0]};
  return dims;
}

std::uint32_t word_at(const Bytes& bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t b = 4; b-- > 0;) word = word << 8 | bytes[at + b];
  return word;
}
void put_word(Bytes& bytes, std::uint32_t word, std::size_t count) {
  for (std::size_t b = 0; b < count; ++b) bytes.push_back(static_cast<std::uint8_t>(word >> 8 * b));
}

/// What a dtype holds of a positive normal fp32 number that is cut, and its code there.
std::uint32_t cut(const std::string& dtype, std::uint32_t bits) {
  if (dtype == "BF16") return bits & 0xFFFF0000U;
  if (dtype == "F16") return bits & 0xFFFFE000U;
  if (dtype == "F8_E8M0" || dtype == "U8") return bits & 0x7F800000U;
  return bits;
}
Bytes as_dtype(const std::string& dtype, const Bytes& f32) {
  Bytes bytes;
  for (std::size_t at = 0; at < f32.size(); at += 4) {
    const std::uint32_t bits = word_at(f32, at);
    if (dtype == "BF16")
      put_word(bytes, bits >> 16, 2);
    else if (dtype == "F16")
      put_word(bytes, ((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3FFU), 2);
    else if (dtype == "F8_E8M0" || dtype == "U8")
      put_word(bytes, bits >> 23, 1);
    else
      put_word(bytes, bits, 4);
  }
  return bytes;
}

Role role_of(Holds holds, bool w13) {
  switch (holds) {
    case Holds::weight: return w13 ? Role::w13_weight : Role::w2_weight;
    case Holds::scale: return w13 ? Role::w13_weight_scale : Role::w2_weight_scale;
    default: return w13 ? Role::w13_global_scale : Role::w2_global_scale;
  }
}

Bytes slice(const Bytes& bytes, std::size_t index, std::size_t count) {
  const auto size = static_cast<std::ptrdiff_t>(bytes.size() / count);
  return {bytes.begin() + static_cast<std::ptrdiff_t>(index) * size, bytes.begin() + static_cast<std::ptrdiff_t>(index + 1) * size};
}

std::size_t unit_of(const std::string& dtype) { return dtype == "F32" ? 4 : dtype == "BF16" || dtype == "F16" ? 2 : 1; }

/// [E, rows, columns] of units of so many bytes as [E, columns, rows].
Bytes transposed(const Bytes& bytes, std::size_t rows, std::size_t unit) {
  Bytes made(bytes.size());
  const std::size_t each = bytes.size() / unit / kPublishedExperts, columns = each / rows;
  for (std::size_t e = 0; e < kPublishedExperts; ++e) {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t b = 0; b < unit; ++b) made[(e * each + c * rows + r) * unit + b] = bytes[(e * each + r * columns + c) * unit + b];
      }
    }
  }
  return made;
}

bool is_number(Shape shape) { return shape == Shape::number || shape == Shape::list_of_one || shape == Shape::one_by_one; }

/// The numbers that lie in the file, before they stand for factors.
layout::CanonicalLayer layer_in_file(const PublishedForm& form) {
  const std::int64_t group = std::max<std::int64_t>(layout::group_of(form.format), 1);
  layout::CanonicalLayer layer = sim::sample_layer({kPublishedExperts, kPublishedIntermediate, kPublishedHidden, group},
                                                   {form.format, layout::SourceOrder::standard, form.gated()}, false, 11);
  for (const PublishedTensor& tensor : form.tensors) {
    if (tensor.holds == Holds::weight || tensor.holds == Holds::input) continue;
    for (const bool w13 : {true, false}) {
      Bytes& role = layer[role_of(tensor.holds, w13)];
      const bool wide = tensor.holds == Holds::global || layout::unit_bits(role_of(tensor.holds, w13), form.format) == 32;
      for (std::size_t at = 0; wide && at < role.size(); at += 4) {
        // One number for all experts: the first's.
        const bool of_all = form.lies != Lies::each && is_number(tensor.shape);
        std::uint32_t bits = cut(tensor.dtype, word_at(role, of_all ? 0 : at));
        // Exponents that tell scales apart, and numbers whose inverses are usual factors.
        if (tensor.dtype == "F8_E8M0" || tensor.dtype == "U8") bits = static_cast<std::uint32_t>(112 + at / 4 * 5 % 7) << 23;
        if (form.inverse && tensor.holds == Holds::global) bits = (bits & 0x7FFFFFU) | 139U << 23;
        for (std::size_t b = 0; b < 4; ++b) role[at + b] = static_cast<std::uint8_t>(bits >> 8 * b);
      }
    }
  }
  return layer;
}

}  // namespace

const std::vector<PublishedForm>& published_forms() {
  static const std::vector<PublishedForm> forms = make_forms();
  return forms;
}

const PublishedForm& published_form(const std::string& id) {
  const auto found = std::ranges::find(published_forms(), id, &PublishedForm::id);
  if (found == published_forms().end()) throw std::logic_error("no form " + id);
  return *found;
}

layout::CanonicalLayer published_layer(const PublishedForm& form) {
  layout::CanonicalLayer layer = layer_in_file(form);
  for (const Role role : {Role::w13_global_scale, Role::w2_global_scale}) {
    for (std::size_t at = 0; form.inverse && at < layer[role].size(); at += 4) {
      // Divided in double, which fp32 division equals after one rounding.
      const double number = std::bit_cast<float>(word_at(layer[role], at));
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(1.0 / number));
      for (std::size_t b = 0; b < 4; ++b) layer[role][at + b] = static_cast<std::uint8_t>(bits >> 8 * b);
    }
  }
  return layer;
}

std::vector<support::TensorData> published_tensors(const PublishedForm& form, const std::string& before, int layer) {
  const layout::CanonicalLayer canonical = layer_in_file(form);
  std::vector<support::TensorData> tensors;
  const std::string prefix = before + std::to_string(layer) + form.after;
  const std::size_t copies = form.lies == Lies::each ? kPublishedExperts : 1;
  for (std::size_t expert = 0; expert < copies; ++expert) {
    for (std::size_t p = 0; p < form.projections.size(); ++p) {
      const bool w13 = p + 1 < form.projections.size();
      const std::int64_t n = rows_of(form, p), k = columns_of(form, p);
      for (const PublishedTensor& row : form.tensors) {
        const std::string name = prefix + (form.lies == Lies::each ? std::to_string(expert) + "." : "") + form.projections[p] + row.suffix;
        support::TensorData tensor{name, row.dtype, shape_of(form, row.shape, n, k), {}};
        const Bytes& role = canonical[role_of(row.holds, w13)];
        const bool wide = row.holds != Holds::input && layout::unit_bits(role_of(row.holds, w13), form.format) == 32;
        Bytes bytes;
        if (row.holds == Holds::input) {
          const auto top = static_cast<std::uint8_t>(form.inverse ? 0x43 : 0x3C);  // 1 / 128, or its inverse
          bytes = as_dtype(row.dtype, row.shape == Shape::of_experts ? Bytes{0, 0, 0, top, 0, 0, 0, top} : Bytes{0, 0, 0, top});
        } else if (is_number(row.shape)) {
          bytes = as_dtype(row.dtype, slice(role, expert, role.size() / 4));
        } else {
          const std::size_t halves = w13 && form.gated() && form.lies == Lies::each && !form.halves() ? 2 : 1;
          bytes = slice(role, expert * halves + (halves == 2 ? p : 0), copies * halves);
          if (wide) bytes = as_dtype(row.dtype, bytes);
          const bool turned = form.lies == Lies::input_major && row.shape != Shape::of_rows && row.shape != Shape::of_row_columns;
          if (turned) bytes = transposed(bytes, static_cast<std::size_t>(tensor.shape[2]), unit_of(row.dtype));
        }
        tensor.bytes = std::move(bytes);
        tensors.push_back(std::move(tensor));
      }
    }
  }
  return tensors;
}

Draft published_draft(const PublishedForm& form, int layer) {
  Draft draft;
  draft.has_index = false;
  draft.shards["model.safetensors"] = published_tensors(form, form.before, layer);
  // Llama 4's routing weight is on the input, of one expert a token.
  const std::string top_k = form.config.find("\"llama4\"") == std::string::npos ? "2" : "1";
  draft.config = "{" + form.config + R"(, "hidden_size": 256, "moe_intermediate_size": 128, "num_experts": 2, "num_experts_per_tok": )" + top_k + "}";
  return draft;
}

}  // namespace mx::tests
