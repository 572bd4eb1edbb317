#include "model/deployment/models.hpp"

#include <array>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::deployment {
namespace {

using Names = std::string_view;

// Which method asks with which keys. Source: vllm 7e1b45a09 model_executor/layers/quantization/mxfp4.py, modelopt.py, fp8.py, quark/quark_moe.py and
// compressed_tensors/compressed_tensors_moe.
constexpr std::array kSchemes = {
    Scheme{.name = "mxfp4",
           .oracle = "mxfp4",
           .weight_key = "kMxfp4Static",
           .activation_key = "None",
           .title = "MXFP4 weights, activations as each backend likes them",
           .source = "vllm mxfp4.py Mxfp4MoEMethod"},
    Scheme{.name = "mxfp4-mxfp8",
           .oracle = "mxfp4",
           .weight_key = "kMxfp4Static",
           .activation_key = "kMxfp8Dynamic",
           .title = "MXFP4 weights, MXFP8 activations",
           .source = "vllm oracle/mxfp4.py: declared, or asked for by quantization_config.moe.activation"},
    Scheme{.name = "mxfp4-fp8",
           .oracle = "mxfp4",
           .weight_key = "kMxfp4Static",
           .activation_key = "kFp8StaticTensorSym",
           .title = "MXFP4 weights, FP8 activations with one scale",
           .source = "vllm quark/quark_moe.py"},
    Scheme{.name = "mxfp4-mxfp4",
           .oracle = "mxfp4",
           .weight_key = "kMxfp4Static",
           .activation_key = "kMxfp4Dynamic",
           .title = "MXFP4 weights, MXFP4 activations",
           .source = "vllm quark/quark_moe.py"},
    Scheme{.name = "mxfp4-deepseek-v4",
           .oracle = "mxfp4_deepseek_v4",
           .weight_key = "kMxfp4Static",
           .activation_key = "None",
           .title = "MXFP4 weights of DeepSeek-V4, activations as each backend likes them",
           .source = "vllm models/deepseek_v4/quant_config.py, expert_dtype fp4"},
    Scheme{.name = "nvfp4",
           .oracle = "nvfp4",
           .weight_key = "kNvfp4Static",
           .activation_key = "kNvfp4Dynamic",
           .title = "NVFP4 weights, NVFP4 activations",
           .source = "vllm modelopt.py ModelOptNvFp4FusedMoE"},
    Scheme{.name = "nvfp4-a16",
           .oracle = "nvfp4",
           .weight_key = "kNvfp4Static",
           .activation_key = "None",
           .title = "NVFP4 weights, 16-bit activations",
           .source = "vllm compressed_tensors_moe, scheme W4A16 NVFP4"},
    Scheme{.name = "fp8-block",
           .oracle = "fp8",
           .weight_key = "kFp8Static128BlockSym",
           .activation_key = "kFp8Dynamic128Sym",
           .title = "FP8 weights in 128 x 128 blocks, FP8 activations in groups of 128",
           .source = "vllm fp8.py Fp8MoEMethod, weight_block_size"},
    Scheme{.name = "fp8-tensor",
           .oracle = "fp8",
           .weight_key = "kFp8StaticTensorSym",
           .activation_key = "kFp8StaticTensorSym",
           .title = "FP8 weights, FP8 activations with one recorded scale",
           .source = "vllm modelopt.py ModelOptFp8MoEMethod"},
    Scheme{.name = "fp8-tensor-dynamic",
           .oracle = "fp8",
           .weight_key = "kFp8StaticTensorSym",
           .activation_key = "kFp8DynamicTensorSym",
           .title = "FP8 weights, FP8 activations with one scale at run time",
           .source = "vllm fp8.py Fp8MoEMethod, activation_scheme dynamic"},
    Scheme{.name = "fp8-channel",
           .oracle = "fp8",
           .weight_key = "kFp8StaticChannelSym",
           .activation_key = "kFp8DynamicTokenSym",
           .allow_vllm_cutlass = true,
           .title = "FP8 weights with a scale per row, FP8 activations with a scale per token",
           .source = "vllm compressed_tensors_moe, scheme W8A8 FP8"},
    Scheme{.name = "mxfp8",
           .oracle = "mxfp8",
           .weight_key = "kMxfp8Static",
           .activation_key = "None",
           .title = "MXFP8 weights, MXFP8 activations",
           .source = "vllm modelopt.py ModelOptMxFp8FusedMoE"},
    Scheme{.name = "w4a8",
           .oracle = "w4a8",
           .weight_key = "kInt4Static",
           .activation_key = "kFp8DynamicTokenSym",
           .title = "INT4 weights, FP8 activations with a scale per token",
           .source = "vllm compressed_tensors_moe, scheme W4A8 FP8"},
};

constexpr std::array<Names, 2> kGptOss = {"mxfp4", "mxfp4-fp8"};
constexpr std::array<Names, 3> kDeepSeekV3 = {"fp8-block", "nvfp4", "mxfp4-mxfp4"};
constexpr std::array<Names, 1> kDeepSeekV4 = {"mxfp4-deepseek-v4"};
constexpr std::array<Names, 2> kBlockAndNvfp4 = {"fp8-block", "nvfp4"};
constexpr std::array<Names, 1> kTensor = {"fp8-tensor"};
constexpr std::array<Names, 2> kTensorAndNvfp4 = {"fp8-tensor", "nvfp4"};
constexpr std::array<Names, 2> kChannelAndNvfp4 = {"fp8-channel", "nvfp4"};
constexpr std::array<Names, 1> kChannel = {"fp8-channel"};
constexpr std::array<Names, 1> kBlock = {"fp8-block"};

constexpr std::array kModels = {
    Model{.name = "gpt-oss-20b",
          .experts = 32,
          .top_k = 4,
          .hidden = 2880,
          .intermediate = 2880,
          .activation = "SWIGLUOAI",
          .routing = "Renormalize",
          .bias = true,
          .published = kGptOss,
          .source = "openai/gpt-oss-20b; amd/gpt-oss-20b-w-mxfp4-a-fp8"},
    Model{.name = "gpt-oss-120b",
          .experts = 128,
          .top_k = 4,
          .hidden = 2880,
          .intermediate = 2880,
          .activation = "SWIGLUOAI",
          .routing = "Renormalize",
          .bias = true,
          .published = kGptOss,
          .source = "openai/gpt-oss-120b; amd/gpt-oss-120b-w-mxfp4-a-fp8"},
    Model{.name = "DeepSeek-V3",
          .experts = 256,
          .top_k = 8,
          .hidden = 7168,
          .intermediate = 2048,
          .routing = "DeepSeekV3",
          .expert_groups = 8,
          .topk_group = 4,
          .correction_bias = true,
          .routed_scaling = true,
          .published = kDeepSeekV3,
          .source = "deepseek-ai/DeepSeek-V3; nvidia/DeepSeek-V3-0324-NVFP4; amd/DeepSeek-R1-MXFP4"},
    Model{.name = "DeepSeek-V4-Flash",
          .experts = 256,
          .top_k = 6,
          .hidden = 4096,
          .intermediate = 2048,
          .routing = "DeepseekV4",
          .correction_bias = true,
          .swiglu_limit = true,
          .published = kDeepSeekV4,
          .source = "deepseek-ai/DeepSeek-V4-Flash"},
    Model{.name = "DeepSeek-V4-Pro",
          .experts = 384,
          .top_k = 6,
          .hidden = 7168,
          .intermediate = 3072,
          .routing = "DeepseekV4",
          .correction_bias = true,
          .swiglu_limit = true,
          .published = kDeepSeekV4,
          .source = "deepseek-ai/DeepSeek-V4-Pro"},
    Model{.name = "Qwen3-30B-A3B",
          .experts = 128,
          .top_k = 8,
          .hidden = 2048,
          .intermediate = 768,
          .routing = "RenormalizeNaive",
          .published = kBlockAndNvfp4,
          .source = "Qwen/Qwen3-30B-A3B-FP8; nvidia/Qwen3-30B-A3B-NVFP4"},
    Model{.name = "Qwen3-235B-A22B",
          .experts = 128,
          .top_k = 8,
          .hidden = 4096,
          .intermediate = 1536,
          .routing = "RenormalizeNaive",
          .published = kBlockAndNvfp4,
          .source = "Qwen/Qwen3-235B-A22B-FP8; nvidia/Qwen3-235B-A22B-NVFP4"},
    Model{.name = "Mixtral-8x7B",
          .experts = 8,
          .top_k = 2,
          .hidden = 4096,
          .intermediate = 14336,
          .routing = "RenormalizeNaive",
          .published = kTensor,
          .source = "mistralai/Mixtral-8x7B-v0.1; neuralmagic/Mixtral-8x7B-Instruct-v0.1-FP8"},
    Model{.name = "Llama-4-Scout",
          .experts = 16,
          .top_k = 1,
          .hidden = 5120,
          .intermediate = 8192,
          .routing = "Llama4",
          .router_weight_on_input = true,
          .published = kChannelAndNvfp4,
          .source = "meta-llama/Llama-4-Scout-17B-16E-Instruct; RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic; "
                    "nvidia/Llama-4-Scout-17B-16E-Instruct-NVFP4"},
    Model{.name = "Llama-4-Maverick",
          .experts = 128,
          .top_k = 1,
          .hidden = 5120,
          .intermediate = 8192,
          .routing = "Llama4",
          .router_weight_on_input = true,
          .published = kChannel,
          .source = "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"},
    Model{.name = "Nemotron-3-Nano",
          .experts = 128,
          .top_k = 6,
          .hidden = 2688,
          .intermediate = 1856,
          .activation = "RELU2_NO_MUL",
          .routing = "DeepSeekV3",
          .act_and_mul = false,
          .expert_groups = 1,
          .topk_group = 1,
          .correction_bias = true,
          .routed_scaling = true,
          .published = kTensorAndNvfp4,
          .source = "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16, -FP8, -NVFP4"},
    Model{.name = "MiniMax-M2",
          .experts = 256,
          .top_k = 8,
          .hidden = 3072,
          .intermediate = 1536,
          .routing = "MiniMax2",
          .correction_bias = true,
          .published = kBlock,
          .source = "MiniMaxAI/MiniMax-M2"},
};

template <typename Row>
const Row& row_named(std::string_view what, std::string_view name, std::span<const Row> rows) {
  std::vector<Names> known;
  for (const Row& row : rows) {
    if (same_name(row.name, name)) return row;
    known.push_back(row.name);
  }
  throw Error(ErrorCode::usage, unknown_name(what, name, known));
}

}  // namespace

