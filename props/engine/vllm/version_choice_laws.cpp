// O7 what each version chooses and refuse: classes, keys, LoRA, calls, methods, constants, needs, conversions, releases.

#include "props/engine/vllm/version_choice_laws.hpp"

#include <rapidcheck.h>

#include <array>
#include <string>

#include "model/audit/needs.hpp"
#include "model/audit/placement.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/check.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/releases.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/constants.hpp"
#include "model/engine/vllm/setup/quant_config.hpp"
#include "model/families/carried.hpp"
#include "props/engine/vllm/facts.hpp"
#include "props/engine/vllm/generators.hpp"
#include "props/engine/vllm/restated.hpp"

namespace mx::props {
namespace {

using deployment::Deployment;
using deployment::LayerConfig;
using Text = std::string_view;

constexpr int kClassCases = 4000;

Deployment on(Text platform, Text activation) {
  LayerConfig layer{.num_experts = 8, .experts_per_token = 2, .hidden = 512, .intermediate_per_partition = 256};
  layer.activation = activation;
  layer.has_bias = false;
  return deployment::deployment_on(deployment::platform_named(platform), {}, layer);
}

std::string one(Text words) { return std::string(pick_word(texts_of(words))); }

/// A layer that meets both sides of what the restated classes ask.
Deployment drawn(deployment::Engine version) {
  Deployment d = on(one("SM90 SM100 SM120 SM103 SM89 gfx942 gfx950 gfx1250 gfx90a XPU CPU"),
                    one("SILU SWIGLUOAI_UNINTERLEAVE SITU GELU_TANH RELU2_NO_MUL SWIGLUOAI RELU2 SILU_NO_MUL"));
  LayerConfig& layer = d.layer;
  layer.routing_method = one("Renormalize DeepSeekV3 MiniMax2 Sigmoid Default DeepseekV4");
  layer.has_bias = chance(15);
  layer.in_dtype = one("bfloat16 bfloat16 float16 float32");
  layer.router_logits_dtype = "bfloat16";
  layer.is_lora_enabled = chance(15);
  layer.hidden = 32 * (chance(70) ? 16 : 15) + (chance(10) ? 8 : 0);
  layer.intermediate_per_partition = 32 * (chance(80) ? 8 : 5) + (chance(15) ? 16 : 0);
  layer.num_experts = chance(80) ? 64 : chance(50) ? 993 : chance(50) ? 992 : 2049;
  layer.constants.emplace();
  if (chance(50)) {
    layer.constants->swiglu_alpha = chance(70) ? 1.702 : 1.5;
    layer.constants->swiglu_beta = 1.0;
    if (chance(70)) {
      layer.constants->situ_beta = chance(70) ? 4.0 : 3.0;
      layer.constants->situ_linear_beta = 25.0;
    }
  }
  if (version >= deployment::kVllm2026_11) {
    layer.has_hash_routing = chance(15);
    layer.require_decomposed_backend = chance(15);
  }
  if (chance(40)) {
    d.parallel = {.tp = 2, .pcp = chance(30) ? 2 : 1, .dp = chance(50) ? 2 : 1, .sp = chance(30) ? 2 : 1, .enable_expert_parallel = chance(80)};
    d.parallel.all2all_backend = one("allgather_reducescatter deepep_high_throughput deepep_low_latency flashinfer_nvlink_two_sided nixl_ep");
    if (version >= deployment::kVllm2026_11 && chance(30)) d.parallel.all2all_backend = "moonep";
    d.parallel.enable_eplb = chance(25);
  }
  deployment::Software& has = d.software;
  for (bool deployment::Software::*probe : {&deployment::Software::has_hpc, &deployment::Software::b12x_supported, &deployment::Software::aiter_mxfp8,
                                            &deployment::Software::aiter_gate_mode, &deployment::Software::mxfp4_experts_quant_op})
    has.*probe = chance(80);
  if (chance(70)) d.env["VLLM_ROCM_USE_AITER"] = "1";
  if (chance(15)) d.env["VLLM_BATCH_INVARIANT"] = "1";
  return d;
}

struct Keys {
  Text weights, activations;
};
constexpr std::array kKeys{Keys{"kFp8StaticTensorSym", "kFp8StaticTensorSym"},
                           Keys{"kFp8Static128BlockSym", "kFp8Dynamic128Sym"},
                           Keys{"kMxfp4Static", "kMxfp8Dynamic"},
                           Keys{"kMxfp4Static", "None"},
                           Keys{"kMxfp4Static", "kMxfp4Dynamic"},
                           Keys{"kNvfp4Static", "kNvfp4Dynamic"},
                           Keys{"kNvfp4Static", "None"},
                           Keys{"kMxfp8Static", "kMxfp8Dynamic"},
                           Keys{"None", "None"},
                           Keys{"kInt8StaticChannelSym", "kInt8DynamicTokenSym"}};

std::string code_of(const engine::Verdict& verdict) { return std::string(verdict.code); }

}  // namespace

Outcome classes_are_as_written(const Law& law) {
  return check_property(
      law,
      [] {
        const std::span<const deployment::Engine> versions = since_august();
        const deployment::Engine engine = versions[*rc::gen::inRange<std::size_t>(0, versions.size())];
        const Deployment deployment = drawn(engine);
        Facts facts(engine, deployment);
        const engine::Query query = engine::query_of(deployment, engine);
        for (const Text name : restated_classes(engine)) {
          for (const Keys& keys : kKeys) {
            const engine::Verdict found = engine::check_class({engine::kernel_classes(engine), name, query, deployment::quant_key_named(keys.weights),
                                                               deployment::quant_key_named(keys.activations)},
                                                              engine::Detail::codes);
            facts.weight = keys.weights;
            facts.activation = keys.activations;
            const std::string said = restated_verdict(name, facts);
            if (code_of(found) == said) continue;
            RC_FAIL(std::string(name) + " of " + std::string(deployment::name_of(engine)) + " answers '" + code_of(found) + "', not '" + said +
                    "' to " + std::string(keys.weights) + " x " + std::string(keys.activations) + "\n" + info_file("mxfp4", deployment));
          }
        }
      },
      kClassCases);
}

Outcome requested_keys_fall_back(const Law& law) {
  Exhaustive cases(law);
  const auto answer = [](deployment::Engine version, Text platform, bool quark) {
    Deployment deployment = on(platform, "SILU");
    deployment.activation_key = "kMxfp8Dynamic";
    deployment.software.has_quark = quark;
    return describe(engine::select(version, "mxfp4", deployment));
  };
  const auto is = [&](deployment::Engine version, Text platform, bool quark, Text wanted) {
    const std::string found = answer(version, platform, quark);
    cases.expect(found.find(wanted) != std::string::npos,
                 [&] { return "on " + std::string(platform) + " " + found + ", not " + std::string(wanted); });
  };
  // A checkpoint with MXFP8 activations on a device without MXFP8 kernels: the emulation, and where that is not there, since 2026-11 any 16-bit one.
  for (const Text platform : {"SM80", "SM89"}) {
    is(deployment::kVllm2026_08, platform, true, "EMULATION");
    is(deployment::kVllm2026_08, platform, false, "NotImplementedError");
    is(deployment::kVllm2026_11, platform, true, "EMULATION");
    is(deployment::kVllm2026_11, platform, false, "MARLIN");
  }
  is(deployment::kVllm2026_11, "SM90", false, "FLASHINFER_CUTLASS_MXFP4_BF16");
  is(deployment::kVllm2026_08, "SM90", false, "NotImplementedError");
  return cases.outcome();
}

Outcome lora_is_as_written(const Law& law) {
  Exhaustive cases(law);
  const auto is = [&](deployment::Engine version, Text oracle, Text platform, Text wish, std::int64_t intermediate, Text wanted) {
    Deployment deployment = on(platform, "SILU");
    deployment.layer.is_lora_enabled = true;
    deployment.layer.moe_backend = wish;
    deployment.layer.intermediate_per_partition = intermediate;
    const std::string found = describe(engine::select(version, oracle, deployment));
    cases.expect(found.find(wanted) != std::string::npos,
                 [&] { return std::string(oracle) + " on " + std::string(platform) + " with LoRA: " + found + ", not " + std::string(wanted); });
  };
  for (const deployment::Engine version : since_august()) {
    is(version, "unquantized", "SM100", "auto", 256, "TrtLlmBf16LoRAExperts");
    is(version, "unquantized", "SM100", "auto", 192, "TritonExperts");
    is(version, "unquantized", "CPU", "flashinfer_cutlass", 256, "TritonExperts");
  }
  is(deployment::kVllm2026_11, "mxfp4", "SM100", "flashinfer_trtllm", 256, "TrtLlmMxfp4LoRAExperts");
  is(deployment::kVllm2026_11, "mxfp4", "SM100", "flashinfer_trtllm_afp8", 256, "ValueError");
  is(deployment::kVllm2026_08, "mxfp4", "SM100", "flashinfer_trtllm", 256, "ValueError");
  return cases.outcome();
}

Outcome calls_are_as_written(const Law& law) {
  Exhaustive cases(law);
  for (const deployment::Engine version : since_august()) {
    const engine::OracleTables& tables = engine::tables_of(version, "int_wna16");
    for (const Text platform : {"SM90", "gfx942"}) {
      for (const Text kind : {"auto_awq", "auto_gptq", "moe_wna16", "compressed_tensors", "other"}) {
        for (const std::int64_t group : {-1, 0, 32, 48, 128}) {
          for (int flags = 0; flags < 128; ++flags) {
            Deployment d = on(platform, "SILU");
            d.weight_key = "kInt4Static";
            d.layer.hidden = (flags & 1) != 0 ? 512 : 576;
            d.layer.intermediate_per_partition = (flags & 2) != 0 ? 256 : 96;
            d.weight_only.kind = kind;
            d.weight_only.group_size = group;
            d.weight_only.desc_act = (flags & 4) != 0;
            d.weight_only.actorder = (flags & 8) != 0 ? "group" : "";
            d.weight_only.may_have_zp = (flags & 16) != 0;
            d.weight_only.may_have_bias = (flags & 32) != 0;
            d.weight_only.allow_tile_padding = (flags & 64) != 0;
            for (const engine::Candidate& one : engine::support(tables, d)) {
              if (!one.kernel_class.empty() || one.backend == "ZEN_CPU") continue;
              const Text said = restated_call_refusal(one.backend, Facts(version, d));
              cases.expect(one.verdict.code == said, [&] {
                return one.backend + " says '" + code_of(one.verdict) + "', not '" + std::string(said) + "', of " + std::string(kind) +
                       " with groups of " + std::to_string(group) + ", flags " + std::to_string(flags);
              });
            }
          }
        }
      }
    }
  }
  return cases.outcome();
}

Outcome methods_are_as_written(const Law& law) {
  Exhaustive cases(law);
  const auto is = [&](deployment::Engine engine, Text method, std::int64_t intermediate, Text wanted) {
    Deployment d = on("SM90", "SILU");
    d.weight_key = "kFp8Static128BlockSym";
    d.activation_key = "kFp8Dynamic128Sym";
    d.quant_method = method;
    d.layer.intermediate_per_partition = intermediate;
    const auto refusal = engine::method_refusal(engine::tables_of(engine, "fp8"), d);
    const std::string found = refusal ? refusal->error_type : "";
    cases.expect(found == wanted, [&] {
      return std::string(method) + " of " + std::string(deployment::name_of(engine)) + " with I " + std::to_string(intermediate) + " raises '" +
             found + "', not '" + std::string(wanted) + "'";
    });
  };
  // Blocks of 128 rows: a share of another size is refused, since 2026-08 cut into blocks of 32 or more. Quark has no experts for blocks before
  // 2026-11.
  is(deployment::kVllm2026_08, "own", 256, "");
  is(deployment::kVllm2026_05, "own", 192, "ValueError");
  is(deployment::kVllm2026_08, "own", 192, "");
  is(deployment::kVllm2026_11, "own", 192, "");
  is(deployment::kVllm2026_08, "own", 144, "ValueError");
  is(deployment::kVllm2026_11, "own", 144, "ValueError");
  is(deployment::kVllm2026_05, "quark", 256, "RuntimeError");
  is(deployment::kVllm2026_08, "quark", 256, "ValueError");
  is(deployment::kVllm2026_11, "quark", 256, "");
  return cases.outcome();
}

Outcome limits_are_as_written(const Law& law) {
  Exhaustive cases(law);
  const auto compare = [&](deployment::Engine engine, Text oracle, const engine::BackendRow& row, Text weights, Text activations) {
    Deployment d = on("SM100", "SILU");
    d.layer.has_swiglu_limit = true;
    d.weight_key = weights;
    d.activation_key = activations;
    const auto found = engine::reach(engine::tables_of(engine, oracle), d, row.name, row.classes.front(), engine::Constant::limit);
    const Text said = restated_limit(engine, oracle, row.name, weights);
    const Text named = found ? engine::name_of(found->reach) : "no row";
    cases.expect(named == said, [&] {
      return std::string(row.name) + " of " + std::string(deployment::name_of(engine)) + ", " + std::string(weights) + ": the limit " +
             std::string(named) + ", not " + std::string(said);
    });
  };
  for (const deployment::Engine engine : deployment::known_engines()) {
    for (const engine::BackendRow& row : engine::tables_of(engine, "nvfp4").backends) {
      // Named alone: HUMMING's and B12X's configurations are their own, MoE-EP's class refuses the constants.
      if (has_word("HUMMING B12X FLASHINFER_MOE_EP_CUTEDSL EMULATION", row.name)) continue;
      compare(engine, "nvfp4", row, "kNvfp4Static", "kNvfp4Dynamic");
    }
    const engine::OracleTables& fp8 = engine::tables_of(engine, "fp8");
    compare(engine, "fp8", engine::backend_named(fp8, "FLASHINFER_TRTLLM"), "kFp8Static128BlockSym", "kFp8Dynamic128Sym");
    compare(engine, "fp8", engine::backend_named(fp8, "TRITON"), "kFp8StaticChannelSym", "kFp8DynamicTokenSym");
    compare(engine, "mxfp8", engine::backend_named(engine::tables_of(engine, "mxfp8"), "FLASHINFER_TRTLLM"), "kMxfp8Static", "kMxfp8Dynamic");
  }
  return cases.outcome();
}

Outcome activations_are_as_written(const Law& law) {
  Exhaustive cases(law);
  for (const deployment::Engine engine : since_august()) {
    for (const engine::BackendRow& row : engine::tables_of(engine, "mxfp4").backends) {
      const std::optional<Text> said = restated_mxfp4_activations(engine, row.name);
      if (!said) continue;
      const auto config = engine::quant_config(engine, "mxfp4", row.name, {.hardware = on("SM100", "SILU").hardware});
      const auto* const found = std::get_if<engine::QuantConfig>(&config);
      cases.expect(found != nullptr && found->a1.dtype == *said && found->a2.dtype == *said, [&] {
        return std::string(row.name) + " quantizes activations to '" + (found == nullptr ? "an exception" : found->a1.dtype) + "', not '" +
               std::string(*said) + "'";
      });
    }
  }
  return cases.outcome();
}

Outcome needs_hold_when_written(const Law& law) {
  Exhaustive cases(law);
  const auto breaks = [&](deployment::Engine engine, Text oracle, Text backend, Text kernel_class, Text weights, std::int64_t intermediate, Text need,
                          bool said) {
    Deployment d = on("SM100", "SILU");
    d.weight_key = weights;
    d.layer.intermediate_per_partition = intermediate;
    d.layer.has_correction_bias = true;
    d.layer.hidden = 512;
    d.layer.routing_method = "DeepSeekV3";
    const families::Placement placement = audit::place(engine::tables_of(engine, oracle), d, backend, kernel_class);
    bool found = false;
    for (const families::KernelNeed* broken : audit::broken_needs(placement)) found = found || broken->id == need;
    cases.expect(found == said, [&] {
      return std::string(need) + " of " + std::string(backend) + " at " + std::string(deployment::name_of(engine)) + ", I " +
             std::to_string(intermediate) + ", is " + (found ? "broken" : "kept");
    });
  };
  constexpr Text kNvfp4 = "TrtLlmNvFp4ExpertsMonolithic", kFp8 = "TrtLlmFp8ExpertsMonolithic";
  // 2026-05 pads I to 16 and its shuffle asserts rows in 128; 2026-08 pads both halves at the end of the matrix; 2026-11 each half.
  breaks(deployment::kVllm2026_05, "nvfp4", "FLASHINFER_TRTLLM", kNvfp4, "kNvfp4Static", 96, "scale_rows", true);
  breaks(deployment::kVllm2026_08, "nvfp4", "FLASHINFER_TRTLLM", kNvfp4, "kNvfp4Static", 96, "scale_rows", false);
  breaks(deployment::kVllm2026_05, "nvfp4", "FLASHINFER_TRTLLM", kNvfp4, "kNvfp4Static", 96, "halves", false);
  breaks(deployment::kVllm2026_08, "nvfp4", "FLASHINFER_TRTLLM", kNvfp4, "kNvfp4Static", 96, "halves", true);
  breaks(deployment::kVllm2026_08, "nvfp4", "FLASHINFER_TRTLLM", kNvfp4, "kNvfp4Static", 128, "halves", false);
  breaks(deployment::kVllm2026_11, "nvfp4", "FLASHINFER_TRTLLM", kNvfp4, "kNvfp4Static", 96, "halves", false);
  for (const deployment::Engine engine : deployment::known_engines()) {
    const bool together = engine < deployment::kVllm2026_11, cast = engine < deployment::kVllm2026_08;
    breaks(engine, "fp8", "FLASHINFER_TRTLLM", kFp8, "kFp8StaticTensorSym", 88, "halves", together);
    breaks(engine, "fp8", "FLASHINFER_TRTLLM", kFp8, "kFp8StaticTensorSym", 96, "halves", false);
    // The correction bias is cast to bfloat16 up to 2026-05.
    breaks(engine, "fp8", "FLASHINFER_TRTLLM", kFp8, "kFp8StaticTensorSym", 96, "correction_bias", cast);
    breaks(engine, "nvfp4", "FLASHINFER_TRTLLM", kNvfp4, "kNvfp4Static", 128, "correction_bias", cast);
  }
  return cases.outcome();
}

Outcome carried_as_written(const Law& law) {
  Exhaustive cases(law);
  const auto is = [&](Text backends, Text formats, bool stands) {
    for (const Text backend : texts_of(backends)) {
      for (const Text format : texts_of(formats)) {
        const auto found = families::conversion_at(backend, layout::weight_format_named(format), deployment::kVllm2026_11);
        cases.expect(found.row != nullptr && found.stands() == stands, [&] {
          return std::string(backend) + " of " + std::string(format) +
                 (found.row == nullptr ? " has no row"
                  : stands             ? " does not stand"
                                       : " stands");
        });
      }
    }
  };
  // What 0.33.0 changed, by its sources, and what is equal there.
  is("FLASHINFER_TRTLLM", "nvfp4 mxfp8 fp8_tensor", false);
  is("FLASHINFER_CUTLASS", "fp8_tensor", false);
  is("FLASHINFER_CUTEDSL", "nvfp4", false);
  is("TRITON TRITON_UNFUSED AITER_MXFP4_FP8 AITER_MXFP4_BF16", "mxfp4", false);
  is("DEEPGEMM BATCHED_DEEPGEMM", "fp8_block_e8m0", false);
  is("B12X_MXFP4_MXFP8 B12X_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_MXFP8 XPU CPU MARLIN BATCHED_MARLIN HUMMING", "mxfp4",
     true);
  is("EMULATION MARLIN VLLM_CUTLASS FLASHINFER_CUTLASS FLASHINFER_CUTEDSL_BATCHED", "nvfp4", true);
  is("FLASHINFER_TRTLLM FLASHINFER_CUTLASS MARLIN TRITON", "fp8_block", true);
  return cases.outcome();
}

Outcome releases_are_as_written(const Law& law) {
  Exhaustive cases(law);
  const auto is = [&](Text release, Text oracle, const Deployment& d, bool differs) {
    const bool found = !engine::release_differences(release, oracle, d).empty();
    cases.expect(found == differs, [&] { return std::string(release) + (found ? " differs for " : " does not differ for ") + std::string(oracle); });
  };
  for (const std::int64_t intermediate : {64, 96, 128, 192, 200}) {
    Deployment d = on("SM100", "SILU");
    d.layer.intermediate_per_partition = intermediate;
    is("0.29.0", "nvfp4", d, intermediate % 64 != 0);
    is("0.33.0", "nvfp4", d, false);
    d.layer.activation = "RELU2_NO_MUL";
    is("0.29.0", "nvfp4", d, false);
    d.layer.activation = "SILU";
    d.layer.has_swiglu_limit = true;
    is("0.22.0", "nvfp4", d, true);
    is("0.29.0", "mxfp8", d, true);
    is("0.22.1", "fp8", d, false);
  }
  is("0.22.1", "mxfp4_deepseek_v4", on("XPU", "SILU"), true);
  is("0.22.1", "mxfp4_deepseek_v4", on("SM90", "SILU"), false);
  return cases.outcome();
}

}  // namespace mx::props
