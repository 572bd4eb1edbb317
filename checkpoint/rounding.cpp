#include "checkpoint/rounding.hpp"

#include "model/engine/vllm/rounding.hpp"
#include "model/stand_in.hpp"

namespace mx::sim {

layout::Sizes rounded_up(std::string_view backend, const layout::Setting& setting) {
  require_tables(setting.engine, layout::kConversionEngines, "conversions");
  return rounded_up(backend, setting, setting.engine);
}

layout::Sizes rounded_up(std::string_view backend, const layout::Setting& setting, Engine engine) {
  layout::check(setting.sizes);
  layout::Sizes padded = setting.sizes;
  if (setting.form.format != layout::WeightFormat::mxfp4) return padded;
  const auto rows = fault::rows_of(fault::Table::roundings, oracle::rounding_rows());
  const oracle::RoundedSizes sizes = oracle::rounded_up(rows, {.engine = engine,
                                                               .backend = backend,
                                                               .platform = layout::platform_of(setting.arch),
                                                               .silu_or_situ = setting.activation != layout::ConverterActivation::swigluoai,
                                                               .sizes = {padded.hidden, padded.intermediate}});
  padded.hidden = sizes.hidden;
  padded.intermediate = sizes.intermediate;
  return padded;
}

}  // namespace mx::sim
