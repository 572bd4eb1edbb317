#pragma once
// What a backend is chosen for: hardware, software, environment, parallelism, layer. Plain data; sizes in elements.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mx::oracle {

enum class PlatformKind { cuda, rocm, xpu, cpu };
std::string_view name_of(PlatformKind kind);
/// cuda, rocm, xpu, cpu, in the order of the enumerators.
std::span<const std::string_view> platform_kind_names();

/// What the platform layer of the engine reports.
struct Hardware {
  PlatformKind platform;
  std::optional<int> capability;  ///< 10 * major + minor; none on xpu and cpu
  std::string gcn_arch;           ///< rocm only: "gfx950"
  bool amx = true;                ///< cpu only: the processor has AMX. Selection never asks, the engine's CPU kernels need it

  bool operator==(const Hardware&) const = default;
};

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

  bool operator==(const Software&) const = default;
};

/// Names of the probes, for files and tables.
struct SoftwareRow {
  std::string_view name;
  bool Software::*answer;
};
std::span<const SoftwareRow> software_rows();

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
  bool use_batched_activation_format() const;
};

/// Throws Error(usage) when a size is not positive or the all2all backend is unknown.
Parallel derive(const ParallelRequest& request);

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

  bool operator==(const LayerConfig&) const = default;
};

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
  std::string quant_method = "own";             ///< of the checkpoint, where it alters the choice: "own" (it does not), "quark", "compressed_tensors"

  bool operator==(const Deployment&) const = default;
};

/// Values of quant_method.
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
/// Throws Error(usage) with the nearest known name.
const PlatformPreset& platform_named(std::string_view name);

/// What an engine of that platform installs: its requirements files and images, not what could be added by hand.
Software software_on(PlatformKind platform);

/// Hardware of the preset, every optional package of that platform installed, no variable set, everything else as given.
Deployment deployment_on(const PlatformPreset& preset, const ParallelRequest& parallel, const LayerConfig& layer);

}  // namespace mx::oracle
