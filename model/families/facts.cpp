#include "model/families/facts.hpp"

#include "model/families/memory.hpp"

namespace mx::oracle::facts {

bool converter_takes(const Placement& p) {
  const auto format = layout::format_of_key(p.weight_key);
  const layout::BackendLayout* row = format ? layout::find_backend_layout(p.backend, *format, p.engine) : nullptr;
  if (row == nullptr) return true;
  const layout::Setting setting = layout::rounded_setting(
      *format, is_gated(p), {.experts = p.deployment.layer.num_experts, .intermediate = p.intermediate, .hidden = p.hidden}, p.engine);
  return std::ranges::all_of(row->needs, [&](const layout::Need& need) { return layout::holds(need, setting); });
}

}  // namespace mx::oracle::facts
