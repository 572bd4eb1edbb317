#include "model/deployment/deployment.hpp"

#include <algorithm>
#include <array>

#include "model/deployment/vocabulary.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"

namespace mx::deployment {
namespace {

constexpr std::array<std::string_view, 4> kPlatformKinds = {"cuda", "rocm", "xpu", "cpu"};
constexpr std::array<std::string_view, 4> kQuantMethods = {"own", "quark", "compressed_tensors", "modelopt"};

constexpr std::array<std::string_view, 5> kCpuArchs = {"x86", "arm", "power", "s390x", "riscv"};
constexpr std::array<std::string_view, 5> kWeightOnlyKinds = {"auto_awq", "auto_gptq", "moe_wna16", "compressed_tensors", "other"};
constexpr std::array<std::string_view, 4> kActorders = {"group", "dynamic", "static", "weight"};
constexpr std::array<std::string_view, 3> kStrategies = {"group", "channel", "tensor"};

void require_group(int size, std::string_view what) {
  if (size >= 1 && size <= kLargestGroup) return;
  throw Error(ErrorCode::usage, std::string(what) + " size is " + std::to_string(size) + ", must be in [1, " + std::to_string(kLargestGroup) + "]");
}

/// Ranks of groups of one are not looked at.
int require_rank(int rank, int size, std::string_view what) {
  if (size == 1) return 0;
  if (rank >= 0 && rank < size) return rank;
  throw Error(ErrorCode::usage, std::string(what) + " rank is " + std::to_string(rank) + ", must be in [0, " + std::to_string(size) + ")");
}

int flat_size(const ParallelRequest& request) {
  require_group(request.tp, "tp");
  require_group(request.pcp, "pcp");
  require_group(request.dp, "dp");
  require_group(request.sp, "sp");
  const std::int64_t flat = std::int64_t{request.dp} * request.pcp;
  if (flat > kLargestGroup || flat * request.tp > kLargestGroup) {
    throw Error(ErrorCode::usage, "dp * pcp * tp is above " + std::to_string(kLargestGroup) + " processes");
  }
  return request.dp * request.pcp * request.tp;
}

}  // namespace

std::string_view name_of(PlatformKind kind) { return kPlatformKinds[static_cast<std::size_t>(kind)]; }
std::span<const std::string_view> platform_kind_names() { return kPlatformKinds; }
std::span<const std::string_view> quant_method_names() { return kQuantMethods; }
std::span<const std::string_view> cpu_arch_names() { return kCpuArchs; }
std::span<const std::string_view> weight_only_kinds() { return kWeightOnlyKinds; }
std::span<const std::string_view> actorder_names() { return kActorders; }
std::span<const std::string_view> strategy_names() { return kStrategies; }

Parallel derive(const ParallelRequest& request, Engine engine) {
  const int flat = flat_size(request);
  const auto known = all2all_names();
  if (std::find(known.begin(), known.end(), request.all2all_backend) == known.end()) {
    throw Error(ErrorCode::usage, unknown_name("all2all backend", request.all2all_backend, known));
  }
  require_all2all(engine, request.all2all_backend);
  const bool use_ep = flat > 1 && request.enable_expert_parallel;
  return {
      .engine = engine,
      .tp_size = use_ep ? 1 : flat,
      .pcp_size = request.pcp,
      .dp_size = request.dp,
      .ep_size = use_ep ? flat : 1,
      .sp_size = request.sp,
      .use_ep = use_ep,
      .enable_eplb = request.enable_eplb,
      .all2all_backend = request.all2all_backend,
  };
}

ActivationConstants constants_of(const LayerConfig& layer) {
  constexpr ActivationConstants kOai{.swiglu_limit = 7, .swiglu_alpha = 1.702, .swiglu_beta = 1, .situ_beta = {}, .situ_linear_beta = {}};
  if (layer.constants) return *layer.constants;
  ActivationConstants usual;
  if (layer.activation.starts_with("SWIGLUOAI")) usual = kOai;
  if (layer.activation == "SILU" && layer.has_swiglu_limit) usual.swiglu_limit = 10;
  if (layer.activation == "SITU") usual = {.swiglu_limit = {}, .swiglu_alpha = {}, .swiglu_beta = {}, .situ_beta = 4, .situ_linear_beta = 25};
  // Any other than the usual one will do.
  if (layer.has_swiglu_alpha && usual.swiglu_alpha) usual.swiglu_alpha = 1;
  if (layer.has_swiglu_limit && layer.activation.starts_with("SWIGLUOAI")) usual.swiglu_limit = 5;
  return usual;
}

int tensor_ranks(const ParallelRequest& request) {
  const int flat = flat_size(request);
  return flat > 1 && request.enable_expert_parallel ? 1 : flat;
}

Ranks derive_ranks(const ParallelRequest& request, const Ranks& given) {
  const int flat_ranks = flat_size(request);
  const bool use_ep = flat_ranks > 1 && request.enable_expert_parallel;
  const int tp = require_rank(given.tp, request.tp, "tp");
  const int pcp = require_rank(given.pcp, request.pcp, "pcp");
  const int dp = require_rank(given.dp, request.dp, "dp");
  const int flat = (dp * request.pcp + pcp) * request.tp + tp;
  return use_ep ? Ranks{0, pcp, dp, flat} : Ranks{flat, pcp, dp, 0};
}

bool Parallel::is_sequence_parallel() const { return sp_size > 1; }
bool Parallel::use_all2all_kernels() const {
  const bool others = engine >= kVllm2026_08 && !fault::planted(fault::Fault::ranks_of_context_send_nothing) &&
                      (pcp_size > 1 || sp_size > 1);  // 2026-05 exchanges between data-parallel ranks alone
  return use_ep && (dp_size > 1 || others);
}
bool Parallel::use_deepep_ht_kernels() const { return use_all2all_kernels() && all2all_backend == "deepep_high_throughput"; }
bool Parallel::use_deepep_ll_kernels() const { return use_all2all_kernels() && all2all_backend == "deepep_low_latency"; }
bool Parallel::use_fi_nvl_two_sided_kernels() const {
  return use_all2all_kernels() && (all2all_backend == "flashinfer_all2allv" || all2all_backend == "flashinfer_nvlink_two_sided");
}
bool Parallel::use_fi_nvl_one_sided_kernels() const { return use_all2all_kernels() && all2all_backend == "flashinfer_nvlink_one_sided"; }
bool Parallel::use_ag_rs_all2all_kernels() const { return use_all2all_kernels() && all2all_backend == "allgather_reducescatter"; }
bool Parallel::use_mori_kernels() const { return use_all2all_kernels() && all2all_backend.starts_with("mori"); }
bool Parallel::use_deepep_v2_kernels() const { return use_all2all_kernels() && all2all_backend == "deepep_v2"; }
bool Parallel::use_moonep_kernels() const { return use_all2all_kernels() && all2all_backend == "moonep"; }
bool Parallel::use_passthrough_all2all() const { return all2all_backend == "passthrough"; }
bool Parallel::use_nixl_ep_kernels() const { return use_all2all_kernels() && all2all_backend == "nixl_ep"; }
bool Parallel::use_batched_activation_format() const { return use_deepep_ll_kernels() || use_nixl_ep_kernels(); }

}  // namespace mx::deployment
