#include "kernels/relayout/digits.hpp"

#include <set>

namespace mx::kernels::relayout {
namespace {

using layout::Digit;

constexpr std::uint8_t kNeutralByte = 0x7F;

/// What is written to unwritten padding: what the model's converters leave there when nobody asks for another byte.
constexpr std::uint8_t kUnwrittenByte = 0;

std::uint8_t byte_of(layout::PadContent content) {
  switch (content) {
    case layout::PadContent::neutral: return kNeutralByte;
    case layout::PadContent::unwritten: return kUnwrittenByte;
    case layout::PadContent::zero: break;
  }
  return 0;
}

/// Index 1 and the lowest indexes of the digits that an axis has on a side.
void add_starts(const Side& side, int axis, std::set<std::int64_t>& weights) {
  for (const Digit& digit : side.digits) {
    if (digit.axis == axis) weights.insert(digit.weight);
  }
}

/// The side's stride of the digit of an axis that starts at `weight`; none when it starts within a step of the side's digit. The highest digit of an
/// axis is taken to run on: where it does, elements are padding and have no address.
std::optional<std::int64_t> stride_at(const Side& side, int axis, std::int64_t weight) {
  const Digit* holding = nullptr;
  for (const Digit& digit : side.digits) {
    if (digit.axis == axis && digit.weight <= weight && (holding == nullptr || digit.weight > holding->weight)) holding = &digit;
  }
  if (holding == nullptr) return 0;
  if (weight % holding->weight != 0) return std::nullopt;
  const std::int64_t stride = holding->stride * (weight / holding->weight);
  return holding->flipped ? -stride : stride;
}

/// The address of the element whose indexes are all 0.
std::int64_t base_of(const Side& side) {
  std::int64_t base = 0;
  for (const Digit& digit : side.digits) base += digit.flipped ? (digit.radix - 1) * digit.stride : 0;
  return base;
}

/// A table of grains as one of units.
std::vector<std::int64_t> in_units(const std::vector<std::int64_t>& word, std::int64_t units_per_grain) {
  std::vector<std::int64_t> units;
  for (std::int64_t grain : word) {
    for (std::int64_t i = 0; i < units_per_grain; ++i) units.push_back(grain * units_per_grain + i);
  }
  return units;
}

}  // namespace

std::optional<SharedDigits> shared_digits(const Side& source, const Side& target) {
  const int grain = target.grain_bits;
  const int unit = grain < 8 ? grain : 8;
  if (8 % unit != 0 || grain % unit != 0) return std::nullopt;
  const std::int64_t scale = grain / unit;
  SharedDigits out{unit, {}, {}, base_of(source) * scale, base_of(target) * scale, scale, in_units(source.word, scale), in_units(target.word, scale)};
  for (const layout::Axis& axis : target.axes) out.target_units *= axis.extent;
  for (const PadLimit& pad : target.pads) out.limits.push_back({pad.limit, false, byte_of(pad.content)});
  for (std::size_t a = 0; a < target.axes.size(); ++a) {
    const int axis = static_cast<int>(a);
    const std::int64_t extent = target.axes[a].extent;
    std::set<std::int64_t> starts{1};
    add_starts(source, axis, starts);
    add_starts(target, axis, starts);
    starts.erase(starts.lower_bound(extent), starts.end());
    std::vector<std::int64_t> weights(starts.begin(), starts.end());
    const std::size_t first = out.digits.size();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::int64_t end = i + 1 < weights.size() ? weights[i + 1] : extent;
      if (i + 1 < weights.size() && end % weights[i] != 0) return std::nullopt;
      const std::optional<std::int64_t> from = stride_at(source, axis, weights[i]);
      const std::optional<std::int64_t> to = stride_at(target, axis, weights[i]);
      if (!from || !to) return std::nullopt;
      SharedDigit digit{(end + weights[i] - 1) / weights[i], *from * scale, *to * scale, {}};
      for (std::size_t p = 0; p < target.pads.size(); ++p) {
        if (target.pads[p].axis == axis) digit.shares.push_back({p, weights[i]});
      }
      out.digits.push_back(std::move(digit));
    }
    if (weights.empty() || extent % weights.back() == 0) continue;
    for (std::size_t i = 0; i < weights.size(); ++i) out.digits[first + i].shares.push_back({out.limits.size(), weights[i]});
    out.limits.push_back({extent, true, 0});
  }
  if (scale > 1) out.digits.push_back({scale, 1, 1, {}});
  return out;
}

}  // namespace mx::kernels::relayout
