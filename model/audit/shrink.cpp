#include "model/audit/shrink.hpp"

#include <array>
#include <vector>

#include "model/deployment/vocabulary.hpp"

namespace mx::audit {
namespace {

using Candidates = std::vector<deployment::Deployment>;

/// The values of one field, simplest first, put into the deployment.
template <typename Values, typename Put>
Candidates with_each(const deployment::Deployment& from, const Values& values, const Put& put) {
  Candidates candidates;
  for (const auto& value : values) {
    candidates.push_back(from);
    put(candidates.back(), value);
  }
  return candidates;
}

Candidates simpler_platform(const engine::OracleTables&, const deployment::Deployment& from) {
  return with_each(from, deployment::all_platforms(), [](deployment::Deployment& d, const deployment::PlatformPreset& preset) {
    const deployment::Deployment there = deployment::deployment_on(preset, {}, d.layer);
    d.hardware = there.hardware;
    d.software = there.software;
  });
}

Candidates simpler_wish(const engine::OracleTables&, const deployment::Deployment& from) {
  Candidates candidates(1, from);
  candidates[0].layer.moe_backend = "auto";
  return candidates;
}

Candidates simpler_keys(const engine::OracleTables& tables, const deployment::Deployment& from) {
  Candidates candidates(3, from);
  candidates[0].weight_key = candidates[1].weight_key = deployment::name_of(tables.usual_weight_key);
  candidates[0].activation_key = candidates[2].activation_key = deployment::name_of(tables.usual_activation_key);
  return candidates;
}

Candidates simpler_method(const engine::OracleTables&, const deployment::Deployment& from) {
  Candidates candidates(1, from);
  candidates[0].quant_method = "own";
  return candidates;
}
Candidates simpler_caller(const engine::OracleTables&, const deployment::Deployment& from) {
  Candidates candidates(1, from);
  candidates[0].allow_vllm_cutlass = false;
  return candidates;
}

Candidates simpler_environment(const engine::OracleTables&, const deployment::Deployment& from) {
  return with_each(from, from.env, [](deployment::Deployment& d, const auto& variable) { d.env.erase(variable.first); });
}

/// Fewer ranks first, then experts that are not split; the exchange by name in the order of the vocabulary.
Candidates simpler_parallelism(const engine::OracleTables& tables, const deployment::Deployment& from) {
  struct Spread {
    int tp, dp;
    bool experts;
  };
  constexpr std::array<Spread, 9> kSpreads = {
      {{1, 1, false}, {2, 1, false}, {1, 2, false}, {2, 1, true}, {1, 2, true}, {3, 1, false}, {3, 1, true}, {1, 3, true}, {4, 1, false}}};
  Candidates candidates;
  for (const Spread& spread : kSpreads) {
    const bool exchanges = spread.experts && spread.dp > 1;
    for (std::string_view all2all : exchanges ? deployment::all2all_names(tables.engine) : deployment::all2all_names(tables.engine).first(1)) {
      for (const bool flags : {false, true}) {
        deployment::ParallelRequest request{
            .tp = spread.tp, .dp = spread.dp, .enable_expert_parallel = spread.experts, .all2all_backend = std::string(all2all)};
        request.enable_eplb = flags && from.parallel.enable_eplb;
        request.round_robin = flags && from.parallel.round_robin;
        candidates.push_back(from);
        candidates.back().parallel = request;
      }
    }
  }
  return candidates;
}

Candidates simpler_activation(const engine::OracleTables&, const deployment::Deployment& from) {
  return with_each(from, std::array<std::string_view, 3>{"SWIGLUOAI", "SILU", "GELU"},
                   [](deployment::Deployment& d, std::string_view word) { d.layer.activation = word; });
}
Candidates simpler_routing(const engine::OracleTables&, const deployment::Deployment& from) {
  return with_each(from, std::array<std::string_view, 1>{"Renormalize"},
                   [](deployment::Deployment& d, std::string_view word) { d.layer.routing_method = word; });
}
Candidates simpler_dtype(const engine::OracleTables&, const deployment::Deployment& from) {
  return with_each(from, std::array<std::string_view, 2>{"bfloat16", "float16"},
                   [](deployment::Deployment& d, std::string_view word) { d.layer.in_dtype = word; });
}

template <bool deployment::LayerConfig::*Flag, bool Simplest>
Candidates simpler_flag(const engine::OracleTables&, const deployment::Deployment& from) {
  Candidates candidates(1, from);
  candidates[0].layer.*Flag = Simplest;
  return candidates;
}

Candidates simpler_groups(const engine::OracleTables&, const deployment::Deployment& from) {
  struct Groups {
    int all, used;
  };
  constexpr std::array<Groups, 3> kGroups = {{{0, 0}, {2, 1}, {2, 2}}};
  return with_each(from, kGroups, [](deployment::Deployment& d, const Groups& groups) {
    d.layer.expert_groups = groups.all;
    d.layer.topk_group = groups.used;
  });
}

Candidates simpler_experts(const engine::OracleTables&, const deployment::Deployment& from) {
  constexpr std::array<std::int64_t, 8> kExperts = {4, 8, 3, 6, 16, 64, 128, 516};
  return with_each(from, kExperts, [](deployment::Deployment& d, std::int64_t experts) { d.layer.num_experts = experts; });
}
Candidates simpler_top_k(const engine::OracleTables&, const deployment::Deployment& from) {
  constexpr std::array<std::int64_t, 4> kTopK = {1, 2, 3, 9};
  return with_each(from, kTopK, [](deployment::Deployment& d, std::int64_t top_k) { d.layer.experts_per_token = top_k; });
}

// 2048 is a multiple of every tile and in every exchange's list; then what fits fewer and fewer of them.
constexpr std::array<std::int64_t, 14> kSizes = {2048, 1024, 512, 384, 256, 192, 128, 96, 64, 48, 32, 40, 16, 1000};
Candidates simpler_hidden(const engine::OracleTables&, const deployment::Deployment& from) {
  return with_each(from, kSizes, [](deployment::Deployment& d, std::int64_t size) { d.layer.hidden = size; });
}
Candidates simpler_intermediate(const engine::OracleTables&, const deployment::Deployment& from) {
  return with_each(from, kSizes, [](deployment::Deployment& d, std::int64_t size) { d.layer.intermediate_per_partition = size; });
}

/// A deployment file could say it.
bool is_possible(const deployment::LayerConfig& layer) {
  return layer.experts_per_token <= layer.num_experts && layer.expert_groups <= layer.num_experts && layer.topk_group <= layer.expert_groups;
}

using Simpler = Candidates (*)(const engine::OracleTables&, const deployment::Deployment&);
constexpr std::array<Simpler, 23> kSteps = {
    simpler_wish,
    simpler_keys,
    simpler_method,
    simpler_caller,
    simpler_environment,
    simpler_parallelism,
    simpler_activation,
    simpler_routing,
    simpler_dtype,
    simpler_flag<&deployment::LayerConfig::has_bias, false>,
    simpler_flag<&deployment::LayerConfig::is_act_and_mul, true>,
    simpler_flag<&deployment::LayerConfig::is_lora_enabled, false>,
    simpler_flag<&deployment::LayerConfig::router_weight_on_input, false>,
    simpler_flag<&deployment::LayerConfig::has_correction_bias, false>,
    simpler_flag<&deployment::LayerConfig::has_routed_scaling, false>,
    simpler_flag<&deployment::LayerConfig::has_swiglu_alpha, false>,
    simpler_flag<&deployment::LayerConfig::has_swiglu_limit, false>,
    simpler_groups,
    simpler_experts,
    simpler_top_k,
    simpler_hidden,
    simpler_intermediate,
    simpler_platform,
};

}  // namespace

deployment::Deployment shrink(const engine::OracleTables& tables, deployment::Deployment from,
                              const std::function<bool(const deployment::Deployment&)>& holds) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Simpler simpler : kSteps) {
      for (deployment::Deployment& candidate : simpler(tables, from)) {
        // What is already there ends the list: the rest is less simple.
        if (candidate == from) break;
        if (!is_possible(candidate.layer) || !holds(candidate)) continue;
        from = std::move(candidate);
        changed = true;
        break;
      }
    }
  }
  return from;
}

}  // namespace mx::audit
