// Scalings as step functions of amax, of made-up rules; and pieces of work on threads.

#include "kernels/codec/amax_steps.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/pieces.hpp"
#include "tests/catch.hpp"

using namespace mx;
using kernels::AmaxSteps;

namespace {

constexpr std::uint32_t kOne = 0x3F800000U;
constexpr std::uint32_t kBinade = 0x00800000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;

bool takes_all(std::uint32_t, const BlockScaling&) { return true; }

/// One scaling below a place in each binade, another from there on.
BlockScaling by_binade(std::uint32_t amax) {
  const std::uint32_t up = (amax & (kBinade - 1U)) >= 0x123456U ? 1U : 0U;
  return {amax / kBinade + up, kOne};
}

}  // namespace

TEST_CASE("a table has the rule's answer at every step and beside it") {
  const auto steps = AmaxSteps::of(by_binade, takes_all);
  REQUIRE(steps);
  for (std::uint32_t binade = kBinade; binade < kInfinity; binade += kBinade) {
    for (std::uint32_t place : {0U, 1U, 0x123455U, 0x123456U, 0x123457U, kBinade - 1U}) {
      INFO(binade << " and " << place);
      CHECK(steps->at(binade + place) == by_binade(binade + place));
    }
  }
  // Subnormal numbers between which the rule changes are left, and so is what is no finite number.
  for (std::uint32_t amax : {1U, 0x123456U, kBinade - 1U, kInfinity, kInfinity + 1U, 0x7FFFFFFFU}) CHECK(steps->at(amax) == BlockScaling{0, 0});
}

TEST_CASE("steps of a sixteenth of a binade have a table, closer ones none") {
  const auto by = [](unsigned shift) {
    return [shift](std::uint32_t amax) { return BlockScaling{amax < 125 * kBinade || amax >= 129 * kBinade ? 0 : amax >> shift, kOne}; };
  };
  const auto fine = AmaxSteps::of(by(19), takes_all);
  REQUIRE(fine);
  for (std::uint32_t amax = 124 * kBinade; amax < 130 * kBinade; amax += 0x7FFFU) CHECK(fine->at(amax) == by(19)(amax));
  CHECK_FALSE(AmaxSteps::of(by(17), takes_all));
}

TEST_CASE("zeros have a scaling of their own, and what the kernels do not take has none") {
  const auto rule = [](std::uint32_t amax) { return BlockScaling{amax == 0 ? 7U : 9U, kOne}; };
  const auto steps = AmaxSteps::of(rule, [](std::uint32_t amax, const BlockScaling&) { return amax < 140 * kBinade; });
  REQUIRE(steps);
  CHECK(steps->at(0) == BlockScaling{7, kOne});
  CHECK(steps->at(1) == BlockScaling{9, kOne});
  CHECK(steps->at(kOne) == BlockScaling{9, kOne});
  CHECK(steps->at(200 * kBinade) == BlockScaling{0, 0});
}

TEST_CASE("every piece is done once, on any number of threads, and the first that throws is heard") {
  for (int threads : {1, 2, 3, 16}) {
    for (std::size_t count : {0U, 1U, 2U, 7U, 1000U}) {
      INFO(threads << " threads, " << count << " pieces");
      std::vector<std::atomic<int>> done(count);
      kernels::for_each_piece(count, threads, [&](std::size_t i) {
        ++done[i];
        // Long enough for threads to be worth their start.
        volatile int spins = 0;
        while (spins < 20000) spins = spins + 1;
      });
      for (const auto& times : done) CHECK(times == 1);
    }
    std::atomic<int> done = 0;
    const auto fails = [&](std::size_t i) {
      ++done;
      if (i % 3 == 2) throw std::runtime_error("piece " + std::to_string(i));
    };
    CHECK_THROWS_WITH(kernels::for_each_piece(100, threads, fails), "piece 2");
    CHECK(done == 100);
  }
}
