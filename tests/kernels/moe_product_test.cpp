// One weight times its scale, as the plain code of bf16-chain's engines computes it, against the model.

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/moe/bf16_product.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/moe_draws.hpp"

using namespace mx;
using namespace mx::kernels::moe;
using namespace mx::test;

TEST_CASE("a weight times its scale is the exact product, rounded once to bf16") {
  Draws random(8);
  const ContractRow& row = row_of(Contract::bf16_chain);
  for (int round = 0; round < 20000; ++round) {
    const auto code = static_cast<std::uint32_t>(random() % 256);
    const std::uint32_t scale = any_f32_scale(random, Kind::everything);
    const Value weight = decode(kE4m3fn, code);
    const float found = bf16_product(std::bit_cast<float>(to_f32(weight)), std::bit_cast<float>(scale));
    const Value scales[] = {decode(kF32, scale)};
    const Value weights[] = {weight};
    const PreparedOperand folded = prepare(row, Side::b, {.elements = weights, .format = &kE4m3fn, .scales = scales, .block = 1});
    // The element comes second in its pair; what is subnormal the engines flush.
    const std::uint32_t expected = folded.factors[1].f32;
    const auto bits = std::bit_cast<std::uint32_t>(found);
    const std::uint32_t flushed = (bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits;
    INFO(code << " times " << f32::text(scale) << " is " << f32::text(bits) << ", model " << f32::text(expected));
    CHECK((f32::is_nan(expected) ? std::isnan(found) : flushed == expected));
  }
  // The largest and the smallest weight, of NVFP4 with its block's scale: 6 * 448 and 0.5 * 2^-9.
  CHECK(is_moderate(0x1p-116F));
  CHECK(0x1p-116 * 0x1p-10 == 0x1p-126);
  CHECK(!is_moderate(0x1.fffffep-117F));
  CHECK(is_moderate(-0x1.fffffep99F));
  CHECK(0x1.fffffep99 * 2688 < 0x1p112);
  CHECK(!is_moderate(0x1p100F));
  CHECK(!is_moderate(std::numeric_limits<float>::quiet_NaN()));
}
