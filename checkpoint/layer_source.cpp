#include "checkpoint/layer_source.hpp"

#include <algorithm>

#include "model/families/fnuz.hpp"
#include "model/layout/plan.hpp"

namespace mx::checkpoint {

HeldLayer::HeldLayer(const layout::CanonicalLayer& layer) : layer_(layer) {
  for (const layout::Role role : layout::kAllRoles) {
    if (!layer[role].empty()) layout::check_fit(role, layout::canonical(role, layer.sizes, layer.form), layer[role]);
  }
}

void HeldLayer::read(layout::Role role, std::uint64_t begin, std::span<std::uint8_t> out) const {
  std::ranges::copy(std::span(layer_[role]).subspan(begin, out.size()), out.begin());
}

void FnuzLayer::read(layout::Role role, std::uint64_t begin, std::span<std::uint8_t> out) const {
  before_->read(role, begin, out);
  families::to_fnuz(role, out);
}

}  // namespace mx::checkpoint
