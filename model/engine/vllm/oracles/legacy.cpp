#include "model/engine/vllm/oracles/legacy.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include "model/error.hpp"

namespace mx::engine {
namespace {

constexpr std::int64_t kBlock = 32;
constexpr std::array<int, 3> kTorchWithTritonKernels = {2, 8, 0};
constexpr std::array<int, 3> kTorchWithHopperLayout = {2, 8, 1};

bool is_capability(const std::optional<int>& capability, int exactly) { return capability == exactly; }

void require(std::int64_t value, std::int64_t low, std::int64_t high, std::string_view what) {
  if (value >= low && value <= high) return;
  throw Error(ErrorCode::usage,
              std::string(what) + " is " + std::to_string(value) + ", must be in [" + std::to_string(low) + ", " + std::to_string(high) + "]");
}

/// The first variable whose text the engine cannot read.
std::optional<Refusal> unreadable(const Environment& environment) {
  constexpr std::array kRead = {EnvVariable::mxfp4_use_marlin, EnvVariable::flashinfer_mxfp4_bf16, EnvVariable::flashinfer_mxfp4_mxfp8};
  for (EnvVariable variable : kRead) {
    if (read_switch(environment, variable) == Switch::unreadable) {
      return Refusal{"ValueError", std::string(name_of(variable)) + " is no integer"};
    }
  }
  return std::nullopt;
}

bool is_on(const Environment& environment, EnvVariable variable) { return read_switch(environment, variable) == Switch::on; }

bool wants_marlin(const LegacyMachine& machine) {
  if (is_set(machine.environment, EnvVariable::mxfp4_use_marlin)) return is_on(machine.environment, EnvVariable::mxfp4_use_marlin);
  const auto& capability = machine.hardware.capability;
  if (machine.hardware.platform != deployment::PlatformKind::cuda || is_capability(capability, 100)) return false;
  const bool before_hopper = !capability || *capability < 90;
  return before_hopper || !machine.has_triton_kernels || !at_least(machine.torch, kTorchWithTritonKernels);
}

/// Without a word of its own, the MXFP8 variable being set at all, even to 0, turns BF16 off.
bool wants_flashinfer_bf16(const LegacyMachine& machine) {
  if (is_set(machine.environment, EnvVariable::flashinfer_mxfp4_bf16)) return is_on(machine.environment, EnvVariable::flashinfer_mxfp4_bf16);
  return is_capability(machine.hardware.capability, 100) && machine.has_flashinfer &&
         !is_set(machine.environment, EnvVariable::flashinfer_mxfp4_mxfp8);
}

/// First match: what pads to which multiples.
struct PaddingRow {
  bool (*holds)(const LegacyChoice& choice, deployment::PlatformKind platform);
  std::int64_t hidden;
  std::int64_t intermediate;
};
constexpr std::array<PaddingRow, 4> kPaddings = {{
    {[](const LegacyChoice& choice, deployment::PlatformKind) { return choice.use_marlin; }, 256, 128},
    {[](const LegacyChoice& choice, deployment::PlatformKind) { return choice.use_flashinfer(); }, 256, 256},
    {[](const LegacyChoice&, deployment::PlatformKind platform) { return platform == deployment::PlatformKind::rocm; }, 1, 128},
    {[](const LegacyChoice&, deployment::PlatformKind) { return true; }, 1, 64},
}};

std::int64_t round_up_to(std::int64_t size, std::int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

/// What _can_support_mxfp4 wants to be false.
constexpr std::array<bool LegacyLayer::*, 8> kRefused = {
    &LegacyLayer::use_grouped_topk,
    &LegacyLayer::expert_map,
    &LegacyLayer::custom_routing_function,
    &LegacyLayer::e_score_correction_bias,
    &LegacyLayer::apply_router_weight_on_input,
    &LegacyLayer::expert_load_view,
    &LegacyLayer::logical_to_physical_map,
    &LegacyLayer::logical_replica_count,
};

constexpr std::array<std::string_view, 3> kPaths = {"marlin", "flashinfer", "triton"};

}  // namespace

TorchVersion torch_version_of(std::string_view text) {
  const auto wrong = [&] { return Error(ErrorCode::usage, "torch version is '" + std::string(text) + "', must be like 2.8.0 or 2.8.0.dev20250801"); };
  std::string_view rest = text.substr(0, text.find('+'));
  TorchVersion version{{0, 0, 0}, false};
  for (std::size_t i = 0; i < version.release.size(); ++i) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), version.release[i]);
    if (error != std::errc() || version.release[i] < 0) throw wrong();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const bool more = rest.size() > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9';
    if (!more) break;
    if (i + 1 == version.release.size()) throw wrong();
    rest.remove_prefix(1);
  }
  if (rest.empty()) return version;
  if (rest.starts_with('.')) rest.remove_prefix(1);
  const bool post = rest.starts_with("post");
  version.pre_release = rest.starts_with("dev") || rest.starts_with("a") || rest.starts_with("b") || rest.starts_with("rc");
  if (!post && !version.pre_release) throw wrong();
  return version;
}

