#include "tests/numerics/pair_inputs.hpp"

#include <bit>
#include <vector>

#include "model/numerics/dot.hpp"

namespace mx::tests {
namespace {

double number(std::uint32_t bf16) { return static_cast<double>(std::bit_cast<float>(in_f32(bf16))); }

void fill(Sum& sum, Draw& draw, std::uint32_t first, std::uint32_t count) {
  for (auto* side : {&sum.a, &sum.b}) {
    for (std::uint32_t& code : *side) code = draw.bf16(first, count);
  }
}

constexpr std::array kInputs{
    Inputs{"moderate exponents",
           [](Sum& sum, Draw& draw) {
             fill(sum, draw, 117, 20);
             sum.c = draw.f32(100, 50);
           },
           kOrders},
    Inputs{"every exponent",
           [](Sum& sum, Draw& draw) {
             fill(sum, draw, 0, 255);
             sum.c = draw.f32(0, 255);
           },
           kOneChain | kDescending},
    Inputs{"tiny: subnormal operands and sums",
           [](Sum& sum, Draw& draw) {
             fill(sum, draw, 0, 80);
             sum.c = draw.f32(0, 30);
           },
           kKept | kOrders},
    Inputs{"c cancels the sum",
           [](Sum& sum, Draw& draw) {
             fill(sum, draw, 124, 6);
             double total = 0;
             for (std::size_t k = 0; k < 2 * sum.pairs; ++k) total += number(sum.a[k]) * number(sum.b[k]);
             sum.c = std::bit_cast<std::uint32_t>(static_cast<float>(-total * (1 + (static_cast<int>(draw.below(9)) - 4) * 0x1p-24)));
           },
           kOrders},
    Inputs{"sums around the least normal number",
           [](Sum& sum, Draw& draw) {
             fill(sum, draw, 61, 4);
             sum.c = draw.below(2) == 0 ? draw.word() & 0x80000003U : draw.signed_zero() | (0x007FFFFCU + draw.below(9));
           },
           kKept | kOrders},
    Inputs{"products that cancel within the chains, and zeros",
           [](Sum& sum, Draw& draw) {
             fill(sum, draw, 120, 12);
             for (std::size_t k = 0; k + 3 < sum.a.size(); k += 4) {
               for (const std::size_t at : {k, k + 1}) {
                 sum.b[at + 2] = sum.b[at];
                 sum.a[at + 2] = draw.below(4) == 0 ? draw.signed_zero() >> 16 : sum.a[at] ^ 0x8000U ^ draw.below(2);
               }
             }
             sum.c =
                 draw.below(4) == 0 ? draw.signed_zero() : std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(draw.below(65)) - 32));
           },
           kOrders},
    Inputs{"overflow within and at the end",
           [](Sum& sum, Draw& draw) {
             fill(sum, draw, 180, 16);
             sum.c = draw.f32(230, 25);
           },
           kOneChain | kDescending},
    Inputs{"infinities and NaNs",
           [](Sum& sum, Draw& draw) {
             fill(sum, draw, 117, 20);
             for (auto* side : {&sum.a, &sum.b}) {
               for (std::uint32_t& code : *side) {
                 if (draw.below(97) == 0) code = (draw.word() & 0x8000U) | 0x7F80U | (draw.below(2) == 0 ? 0U : draw.below(128));
               }
             }
             sum.c = draw.below(61) == 0 ? draw.signed_zero() | 0x7F800000U | (draw.below(2) == 0 ? 0U : draw.below(1U << 23)) : draw.f32(100, 50);
           },
           kOrders},
    Inputs{"chains that step just below the least normal number",
           [](Sum& sum, Draw& draw) {
             for (std::size_t k = 0; k < sum.a.size(); ++k) {
               sum.a[k] = (draw.word() & 0x8000U) | (k < 2 ? 64U << 7 : (30 + draw.below(7)) << 7 | draw.below(128));
               sum.b[k] = (draw.word() & 0x8000U) | (k < 2 ? 64U << 7 : 70U << 7 | (draw.word() & 0x40U));
             }
             sum.c = draw.below(4) != 0 ? draw.signed_zero() : draw.signed_zero() | (0x007FFFFEU + draw.below(5));
           },
           kKept | kBefore | kOrders},
};

}  // namespace

std::span<const Inputs> pair_inputs() { return kInputs; }

Sum drawn(const Inputs& inputs, Draw& draw, std::size_t pairs) {
  Sum sum;
  sum.pairs = pairs;
  inputs.draw(sum, draw);
  return sum;
}

std::uint32_t modelled(const Sum& sum) {
  std::vector<Value> a;
  std::vector<Value> b;
  for (std::size_t k = 0; k < 2 * sum.pairs; ++k) {
    a.push_back(decode(kBf16, sum.a[k]));
    b.push_back(decode(kBf16, sum.b[k]));
  }
  return dot(row_of(Contract::bf16_pair), {a, &kBf16}, {b, &kBf16}, {.c = sum.c, .bias = {}});
}

std::size_t some_pairs(Draw& draw) { return draw.below(4) == 0 ? 1 + draw.below(kMostPairs) : kMostPairs; }

}  // namespace mx::tests
