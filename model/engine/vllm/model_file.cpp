#include "model/engine/vllm/model_file.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "model/engine/vllm/env.hpp"
#include "model/fault.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

/// One thing that must hold, in the order in which the engine asks.
struct Condition {
  bool (*holds)(const deployment::Deployment& deployment);
  Names error_type;
  Names text;
};

/// The experts that a model's file builds for a name of moe_backend.
struct OwnExperts {
  Names oracle;
  Names moe_backend;
  deployment::PlatformKind platform;
  deployment::Versions versions;
  Names module;
  std::span<const Condition> conditions;
};

bool shares_experts(const deployment::Deployment& d) { return d.parallel.enable_expert_parallel; }
int ranks_of(const deployment::Deployment& d) { return d.parallel.tp * d.parallel.pcp * d.parallel.dp; }

// Source: vllm models/deepseek_v4/nvidia/model.py DeepseekV4MoE.__init__, _check_runtime_supported.
constexpr Condition kExpertParallel{shares_experts, "NotImplementedError", "mega MoE needs expert parallelism"};
constexpr Condition kScoring{[](const deployment::Deployment& d) { return d.layer.routing_method == "DeepseekV4"; }, "NotImplementedError",
                             "mega MoE routes by the square root of softplus alone: routing DeepseekV4"};
constexpr std::array kDeepGemm = {
    kExpertParallel,
    kScoring,
    Condition{[](const deployment::Deployment& d) { return d.layer.num_experts % ranks_of(d) == 0; }, "AssertionError",
              "mega MoE needs experts that divide by the ranks that share them"},
    Condition{[](const deployment::Deployment& d) { return d.hardware.capability.value_or(0) / 10 == 10; }, "NotImplementedError",
              "DeepGEMM's mega MoE needs capability 10.x"},
    Condition{[](const deployment::Deployment& d) { return d.layer.hidden % 128 == 0 && d.layer.intermediate_per_partition % 128 == 0; },
              "ValueError", "DeepGEMM's mega MoE needs H and I that are multiples of 128"},
};
// Source: vllm models/deepseek_v4/xpu/model.py: the name is taken, its check at run time always raises.
constexpr std::array kXpu = {
    kExpertParallel, kScoring,
    Condition{[](const deployment::Deployment&) { return false; }, "NotImplementedError", "DeepGEMM's mega MoE is not there on XPU"}};
// Source: vllm 0.33.0 models/deepseek_v4/amd/model.py _validate_aiter_mega_moe_config.
constexpr std::array kAiter = {
    Condition{[](const deployment::Deployment& d) {
                constexpr std::array kOn = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};
                return read_switches(d.env, kOn) == Switch::on;
              },
              "ValueError", "AITER's mega MoE needs VLLM_ROCM_USE_AITER and VLLM_ROCM_USE_AITER_MOE"},
    Condition{[](const deployment::Deployment& d) { return d.hardware.gcn_arch.starts_with("gfx950"); }, "NotImplementedError",
              "AITER's mega MoE needs gfx950"},
    Condition{[](const deployment::Deployment& d) { return shares_experts(d) && d.parallel.tp == 1; }, "NotImplementedError",
              "AITER's mega MoE needs expert parallelism over data parallel ranks, TP 1"},
    Condition{[](const deployment::Deployment& d) { return d.parallel.all2all_backend.starts_with("mori_"); }, "ValueError",
              "AITER's mega MoE needs MoRI's exchange: all2all mori_high_throughput"},
    Condition{[](const deployment::Deployment& d) { return !d.parallel.enable_eplb; }, "NotImplementedError",
              "AITER's mega MoE relocates no experts"},
};

constexpr Names kDeepseek = "mxfp4_deepseek_v4";
constexpr std::array kOwn = {
    OwnExperts{kDeepseek, "deep_gemm_mega_moe", deployment::PlatformKind::cuda, kAlways, "DeepseekV4MegaMoEExperts", kDeepGemm},
    OwnExperts{kDeepseek, "deep_gemm_mega_moe", deployment::PlatformKind::xpu, deployment::since(deployment::kVllm2026_08),
               "DeepseekV4MegaMoEExperts", kXpu},
    OwnExperts{kDeepseek, "aiter_mega_moe", deployment::PlatformKind::rocm, deployment::since(deployment::kVllm2026_11), "DeepseekV4MegaMoEExperts",
               kAiter},
};

const OwnExperts* row_of(const OracleTables& tables, const deployment::Deployment& deployment) {
  const auto* const row = std::ranges::find_if(kOwn, [&](const OwnExperts& one) {
    return one.oracle == tables.name && one.moe_backend == deployment.layer.moe_backend && one.platform == deployment.hardware.platform &&
           one.versions.has(tables.engine);
  });
  return row == kOwn.end() ? nullptr : row;
}

}  // namespace

std::string_view own_experts(const OracleTables& tables, const deployment::Deployment& deployment) {
  const OwnExperts* const row = row_of(tables, deployment);
  return row == nullptr || fault::planted(fault::Fault::mega_moe_is_unknown) ? std::string_view() : row->module;
}

std::optional<Refusal> own_experts_refusal(const OracleTables& tables, const deployment::Deployment& deployment) {
  const OwnExperts* const row = row_of(tables, deployment);
  if (row == nullptr || fault::planted(fault::Fault::mega_moe_asks_nothing)) return std::nullopt;
  const auto broken = std::ranges::find_if(row->conditions, [&](const Condition& one) { return !one.holds(deployment); });
  if (broken == row->conditions.end()) return std::nullopt;
  return Refusal{std::string(broken->error_type), std::string(broken->text)};
}

}  // namespace mx::engine
