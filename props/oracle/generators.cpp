#include "props/oracle/generators.hpp"

#include <rapidcheck.h>

#include <array>
#include <vector>

#include "model/oracle/env.hpp"
#include "model/oracle/vocabulary.hpp"

namespace mx::props {
namespace {

using oracle::Deployment;
using Words = std::span<const std::string_view>;

std::size_t below(std::size_t count) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, count)); }

template <typename T>
T one_of(std::initializer_list<T> values) {
  return values.begin()[below(values.size())];
}

/// Mostly `usual`, sometimes any of the words.
std::string mostly(int percent, std::string_view usual, Words words) { return std::string(chance(100 - percent) ? pick_word(words) : usual); }

oracle::ParallelRequest random_parallel() {
  oracle::ParallelRequest request;
  if (chance(50)) {
    request.tp = one_of({1, 2, 4, 8, 3});
    request.dp = one_of({1, 2, 8});
    request.enable_expert_parallel = chance(70);
  }
  if (chance(5)) request.pcp = 2;
  if (chance(5)) request.sp = 2;
  request.enable_eplb = chance(15);
  request.all2all_backend = std::string(pick_word(oracle::all2all_names()));
  return request;
}

oracle::LayerConfig random_layer(const DeploymentKind& kind) {
  const auto size = [] {
    return chance(20) ? static_cast<std::int64_t>(1 + below(9000)) : one_of<std::int64_t>({2880, 1440, 720, 360, 2048, 3072, 7168, 130});
  };
  oracle::LayerConfig layer{
      .num_experts = one_of<std::int64_t>({128, 32, 256, 8}),
      .experts_per_token = one_of<std::int64_t>({4, 1, 8}),
      .hidden = size(),
      .intermediate_per_partition = size(),
      .activation = chance(20) ? "SILU" : mostly(85, "SWIGLUOAI", oracle::activation_names()),
      .routing_method = mostly(75, "Renormalize", oracle::routing_names()),
      .in_dtype = mostly(90, "bfloat16", oracle::dtype_names()),
      .moe_backend = "auto",
      .has_bias = !chance(40),
      .is_act_and_mul = !chance(7),
      .is_lora_enabled = chance(7),
  };
  const std::vector<std::string_view> known = oracle::user_names(oracle::mxfp4_tables());
  if (kind.wishes && chance(60)) layer.moe_backend = std::string(pick_word(chance(90) ? Words(known) : oracle::moe_backend_names()));
  return layer;
}

oracle::Environment random_environment(const DeploymentKind& kind) {
  constexpr std::array<std::string_view, 5> kSwitches = {"1", "0", "true", "False", "10"};
  constexpr std::array<std::string_view, 4> kGemmTypes = {"grouped", "indexed", "GROUPED_CONTIGUOUS", "auto"};
  oracle::Environment environment;
  const auto maybe = [&](int percent, std::string_view name, Words values) {
    if (chance(percent)) environment[std::string(name)] = std::string(pick_word(values));
  };
  maybe(60, "VLLM_ROCM_USE_AITER", kSwitches);
  maybe(10, "VLLM_ROCM_USE_AITER_MOE", kSwitches);
  maybe(8, "VLLM_BATCH_INVARIANT", kSwitches);
  maybe(5, "VLLM_USE_DEEP_GEMM", kSwitches);
  maybe(30, "VLLM_HUMMING_MOE_GEMM_TYPE", kGemmTypes);
  if (!kind.override_switches) return environment;
  maybe(10, "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", kSwitches);
  maybe(10, "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", kSwitches);
  maybe(10, "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", kSwitches);
  maybe(10, "VLLM_MXFP4_USE_MARLIN", kSwitches);
  return environment;
}

}  // namespace

std::string_view pick_word(Words words) { return words[below(words.size())]; }

bool chance(int percent) { return below(100) >= static_cast<std::size_t>(100 - percent); }

Deployment random_deployment(const oracle::PlatformPreset& preset, const DeploymentKind& kind) {
  // The keys that some backend owns.
  constexpr std::array<std::string_view, 4> kOwnedKeys = {"kMxfp8Dynamic", "kFp8StaticTensorSym", "kMxfp4Dynamic", "kFp8Dynamic128Sym"};
  Deployment deployment = oracle::deployment_on(preset, random_parallel(), random_layer(kind));
  deployment.env = random_environment(kind);
  if (chance(30)) deployment.activation_key = std::string(pick_word(chance(80) ? Words(kOwnedKeys) : oracle::quant_key_names()));
  if (kind.key_override && chance(15)) deployment.quantization_override = std::string(pick_word(oracle::override_names()));
  for (const oracle::SoftwareRow& row : oracle::software_rows()) {
    if (chance(6)) deployment.software.*row.answer = !(deployment.software.*row.answer);
  }
  return deployment;
}

Deployment moved_to(Deployment deployment, const oracle::PlatformPreset& preset) {
  const Deployment there = oracle::deployment_on(preset, deployment.parallel, deployment.layer);
  deployment.hardware = there.hardware;
  deployment.software = there.software;
  return deployment;
}

std::string describe(const Deployment& d) {
  std::string text = std::string(name_of(d.hardware.platform));
  if (d.hardware.capability) text += " " + std::to_string(*d.hardware.capability);
  if (!d.hardware.gcn_arch.empty()) text += " " + d.hardware.gcn_arch;
  text += ", tp " + std::to_string(d.parallel.tp) + " pcp " + std::to_string(d.parallel.pcp) + " dp " + std::to_string(d.parallel.dp);
  text += (d.parallel.enable_expert_parallel ? " ep " : " no-ep ") + d.parallel.all2all_backend + (d.parallel.enable_eplb ? " eplb" : "");
  text += ", " + std::to_string(d.layer.num_experts) + " experts, " + std::to_string(d.layer.hidden) + " x " +
          std::to_string(d.layer.intermediate_per_partition);
  text += " " + d.layer.activation + " " + d.layer.routing_method + " " + d.layer.in_dtype + (d.layer.has_bias ? " bias" : "");
  text += std::string(d.layer.is_act_and_mul ? "" : " not-gated") + (d.layer.is_lora_enabled ? " lora" : "");
  text += ", backend " + d.layer.moe_backend + ", key " + d.activation_key + ", override " + d.quantization_override;
  for (const auto& [name, value] : d.env) text += ", " + name + "=" + value;
  for (const oracle::SoftwareRow& row : oracle::software_rows()) {
    if (d.software.*row.answer != oracle::software_on(d.hardware.platform).*row.answer) {
      text += ", " + std::string(row.name) + (d.software.*row.answer ? " true" : " false");
    }
  }
  return text;
}

std::string describe(const oracle::Decision& decision) {
  if (decision.choice) return decision.choice->backend + "/" + decision.choice->kernel_class;
  return decision.refusal ? decision.refusal->error_type + ": " + decision.refusal->text : "neither a choice nor a refusal";
}

}  // namespace mx::props
