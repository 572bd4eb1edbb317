#include "kernels/relayout/plan.hpp"

#include <string>

#include "model/error.hpp"

namespace mx::kernels::relayout {

using layout::Layout;

Plan plan(const Layout& from, const Layout& to) { return {from, to, isa_tier()}; }

Plan plan(const Layout& to) { return plan(Layout(to.axes_before(0), to.unit_bits()), to); }

Plan plan(const Layout& from, const layout::TensorPlan& to) {
  if (!to.cast->keeps()) {
    throw Error(ErrorCode::unsupported, "values change on the way: " + std::string(to.cast->name), "layout conversion");
  }
  return plan(from, to.layout);
}

void apply(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) {
  plan.forward_.run(source, target, threads);
}

void undo(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) {
  plan.backward_.run(source, target, threads);
}

}  // namespace mx::kernels::relayout
