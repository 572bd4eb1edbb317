#include "sim/rounding.hpp"

#include "model/engine/vllm/rounding.hpp"
#include "model/stand_in.hpp"

namespace mx::sim {

layout::Sizes rounded_up(std::string_view backend, const layout::Setting& setting) {
  layout::check(setting.sizes);
  require_tables(setting.engine, layout::kConversionEngines, "conversions");
  layout::Sizes padded = setting.sizes;
  if (setting.form.format != layout::WeightFormat::mxfp4) return padded;
  const auto rows = fault::rows_of(fault::Table::roundings, oracle::rounding_rows());
  const oracle::RoundedSizes sizes = oracle::rounded_up(rows, {.engine = setting.engine,
                                                               .backend = backend,
                                                               .platform = layout::platform_of(setting.arch),
                                                               .silu_or_situ = setting.activation != layout::ConverterActivation::swigluoai,
                                                               .sizes = {padded.hidden, padded.intermediate}});
  padded.hidden = sizes.hidden;
  padded.intermediate = sizes.intermediate;
  return padded;
}

}  // namespace mx::sim
