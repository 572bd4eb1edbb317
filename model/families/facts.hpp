#pragma once
// Facts about a placement that several needs speak of. For the need tables alone; derived from the request here, not by the oracle's code.

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "model/families/needs.hpp"

namespace mx::families::facts {

using Names = std::string_view;

/// A row of a table, in the order of KernelNeed's fields.
constexpr KernelNeed need(Names id, std::span<const Names> classes, std::span<const Names> backends, NeedOf of, Effect effect, Grounds grounds,
                          Names statement, Names consequence, bool (*holds)(const Placement&), Names source, Names reference = {},
                          deployment::Versions versions = deployment::since(deployment::kVllm2026_05)) {
  return {id, classes, backends, of, effect, grounds, statement, consequence, holds, source, reference, versions};
}

// The oracles that choose among the classes of a format.
inline constexpr std::array<Names, 2> kMxfp4Oracles = {"mxfp4", "mxfp4_deepseek_v4"};
inline constexpr std::array<Names, 1> kNvfp4Oracles = {"nvfp4"};
inline constexpr std::array<Names, 2> kFp8Oracles = {"fp8", "mxfp8"};
inline constexpr std::array<Names, 1> kW4a8Oracles = {"w4a8"};

inline constexpr Names kDropped = "the biases are left out of the result";
inline constexpr Names kTorchError = "an error in the first batch";

inline bool is_one_of(Names name, std::span<const Names> names) { return std::find(names.begin(), names.end(), name) != names.end(); }
inline bool is_one_of(Names name, std::initializer_list<Names> names) { return std::find(names.begin(), names.end(), name) != names.end(); }

inline std::int64_t ranks(const Placement& p) {  ///< that share the layer: tensor, prefill context and data parallel
  const deployment::ParallelRequest& parallel = p.deployment.parallel;
  return std::int64_t{parallel.tp} * parallel.pcp * parallel.dp;
}
inline bool has_ep(const Placement& p) { return p.deployment.parallel.enable_expert_parallel && ranks(p) > 1; }
inline bool has_dp(const Placement& p) { return p.deployment.parallel.dp > 1; }
/// Tokens travel between ranks to their experts. Source: vllm fused_moe/config.py use_all2all_kernels: data parallel ranks, since 2026-08 those of
/// prefill context and of sequences, too.
inline bool exchanges(const Placement& p) {
  const deployment::ParallelRequest& parallel = p.deployment.parallel;
  return has_ep(p) && (has_dp(p) || (p.engine >= deployment::kVllm2026_08 && (parallel.pcp > 1 || parallel.sp > 1)));
}
inline bool exchange_is(const Placement& p, std::initializer_list<Names> names) {
  return exchanges(p) && is_one_of(p.deployment.parallel.all2all_backend, names);
}
inline bool has_batched_exchange(const Placement& p) { return exchange_is(p, {"deepep_low_latency", "nixl_ep"}); }
/// Experts per rank differ.
inline bool is_uneven(const Placement& p) { return has_ep(p) && p.deployment.layer.num_experts % ranks(p) != 0; }
/// The wish for it is heeded under these conditions alone. Source: vllm fused_moe/expert_map_manager.py.
inline bool is_round_robin(const Placement& p) {
  const deployment::Deployment& d = p.deployment;
  return has_ep(p) && d.parallel.round_robin && d.layer.expert_groups > 1 && !d.parallel.enable_eplb && (!exchanges(p) || has_batched_exchange(p));
}

inline bool is_on(const Placement& p, deployment::PlatformKind kind) { return p.deployment.hardware.platform == kind; }
inline bool cuda_in(const Placement& p, int low, int high) {  ///< capability within [low, high]
  const std::optional<int>& capability = p.deployment.hardware.capability;
  return is_on(p, deployment::PlatformKind::cuda) && capability && *capability >= low && *capability <= high;
}
inline bool arch_is(const Placement& p, std::initializer_list<Names> parts) {  ///< a ROCm architecture whose name holds a part
  return is_on(p, deployment::PlatformKind::rocm) &&
         std::any_of(parts.begin(), parts.end(), [&](Names part) { return p.deployment.hardware.gcn_arch.find(part) != std::string::npos; });
}

inline bool activation_is(const Placement& p, std::initializer_list<Names> names) { return is_one_of(p.deployment.layer.activation, names); }
inline bool routing_is(const Placement& p, std::initializer_list<Names> names) { return is_one_of(p.deployment.layer.routing_method, names); }
inline bool dtype_is(const Placement& p, std::initializer_list<Names> names) { return is_one_of(p.deployment.layer.in_dtype, names); }
inline bool weights_are(const Placement& p, std::initializer_list<Names> keys) { return is_one_of(p.weight_key, keys); }

inline bool is_silu(const Placement& p) { return activation_is(p, {"SILU"}); }
inline bool is_bfloat16(const Placement& p) { return dtype_is(p, {"bfloat16"}); }
inline bool is_16_bit(const Placement& p) { return dtype_is(p, {"float16", "bfloat16"}); }
inline bool is_block(const Placement& p) { return weights_are(p, {"kFp8Static128BlockSym"}); }
inline bool is_mxfp8(const Placement& p) { return weights_are(p, {"kMxfp8Static"}); }
inline bool is_per_tensor(const Placement& p) { return weights_are(p, {"kFp8StaticTensorSym"}); }

/// Whether the engine makes gate and up. Source: vllm fused_moe/config.py FusedMoEConfig.is_act_and_mul: a field, since 2026-08 the activation's own.
inline bool is_gated(const Placement& p) {
  const deployment::LayerConfig& layer = p.deployment.layer;
  return p.engine >= deployment::kVllm2026_08 ? !layer.activation.ends_with("_NO_MUL") : layer.is_act_and_mul;
}
/// Rows of w13.
inline std::int64_t w13_rows(const Placement& p) { return (is_gated(p) ? 2 : 1) * p.intermediate; }

inline bool divides(std::int64_t multiple, std::initializer_list<std::int64_t> sizes) {  ///< every size
  return std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return size % multiple == 0; });
}
/// H and I.
inline bool both_divide(const Placement& p, std::int64_t multiple) { return divides(multiple, {p.hidden, p.intermediate}); }

/// A converter that pads gate and up at the end of their common matrix has nothing to pad: I of a rank, before it, holds whole multiples.
inline bool halves_end_whole(const Placement& p, std::int64_t multiple) {
  return !is_gated(p) || p.deployment.layer.intermediate_per_partition % multiple == 0;
}
inline constexpr Names kShiftedHalves = "the kernel splits elsewhere: gate rows are read as up rows, the rest is shifted";

/// No precondition of the backend's converter is broken (memory.hpp): its own table says which sizes it takes. True where none is modelled.
bool converter_takes(const Placement& p);

/// One thread configuration of the Marlin GEMM divides N x K: 64 x 128, 128 x 64 or a multiple. Source: vllm csrc/moe/marlin_moe_wna16/ops.cu.
inline bool marlin_takes(std::int64_t n, std::int64_t k) { return (n % 64 == 0 && k % 128 == 0) || (n % 128 == 0 && k % 64 == 0); }
inline bool marlin_takes_both(const Placement& p) { return marlin_takes(w13_rows(p), p.hidden) && marlin_takes(p.hidden, p.intermediate); }
inline bool marlin_takes_dtype(const Placement& p) { return dtype_is(p, {"float16"}) || (dtype_is(p, {"bfloat16"}) && !cuda_in(p, 75, 75)); }

}  // namespace mx::families::facts

namespace mx::families {

/// Of each format.
std::span<const NeedTable> format_needs();

}  // namespace mx::families
