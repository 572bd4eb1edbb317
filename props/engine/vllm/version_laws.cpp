// O7 the tables of each version: sizes, routing methods, lists, names, exceptions, what a layer is refused for before an oracle is asked.

#include "props/engine/vllm/version_laws.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "model/audit/placement.hpp"
#include "model/deployment/models.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/model_file.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/routing_method.hpp"
#include "props/engine/vllm/facts.hpp"
#include "props/engine/vllm/restated.hpp"
#include "props/engine/vllm/version_choice_laws.hpp"

namespace mx::props {
namespace {

using deployment::Deployment;
using deployment::LayerConfig;
using deployment::PlatformPreset;
using Text = std::string_view;

std::string words(const auto& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + std::string(name);
  return text;
}

/// A layer of these sizes and that activation on a platform with everything installed.
Deployment layer_on(const PlatformPreset& preset, Text activation, std::int64_t hidden = 512, std::int64_t intermediate = 256,
                    const deployment::ParallelRequest& parallel = {}) {
  LayerConfig layer{.num_experts = 8, .experts_per_token = 2, .hidden = hidden, .intermediate_per_partition = intermediate};
  layer.activation = activation;
  layer.has_bias = false;
  return deployment::deployment_on(preset, parallel, layer);
}

Outcome sizes_are_as_written(const Law& law) {
  Exhaustive cases(law);
  for (const deployment::Engine version : deployment::known_engines()) {
    const auto compare = [&](Text oracle, const PlatformPreset& preset, Text activation, RestatedSizes given) {
      const engine::OracleTables& tables = engine::tables_of(version, oracle);
      const Deployment deployment = layer_on(preset, activation, given.first, given.second);
      for (const engine::BackendRow& row : tables.backends) {
        const RestatedSizes said = restated_sizes(oracle, row.name, Facts(version, deployment), given);
        const engine::RoundedSizes found = engine::round_up(tables, row.name, deployment, {given.first, given.second});
        cases.expect(found.hidden == said.first && found.intermediate == said.second, [&] {
          return std::string(row.name) + " on " + std::string(preset.name) + " rounds " + std::to_string(given.first) + " x " +
                 std::to_string(given.second) + " to " + std::to_string(found.hidden) + " x " + std::to_string(found.intermediate);
        });
      }
    };
    for (const PlatformPreset& preset : deployment::all_platforms()) {
      for (const Text activation : {"SILU", "SWIGLUOAI", "SITU"}) {
        for (const RestatedSizes& given : {RestatedSizes{2880, 2880}, {2880, 720}, {96, 96}, {1024, 192}, {1000, 200}, {7168, 2048}}) {
          for (const Text oracle : engine::oracle_names(version)) compare(oracle, preset, activation, given);
        }
      }
    }
  }
  return cases.outcome();
}

Outcome routing_is_as_written(const Law& law) {
  Exhaustive cases(law);
  for (const deployment::Engine version : since_august()) {
    for (const Text scoring : {"softmax", "sigmoid", "sqrtsoftplus", "tanh"}) {
      for (int flags = 0; flags < 32; ++flags) {
        const bool bias = (flags & 1) != 0, renormalize = (flags & 2) != 0;
        const int groups = (flags & 4) != 0 ? 4 : 0;
        const double scaling = (flags & 8) != 0 ? 2.5 : 1.0;
        const std::int64_t top_k = (flags & 16) != 0 ? 1 : 8;
        const deployment::Routing found = engine::routing_method_of(version, {.scoring = scoring,
                                                                              .top_k = top_k,
                                                                              .renormalize = renormalize,
                                                                              .expert_groups = groups,
                                                                              .has_score_bias = bias,
                                                                              .routed_scaling = scaling});
        const Text said = restated_routing(version, scoring, bias, groups, renormalize, scaling);
        cases.expect(deployment::name_of(found) == said,
                     [&] { return std::string(scoring) + " is " + std::string(deployment::name_of(found)) + ", not " + std::string(said); });
      }
    }
  }
  return cases.outcome();
}

Outcome lists_are_as_written(const Law& law) {
  Exhaustive cases(law);
  const std::array<deployment::ParallelRequest, 4> spreads{deployment::ParallelRequest{},
                                                           {.tp = 2, .enable_expert_parallel = true},
                                                           {.dp = 2},
                                                           {.dp = 2, .enable_expert_parallel = true, .all2all_backend = "deepep_v2"}};
  for (const deployment::Engine version : deployment::known_engines()) {
    for (const Text oracle : engine::oracle_names(version)) {
      for (const PlatformPreset& preset : deployment::all_platforms()) {
        for (const deployment::ParallelRequest& spread : spreads) {
          if (std::ranges::find(deployment::all2all_names(version), spread.all2all_backend) == deployment::all2all_names(version).end()) continue;
          for (const Text activation : {"SILU", "SWIGLUOAI"}) {
            for (const bool special : {false, true}) {
              Deployment deployment = layer_on(preset, activation, 512, 256, spread);
              if (special) deployment.layer.routing_method = "DeepseekV4";
              deployment.weight_key = oracle == "fp8" && special ? "kFp8Static128BlockSym" : "kFp8StaticTensorSym";
              deployment.activation_key = oracle == "fp8" && special ? "kFp8Dynamic128Sym" : "kFp8StaticTensorSym";
              const std::string said = words(restated_order(oracle, Facts(version, deployment)));
              const std::string found = words(engine::order_of(engine::tables_of(version, oracle), deployment));
              cases.expect(found == said,
                           [&] { return std::string(oracle) + " on " + std::string(preset.name) + " walks " + found + ", not " + said; });
            }
          }
        }
      }
    }
  }
  return cases.outcome();
}

/// What a search for a name looks at, in its order: the backends of the trace, each once.
std::string looked_at(const engine::Decision& decision) {
  std::vector<std::string> backends;
  for (const engine::Candidate& candidate : decision.trace) {
    if (candidate.verdict.code == "unknown_name") return {};
    if (std::ranges::find(backends, candidate.backend) == backends.end()) backends.push_back(candidate.backend);
  }
  return words(backends);
}

Outcome names_are_as_written(const Law& law) {
  Exhaustive cases(law);
  constexpr std::array<Text, 20> kWishes = {"b12x",
                                            "aiter",
                                            "aiter_triton_mxfp4_bf16",
                                            "aiter_triton_mxfp4_mxfp4",
                                            "flashinfer_moe_ep_cutedsl",
                                            "flashinfer_moe_ep_mega_deep_gemm",
                                            "humming",
                                            "hpc",
                                            "triton",
                                            "emulation",
                                            "flashinfer_trtllm",
                                            "batched_triton",
                                            "deep_gemm",
                                            "marlin",
                                            "rdna3",
                                            "cutlass",
                                            "cpu",
                                            "flydsl",
                                            "xpu",
                                            "batched_marlin"};
  for (const deployment::Engine version : since_august()) {
    for (const Text oracle : engine::oracle_names(version)) {
      for (const Text wish : kWishes) {
        const std::optional<Text> said = restated_meaning(version, oracle, wish);
        if (!said) continue;
        // An activation that no class takes: the search goes through all that the name means.
        Deployment deployment = layer_on(deployment::platform_named(oracle == "w4a8_int8" ? "CPU" : "SM75"), "RELU2");
        deployment.layer.moe_backend = wish;
        deployment.layer.is_act_and_mul = true;
        const engine::OracleTables& tables = engine::tables_of(version, oracle);
        std::string found = looked_at(engine::select(tables, deployment));
        // Backends of other keys leave the list before a class is asked: they are in the trace all the same.
        const std::set<Text> wanted = [&] {
          const auto listed = texts_of(*said);
          return std::set<Text>(listed.begin(), listed.end());
        }();
        const auto met = texts_of(found);
        cases.expect(std::set<Text>(met.begin(), met.end()) == wanted,
                     [&] { return std::string(oracle) + " takes " + std::string(wish) + " for '" + found + "', not '" + std::string(*said) + "'"; });
      }
    }
  }
  return cases.outcome();
}

Outcome ends_are_as_written(const Law& law) {
  Exhaustive cases(law);
  for (const deployment::Engine version : deployment::known_engines()) {
    for (const Text oracle : engine::oracle_names(version)) {
      const engine::OracleTables& tables = engine::tables_of(version, oracle);
      for (const PlatformPreset& preset : deployment::all_platforms()) {
        for (const Text wish : engine::user_names(tables)) {
          // HUMMING's classes of 2026-05 ask for the GEMM type alone.
          if (wish == "humming" && version < deployment::kVllm2026_08) continue;
          Deployment deployment = layer_on(preset, "RELU2");
          deployment.layer.moe_backend = wish;
          const engine::Decision decision = engine::select(tables, deployment);
          const bool ignores = oracle == "w4a8" && version < deployment::kVllm2026_11;
          const Text said = restated_end(oracle, Facts(version, deployment), wish != "auto" && !ignores);
          const std::string found = decision.refusal ? decision.refusal->error_type : "";
          cases.expect(found == said && (decision.refusal || decision.choice->backend == "NONE"), [&] {
            return std::string(oracle) + " on " + std::string(preset.name) + ", " + std::string(wish) + ", ends with '" + found + "', not '" +
                   std::string(said) + "'";
          });
        }
      }
    }
  }
  return cases.outcome();
}

const std::array kMoriSpreads{deployment::ParallelRequest{},
                              deployment::ParallelRequest{.tp = 3},
                              deployment::ParallelRequest{.dp = 2, .enable_expert_parallel = true},
                              deployment::ParallelRequest{.tp = 2, .pcp = 2, .enable_expert_parallel = true},
                              deployment::ParallelRequest{.tp = 2, .sp = 2, .enable_expert_parallel = true},
                              deployment::ParallelRequest{.tp = 2, .enable_expert_parallel = true}};

Outcome configs_are_as_written(const Law& law) {
  Exhaustive cases(law);
  for (const deployment::Engine version : since_august()) {
    for (const PlatformPreset& preset : deployment::all_platforms()) {
      for (const deployment::ParallelRequest& spread : kMoriSpreads) {
        for (int flags = 0; flags < 64; ++flags) {
          const bool gated = (flags & 1) != 0;
          deployment::ParallelRequest parallel = spread;
          if ((flags & 2) != 0) parallel.all2all_backend = "mori_low_latency";
          Deployment deployment = layer_on(preset, gated ? "SILU" : "RELU2_NO_MUL", 512, 256, parallel);
          deployment.layer.intermediate = (flags & 4) != 0 ? 256 : 0;
          if ((flags & 8) != 0) deployment.env["VLLM_ROCM_USE_AITER"] = "1";
          if ((flags & 16) != 0) deployment.env["VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"] = "1";
          if ((flags & 32) != 0 && version >= deployment::kVllm2026_11) {
            deployment.env["VLLM_ROCM_USE_AITER_MOE_A4W4_DSV4"] = "1";
            deployment.model.model_type = gated ? "deepseek_v41" : "deepseek_v4";
            deployment.software.aiter_quant_dtype_a = true;
          }
          const engine::Decision decision = engine::select(version, "mxfp4", deployment);
          const std::string found = decision.refusal && decision.refusal->by_config ? decision.refusal->error_type : "";
          const Text said = restated_config_error(Facts(version, deployment));
          cases.expect(found == said, [&] {
            return "on " + std::string(preset.name) + " the layer is refused with '" + found + "', not '" + std::string(said) + "'" + ", flags " +
                   std::to_string(flags);
          });
        }
      }
    }
  }
  return cases.outcome();
}

Outcome mega_moe_is_as_written(const Law& law) {
  Exhaustive cases(law);
  for (const deployment::Engine version : since_august()) {
    const engine::OracleTables& tables = engine::tables_of(version, "mxfp4_deepseek_v4");
    for (const PlatformPreset& preset : deployment::all_platforms()) {
      for (const Text wish : {"deep_gemm_mega_moe", "aiter_mega_moe"}) {
        for (int flags = 0; flags < 64; ++flags) {
          deployment::ParallelRequest parallel{.tp = (flags & 1) != 0 ? 2 : 1, .dp = 2, .enable_expert_parallel = (flags & 2) != 0};
          if ((flags & 4) != 0) parallel.all2all_backend = "mori_high_throughput";
          parallel.enable_eplb = (flags & 8) != 0;
          Deployment deployment = layer_on(preset, "SILU", (flags & 16) != 0 ? 512 : 576, 256, parallel);
          deployment.layer.routing_method = (flags & 32) != 0 ? "DeepseekV4" : "Renormalize";
          deployment.layer.num_experts = (flags & 8) != 0 ? 9 : 8;
          deployment.layer.moe_backend = wish;
          if ((flags & 16) != 0) deployment.env["VLLM_ROCM_USE_AITER"] = "1";
          const std::optional<Text> said = restated_mega_error(Facts(version, deployment));
          const bool is_own = engine::own_choice(tables, deployment).taken();
          const auto refusal = engine::method_refusal(tables, deployment);
          const std::string found = refusal ? refusal->error_type : "";
          cases.expect(is_own == said.has_value() && (!said || found == *said), [&] {
            return std::string(wish) + " on " + std::string(preset.name) + ": '" + found + "', not '" + std::string(said.value_or("another's")) + "'";
          });
        }
      }
    }
  }
  return cases.outcome();
}

constexpr std::array kLaws = {
    Law{"O7/sizes", "sizes of each version are rounded as their documents say", sizes_are_as_written},
    Law{"O7/routing", "routing methods of each version follow from the configuration as written", routing_is_as_written},
    Law{"O7/lists", "an unspecific request walks the list of its version, in its order for the device and the ranks", lists_are_as_written},
    Law{"O7/names", "a value of moe_backend means the backends of its version", names_are_as_written},
    Law{"O7/ends", "a layer that nothing takes ends with the exception of its version", ends_are_as_written},
    Law{"O7/configs", "a layer is refused before an oracle is asked for the reasons of its version, in their order", configs_are_as_written},
    Law{"O7/mega", "the experts that DeepSeek-V4's file builds itself ask what it asks", mega_moe_is_as_written},
    Law{"O7/classes", "classes that came or changed refuse what their documents refuse, and for the same first reason", classes_are_as_written},
    Law{"O7/keys", "a requested activation falls back where its version lets it", requested_keys_fall_back},
    Law{"O7/lora", "LoRA takes the classes that are for it", lora_is_as_written},
    Law{"O7/calls", "int_wna16 asks its backends what their documents ask before their classes", calls_are_as_written},
    Law{"O7/methods", "a checkpoint's method refuses what it refuses in that version", methods_are_as_written},
    Law{"O7/limits", "a limit of SILU reaches the kernels that it reaches in that version", limits_are_as_written},
    Law{"O7/activations", "configurations quantize activations as written", activations_are_as_written},
    Law{"O7/needs", "a need holds from the version that it came with up to the one that mends it", needs_hold_when_written},
    Law{"O7/carried", "a conversion that a version changed does not stand for it, one that reads the same does", carried_as_written},
    Law{"O7/releases", "a release differs from its version where it is written, and nowhere else", releases_are_as_written},
};

}  // namespace

std::span<const deployment::Engine> since_august() { return deployment::known_engines().subspan(1); }

std::span<const Law> version_laws() { return kLaws; }

}  // namespace mx::props
