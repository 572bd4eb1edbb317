#include "model/layout/cast.hpp"

#include <algorithm>
#include <array>

#include "model/families/cutlass_w4a8/values.hpp"
#include "model/families/marlin/values.hpp"
#include "model/fault.hpp"
#include "model/numerics/rows.hpp"

namespace mx::layout {
namespace {

using fault::Fault;
using fault::planted;

std::uint32_t low(std::uint64_t unit) { return static_cast<std::uint32_t>(unit); }
std::uint8_t via_fp16(std::uint64_t unit) { return marlin::e8m0_through(static_cast<std::uint8_t>(unit), ParamsDtype::fp16); }

constexpr std::array<Cast, 9> kCasts{{
    {"keep", 0, 0, [](std::uint64_t unit) { return unit; }, "bits as they are"},
    {"bf16_to_f32", 16, 32, [](std::uint64_t unit) { return planted(Fault::bias_cast_to_low_half) ? unit : unit << 16; },
     "bf16 widened to fp32, exact"},
    {"e8m0_to_f32_shift", 8, 32, [](std::uint64_t unit) { return unit << 23; },
     "e8m0 to fp32 by moving the exponent: code 0 becomes 0 and 255 infinity; codes come back as they were"},
    {"bf16_to_fp16", 16, 16, [](std::uint64_t unit) { return std::uint64_t{marlin::to_params(low(unit) << 16U, ParamsDtype::fp16)}; },
     "bf16 rounded into fp16: small numbers lose bits, large ones overflow"},
    {"e8m0_via_fp16", 8, 8, [](std::uint64_t unit) { return std::uint64_t{via_fp16(unit)}; },
     "e8m0 through fp16: codes 1..102 become 0, 143..254 become 255"},
    {"e8m0_plus_6", 8, 8, [](std::uint64_t unit) { return (unit + marlin::kFp8ActivationOffset) & 0xFFU; }, "6 added to e8m0 codes up to 249"},
    {"e8m0_via_fp16_plus_6", 8, 8, [](std::uint64_t unit) { return (via_fp16(unit) + std::uint64_t{marlin::kFp8ActivationOffset}) & 0xFFU; },
     "e8m0 through fp16, then 6 added: codes 1..102 become 6"},
    {"e4m3fn_to_e4m3fnuz", 8, 8, [](std::uint64_t unit) { return unit == 0x80 ? std::uint64_t{0} : unit; },
     "the code of -0, which is NaN in e4m3fnuz, becomes 0; all others stay: numbers mean half as much, NaN becomes 240"},
    {"uint4b8_to_w4a8", 4, 4, [](std::uint64_t unit) { return std::uint64_t{w4a8_encode(uint4b8_to_int4(static_cast<std::uint8_t>(unit)))}; },
     "value + 8 to the code of the W4A8 kernel: two's complement with 1..7 reversed"},
}};

}  // namespace

std::span<const Cast> all_casts() { return kCasts; }
const Cast& cast_named(std::string_view name) { return rows::named(kCasts, "cast", name); }
const Cast& kKeep = kCasts.front();

Uncast::Uncast(const Cast& cast) : cast_(cast) {
  if (cast.keeps()) return;
  const std::uint64_t units = std::uint64_t{1} << cast.from_bits;
  entries_.reserve(static_cast<std::size_t>(units));
  for (std::uint64_t unit = 0; unit < units; ++unit) entries_.push_back({cast.make(unit), unit});
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) { return a.value != b.value ? a.value < b.value : a.unit < b.unit; });
}

std::size_t Uncast::first_at_or_above(std::uint64_t value) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(entries_, value, {}, &Entry::value) - entries_.begin());
}

std::optional<std::uint64_t> Uncast::operator()(std::uint64_t value) const {
  if (cast_.keeps()) return value;
  const std::size_t first = first_at_or_above(value);
  if (first == entries_.size() || entries_[first].value != value) return std::nullopt;
  return entries_[first].unit;
}

bool Uncast::is_recoverable(std::uint64_t unit) const {
  if (cast_.keeps()) return true;
  const std::uint64_t value = cast_.make(unit);
  const std::size_t second = first_at_or_above(value) + 1;
  return second >= entries_.size() || entries_[second].value != value;
}

bool Uncast::is_lossless() const { return std::ranges::adjacent_find(entries_, {}, &Entry::value) == entries_.end(); }

}  // namespace mx::layout
