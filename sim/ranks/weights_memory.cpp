#include "sim/ranks/weights_memory.hpp"

#include <algorithm>

#include "checkpoint/layout_tags.hpp"
#include "model/audit/needs.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/setup/expert_map.hpp"
#include "model/engine/vllm/setup/setup.hpp"
#include "sim/ranks/converter.hpp"

namespace mx::sim {
namespace {

using families::BackendLayout;
using families::Setting;

std::string_view weight_key_of(const engine::OracleTables& tables, const deployment::Deployment& deployment) {
  return tables.weight_key ? deployment::name_of(*tables.weight_key) : std::string_view(deployment.weight_key);
}

std::int64_t most_experts(const deployment::Deployment& deployment, deployment::Engine engine) {
  const deployment::Parallel parallel = deployment::derive(deployment.parallel, engine);
  return engine::determine_expert_map(parallel.ep_size, 0, deployment.layer.num_experts, engine::ExpertPlacement::linear).local_experts;
}

TensorMemory tensor_memory(const BackendLayout& row, layout::Role role, const Setting& setting) {
  layout::TensorPlan plan = row.build(role, setting);
  TensorMemory memory{layout::name_of(role), {}, {}, plan.layout.bytes(), plan.layout.describe()};
  support::TensorEntry entry = checkpoint::packed_entry({}, {role, std::move(plan.layout), plan.cast, {}});
  memory.dtype = std::move(entry.dtype);
  memory.shape = std::move(entry.shape);
  return memory;
}

/// Why the choice's converter makes no memory of the layer, as far as the tables say.
std::string refused(const BackendLayout& row, const Setting& setting) {
  if (!row.converts(setting.form, setting.engine)) {
    return "no layout of checkpoints in " + std::string(layout::name_of(setting.form.order)) + " order" + (setting.form.gated ? "" : ", not gated");
  }
  const std::vector<families::BrokenNeed> broken = families::broken_needs(row, setting);
  if (broken.empty()) return "";
  const families::Need& need = broken.front().need;
  return need.is_ours ? std::string(need.why) : "the conversion does not take it: " + families::text_of(need);
}

}  // namespace

std::int64_t WeightsMemory::bytes() const {
  std::int64_t sum = 0;
  for (const TensorMemory& tensor : tensors) sum += tensor.bytes;
  return sum;
}

WeightsMemory weights_memory(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment,
                             const engine::Choice& choice, std::span<const std::string> libraries) {
  const engine::OracleTables& tables = engine::tables_of(engine, oracle);
  WeightsMemory memory{choice.backend, families::format_of_key(weight_key_of(tables, deployment)), {}, "no layout", {}};
  if (!memory.format || choice.backend == engine::kNotAsked) return memory;
  memory.conversion = families::conversion_at(choice.backend, *memory.format, engine);
  const families::StandingConversion& conversion = memory.conversion;
  if (!conversion.stands()) {
    memory.missing = families::standing_text(conversion, engine);
    return memory;
  }
  const engine::Setup setup = engine::set_up(tables, deployment, choice);
  if (const auto* raised = std::get_if<engine::Refusal>(&setup.allocated)) {
    memory.missing = "the engine raises " + raised->error_type + " as it allocates";
    return memory;
  }
  const auto& allocated = std::get<engine::RoundedSizes>(setup.allocated);
  const layout::Sizes sizes{most_experts(deployment, engine), allocated.intermediate, allocated.hidden,
                            families::group_of_key(weight_key_of(tables, engine::as_asked(tables, deployment)))};
  if (allocated.intermediate % sizes.group != 0 || allocated.hidden % sizes.group != 0) {
    memory.missing = "no checkpoint: I and H hold no whole groups of " + std::to_string(sizes.group);
    return memory;
  }
  std::vector<std::string> chosen = families::carried_libraries(conversion, engine);
  chosen.insert(chosen.end(), libraries.begin(), libraries.end());
  const Setting setting = conversion_of(deployment, conversion.of, checkpoint_form(deployment.layer, *memory.format), sizes, chosen).setting();
  memory.missing = refused(*conversion.row, setting);
  if (!memory.is_known()) return memory;
  for (const layout::Role role : families::tensors_of(*conversion.row, setting.has_bias)) {
    memory.tensors.push_back(tensor_memory(*conversion.row, role, setting));
  }
  return memory;
}

}  // namespace mx::sim