bool at_least(const TorchVersion& version, const std::array<int, 3>& release) {
  return version.release > release || (version.release == release && !version.pre_release);
}

Answer<LegacyChoice> legacy_choice(const LegacyMachine& machine) {
  if (const auto refusal = unreadable(machine.environment)) return *refusal;
  return LegacyChoice{wants_marlin(machine), wants_flashinfer_bf16(machine), is_on(machine.environment, EnvVariable::flashinfer_mxfp4_mxfp8)};
}

LegacySizes legacy_padding(const LegacyChoice& choice, deployment::PlatformKind platform, const LegacySizes& sizes) {
  require(sizes.hidden, 1, deployment::kLargestSize, "hidden size");
  require(sizes.intermediate, 1, deployment::kLargestSize, "intermediate size");
  const auto row = std::find_if(kPaddings.begin(), kPaddings.end(), [&](const PaddingRow& r) { return r.holds(choice, platform); });
  return {round_up_to(sizes.hidden, row->hidden), round_up_to(sizes.intermediate, row->intermediate)};
}

LegacyShapes legacy_shapes(std::int64_t experts, const LegacySizes& padded) {
  const auto [hidden, intermediate] = padded;
  return {
      .w13_weight = {experts, 2 * intermediate, hidden / 2},
      .w13_weight_scale = {experts, 2 * intermediate, hidden / kBlock},
      .w13_bias = {experts, 2 * intermediate},
      .w2_weight = {experts, hidden, intermediate / 2},
      .w2_weight_scale = {experts, hidden, intermediate / kBlock},
      .w2_bias = {experts, hidden},
  };
}

bool legacy_can_support(const LegacyLayer& layer) {
  const bool refused = std::any_of(kRefused.begin(), kRefused.end(), [&](bool LegacyLayer::*member) { return layer.*member; });
  const bool grouped = layer.topk_group.value_or(0) != 0 || layer.num_expert_group.value_or(0) != 0;
  return !refused && !grouped && layer.scoring_func == "softmax" && layer.activation == "swigluoai";
}

std::string_view name_of(LegacyPath path) { return kPaths[static_cast<std::size_t>(path)]; }

std::string_view legacy_backend(LegacyPath path, const LegacyChoice& choice) {
  constexpr std::array<std::string_view, 3> kBackends{"MARLIN", "FLASHINFER_TRTLLM_MXFP4_BF16", "TRITON"};
  const bool quantizes = path == LegacyPath::flashinfer && choice.flashinfer_mxfp8;
  return quantizes ? "FLASHINFER_TRTLLM_MXFP4_MXFP8" : kBackends[static_cast<std::size_t>(path)];
}

Answer<LegacyPath> legacy_path(const LegacyChoice& choice, bool enable_eplb, bool use_ep, const LegacyLayer& layer) {
  if (enable_eplb) return Refusal{"NotImplementedError", "EPLB is not supported for mxfp4"};
  if (choice.use_marlin) return LegacyPath::marlin;
  if (!legacy_can_support(layer)) return Refusal{"AssertionError", "the layer's routing or activation is not supported"};
  if (!choice.use_flashinfer()) return LegacyPath::triton;
  if (use_ep) return Refusal{"AssertionError", "expert parallelism is not supported on the FlashInfer path"};
  return LegacyPath::flashinfer;
}

deployment::Routing legacy_flashinfer_routing(bool renormalize) {
  return renormalize ? deployment::Routing::renormalize : deployment::Routing::standard;
}

std::int64_t legacy_tile_tokens_dim(std::int64_t tokens, std::int64_t top_k, std::int64_t experts) {
  require(tokens, 0, deployment::kLargestSize, "number of tokens");
  require(top_k, 0, kLargestTopK, "top_k");
  require(experts, 1, deployment::kLargestSize, "number of experts");
  constexpr std::int64_t kSmallest = 8;
  constexpr std::int64_t kLargest = 64;
  const std::int64_t per_expert = tokens * top_k / experts;
  const auto unbalanced = static_cast<std::uint64_t>(static_cast<double>(per_expert) * 1.3);
  return std::clamp(static_cast<std::int64_t>(std::bit_ceil(unbalanced)), kSmallest, kLargest);
}

int legacy_num_warps(bool use_ep, std::int64_t dp_chunk_size) { return use_ep && dp_chunk_size <= 512 ? 4 : 8; }

LegacySwizzle legacy_swizzle(const std::optional<int>& capability, const TorchVersion& torch) {
  return {is_capability(capability, 90) && !at_least(torch, kTorchWithHopperLayout), is_capability(capability, 100)};
}

}  // namespace mx::engine
