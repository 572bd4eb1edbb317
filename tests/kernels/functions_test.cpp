// The vector functions against the model, bit for bit; mxact_kernels_proof compares all 2^32 arguments.

#include "kernels/functions/functions.hpp"

#include <string>
#include <utility>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/codec_cases.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

/// Every 2^16th pattern and its neighbours, the ends of each exponent, and arguments whose results lie next to a midpoint.
std::vector<std::uint32_t> arguments() {
  std::vector<std::uint32_t> out;
  for (std::uint32_t upper = 0; upper < 0x10000U; ++upper) {
    for (std::uint32_t lower : {0U, 1U, 0xFFFFU, upper * 40503U & 0xFFFFU}) out.push_back(upper << 16 | lower);
  }
  // e^x, 2^x: next to 1 + 2^-24 and at the tie 2^-150; x^3 / 3 of tanh and x^2 / 2 of log1p about half of the last place.
  for (std::uint32_t base : {0x33800000U, 0x33000000U, 0xC3160000U, 0x39800000U, 0x42B17218U, 0x42CFF1B5U, 0x41102CB3U, 0x40757000U}) {
    for (std::uint32_t i = 0; i < 64; ++i) out.push_back(base - 32 + i);
  }
  return out;
}

}  // namespace

TEST_CASE("elementary functions give the model's bits on every tier, whatever the number of arguments") {
  const std::vector<std::uint32_t> x = arguments();
  for (const kernels::ElementaryFunction& function : kernels::elementary_functions()) {
    std::vector<std::uint32_t> want;
    for (std::uint32_t bits : x) want.push_back(function.model(bits));
    for (const kernels::IsaTier* tier : tiers_here()) {
      for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{513}, x.size()}) {
        std::vector<std::uint32_t> y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count));
        kernels::apply(function, y, y, *tier);
        INFO(function.name << ", " << count << " arguments on " << tier->name);
        CHECK(std::equal(y.begin(), y.end(), want.begin()));
      }
    }
  }
}

TEST_CASE("elementary functions refuse sizes that differ and names that nobody has") {
  std::vector<std::uint32_t> two(2);
  std::vector<std::uint32_t> three(3);
  const auto& exp = kernels::elementary_function_named("exp");
  CHECK_THROWS_AS(kernels::apply(exp, two, three, kernels::isa_tiers().front()), Error);
  CHECK_THROWS_WITH(kernels::elementary_function_named("tahn"), Catch::Contains("tanh"));
  // exp(0) would be 1: what is refused has left the zeros.
  std::vector<std::uint32_t> zeros(600, 0);
  const auto first = std::span(zeros).first(599);
  const auto later = std::span(zeros).last(599);
  CHECK_THROWS_WITH(kernels::apply(exp, first, later, kernels::isa_tiers().front()), Catch::Contains("overlap"));
  CHECK_THROWS_WITH(kernels::apply(exp, later, first, kernels::isa_tiers().front()), Catch::Contains("overlap"));
  // Words that begin within others: only asked for, never read.
  const std::span<std::uint32_t> within(reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::uintptr_t>(zeros.data()) + 2), 99);
  const auto last = std::span(zeros).last(99);
  for (const auto& [from, to] : {std::pair(within, last), std::pair(last, within), std::pair(within, within)}) {
    CHECK_THROWS_WITH(kernels::apply(exp, from, to, kernels::isa_tiers().front()), Catch::Contains("not a multiple of 4: 2 beyond one"));
  }
  const kernels::IsaTier future{"avx1024", 1U << 31};
  CHECK_THROWS_WITH(kernels::apply(exp, zeros, zeros, future), Catch::Contains("avx1024"));
  CHECK(zeros == std::vector<std::uint32_t>(600, 0));
}
