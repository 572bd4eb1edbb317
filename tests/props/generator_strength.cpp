// How strong the generators of fp32 patterns are: the share of the planted faults of encode that a law's number of cases notices, over many seeds.
// A generator that misses faults makes every law that draws from it a false comfort.

#include <rapidcheck.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "props/faults.hpp"
#include "props/numerics/laws.hpp"
#include "tests/catch.hpp"

namespace {

using mx::Conversion;
using mx::Flags;
using mx::fault::Fault;
using mx::props::numerics::Grid;

constexpr int kSeeds = 10;
/// What one run of a law draws: RapidCheck's hundred cases.
constexpr int kDraws = 100 * mx::props::numerics::kPatternsPerCase;

/// Faults that numbers show, and those that only NaNs do.
const std::vector<Fault> kNumberFaults{
    Fault::encode_ties_away,       Fault::encode_drops_sticky,   Fault::encode_loses_carry,     Fault::encode_saturates_low,
    Fault::encode_drops_zero_sign, Fault::directed_ignores_sign, Fault::unrounded_rounds_first, Fault::saturation_leaves_no_flag,
    Fault::flush_forgets_source,   Fault::flush_before_rounding, Fault::flush_leaves_no_flag,
};
const std::vector<Fault> kNanFaults{Fault::nan_loses_sign, Fault::nan_loses_payload};

struct Coded {
  std::uint32_t code;
  Flags flags;

  friend bool operator==(const Coded&, const Coded&) = default;
};

Coded coded(std::uint32_t f32, const Grid& grid, const Conversion& how, Fault fault) {
  mx::fault::set_active(fault);
  Coded out{};
  out.code = mx::convert(f32, mx::kF32, *grid.format, how, out.flags);
  mx::fault::set_active(Fault::none);
  return out;
}

bool notices(std::uint32_t f32, const Grid& grid, const std::vector<Conversion>& conversions, Fault fault) {
  for (const Conversion& how : conversions) {
    if (coded(f32, grid, how, fault) != coded(f32, grid, how, Fault::none)) return true;
  }
  return false;
}

/// Whether some pattern shows the fault at all: around every value and midpoint of the format and at its ends.
bool can_be_noticed(const Grid& grid, const std::vector<Conversion>& conversions, Fault fault) {
  for (std::uint32_t f32 : mx::props::numerics::extreme_patterns(grid)) {
    if (notices(f32, grid, conversions, fault)) return true;
  }
  const std::size_t step = grid.values.size() > 1000 ? 101 : 1;
  for (std::size_t i = 0; i < grid.values.size(); i += step) {
    for (std::uint32_t point : {grid.values[i], grid.midpoints[i]}) {
      for (std::uint32_t f32 : {point, point + 1U}) {
        if (notices(f32, grid, conversions, fault)) return true;
      }
    }
  }
  return false;
}

struct Score {
  int tried = 0;
  int killed = 0;
  std::string missed;  ///< faults that some seed did not notice, with the format

  double share() const { return static_cast<double>(killed) / tried; }
};

std::string fault_id(Fault fault) {
  for (const mx::props::FaultRow& row : mx::props::all_faults()) {
    if (row.fault == fault) return std::string(row.id);
  }
  return "none";
}

using Pick = std::function<std::uint32_t(const Grid&)>;

bool kills(const Pick& pick, int seed, const Grid& grid, const std::vector<Conversion>& conversions, Fault fault) {
  const auto generator = rc::gen::exec([&] { return pick(grid); });
  rc::Random random(static_cast<std::uint64_t>(seed));
  for (int i = 0; i < kDraws; ++i) {
    if (notices(generator(random.split(), rc::kNominalSize).value(), grid, conversions, fault)) return true;
  }
  return false;
}

/// Over all formats and seeds; a fault that a format cannot show does not count.
Score score(const std::string& name, const Pick& pick, const std::vector<Fault>& faults, int seeds) {
  Score score;
  for (const Grid& grid : mx::props::numerics::all_grids()) {
    const std::vector<Conversion> conversions = mx::props::numerics::every_conversion(grid);
    for (Fault fault : faults) {
      if (!can_be_noticed(grid, conversions, fault)) continue;
      int killed = 0;
      for (int seed = 1; seed <= seeds; ++seed) killed += kills(pick, seed, grid, conversions, fault) ? 1 : 0;
      score.tried += seeds;
      score.killed += killed;
      if (killed < seeds) score.missed += " " + fault_id(fault) + "/" + std::string(grid.format->name);
    }
  }
  std::printf("%s: %d of %d\n", name.c_str(), score.killed, score.tried);
  return score;
}

}  // namespace

TEST_CASE("the generators of fp32 patterns notice at least 95 % of the planted faults in a law's number of draws") {
  std::vector<Fault> all = kNumberFaults;
  all.insert(all.end(), kNanFaults.begin(), kNanFaults.end());
  const Score any = score("pick_any", mx::props::numerics::pick_any, all, kSeeds);
  const Score boundary = score("pick_boundary", mx::props::numerics::pick_boundary, kNumberFaults, kSeeds);
  const Score uniform = score(
      "uniform bits", [](const Grid&) { return mx::props::numerics::pick_uniform(0, 0xFFFFFFFFU); }, all, kSeeds / 5);
  CHECK(boundary.tried > 50 * kSeeds);
  CHECK(any.tried > boundary.tried);
  INFO("pick_any misses:" << any.missed << "; pick_boundary misses:" << boundary.missed);
  CHECK(any.share() >= 0.95);
  CHECK(boundary.share() >= 0.95);
  // The measure tells generators apart: uniform bits miss ties and ends.
  CHECK(uniform.share() < 0.9);
}
