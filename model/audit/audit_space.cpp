#include "model/audit/audit_space.hpp"

#include <array>
#include <vector>

#include "model/deployment/models.hpp"

namespace mx::audit {
namespace {

using Names = std::string_view;

/// Published models that differ in what kernels depend on.
constexpr std::array<Names, 9> kPublished = {"gpt-oss-20b",  "gpt-oss-120b",  "DeepSeek-V3",     "DeepSeek-V4-Flash", "Qwen3-30B-A3B",
                                             "Mixtral-8x7B", "Llama-4-Scout", "Nemotron-3-Nano", "MiniMax-M2"};

/// Sizes that no model has.
constexpr std::array kOdd = {
    deployment::Model{.name = "odd experts", .experts = 6, .top_k = 3, .hidden = 2048, .intermediate = 1024, .routing = "Renormalize"},
    deployment::Model{.name = "odd sizes",
                      .experts = 640,
                      .top_k = 12,
                      .hidden = 1000,
                      .intermediate = 120,
                      .activation = "SWIGLUOAI",
                      .routing = "RenormalizeNaive"},
    deployment::Model{.name = "odd groups",
                      .experts = 64,
                      .top_k = 12,
                      .hidden = 9000,
                      .intermediate = 704,
                      .routing = "RenormalizeNaive",
                      .expert_groups = 8,
                      .topk_group = 3,
                      .routed_scaling = true},
    deployment::Model{.name = "odd activation",
                      .experts = 64,
                      .top_k = 4,
                      .hidden = 2048,
                      .intermediate = 1408,
                      .activation = "SWIGLUSTEP",
                      .routing = "Renormalize"},
    deployment::Model{
        .name = "odd pairs", .experts = 32, .top_k = 4, .hidden = 2080, .intermediate = 2048, .activation = "SWIGLUOAI", .routing = "Renormalize"},
    deployment::Model{
        .name = "odd gelu", .experts = 128, .top_k = 8, .hidden = 2816, .intermediate = 704, .activation = "GELU", .routing = "Renormalize"},
};

deployment::ParallelRequest spread(int tp, int dp, bool experts, Names all2all = "allgather_reducescatter") {
  return {.tp = tp, .dp = dp, .enable_expert_parallel = experts, .all2all_backend = std::string(all2all)};
}

std::vector<deployment::ParallelRequest> parallelisms() {
  std::vector<deployment::ParallelRequest> all = {spread(1, 1, false), spread(2, 1, false), spread(4, 1, false), spread(8, 1, false),
                                                  spread(3, 1, false), spread(1, 2, false), spread(2, 1, true),  spread(8, 1, true),
                                                  spread(3, 1, true),  spread(2, 2, true),  spread(1, 3, true)};
  for (Names all2all : {"allgather_reducescatter", "naive", "pplx", "deepep_high_throughput", "deepep_low_latency", "mori", "nixl_ep",
                        "flashinfer_all2allv", "flashinfer_nvlink_two_sided", "flashinfer_nvlink_one_sided"}) {
    all.push_back(spread(1, 2, true, all2all));
  }
  for (Names all2all : {"deepep_low_latency", "nixl_ep", "mori", "deepep_high_throughput"}) all.push_back(spread(1, 3, true, all2all));
  deployment::ParallelRequest balanced = spread(2, 1, true);
  balanced.enable_eplb = true;
  deployment::ParallelRequest in_turn = spread(2, 1, true);
  in_turn.round_robin = true;
  all.push_back(balanced);
  all.push_back(in_turn);
  return all;
}

/// Something else than usual, on one rank and on two that share the experts.
struct VariationRow {
  Names name;
  void (*apply)(deployment::Deployment&);
};

/// That many groups, or two where the experts cannot be dealt out to so many.
void set_groups(deployment::LayerConfig& layer, int groups, int chosen) {
  const bool fit = layer.num_experts % groups == 0;
  layer.expert_groups = fit ? groups : 2;
  layer.topk_group = fit ? chosen : 1;
}

template <Names const& Name, Names const& Value>
void set_variable(deployment::Deployment& d) {
  d.env[std::string(Name)] = std::string(Value);
}
constexpr Names kOn = "1";
constexpr Names kOff = "0";
constexpr Names kBf16 = "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16";
constexpr Names kMxfp8 = "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8";
constexpr Names kMxfp8Cutlass = "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS";
constexpr Names kUseMarlin = "VLLM_MXFP4_USE_MARLIN";
constexpr Names kFp4 = "VLLM_USE_FLASHINFER_MOE_FP4";
constexpr Names kFp8 = "VLLM_USE_FLASHINFER_MOE_FP8";
constexpr Names kForceMarlin = "VLLM_TEST_FORCE_FP8_MARLIN";
constexpr Names kDeepGemm = "VLLM_USE_DEEP_GEMM";
constexpr Names kInvariant = "VLLM_BATCH_INVARIANT";
constexpr Names kAiter = "VLLM_ROCM_USE_AITER";
constexpr Names kHummingGemm = "VLLM_HUMMING_MOE_GEMM_TYPE";
constexpr Names kGrouped = "grouped";
constexpr Names kHummingInputs = "VLLM_HUMMING_INPUT_QUANT_CONFIG";
constexpr Names kFp8Inputs = R"({"dtype":"float8e4m3"})";

constexpr std::array kVariations = {
    VariationRow{"FlashInfer BF16", set_variable<kBf16, kOn>},
    VariationRow{"no FlashInfer BF16", set_variable<kBf16, kOff>},
    VariationRow{"FlashInfer MXFP8", set_variable<kMxfp8, kOn>},
    VariationRow{"FlashInfer CUTLASS MXFP8", set_variable<kMxfp8Cutlass, kOn>},
    VariationRow{"Marlin", set_variable<kUseMarlin, kOn>},
    VariationRow{"FlashInfer FP4", set_variable<kFp4, kOn>},
    VariationRow{"FlashInfer FP8", set_variable<kFp8, kOn>},
    VariationRow{"Marlin for FP8", set_variable<kForceMarlin, kOn>},
    VariationRow{"DeepGEMM", set_variable<kDeepGemm, kOn>},
    VariationRow{"batch invariance", set_variable<kInvariant, kOn>},
    VariationRow{"no AITER", set_variable<kAiter, kOff>},
    VariationRow{"Humming grouped", set_variable<kHummingGemm, kGrouped>},
    VariationRow{"Humming with FP8 activations", set_variable<kHummingInputs, kFp8Inputs>},
    VariationRow{"float16", [](deployment::Deployment& d) { d.layer.in_dtype = "float16"; }},
    VariationRow{"float32", [](deployment::Deployment& d) { d.layer.in_dtype = "float32"; }},
    VariationRow{"float16 through DeepEP",
                 [](deployment::Deployment& d) {
                   d.layer.in_dtype = "float16";
                   d.parallel = spread(1, 2, true, "deepep_high_throughput");
                 }},
    // Batched classes with what their standard ones are asked above and below.
    VariationRow{"biases through DeepEP low latency",
                 [](deployment::Deployment& d) {
                   d.layer.has_bias = true;
                   d.parallel = spread(1, 2, true, "deepep_low_latency");
                 }},
    VariationRow{"float32 through DeepEP low latency",
                 [](deployment::Deployment& d) {
                   d.layer.in_dtype = "float32";
                   d.parallel = spread(1, 2, true, "deepep_low_latency");
                 }},
    VariationRow{"SILU through DeepEP low latency",
                 [](deployment::Deployment& d) {
                   d.layer.activation = "SILU";
                   d.parallel = spread(1, 2, true, "deepep_low_latency");
                 }},
    VariationRow{"biases", [](deployment::Deployment& d) { d.layer.has_bias = !d.layer.has_bias; }},
    VariationRow{"not gated", [](deployment::Deployment& d) { d.layer.is_act_and_mul = false; }},
    VariationRow{"LoRA", [](deployment::Deployment& d) { d.layer.is_lora_enabled = true; }},
    VariationRow{"weight on the input", [](deployment::Deployment& d) { d.layer.router_weight_on_input = true; }},
    VariationRow{"weight on the input of one expert through mori",
                 [](deployment::Deployment& d) {
                   d.layer.router_weight_on_input = true;
                   d.layer.experts_per_token = 1;
                   d.parallel = spread(1, 2, true, "mori");
                 }},
    VariationRow{"other constants", [](deployment::Deployment& d) { d.layer.has_swiglu_alpha = d.layer.has_swiglu_limit = true; }},
    VariationRow{"groups, scaled",
                 [](deployment::Deployment& d) {
                   set_groups(d.layer, 4, 2);
                   d.layer.has_routed_scaling = true;
                 }},
    VariationRow{"every expert",
                 [](deployment::Deployment& d) {
                   d.layer.num_experts = d.layer.experts_per_token = 4;
                   d.layer.expert_groups = d.layer.topk_group = 0;
                 }},
    VariationRow{"correction bias", [](deployment::Deployment& d) { d.layer.has_correction_bias = true; }},
    VariationRow{"simulated routing", [](deployment::Deployment& d) { d.layer.routing_method = "Simulated"; }},
    VariationRow{"Llama-4 routing", [](deployment::Deployment& d) { d.layer.routing_method = "Llama4"; }},
    VariationRow{"SWIGLUOAI", [](deployment::Deployment& d) { d.layer.activation = "SWIGLUOAI"; }},
    VariationRow{"DeepSeek-V3 routing with one group for all",
                 [](deployment::Deployment& d) {
                   d.layer.routing_method = "DeepSeekV3";
                   set_groups(d.layer, 16, 8);
                 }},
    VariationRow{"Humming everywhere", [](deployment::Deployment& d) { d.software.humming_installed = true; }},
    VariationRow{"no AMX", [](deployment::Deployment& d) { d.hardware.amx = false; }},
    VariationRow{"Quark", [](deployment::Deployment& d) { d.quant_method = "quark"; }},
    VariationRow{"Quark, experts exchanged",
                 [](deployment::Deployment& d) {
                   d.quant_method = "quark";
                   d.parallel = spread(1, 2, true, "deepep_high_throughput");
                 }},
    VariationRow{"Quark, four ranks",
                 [](deployment::Deployment& d) {
                   d.quant_method = "quark";
                   d.parallel = spread(4, 1, false);
                 }},
    VariationRow{"compressed tensors", [](deployment::Deployment& d) { d.quant_method = "compressed_tensors"; }},
};

struct KeyRow {
  Names oracle;
  Names weights;
  Names activations;
  bool allow_vllm_cutlass = false;  ///< where the oracle asks, so that its backends are reached
};
/// What the engine's quantization methods ask with.
constexpr std::array kKeys = {
    KeyRow{"mxfp4", "kMxfp4Static", "None"},
    KeyRow{"mxfp4", "kMxfp4Static", "kMxfp8Dynamic"},
    KeyRow{"mxfp4", "kMxfp4Static", "kFp8StaticTensorSym"},
    KeyRow{"mxfp4", "kMxfp4Static", "kMxfp4Dynamic"},
    KeyRow{"mxfp4_deepseek_v4", "kMxfp4Static", "None"},
    KeyRow{"nvfp4", "kNvfp4Static", "kNvfp4Dynamic"},
    KeyRow{"nvfp4", "kNvfp4Static", "None"},
    KeyRow{"fp8", "kFp8Static128BlockSym", "kFp8Dynamic128Sym", true},
    KeyRow{"fp8", "kFp8StaticTensorSym", "kFp8StaticTensorSym", true},
    KeyRow{"fp8", "kFp8StaticTensorSym", "kFp8DynamicTensorSym", true},
    KeyRow{"fp8", "kFp8StaticChannelSym", "kFp8DynamicTokenSym", true},
    KeyRow{"mxfp8", "kMxfp8Static", "None"},
    KeyRow{"w4a8", "kInt4Static", "kFp8DynamicTokenSym"},
};

/// One rank's share, rounded up.
void share(deployment::Deployment& deployment, std::int64_t whole) {
  const std::int64_t ranks = deployment::tensor_ranks(deployment.parallel);
  deployment.layer.intermediate_per_partition = (whole + ranks - 1) / ranks;
}

void visit_model(const deployment::Deployment& usual, const std::vector<deployment::ParallelRequest>& parallel,
                 const std::function<void(const deployment::Deployment&)>& visit) {
  const std::int64_t whole = usual.layer.intermediate_per_partition;
  deployment::Deployment deployment = usual;
  for (const deployment::ParallelRequest& request : parallel) {
    deployment.parallel = request;
    share(deployment, whole);
    visit(deployment);
  }
  for (const VariationRow& row : kVariations) {
    for (int ranks : {1, 2}) {
      deployment = usual;
      deployment.parallel = spread(ranks, 1, ranks > 1);
      row.apply(deployment);
      share(deployment, whole);
      visit(deployment);
    }
  }
}

}  // namespace

std::span<const ModelRow> audit_models() {
  static const std::vector<ModelRow> kModels = [] {
    std::vector<ModelRow> rows;
    for (Names name : kPublished) rows.push_back({name, deployment::layer_of(deployment::model_named(name), {})});
    for (const deployment::Model& odd : kOdd) rows.push_back({odd.name, deployment::layer_of(odd, {})});
    return rows;
  }();
  return kModels;
}

void for_each_deployment(const engine::OracleTables& tables, const std::function<void(const deployment::Deployment&)>& with) {
  const auto visit = [&](const deployment::Deployment& deployment) {
    const std::string_view all2all = deployment::all2all_of(tables.engine, deployment.parallel.all2all_backend);
    if (all2all == deployment.parallel.all2all_backend) return with(deployment);
    deployment::Deployment renamed = deployment;
    renamed.parallel.all2all_backend = all2all;
    with(renamed);
  };
  const std::vector<deployment::ParallelRequest> parallel = parallelisms();
  std::vector<Names> wishes = {"auto"};
  for (const engine::UserNameRow& row : tables.user_names) wishes.push_back(row.name);
  for (const deployment::PlatformPreset& preset : deployment::all_platforms()) {
    for (const ModelRow& row : audit_models()) {
      deployment::Deployment usual = deployment::deployment_on(preset, {}, row.layer);
      // AITER is off unless asked for.
      if (preset.platform == deployment::PlatformKind::rocm) usual.env[std::string(kAiter)] = "1";
      for (const KeyRow& keys : kKeys) {
        if (keys.oracle != tables.name) continue;
        usual.weight_key = keys.weights;
        usual.activation_key = keys.activations;
        usual.allow_vllm_cutlass = keys.allow_vllm_cutlass;
        for (Names wish : wishes) {
          usual.layer.moe_backend = wish;
          visit_model(usual, parallel, visit);
        }
      }
    }
  }
}

}  // namespace mx::audit
