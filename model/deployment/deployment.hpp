#pragma once
// What a backend is chosen for: hardware, software, environment, parallelism, layer. Plain data; sizes in elements.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/deployment/version.hpp"

namespace mx::deployment {

enum class PlatformKind { cuda, rocm, xpu, cpu };
std::string_view name_of(PlatformKind kind);
/// cuda, rocm, xpu, cpu, in the order of the enumerators.
std::span<const std::string_view> platform_kind_names();

/// What the platform layer of the engine reports.
struct Hardware {
  PlatformKind platform;
  std::optional<int> capability;  ///< 10 * major + minor; none on xpu and cpu
  std::string gcn_arch;           ///< rocm only: "gfx950"
  bool amx = true;                ///< cpu only: the processor has AMX. The engine's CPU kernels need it; since 2026-08 selection asks, too
  std::string cpu_arch = "x86";   ///< cpu only: a name of cpu_arch_names(). Read since 2026-08
  bool zen_cpu = false;           ///< cpu only: an AMD Zen. Read since 2026-08
  bool amx_fp8 = false;           ///< cpu only: AMX with FP8. Read since 2026-11

  bool operator==(const Hardware&) const = default;
};

/// x86, arm, power, s390x, riscv.
std::span<const std::string_view> cpu_arch_names();

/// Answers of the optional-package probes.
struct Software {
  bool has_flashinfer = false;
  bool has_flashinfer_trtllm_fused_moe = false;
  bool has_flashinfer_cutlass_fused_moe = false;
  bool has_flashinfer_cutedsl_moe_nvfp4 = false;
  bool has_flashinfer_cutedsl_grouped_gemm_nt_masked = false;
  bool has_flashinfer_b12x_moe = false;
  bool has_triton_kernels = false;
  bool has_deep_gemm = false;
  bool aiter_found = false;
  bool humming_installed = false;
  bool cutlass_group_gemm_op = false;  ///< the compiled op is there and answers true
  // Read since 2026-08.
  bool flashinfer_situ = false;  ///< FlashInfer knows the activation SITU
  bool has_quark = false;
  bool has_hpc = false;
  bool b12x_supported = false;  ///< package b12x is there, and says that it supports this machine
  bool aiter_mxfp8 = false;     ///< flydsl is usable, and AITER ships the tuned MXFP8 table
  bool cpu_fused_moe_int8_op = false;
  bool zentorch_fused_moe_op = false;
  bool torch_dyn_quant_4bit_ops = false;
  // Read since 2026-11.
  bool aiter_gate_mode = false;         ///< AITER's fused MoE takes the argument gate_mode
  bool aiter_quant_dtype_a = false;     ///< and quant_dtype_a
  bool mxfp4_experts_quant_op = false;  ///< the compiled op is there and answers true for this capability
  bool moe_gptq_gemm_rdna3_op = false;
  bool cpu_has_amx_fp8_op = false;
  bool zentorch_woq_repack_weight_op = false;

  bool operator==(const Software&) const = default;
};

/// Names of the probes, for files and tables.
struct SoftwareRow {
  std::string_view name;
  bool Software::*answer;
  Engine since = kVllm2026_05;  ///< the first version that asks
};
std::span<const SoftwareRow> software_rows();
std::span<const SoftwareRow> software_rows(Engine engine);  ///< those that the version asks

/// Parallelism as the user gives it.
struct ParallelRequest {
  int tp = 1;
  int pcp = 1;
  int dp = 1;
  int sp = 1;
  bool enable_expert_parallel = false;
  std::string all2all_backend = "allgather_reducescatter";
  bool enable_eplb = false;
  bool round_robin = false;  ///< expert_placement_strategy round_robin is asked for, not linear; read by needs alone

  bool operator==(const ParallelRequest&) const = default;
};

/// What the engine derives from it. Source: vllm fused_moe/config.py FusedMoEParallelConfig.make.
struct Parallel {
  Engine engine;  ///< whose rules derived it
  int tp_size;
  int pcp_size;
  int dp_size;
  int ep_size;
  int sp_size;
  bool use_ep;
  bool enable_eplb;
  std::string all2all_backend;

  bool is_sequence_parallel() const;
  bool use_all2all_kernels() const;
  bool use_deepep_ht_kernels() const;
  bool use_deepep_ll_kernels() const;
  bool use_fi_nvl_two_sided_kernels() const;
  bool use_fi_nvl_one_sided_kernels() const;
  bool use_ag_rs_all2all_kernels() const;
  bool use_mori_kernels() const;
  bool use_nixl_ep_kernels() const;
  bool use_deepep_v2_kernels() const;
  bool use_moonep_kernels() const;
  bool use_passthrough_all2all() const;
  bool use_batched_activation_format() const;
};

/// Throws Error(usage) when a size is not positive or the all2all backend is unknown.
Parallel derive(const ParallelRequest& request, Engine engine);
/// Ranks among which a layer's matrices are split: Parallel::tp_size, which no version derives otherwise. Throws as derive does.
int tensor_ranks(const ParallelRequest& request);

/// Where one process stands. Ranks of groups of size 1 count as 0.
struct Ranks {
  int tp = 0;
  int pcp = 0;
  int dp = 0;
  int ep = 0;
};
/// Ranks within the derived groups from those within the requested ones (`given.ep` is not read).
/// Throws Error(usage) when a rank is not within its group, and as derive does.
Ranks derive_ranks(const ParallelRequest& request, const Ranks& given);

/// Values of a model's constants that its layer hands to the engine; none where the model gives none. Read since 2026-08.
struct ActivationConstants {
  std::optional<double> swiglu_limit;
  std::optional<double> swiglu_alpha;
  std::optional<double> swiglu_beta;
  std::optional<double> situ_beta;
  std::optional<double> situ_linear_beta;

