// How strong the generators of layouts are: the share of (planted fault, law that must notice) that an ordinary run's number of cases notices, over
// seeds other than the one that runs use. Hidden, because it takes a minute: test_faults '[.strength]' prints what it counted.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "props/faults.hpp"
#include "tests/catch.hpp"
#include "tests/props/all_laws.hpp"

namespace {

using mx::fault::Fault;
using mx::props::Law;

constexpr int kSeeds = 10;

bool notices(const Law& law, Fault fault, int seed) {
  setenv("RC_PARAMS", ("seed=" + std::to_string(seed) + " noshrink=1").c_str(), 1);
  mx::fault::set_active(fault);
  const bool held = law.run(law).held;
  mx::fault::set_active(Fault::none);
  return !held;
}

}  // namespace

TEST_CASE("the generators of layouts notice at least 95 % of the planted faults at any seed", "[.strength]") {
  std::map<std::string, Law, std::less<>> laws;
  for (const Law& law : mx::props::layout_laws()) laws.emplace(law.id, law);
  int tried = 0;
  int killed = 0;
  std::string missed;
  for (const mx::props::FaultRow& row : mx::props::all_faults()) {
    std::istringstream ids{std::string(row.laws)};
    for (std::string id; ids >> id;) {
      if (!laws.contains(id)) continue;
      int seeds = 0;
      for (int seed = 2; seed < 2 + kSeeds; ++seed) seeds += notices(laws.at(id), row.fault, seed) ? 1 : 0;
      tried += kSeeds;
      killed += seeds;
      if (seeds < kSeeds) missed += " " + std::string(row.id) + "/" + id + "=" + std::to_string(seeds);
    }
  }
  setenv("RC_PARAMS", "seed=1 noshrink=1", 1);
  std::printf("layouts: %d of %d; missed at some seed:%s\n", killed, tried, missed.c_str());
  CHECK(tried > 100 * kSeeds);
  CHECK(killed * 100 >= 95 * tried);
}
