#include "model/engine/vllm/class_rules.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace mx::engine {
namespace {

constexpr std::string_view kMet;
constexpr double kOaiAlpha = 1.702;
constexpr double kOaiBeta = 1.0;

const deployment::LayerConfig& layer_of(const Case& it) { return it.query.deployment.layer; }
bool dtype_is(const Case& it, std::initializer_list<std::string_view> dtypes) {
  return std::ranges::find(dtypes, layer_of(it).in_dtype) != dtypes.end();
}
bool activation_in(const Case& it, deployment::Mask activations) { return deployment::contains(activations, it.query.activation); }
bool weighs(const Case& it, deployment::QuantKey key) { return it.subject.weight_key == key; }
bool mxfp4_on_mxfp8(const Case& it) {
  return weighs(it, deployment::QuantKey::mxfp4_static) && it.subject.activation_key == deployment::QuantKey::mxfp8_dynamic;
}
bool hidden_in(const Case& it, std::int64_t multiple) { return layer_of(it).hidden % multiple == 0; }
bool intermediate_in(const Case& it, std::int64_t multiple) { return layer_of(it).intermediate_per_partition % multiple == 0; }
std::string_view met_if(bool met, std::string_view code) { return met ? kMet : code; }

bool has_oai_constants(const Case& it) {
  const deployment::ActivationConstants& constants = it.query.constants;
  return constants.swiglu_alpha == kOaiAlpha && constants.swiglu_beta == kOaiBeta;
}

std::string_view few_experts(const Case& it) {
  constexpr std::int64_t kWarp = 32;
  constexpr std::int64_t kMost = 1024;
  const deployment::PlatformKind platform = it.query.deployment.hardware.platform;
  const bool counted = platform == deployment::PlatformKind::cuda || platform == deployment::PlatformKind::rocm;
  return met_if(!counted || (layer_of(it).num_experts + kWarp - 1) / kWarp * kWarp < kMost, "expert_count");
}

std::string_view humming(const Case& it) { return met_if(it.row.humming == preferred_gemm(it.query), "humming_gemm_type"); }

/// What an unquantized kernel of the processor wants of the sizes.
struct Alignment {
  std::int64_t out;
  std::int64_t reduction;
  bool bfloat16_alone;
  bool zentorch;  ///< AMD's kernel takes the layer before; until 2026-11 behind every class but Power's, since then behind the plain one
};

bool zentorch_takes(const Case& it) {
  const deployment::Deployment& deployment = it.query.deployment;
  return deployment.hardware.zen_cpu && deployment.software.zentorch_fused_moe_op &&
         activation_in(it, deployment::set_of(deployment::Activation::gelu, deployment::Activation::gelu_tanh, deployment::Activation::silu,
                                              deployment::Activation::swigluoai));
}

std::string_view on_cpu(const Case& it, const Alignment& wanted) {
  if (wanted.zentorch && zentorch_takes(it)) return kMet;
  if (wanted.bfloat16_alone && !dtype_is(it, {"bfloat16"})) return "in_dtype";
  const std::int64_t unit = std::lcm(wanted.out, wanted.reduction);
  std::int64_t intermediate = layer_of(it).intermediate_per_partition;
  if (it.query.activation != deployment::Activation::swigluoai) intermediate = (intermediate + unit - 1) / unit * unit;
  return met_if(hidden_in(it, unit) && intermediate % unit == 0, "size");
}
bool zentorch_first(const Case& it) { return it.query.engine < deployment::kVllm2026_11; }

// FlashInfer's kernels that exchange tokens themselves.

constexpr std::string_view kMegaDeepGemm = "flashinfer_moe_ep_mega_deep_gemm";
constexpr std::string_view kCuteDsl = "flashinfer_moe_ep_cutedsl";

struct MoeEpReason {
  std::string_view word;
  bool (*holds)(const Case& it, bool mega);
};
constexpr std::array kMoeEpReasons = {
    MoeEpReason{"weight_format", [](const Case& it, bool mega) { return mega && weighs(it, deployment::QuantKey::nvfp4_static); }},
    MoeEpReason{"a16",
                [](const Case& it, bool) {
                  return weighs(it, deployment::QuantKey::nvfp4_static) && it.subject.activation_key == deployment::QuantKey::none;
                }},
    MoeEpReason{"skip_final_all_reduce", [](const Case& it, bool) { return layer_of(it).skip_final_all_reduce; }},
    MoeEpReason{"in_dtype", [](const Case& it, bool) { return !dtype_is(it, {"bfloat16"}); }},
    MoeEpReason{"bias", [](const Case& it, bool) { return layer_of(it).has_bias; }},
    MoeEpReason{"swiglu_params", [](const Case& it, bool) { return it.query.constants.swiglu_alpha || it.query.constants.swiglu_beta; }},
    MoeEpReason{"routing_method", [](const Case& it, bool mega) { return mega && it.query.routing != deployment::Routing::deepseek_v4; }},
    MoeEpReason{"weight_transfer", [](const Case& it, bool) { return it.query.deployment.model.weight_transfer; }},
    MoeEpReason{"dbo", [](const Case& it, bool) { return it.query.deployment.model.enable_dbo; }},
    MoeEpReason{"eplb", [](const Case& it, bool mega) { return mega && it.query.parallel.enable_eplb; }},
};

/// "moe_ep:bias+eplb" for every set of reasons, numbered by its bits.
const std::vector<std::string>& moe_ep_codes() {
  static const std::vector<std::string> codes = [] {
    std::vector<std::string> all;
    for (std::size_t set = 0; set < std::size_t{1} << kMoeEpReasons.size(); ++set) {
      std::string code;
      for (std::size_t i = 0; i < kMoeEpReasons.size(); ++i) {
        if ((set >> i & 1) != 0) code += (code.empty() ? "" : "+") + std::string(kMoeEpReasons[i].word);
      }
      all.push_back(code.empty() ? code : "moe_ep:" + code);
    }
    return all;
  }();
  return codes;
}

std::string_view moe_ep_refusal(const Case& it) {
  const std::string& wish = layer_of(it).moe_backend;
  if (wish != kMegaDeepGemm && wish != kCuteDsl) return "exc:ValueError";
  std::size_t set = 0;
  for (std::size_t i = 0; i < kMoeEpReasons.size(); ++i) set |= std::size_t{kMoeEpReasons[i].holds(it, wish == kMegaDeepGemm)} << i;
  return moe_ep_codes()[set];
}

std::string_view fp8_constants(const Case& it) {
  const deployment::ActivationConstants& constants = it.query.constants;
  if (!constants.swiglu_limit && !constants.swiglu_alpha && !constants.swiglu_beta) return kMet;
  const bool has_blocks = weighs(it, deployment::QuantKey::mxfp8_static) || weighs(it, deployment::QuantKey::fp8_static_128_block);
  return met_if(has_blocks && activation_in(it, deployment::set_of(deployment::Activation::silu, deployment::Activation::swigluoai_uninterleave)),
                "swiglu_params");
}

struct RuleRow {
  LayerRule rule;
  std::string_view (*refusal)(const Case& it);
  std::string_view text;
};
// clang-format off
constexpr std::array kRules = {
    RuleRow{LayerRule::no_bias, [](const Case& it) { return met_if(!layer_of(it).has_bias, "bias"); }, "a layer without bias"},
    RuleRow{LayerRule::half_dtype, [](const Case& it) { return met_if(dtype_is(it, {"float16", "bfloat16"}), "in_dtype"); }, "float16 or bfloat16 input"},
    RuleRow{LayerRule::bfloat16_dtype, [](const Case& it) { return met_if(dtype_is(it, {"bfloat16"}), "in_dtype"); }, "bfloat16 input"},
    RuleRow{LayerRule::f32_or_bfloat16_dtype, [](const Case& it) { return met_if(dtype_is(it, {"float32", "bfloat16"}), "in_dtype"); }, "float32 or bfloat16 input"},
    RuleRow{LayerRule::situ_betas_4_25, [](const Case& it) {
              return met_if(it.query.activation != deployment::Activation::situ || (it.query.constants.situ_beta == 4.0 && it.query.constants.situ_linear_beta == 25.0), "situ_betas");
            }, "betas 4 and 25 with SITU"},
    RuleRow{LayerRule::plain_uninterleaved, [](const Case& it) {
              return met_if(it.query.activation != deployment::Activation::swigluoai_uninterleave || it.subject.activation_key == deployment::QuantKey::none, "b12x_activation");
            }, "16-bit activations with SWIGLUOAI_UNINTERLEAVE"},
    RuleRow{LayerRule::mxfp4_intermediate_32, [](const Case& it) { return met_if(!weighs(it, deployment::QuantKey::mxfp4_static) || intermediate_in(it, 32), "size"); },
            "an intermediate size in 32 with MXFP4 weights"},
    RuleRow{LayerRule::mxfp4_mxfp8_activations, [](const Case& it) {
              return met_if(!mxfp4_on_mxfp8(it) || activation_in(it, deployment::set_of(deployment::Activation::silu, deployment::Activation::situ)), "b12x_activation");
            }, "SILU or SITU with MXFP4 weights and MXFP8 activations"},
    RuleRow{LayerRule::mxfp4_mxfp8_sizes, [](const Case& it) { return met_if(!mxfp4_on_mxfp8(it) || (hidden_in(it, 256) && intermediate_in(it, 32)), "size"); },
            "a hidden size in 256 and an intermediate size in 32 with MXFP4 weights and MXFP8 activations"},
    RuleRow{LayerRule::quark, [](const Case& it) { return met_if(it.query.deployment.software.has_quark, "quark_missing"); }, "package quark"},
    RuleRow{LayerRule::no_lora, [](const Case& it) { return met_if(!layer_of(it).is_lora_enabled, "lora"); }, "no LoRA"},
    RuleRow{LayerRule::triton_experts, few_experts, "fewer than 1,024 experts, counted in warps of 32"},
    RuleRow{LayerRule::experts_2048, [](const Case& it) { return met_if(layer_of(it).num_experts <= 2048, "expert_count"); }, "at most 2,048 experts"},
    RuleRow{LayerRule::aiter_mxfp8, [](const Case& it) { return met_if(it.query.deployment.software.aiter_mxfp8, "flydsl_missing"); }, "flydsl and AITER's table of MXFP8"},
    RuleRow{LayerRule::uninterleaved, [](const Case& it) { return met_if(it.query.activation == deployment::Activation::swigluoai_uninterleave, "swiglu_activation"); },
            "SWIGLUOAI_UNINTERLEAVE"},
    RuleRow{LayerRule::silu_or_uninterleaved, [](const Case& it) {
              return met_if(activation_in(it, deployment::set_of(deployment::Activation::silu, deployment::Activation::swigluoai_uninterleave)), "swiglu_activation");
            }, "SILU or SWIGLUOAI_UNINTERLEAVE"},
    RuleRow{LayerRule::oai_alpha_beta, [](const Case& it) { return met_if(has_oai_constants(it), "swiglu_alpha_beta"); }, "alpha 1.702 and beta 1, both given"},
    RuleRow{LayerRule::uninterleaved_alpha_beta, [](const Case& it) {
              return met_if(it.query.activation != deployment::Activation::swigluoai_uninterleave || has_oai_constants(it), "swiglu_alpha_beta");
            }, "alpha 1.702 and beta 1, both given"},
    RuleRow{LayerRule::humming_gemm, humming, "another GEMM type preferred"},
    RuleRow{LayerRule::arm, [](const Case& it) { return met_if(it.query.deployment.hardware.cpu_arch == "arm", "device"); }, "an Arm processor"},
    RuleRow{LayerRule::torch_int4_ops, [](const Case& it) { return met_if(it.query.deployment.software.torch_dyn_quant_4bit_ops, "torch_ops_missing"); },
            "torch's 4-bit operations"},
    RuleRow{LayerRule::sizes_32, [](const Case& it) { return met_if(hidden_in(it, 32) && intermediate_in(it, 32), "size"); }, "sizes in 32"},
    RuleRow{LayerRule::hidden_32, [](const Case& it) { return met_if(hidden_in(it, 32), "size"); }, "a hidden size in 32"},
    RuleRow{LayerRule::sizes_16, [](const Case& it) { return met_if(hidden_in(it, 16) && intermediate_in(it, 16), "size"); }, "sizes in 16"},
    RuleRow{LayerRule::cpu_plain, [](const Case& it) { return on_cpu(it, {32, 1, false, true}); }, "sizes in 32"},
    RuleRow{LayerRule::cpu_plain_x86, [](const Case& it) { return on_cpu(it, {32, 32, true, zentorch_first(it)}); }, "bfloat16 input and sizes in 32"},
    RuleRow{LayerRule::cpu_plain_arm, [](const Case& it) { return on_cpu(it, {32, 4, true, zentorch_first(it)}); }, "bfloat16 input and sizes in 32"},
    RuleRow{LayerRule::cpu_plain_power, [](const Case& it) { return on_cpu(it, {16, 2, true, false}); }, "bfloat16 input and sizes in 16"},
    RuleRow{LayerRule::trtllm_fp8_constants, fp8_constants, "no limit, alpha or beta but with scales of blocks and SILU or SWIGLUOAI_UNINTERLEAVE"},
    RuleRow{LayerRule::two_experts_per_token, [](const Case& it) { return met_if(layer_of(it).experts_per_token >= 2, "top_k"); }, "at least two experts a token"},
    RuleRow{LayerRule::moe_ep, moe_ep_refusal, "what FlashInfer's expert-parallel kernels take"},
};
// clang-format on

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<std::size_t>(kRules[i].rule) != i) return false;
  }
  return static_cast<std::size_t>(LayerRule::moe_ep) + 1 == kRules.size();
}
static_assert(in_order());

const RuleRow& row_of(LayerRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

}  // namespace

std::string_view refusal_of(LayerRule rule, const Case& it) { return row_of(rule).refusal(it); }
std::string_view text_of(LayerRule rule) { return row_of(rule).text; }

HummingGemm preferred_gemm(const Query& query) {
  const std::string text = read_text(query.deployment.env, EnvVariable::humming_moe_gemm_type);
  if (text == "grouped" || text == "grouped_contiguous") return HummingGemm::grouped_contiguous;
  // Until 2026-11 every other text, "auto" and unset included, prefers indexed.
  if (query.engine < deployment::kVllm2026_11 || text == "indexed") return HummingGemm::indexed;
  if (text.empty() || text == "auto") return query.parallel.use_ep ? HummingGemm::grouped_contiguous : HummingGemm::indexed;
  return text == "grouped_masked" ? HummingGemm::grouped_masked : HummingGemm::not_humming;
}

}  // namespace mx::engine
