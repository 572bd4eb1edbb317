#pragma once
// What the rows of expert classes share: how the history of a class is said, activations, routing methods, devices, keys. For the class tables alone.
// Source of every row: vllm 7e1b45a09 (2026-05-22), 7ca49fbe4 (2026-08-22) and 4ba787ec9 (0.33.0, 2026-11-01) fused_moe/experts/*.py, where the file
// says no other.

#include <algorithm>
#include <array>

#include "model/engine/vllm/tables.hpp"

namespace mx::engine::class_rows {

using namespace deployment;
using enum deployment::Activation;
using enum LayerRule;
using Key = QuantKey;
using Names = std::string_view;

/// What a version changed of a class. What it does not say is as it was.
struct ClassChange {
  Engine since;
  std::optional<Engine> end = {};
  std::optional<bool> monolithic = {};
  std::optional<std::span<const DeviceRule>> devices = {};
  std::optional<bool> takes_no_act_and_mul = {};
  std::optional<Mask> activations = {};
  std::optional<std::span<const QuantRule>> quant = {};
  std::optional<Mask> refused_parallel = {};
  std::optional<Mask> routings = {};
  std::optional<bool> batch_invariant = {};
  std::optional<bool> lora = {};
  std::optional<bool> humming_alone = {};
  std::optional<std::span<const ActivationLoss>> fewer_activations = {};
  std::optional<bool Software::*> situ = {};
  std::optional<Mask> router_logits = {};
  std::optional<Mask> f32_logits_routings = {};
  std::optional<std::span<const LayerRule>> rules_before = {};
  std::optional<std::span<const LayerRule>> rules_after = {};
  std::optional<bool> hash_routing = {};
};

/// The row as the version has it that changed it.
constexpr KernelClass changed(KernelClass row, const ClassChange& change) {
  const auto put = [](auto& field, const auto& said) {
    if (said) field = *said;
  };
  row.first = change.since;
  row.end = change.end;
  put(row.monolithic, change.monolithic);
  put(row.devices, change.devices);
  put(row.takes_no_act_and_mul, change.takes_no_act_and_mul);
  put(row.activations, change.activations);
  put(row.quant, change.quant);
  put(row.refused_parallel, change.refused_parallel);
  put(row.routings, change.routings);
  put(row.batch_invariant, change.batch_invariant);
  put(row.lora, change.lora);
  put(row.humming_alone, change.humming_alone);
  put(row.fewer_activations, change.fewer_activations);
  put(row.situ, change.situ);
  put(row.router_logits, change.router_logits);
  put(row.f32_logits_routings, change.f32_logits_routings);
  put(row.rules_before, change.rules_before);
  put(row.rules_after, change.rules_after);
  put(row.hash_routing, change.hash_routing);
  return row;
}

/// The rows of one class: as it came, and once more for each change, oldest first.
template <typename... Change>
constexpr std::array<KernelClass, 1 + sizeof...(Change)> history(KernelClass row, const Change&... changes) {
  std::array<KernelClass, 1 + sizeof...(Change)> rows{row};
  std::size_t i = 0;
  ((rows[i + 1] = changed(rows[i], changes), ++i), ...);
  return rows;
}

/// Histories one after the other.
template <std::size_t... kRows>
constexpr std::array<KernelClass, (kRows + ...)> joined(const std::array<KernelClass, kRows>&... histories) {
  std::array<KernelClass, (kRows + ...)> rows{};
  auto at = rows.begin();
  ((at = std::copy(histories.begin(), histories.end(), at)), ...);
  return rows;
}

// Formats, activations, routing, parallelism, rules.

inline constexpr auto kBatched = ActivationFormat::batched_experts;
inline constexpr Mask kSiluAndOai = set_of(swigluoai, silu);
inline constexpr Mask kTritonActivations =
    set_of(silu, gelu, gelu_tanh, swigluoai, swiglustep, silu_no_mul, gelu_no_mul, gelu_tanh_no_mul, relu2_no_mul);
inline constexpr Mask kCutlassActivations = set_of(silu, gelu, swigluoai);
inline constexpr Mask kSoftmaxOverChosen = set_of(Routing::renormalize, Routing::renormalize_naive);
inline constexpr Mask kTrtllmRoutings =
    set_of(Routing::renormalize, Routing::deepseek_v3, Routing::renormalize_naive, Routing::sigmoid_renorm, Routing::minimax2, Routing::simulated);
inline constexpr Mask kFlashinferNvlink = set_of(ParallelFact::fi_nvl_two_sided, ParallelFact::fi_nvl_one_sided);
inline constexpr Mask kNotOneDispatch = set_of(ParallelFact::all2all_kernels, ParallelFact::eplb, ParallelFact::dp_above_one);
inline constexpr Mask kEveryApplied = kEverything & ~bit(relu2);  ///< what apply_moe_activation_supported names
/// Numbered by dtype_names().
inline constexpr Mask kBfloat16Logits = 1;
inline constexpr Mask kFloat32Logits = 4;
inline constexpr Mask kRoutedExchange = set_of(ParallelFact::eplb, ParallelFact::all2all_other_than_ag_rs);
inline constexpr Mask kTrtllmRoutingsWithSigmoid = kTrtllmRoutings | bit(Routing::sigmoid);
inline constexpr Mask kOaiBoth = set_of(swigluoai, swigluoai_uninterleave);
inline constexpr std::array kTritonRules = {triton_experts};
inline constexpr std::array kExpertRules = {experts_2048};
inline constexpr Mask kNoSimulated = ~bit(Routing::simulated);

// Devices.

inline constexpr std::array<Names, 3> kGfx9 = {"gfx90a", "gfx942", "gfx950"};
inline constexpr Where kBlackwell = on_cuda(cap_family(100));
inline constexpr Where kXpu{bit(PlatformKind::xpu), kAnyCapability, {}};
inline constexpr Where kCudaOrRocm{set_of(PlatformKind::cuda, PlatformKind::rocm), kAnyCapability, {}};
inline constexpr Where kCudaRocmOrXpu{set_of(PlatformKind::cuda, PlatformKind::rocm, PlatformKind::xpu), kAnyCapability, {}};
inline constexpr std::array kTrtllmDevices = {DeviceRule{kBlackwell, &Software::has_flashinfer_trtllm_fused_moe}};
inline constexpr std::array kTritonDevices = {DeviceRule{kCudaRocmOrXpu}};
inline constexpr std::array<Names, 2> kMxRocm = {"gfx95", "gfx1250"};
inline constexpr std::array kMxDevices = {DeviceRule{on_rocm(kMxRocm)}};

constexpr Where on_arch(std::string_view arch) { return {.platforms = bit(PlatformKind::cpu), .cpu_arch = arch}; }

// Keys.

inline constexpr KeyPairs kUnquantizedPair{bit(Key::none), bit(Key::none)};
inline constexpr KeyPairs kFp8BlockPair{bit(Key::fp8_static_128_block), bit(Key::fp8_dynamic_128)};
inline constexpr KeyPairs kFp8StaticPair{bit(Key::fp8_static_tensor), bit(Key::fp8_static_tensor)};
inline constexpr KeyPairs kFp8TensorPairs{bit(Key::fp8_static_tensor), set_of(Key::fp8_static_tensor, Key::fp8_dynamic_tensor)};
inline constexpr KeyPairs kFp8ChannelPair{bit(Key::fp8_static_channel), bit(Key::fp8_dynamic_token)};
inline constexpr KeyPairs kMxfp8Pair{bit(Key::mxfp8_static), bit(Key::mxfp8_dynamic)};
inline constexpr KeyPairs kNvfp4Pair{bit(Key::nvfp4_static), bit(Key::nvfp4_dynamic)};
inline constexpr KeyPairs kMxfp4OnBf16Pair{bit(Key::mxfp4_static), bit(Key::none)};
inline constexpr KeyPairs kMxfp4OnMxfp8Pair{bit(Key::mxfp4_static), bit(Key::mxfp8_dynamic)};
inline constexpr std::array kUnquantizedPairs = {kUnquantizedPair};
inline constexpr std::array kMxfp4OnBf16Pairs = {kMxfp4OnBf16Pair};
inline constexpr std::array kNvfp4Pairs = {kNvfp4Pair};
inline constexpr std::array kFp8BlockPairs = {kFp8BlockPair};
inline constexpr std::array kMxfp4OnBf16 = {QuantRule{kMxfp4OnBf16Pairs}};
inline constexpr std::array kNvfp4Quant = {QuantRule{kNvfp4Pairs}};
inline constexpr std::array kFp8BlockQuant = {QuantRule{kFp8BlockPairs}};
inline constexpr Mask kInt4Weights = set_of(Key::int4_static, Key::int4_static_32, Key::int4_static_asym, Key::int4_static_32_asym);
inline constexpr std::array kMxfp8Pairs = {kMxfp8Pair};
inline constexpr std::array kMxfp8Quant = {QuantRule{kMxfp8Pairs}};
inline constexpr std::array kMxint4Pairs = {KeyPairs{bit(Key::int4_static_32), bit(Key::none)}};
inline constexpr std::array kUnquantized = {QuantRule{kUnquantizedPairs}};
inline constexpr std::array kXpuInt4Pairs = {KeyPairs{set_of(Key::int4_static, Key::int4_static_32), bit(Key::none)}};
inline constexpr std::array kXpuInt4Quant = {QuantRule{kXpuInt4Pairs}};
inline constexpr std::array kMxfp4OnMxfp4Pairs = {KeyPairs{bit(Key::mxfp4_static), bit(Key::mxfp4_dynamic)}};
inline constexpr std::array kMxfp4OnMxfp4Quant = {QuantRule{kMxfp4OnMxfp4Pairs}};
inline constexpr std::array kNvfp4TokenPairs = {KeyPairs{bit(Key::nvfp4_static), set_of(Key::nvfp4_dynamic, Key::nvfp4_dynamic_token)}};
inline constexpr std::array kNvfp4TokenQuant = {QuantRule{kNvfp4TokenPairs}};

}  // namespace mx::engine::class_rows

