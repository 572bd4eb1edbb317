#include "checkpoint/rounding.hpp"

#include "model/engine/vllm/rounding.hpp"
#include "model/stand_in.hpp"

namespace mx::checkpoint {

layout::Sizes rounded_up(std::string_view backend, const families::Setting& setting) {
  deployment::require_tables(setting.engine, families::kConversionEngines, "conversions");
  return rounded_up(backend, setting, setting.engine);
}

layout::Sizes rounded_up(std::string_view backend, const families::Setting& setting, deployment::Engine engine) {
  return rounded_up(backend, setting, engine, setting.activation != families::ConverterActivation::swigluoai);
}

layout::Sizes rounded_up(std::string_view backend, const families::Setting& setting, deployment::Engine engine, bool silu_or_situ) {
  layout::check(setting.sizes);
  layout::Sizes padded = setting.sizes;
  if (setting.form.format != layout::WeightFormat::mxfp4) return padded;
  const auto rows = fault::rows_of(fault::Table::roundings, engine::rounding_rows());
  const engine::RoundedSizes sizes = engine::rounded_up(rows, {.engine = engine,
                                                               .backend = backend,
                                                               .platform = families::platform_of(setting.arch),
                                                               .silu_or_situ = silu_or_situ,
                                                               .sizes = {padded.hidden, padded.intermediate}});
  padded.hidden = sizes.hidden;
  padded.intermediate = sizes.intermediate;
  return padded;
}

}  // namespace mx::checkpoint
