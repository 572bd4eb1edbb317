#include "model/moe/activation.hpp"

#include "model/numerics/f32.hpp"

namespace mx::moe {
namespace {
constexpr std::uint32_t kSignBit = 0x80000000U;
}

std::uint32_t swiglu_oai(std::uint32_t gate, std::uint32_t up, const SwigluOai& constants) {
  const std::uint32_t g = f32::min(gate, constants.limit);
  const std::uint32_t u = f32::max(f32::min(up, constants.limit), constants.limit ^ kSignBit);
  const std::uint32_t decay = f32::exp(f32::mul(constants.alpha, g) ^ kSignBit);
  const std::uint32_t s = f32::div(g, f32::add(f32::kOne, decay));
  return f32::mul(s, f32::add(u, constants.beta));
}

}  // namespace mx::moe
