#include "model/deployment/deployment.hpp"

#include <algorithm>
#include <array>

#include "model/deployment/vocabulary.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::oracle {
namespace {

constexpr std::array<std::string_view, 4> kPlatformKinds = {"cuda", "rocm", "xpu", "cpu"};
constexpr std::array<std::string_view, 3> kQuantMethods = {"own", "quark", "compressed_tensors"};

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

Parallel derive(const ParallelRequest& request) {
  const int flat = flat_size(request);
  const auto known = all2all_names();
  if (std::find(known.begin(), known.end(), request.all2all_backend) == known.end()) {
    throw Error(ErrorCode::usage, unknown_name("all2all backend", request.all2all_backend, known));
  }
  const bool use_ep = flat > 1 && request.enable_expert_parallel;
  return {
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

Ranks derive_ranks(const ParallelRequest& request, const Ranks& given) {
  const Parallel parallel = derive(request);
  const int tp = require_rank(given.tp, request.tp, "tp");
  const int pcp = require_rank(given.pcp, request.pcp, "pcp");
  const int dp = require_rank(given.dp, request.dp, "dp");
  const int flat = (dp * request.pcp + pcp) * request.tp + tp;
  return parallel.use_ep ? Ranks{0, pcp, dp, flat} : Ranks{flat, pcp, dp, 0};
}

bool Parallel::is_sequence_parallel() const { return sp_size > 1; }
bool Parallel::use_all2all_kernels() const { return dp_size > 1 && use_ep; }
bool Parallel::use_deepep_ht_kernels() const { return use_all2all_kernels() && all2all_backend == "deepep_high_throughput"; }
bool Parallel::use_deepep_ll_kernels() const { return use_all2all_kernels() && all2all_backend == "deepep_low_latency"; }
bool Parallel::use_fi_nvl_two_sided_kernels() const {
  return use_all2all_kernels() && (all2all_backend == "flashinfer_all2allv" || all2all_backend == "flashinfer_nvlink_two_sided");
}
bool Parallel::use_fi_nvl_one_sided_kernels() const { return use_all2all_kernels() && all2all_backend == "flashinfer_nvlink_one_sided"; }
bool Parallel::use_ag_rs_all2all_kernels() const { return use_all2all_kernels() && all2all_backend == "allgather_reducescatter"; }
bool Parallel::use_mori_kernels() const { return use_all2all_kernels() && all2all_backend == "mori"; }
bool Parallel::use_nixl_ep_kernels() const { return use_all2all_kernels() && all2all_backend == "nixl_ep"; }
bool Parallel::use_batched_activation_format() const { return use_deepep_ll_kernels() || use_nixl_ep_kernels(); }

}  // namespace mx::oracle