  bool operator==(const ActivationConstants&) const = default;
};

/// Sizes above this are a mistake, not a model.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 32;
/// And so are groups of more processes than this.
inline constexpr int kLargestGroup = 1 << 20;

/// The layer. Names are the engine's: activation SWIGLUOAI, routing Renormalize, dtype bfloat16.
struct LayerConfig {
  std::int64_t num_experts;
  std::int64_t experts_per_token;
  std::int64_t hidden;
  std::int64_t intermediate_per_partition;
  std::string activation = "SWIGLUOAI";
  std::string routing_method = "Renormalize";
  std::string in_dtype = "bfloat16";
  std::string moe_backend = "auto";
  bool has_bias = true;
  bool is_act_and_mul = true;
  bool is_lora_enabled = false;
  // What no oracle reads and kernels depend on.
  bool router_weight_on_input = false;  ///< apply_router_weight_on_input: Llama4
  int expert_groups = 0;                ///< num_expert_group of group-limited routing; 0: none
  int topk_group = 0;                   ///< groups that a token may use; 0: none
  bool has_correction_bias = false;     ///< e_score_correction_bias
  bool has_routed_scaling = false;      ///< routed_scaling_factor other than 1
  bool has_swiglu_alpha = false;        ///< the model gives alpha or beta other than 1.702 and 1
  bool has_swiglu_limit = false;        ///< the model gives a limit: other than 7 with SWIGLUOAI, any with SILU
  // What versions since 2026-08 read.
  std::int64_t intermediate = 0;                      ///< of the whole layer; 0: intermediate_per_partition times the ranks that share it
  std::string router_logits_dtype = {};               ///< empty: in_dtype
  std::optional<ActivationConstants> constants = {};  ///< none: what common checkpoints of that activation give, and the two facts above
  // Since 2026-11.
  bool has_hash_routing = false;            ///< the layer routes by a hash table
  bool require_decomposed_backend = false;  ///< its router or its experts refuse kernels that route by themselves
  bool skip_final_all_reduce = false;

  bool operator==(const LayerConfig&) const = default;
};

/// What the int_wna16 oracle is handed beside the keys.
struct WeightOnlyCall {
  std::string kind = "other";   ///< the checkpoint's configuration: a name of weight_only_kinds()
  std::int64_t group_size = 0;  ///< elements that share a scale; -1: a channel; 0: none is given
  bool desc_act = false;        ///< auto_gptq: columns are in activation order
  std::string actorder;         ///< compressed_tensors: group, dynamic, static, weight, or empty
  std::string strategy;         ///< compressed_tensors: group, channel, tensor; empty: group where there is a group size, else channel
  bool may_have_zp = false;
  bool may_have_bias = false;
  bool allow_tile_padding = false;

  bool operator==(const WeightOnlyCall&) const = default;
};
/// auto_awq, auto_gptq, moe_wna16, compressed_tensors, other.
std::span<const std::string_view> weight_only_kinds();
std::span<const std::string_view> actorder_names();  ///< without the empty one
std::span<const std::string_view> strategy_names();

/// What the engine knows of the model as a whole. Read since 2026-11.
struct ModelFacts {
  std::string model_type;
  std::string text_model_type;  ///< empty: model_type
  bool weight_transfer = false;
  bool enable_dbo = false;

  bool operator==(const ModelFacts&) const = default;
};

/// The constants of a layer: its own, or where it gives none limit 7, alpha 1.702 and beta 1 with SWIGLUOAI, a limit of 10 with SILU that has one,
/// betas 4 and 25 with SITU.
ActivationConstants constants_of(const LayerConfig& layer);

struct Deployment {
  Hardware hardware;
  Software software;
  std::map<std::string, std::string> env;  ///< the VLLM_* variables that are set, as text
  ParallelRequest parallel;
  LayerConfig layer;
  std::string weight_key = "kMxfp4Static";      ///< of the checkpoint; read by the oracles that take it from their caller: nvfp4, fp8, w4a8
  std::string activation_key = "None";          ///< what the caller asks for
  std::string quantization_override = "unset";  ///< quantization_config.moe.activation: "unset", or a name of the engine's table
  bool allow_vllm_cutlass = false;              ///< argument of the fp8 oracle: compressed-tensors passes true
  std::string quant_method = "own";             ///< of the checkpoint, where it alters the choice or the weights: one of quant_method_names()
  WeightOnlyCall weight_only;                   ///< int_wna16 alone
  ModelFacts model;

  bool operator==(const Deployment&) const = default;
};

/// Values of quant_method: "own" (it alters neither), "quark", "compressed_tensors", "modelopt".
std::span<const std::string_view> quant_method_names();

/// A named piece of hardware with the software that an engine installs on it.
struct PlatformPreset {
  std::string_view name;  ///< SM100, gfx950, XPU, CPU
  PlatformKind platform;
  int capability;  ///< 0: none
  std::string_view gcn_arch;
  std::string_view title;  ///< for people: "Blackwell B200"
};

/// SM75 to SM121, gfx90a to gfx1250, XPU, CPU.
std::span<const PlatformPreset> all_platforms();
/// A preset's own name, or that of a card (devices.hpp). Throws Error(usage) with the nearest known names and the list, Error(unsupported) with the
/// reason for a card that no preset is.
const PlatformPreset& platform_named(std::string_view name);

/// What an engine of that platform installs: its requirements files and images, not what could be added by hand.
Software software_on(PlatformKind platform);

/// Hardware of the preset, every optional package of that platform installed, no variable set, everything else as given.
Deployment deployment_on(const PlatformPreset& preset, const ParallelRequest& parallel, const LayerConfig& layer);

}  // namespace mx::deployment
