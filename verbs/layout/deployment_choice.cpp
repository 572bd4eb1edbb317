#include "verbs/layout/deployment_choice.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "checkpoint/shard.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/setup/expert_map.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/families/carried.hpp"
#include "model/families/setting_keys.hpp"
#include "sim/ranks/converter.hpp"

namespace mx::verbs {
namespace {

layout::WeightFormat format_of(const support::DeploymentFile& file) {
  const engine::OracleTables& tables = engine::tables_of(file.engine, file.oracle);
  const std::string_view key = tables.weight_key ? deployment::name_of(*tables.weight_key) : std::string_view(file.deployment.weight_key);
  const auto format = families::format_of_key(key);
  if (!format) throw Error(ErrorCode::unsupported, fmt::format("weights of {} have no layout here", key), file.oracle);
  return *format;
}

/// The layer that tensor parallel ranks share, of the experts of one rank.
layout::Sizes whole_of(const support::DeploymentFile& file, const layout::Form& form) {
  const deployment::LayerConfig& layer = file.deployment.layer;
  const deployment::Parallel parallel = deployment::derive(file.deployment.parallel, file.engine);
  const std::int64_t experts = engine::determine_expert_map(parallel.ep_size, 0, layer.num_experts, engine::ExpertPlacement::linear).local_experts;
  const std::int64_t group = layout::has_squares(form.format) ? families::group_of_key(file.deployment.weight_key) : layout::group_of(form.format);
  return {experts, layer.intermediate_per_partition * parallel.tp_size, layer.hidden, std::max<std::int64_t>(1, group)};
}

}  // namespace

std::vector<KeyValue> choices_on(const support::DeploymentFile& file, std::string_view backend) {
  const layout::WeightFormat format = format_of(file);
  const layout::Form form = sim::checkpoint_form(file.deployment.layer, format);
  const families::StandingConversion standing = families::conversion_at(backend, format, file.engine);
  const layout::Sizes whole = whole_of(file, form);
  layout::Sizes share = whole;
  share.intermediate = file.deployment.layer.intermediate_per_partition;
  if (layout::has_squares(format)) {
    const engine::OracleTables& tables = engine::tables_of(file.engine, file.oracle);
    share.group = families::group_of_key(engine::as_asked(tables, file.deployment).weight_key);
  }
  checkpoint::Conversion conversion =
      sim::conversion_of(file.deployment, standing.of, form, share, families::carried_libraries(standing, file.engine));
  conversion.whole = whole;
  const layout::Sizes padded = conversion.rounded(backend, standing.of);
  const families::Setting setting = conversion.setting(padded);
  const layout::Sizes& sizes = setting.sizes;
  const families::Setting usual{.sizes = sizes, .padded = padded, .form = {format, layout::SourceOrder::gpt_oss}};
  std::vector<KeyValue> choices{{"rank-shape", fmt::format("{}x{}x{}", sizes.experts, sizes.intermediate, sizes.hidden)},
                                {"padded", fmt::format("{}x{}", padded.intermediate, padded.hidden)},
                                {"format", std::string(layout::name_of(format))},
                                {"source-order", std::string(layout::name_of(form.order))}};
  if (layout::has_squares(format) && layout::block_side(sizes.group) != layout::kBlockSide)
    choices.push_back({"block", std::to_string(layout::block_side(sizes.group))});
  for (const families::SettingKey& key : families::setting_keys()) {
    if (const std::string value = key.get(setting); value != key.get(usual) && key.key != "source-order")
      choices.push_back({std::string(key.key), value});
  }
  return choices;
}

}  // namespace mx::verbs
