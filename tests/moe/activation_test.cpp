// SwiGLU-OAI against MPFR: the same declared operations, each rounded once to 24 bits by a library that shares no code with the model.

#include "model/moe/activation.hpp"

#include <mpfr.h>

#include <bit>
#include <cstdint>

#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"

namespace {

using mx::moe::swiglu_oai;
using mx::moe::SwigluOai;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// One MPFR number with fp32's precision. Results of the operations below stay inside fp32's normal range for the inputs that are tried.
class Single {
 public:
  explicit Single(float value) {
    mpfr_init2(value_, 24);
    mpfr_set_flt(value_, value, MPFR_RNDN);
  }
  ~Single() { mpfr_clear(value_); }
  Single(const Single&) = delete;
  Single& operator=(const Single&) = delete;
  mpfr_ptr get() { return value_; }
  float as_float() { return mpfr_get_flt(value_, MPFR_RNDN); }

 private:
  mpfr_t value_;
};

std::uint32_t by_mpfr(float gate, float up) {
  Single g(std::min(gate, 7.0F));
  Single u(std::max(std::min(up, 7.0F), -7.0F));
  Single t(1.702F);
  mpfr_mul(t.get(), t.get(), g.get(), MPFR_RNDN);
  mpfr_neg(t.get(), t.get(), MPFR_RNDN);
  mpfr_exp(t.get(), t.get(), MPFR_RNDN);
  mpfr_add_ui(t.get(), t.get(), 1, MPFR_RNDN);
  mpfr_div(t.get(), g.get(), t.get(), MPFR_RNDN);
  mpfr_add_ui(u.get(), u.get(), 1, MPFR_RNDN);
  mpfr_mul(t.get(), t.get(), u.get(), MPFR_RNDN);
  return bits(t.as_float());
}

}  // namespace

TEST_CASE("swiglu_oai equals its declared operations in MPFR, bit for bit") {
  std::uint64_t state = 12345;
  int tried = 0;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto gate = static_cast<float>(static_cast<std::int64_t>(state >> 40U) - (1 << 23)) * 0x1p-19F;  // -16 .. 16
    const auto up = static_cast<float>(static_cast<std::int64_t>(state >> 16U & 0xFFFFFFU) - (1 << 23)) * 0x1p-20F;
    if (gate == 0 || up == -1) continue;
    ++tried;
    if (swiglu_oai(bits(gate), bits(up), SwigluOai{}) != by_mpfr(gate, up)) {
      INFO("gate " << gate << " up " << up);
      REQUIRE(swiglu_oai(bits(gate), bits(up), SwigluOai{}) == by_mpfr(gate, up));
    }
  }
  CHECK(tried > 199000);
}

TEST_CASE("swiglu_oai clamps above only for the gate, on both sides for up") {
  const SwigluOai constants;
  CHECK(swiglu_oai(bits(7.0F), bits(3.0F), constants) == swiglu_oai(bits(100.0F), bits(3.0F), constants));
  CHECK(swiglu_oai(bits(-7.0F), bits(3.0F), constants) != swiglu_oai(bits(-9.0F), bits(3.0F), constants));
  CHECK(swiglu_oai(bits(2.0F), bits(7.0F), constants) == swiglu_oai(bits(2.0F), bits(8.0F), constants));
  CHECK(swiglu_oai(bits(2.0F), bits(-7.0F), constants) == swiglu_oai(bits(2.0F), bits(-8.0F), constants));
}

TEST_CASE("swiglu_oai of zeros is zero, so padding is neutral, and NaN stays NaN") {
  const SwigluOai constants;
  CHECK(swiglu_oai(0, 0, constants) == 0);
  CHECK(swiglu_oai(mx::f32::kNan, bits(1.0F), constants) == mx::f32::kNan);
  CHECK(swiglu_oai(bits(1.0F), mx::f32::kNan, constants) == mx::f32::kNan);
}

TEST_CASE("every constant of swiglu_oai matters") {
  const SwigluOai constants;
  const std::uint32_t gate = bits(1.5F);
  const std::uint32_t up = bits(0.75F);
  const std::uint32_t result = swiglu_oai(gate, up, constants);
  CHECK(swiglu_oai(gate, up, {bits(1.0F), constants.beta, constants.limit}) != result);
  CHECK(swiglu_oai(gate, up, {constants.alpha, bits(0.0F), constants.limit}) != result);
  CHECK(swiglu_oai(gate, up, {constants.alpha, constants.beta, bits(1.0F)}) != result);
}
