#include "model/families/facts.hpp"

#include "model/families/memory.hpp"

namespace mx::oracle::facts {
namespace {

/// The sizes as the engine hands them to the converter. What else a converter looks at no placement says; the defaults break no precondition.
layout::Setting setting_of(const Placement& p, layout::WeightFormat format) {
  const layout::Sizes sizes{.experts = p.deployment.layer.num_experts,
                            .intermediate = p.intermediate,
                            .hidden = p.hidden,
                            .group = std::max<std::int64_t>(1, layout::group_of(format))};
  return {.sizes = sizes, .padded = sizes, .form = {format, layout::SourceOrder::standard, is_gated(p)}, .engine = p.engine};
}

}  // namespace

bool converter_takes(const Placement& p) {
  const auto format = layout::format_of_key(p.weight_key);
  const layout::BackendLayout* row = format ? layout::find_backend_layout(p.backend, *format, p.engine) : nullptr;
  if (row == nullptr) return true;
  const layout::Setting setting = setting_of(p, *format);
  return std::ranges::all_of(row->needs, [&](const layout::Need& need) { return layout::holds(need, setting); });
}

}  // namespace mx::oracle::facts
