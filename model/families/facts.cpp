#include "model/families/facts.hpp"

#include "model/families/memory.hpp"

namespace mx::families::facts {

bool converter_takes(const Placement& p) {
  const auto format = format_of_key(p.weight_key);
  const BackendLayout* row = format ? find_backend_layout(p.backend, *format, p.engine) : nullptr;
  if (row == nullptr) return true;
  const Setting setting = rounded_setting(*format, is_gated(p),
                                          {.experts = p.deployment.layer.num_experts, .intermediate = p.intermediate, .hidden = p.hidden}, p.engine);
  return std::ranges::all_of(row->needs, [&](const Need& need) { return holds(need, setting); });
}

}  // namespace mx::families::facts
