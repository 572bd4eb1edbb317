#include "checkpoint/rounding.hpp"

#include <string>

#include "model/engine/vllm/rounding.hpp"
#include "model/error.hpp"
#include "model/stand_in.hpp"

namespace mx::checkpoint {

void require_room(std::string_view backend, const layout::Sizes& loaded, const layout::Sizes& allocated) {
  if (loaded.intermediate <= allocated.intermediate) return;
  throw Error(ErrorCode::usage,
              "the engine makes a buffer of " + std::to_string(allocated.intermediate) + " intermediate rows for a rank, and its loader copies " +
                  std::to_string(loaded.intermediate) + " into it: it raises",
              std::string(backend));
}

layout::Sizes rounded_up(std::string_view backend, const families::Setting& setting) {
  deployment::require_tables(setting.engine, families::kConversionEngines, "conversions");
  return rounded_up(backend, setting, setting.engine);
}

layout::Sizes rounded_up(std::string_view backend, const families::Setting& setting, deployment::Engine engine) {
  return rounded_up(backend, setting, engine, setting.activation != families::ConverterActivation::swigluoai);
}

layout::Sizes rounded_up(std::string_view backend, const families::Setting& setting, deployment::Engine engine, bool silu_or_situ) {
  layout::check(setting.sizes);
  return rounded_up(backend, setting.form, setting.sizes, setting.arch, engine, silu_or_situ);
}

layout::Sizes rounded_up(std::string_view backend, const layout::Form& form, const layout::Sizes& share, families::Arch arch,
                         deployment::Engine engine, bool silu_or_situ) {
  layout::Sizes padded = share;
  if (form.format != layout::WeightFormat::mxfp4) return padded;
  const auto rows = fault::rows_of(fault::Table::roundings, engine::rounding_rows());
  const engine::RoundedSizes sizes = engine::rounded_up(rows, {.engine = engine,
                                                               .backend = backend,
                                                               .platform = families::platform_of(arch),
                                                               .silu_or_situ = silu_or_situ,
                                                               .sizes = {padded.hidden, padded.intermediate}});
  padded.hidden = sizes.hidden;
  padded.intermediate = sizes.intermediate;
  return padded;
}

}  // namespace mx::checkpoint
