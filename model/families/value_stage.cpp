#include "model/families/value_stage.hpp"

#include "model/error.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

std::vector<ValueStage> joined() {
  std::vector<ValueStage> rows;
  for (const auto library : {deepgemm_value_stages, marlin_value_stages, humming_value_stages, cutlass_w4a8_value_stages}) {
    const std::span<const ValueStage> of_library = library();
    rows.insert(rows.end(), of_library.begin(), of_library.end());
  }
  return rows;
}

}  // namespace

std::span<const ValueStage> all_value_stages() {
  static const std::vector<ValueStage> rows = joined();
  return rows;
}

const ValueStage& value_stage_named(std::string_view name) { return rows::named(all_value_stages(), "value stage", name); }

StageTensors run_stage(const ValueStage& stage, const StageTensors& inputs, StageParams params) {
  complete_params(stage.name, stage.params, params);
  for (std::string_view name : stage.inputs) {
    if (!inputs.contains(name)) throw Error(ErrorCode::usage, "no input '" + std::string(name) + "'", std::string(stage.name));
  }
  for (const auto& [name, tensor] : inputs) {
    if (std::ranges::find(stage.inputs, name) == stage.inputs.end())
      throw Error(ErrorCode::usage, "takes no '" + name + "'", std::string(stage.name));
  }
  return stage.run(inputs, params);
}

}  // namespace mx::families