namespace mx::engine {

/// The rows of the engine's files, each class oldest first.
std::span<const KernelClass> b12x_classes();
std::span<const KernelClass> cpu_moe_classes();
std::span<const KernelClass> cutlass_moe_classes();
std::span<const KernelClass> deep_gemm_moe_classes();
std::span<const KernelClass> emulation_moe_classes();
std::span<const KernelClass> flashinfer_b12x_moe_classes();
std::span<const KernelClass> flashinfer_cutedsl_moe_classes();
std::span<const KernelClass> flashinfer_cutlass_moe_classes();
std::span<const KernelClass> flashinfer_moe_ep_classes();
std::span<const KernelClass> fused_humming_moe_classes();
std::span<const KernelClass> gpt_oss_triton_kernels_moe_classes();
std::span<const KernelClass> hpc_moe_classes();
std::span<const KernelClass> marlin_moe_classes();
std::span<const KernelClass> moonep_classes();
std::span<const KernelClass> rdna3_wna16_moe_classes();
std::span<const KernelClass> rocm_aiter_moe_classes();
std::span<const KernelClass> triton_moe_classes();
std::span<const KernelClass> trtllm_bf16_moe_classes();
std::span<const KernelClass> trtllm_fp8_moe_classes();
std::span<const KernelClass> trtllm_lora_moe_classes();
std::span<const KernelClass> trtllm_mxfp4_moe_classes();
std::span<const KernelClass> trtllm_mxint4_moe_classes();
std::span<const KernelClass> trtllm_nvfp4_moe_classes();
std::span<const KernelClass> xpu_moe_classes();

}  // namespace mx::engine
