#include "model/engine/vllm/call_rules.hpp"

#include <algorithm>
#include <array>

#include "model/fault.hpp"

namespace mx::engine {
namespace {

const deployment::WeightOnlyCall& call_of(const Query& query) { return query.deployment.weight_only; }

bool suits_marlin(const Query& query) {
  constexpr std::array<std::int64_t, 4> kGroups = {-1, 32, 64, 128};
  constexpr std::array<std::string_view, 3> kKinds = {"auto_awq", "auto_gptq", "compressed_tensors"};
  constexpr std::int64_t kTile = 64;
  const deployment::WeightOnlyCall& call = call_of(query);
  const deployment::LayerConfig& layer = query.deployment.layer;
  if (std::ranges::find(kKinds, call.kind) == kKinds.end() || query.deployment.hardware.platform == deployment::PlatformKind::rocm) return false;
  if (std::ranges::find(kGroups, call.group_size) == kGroups.end() || layer.hidden % 128 != 0) return false;
  const std::int64_t unit = call.allow_tile_padding ? std::max<std::int64_t>(call.group_size, 1) : std::max(kTile, call.group_size);
  return layer.intermediate_per_partition % unit == 0;
}

/// Without a word about it, a group size means groups.
bool has_group_strategy(const deployment::WeightOnlyCall& call) { return call.strategy == "group" || (call.strategy.empty() && call.group_size > 0); }

struct RuleRow {
  CallRule rule;
  std::string_view code;
  bool (*met)(const Query& query);
  std::string_view text;
};
// clang-format off
constexpr std::array kRules = {
    RuleRow{CallRule::no_zero_point_or_bias, "zp_or_bias", [](const Query& q) { return !call_of(q).may_have_zp && !call_of(q).may_have_bias; }, "no zero points and no bias"},
    RuleRow{CallRule::no_call_bias, "bias", [](const Query& q) { return !call_of(q).may_have_bias; }, "no bias"},
    RuleRow{CallRule::not_awq, "awq_layout", [](const Query& q) { return call_of(q).kind != "auto_awq"; }, "another layout than AWQ's"},
    RuleRow{CallRule::no_desc_act, "desc_act", [](const Query& q) { return call_of(q).kind != "auto_gptq" || !call_of(q).desc_act; }, "no activation order"},
    RuleRow{CallRule::no_group_actorder, "actorder", [](const Query& q) { return call_of(q).kind != "compressed_tensors" || call_of(q).actorder != "group"; },
            "no activation order of groups"},
    RuleRow{CallRule::not_moe_wna16, "moe_wna16_layout", [](const Query& q) { return call_of(q).kind != "moe_wna16"; }, "another layout than MoeWNA16's"},
    RuleRow{CallRule::marlin_shape, "marlin", suits_marlin, "what Marlin takes: AWQ, GPTQ or compressed-tensors, not on rocm, groups of 32, 64, 128 or a channel, sizes in its tiles"},
    RuleRow{CallRule::compressed_tensors_alone, "ct_only", [](const Query& q) { return call_of(q).kind == "compressed_tensors"; }, "compressed-tensors"},
    RuleRow{CallRule::no_zero_point, "zp", [](const Query& q) { return !call_of(q).may_have_zp; }, "no zero points"},
    RuleRow{CallRule::group_strategy, "strategy", [](const Query& q) { return has_group_strategy(call_of(q)); }, "scales of groups"},
    RuleRow{CallRule::w4a8_on, "w4a8_off", [](const Query& q) { return read_switch(q.deployment.env, EnvVariable::cpu_int4_w4a8) == Switch::on; }, "VLLM_CPU_INT4_W4A8 on"},
    RuleRow{CallRule::group_in_4, "group_size", [](const Query& q) { return call_of(q).group_size > 0 && call_of(q).group_size % 4 == 0; }, "groups in 4"},
};
// clang-format on

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<std::size_t>(kRules[i].rule) != i) return false;
  }
  return static_cast<std::size_t>(CallRule::group_in_4) + 1 == kRules.size();
}
static_assert(in_order());

const RuleRow& row_of(CallRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

}  // namespace

std::string_view refusal_of(CallRule rule, const Query& query) {
  const RuleRow& row = row_of(rule);
  return row.met(query) || fault::planted(fault::Fault::call_rules_skipped) ? std::string_view() : row.code;
}

std::string_view text_of(CallRule rule) { return row_of(rule).text; }

}  // namespace mx::engine
