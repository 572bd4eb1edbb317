#include "checkpoint/nearest_even.hpp"

#include <algorithm>
#include <cmath>

namespace mx::checkpoint {
namespace {

double beyond_is_inf(double near, double largest) { return std::abs(near) > largest ? std::copysign(HUGE_VAL, near) : near; }

}  // namespace

double nearest_even(double value, int bits, int least) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int place = std::max(std::ilogb(value) - (bits - 1), least);
  return std::ldexp(std::nearbyint(std::ldexp(value, -place)), place);
}

double nearest_fp16(double value) { return beyond_is_inf(nearest_even(value, 11, -24), 65504); }

double nearest_bf16(double value) { return beyond_is_inf(nearest_even(value, 8, -133), 0x1.FEp127); }

}  // namespace mx::checkpoint
