#include "golden/vectors/files/oracle_cases.hpp"

#include <fmt/format.h>

#include <array>

#include "golden/witness/oracle.hpp"
#include "support/json.hpp"

namespace mx::golden {
namespace {

/// An oracle and what a checkpoint's loader asks it for; empty keys: it takes none from its caller.
struct Asked {
  std::string_view name;
  std::string_view oracle;
  std::string_view weight_key;
  std::string_view activation_key;
};
// The pairs that the engine's own callers hand over. Source: vllm 7e1b45a09 model_executor/layers/quantization (mxfp4, modelopt, fp8,
// compressed_tensors).
constexpr std::array kAsked{
    Asked{"mxfp4", "mxfp4", "", "None"},
    Asked{"mxfp4-mxfp8", "mxfp4", "", "kMxfp8Dynamic"},
    Asked{"mxfp4_deepseek_v4", "mxfp4_deepseek_v4", "", ""},
    Asked{"nvfp4", "nvfp4", "kNvfp4Static", "kNvfp4Dynamic"},
    Asked{"nvfp4-16bit", "nvfp4", "kNvfp4Static", "None"},
    Asked{"fp8-block", "fp8", "kFp8Static128BlockSym", "kFp8Dynamic128Sym"},
    Asked{"fp8-tensor", "fp8", "kFp8StaticTensorSym", "kFp8StaticTensorSym"},
    Asked{"fp8-channel", "fp8", "kFp8StaticChannelSym", "kFp8DynamicTokenSym"},
    Asked{"mxfp8", "mxfp8", "", ""},
    Asked{"w4a8", "w4a8", "kInt4Static", "kFp8DynamicTokenSym"},
};

struct Parallelism {
  std::string_view name;
  int tp, dp;
  bool expert_parallel;
  std::string_view all2all;
  bool eplb;
};
constexpr std::array kParallelisms{
    Parallelism{"one", 1, 1, false, "allgather_reducescatter", false},
    Parallelism{"ep8", 8, 1, true, "allgather_reducescatter", false},
    Parallelism{"tp8", 8, 1, false, "allgather_reducescatter", false},
    Parallelism{"dp8-ep", 1, 8, true, "allgather_reducescatter", false},
    Parallelism{"dp8-ep-deepep-ht", 1, 8, true, "deepep_high_throughput", false},
    Parallelism{"dp8-ep-deepep-ll", 1, 8, true, "deepep_low_latency", false},
    Parallelism{"dp8-ep-eplb", 1, 8, true, "allgather_reducescatter", true},
};

/// Sizes of published models: config.json of each.
struct Model {
  std::string_view name;
  std::int64_t experts, top_k, hidden, intermediate;
  std::string_view activation, routing;
  bool has_bias;
};
constexpr std::array kModels{
    Model{"gpt-oss-20b", 32, 4, 2880, 2880, "SWIGLUOAI", "Renormalize", true},
    Model{"deepseek-v3", 256, 8, 7168, 2048, "SILU", "DeepSeekV3", false},
    Model{"qwen3-30b-a3b", 128, 8, 2048, 768, "SILU", "RenormalizeNaive", false},
};

/// What the user asks for besides.
struct Wish {
  std::string_view name;
  std::string_view moe_backend;
  std::string_view variable;  ///< set to 1; empty: none
};
constexpr std::array kWishes{
    Wish{"auto", "auto", ""},
    Wish{"batch-invariant", "auto", "VLLM_BATCH_INVARIANT"},
    Wish{"marlin", "marlin", ""},
};

constexpr std::array kSets{
    OracleSet{"selections.core", 2, 1, 1, true},
    OracleSet{"selections.grid", kParallelisms.size(), kModels.size(), kWishes.size(), false},
};

deployment::Deployment deployment_of(const Asked& asked, const deployment::PlatformPreset& platform, const Parallelism& parallel, const Model& model,
                                     const Wish& wish) {
  deployment::LayerConfig layer{
      .num_experts = model.experts, .experts_per_token = model.top_k, .hidden = model.hidden, .intermediate_per_partition = 0};
  // Tensor parallelism without expert parallelism divides the rows.
  layer.intermediate_per_partition = parallel.expert_parallel ? model.intermediate : model.intermediate / parallel.tp;
  layer.activation = model.activation;
  layer.routing_method = model.routing;
  layer.moe_backend = wish.moe_backend;
  layer.has_bias = model.has_bias;
  deployment::ParallelRequest request{.tp = parallel.tp, .dp = parallel.dp};
  request.enable_expert_parallel = parallel.expert_parallel;
  request.all2all_backend = parallel.all2all;
  request.enable_eplb = parallel.eplb;
  deployment::Deployment deployment = deployment::deployment_on(platform, request, layer);
  if (!wish.variable.empty()) deployment.env.emplace(wish.variable, "1");
  if (!asked.weight_key.empty()) deployment.weight_key = asked.weight_key;
  if (!asked.activation_key.empty()) deployment.activation_key = asked.activation_key;
  return deployment;
}

}  // namespace

std::span<const OracleSet> all_oracle_sets() { return kSets; }

void for_each_oracle_case(const OracleSet& set, const TakeOracleCase& take) {
  for (const Asked& asked : kAsked) {
    for (const deployment::PlatformPreset& platform : deployment::all_platforms()) {
      for (const Parallelism& parallel : std::span(kParallelisms).first(set.parallelisms)) {
        for (const Model& model : std::span(kModels).first(set.layers)) {
          for (const Wish& wish : std::span(kWishes).first(set.wishes)) {
            take(fmt::format("{}/{}/{}/{}/{}", asked.name, platform.name, parallel.name, model.name, wish.name), asked.oracle,
                 deployment_of(asked, platform, parallel, model, wish));
          }
        }
      }
    }
  }
}

OracleFiles oracle_files(const OracleSet& set) {
  OracleFiles files;
  for_each_oracle_case(set, [&](const std::string& id, std::string_view oracle, const deployment::Deployment& deployment) {
    const support::Json one_case = oracle_case(id, oracle, deployment);
    files.cases += one_case.dump() + "\n";
    files.support += support_case(id, oracle, deployment).dump() + "\n";
    files.refusals += one_case.at("result").contains("error_type") ? 1U : 0U;
    ++files.count;
  });
  return files;
}

}  // namespace mx::golden