std::span<const Scheme> schemes() { return kSchemes; }
std::span<const Model> models() { return kModels; }
const Scheme& scheme_named(std::string_view name) { return row_named<Scheme>("scheme", name, kSchemes); }
const Model& model_named(std::string_view name) { return row_named<Model>("model", name, kModels); }

LayerConfig layer_of(const Model& model, const ParallelRequest& parallel) {
  const std::int64_t ranks = tensor_ranks(parallel);
  return {
      .num_experts = model.experts,
      .experts_per_token = model.top_k,
      .hidden = model.hidden,
      .intermediate_per_partition = (model.intermediate + ranks - 1) / ranks,
      .activation = std::string(model.activation),
      .routing_method = std::string(model.routing),
      .has_bias = model.bias,
      .is_act_and_mul = model.act_and_mul,
      .router_weight_on_input = model.router_weight_on_input,
      .expert_groups = model.expert_groups,
      .topk_group = model.topk_group,
      .has_correction_bias = model.correction_bias,
      .has_routed_scaling = model.routed_scaling,
      .has_swiglu_limit = model.swiglu_limit,
  };
}

Deployment deployment_of(const Model& model, const Scheme& scheme, const PlatformPreset& preset, const ParallelRequest& parallel) {
  Deployment deployment = deployment_on(preset, parallel, layer_of(model, parallel));
  deployment.weight_key = scheme.weight_key;
  deployment.activation_key = scheme.activation_key;
  deployment.allow_vllm_cutlass = scheme.allow_vllm_cutlass;
  return deployment;
}

}  // namespace mx::deployment
