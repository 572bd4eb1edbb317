// How strong the laws' generators are: of a part of the laws, the share of (planted fault, law that must notice it) that an ordinary run's number of
// cases notices, over seeds other than the one that runs use. Hidden, because it takes minutes: test_faults '[.strength]' prints what it counted.

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
using mx::props::Outcome;

constexpr int kFirstSeed = 2;
constexpr int kSeeds = 10;

struct Part {
  const char* name;
  std::span<const Law> laws;
};
std::vector<Part> parts() {
  return {{"numerics", mx::props::numeric_laws()}, {"layouts", mx::props::layout_laws()}, {"routing and the layer", mx::props::moe_laws()},
          {"oracle", mx::props::oracle_laws()},    {"configurations", mx::props::configuration_laws()},
          {"simulator", mx::props::sim_laws()},    {"checker of devices", mx::props::checker_laws()}};
}

Outcome outcome_of(const Law& law, Fault fault, int seed) {
  setenv("RC_PARAMS", ("seed=" + std::to_string(seed) + " noshrink=1").c_str(), 1);
  mx::fault::set_active(fault);
  const Outcome outcome = law.run(law);
  mx::fault::set_active(Fault::none);
  return outcome;
}

/// A law that draws nothing does the same at every seed: its replay names no random numbers.
bool draws(const Outcome& first) { return first.held || first.message.find("reproduce=") != std::string::npos; }

struct Count {
  int tried = 0;
  int noticed = 0;
  std::string missed;  ///< pairs and how many seeds noticed
};

void count(Count& of, const Law& law, const mx::props::FaultRow& fault) {
  const Outcome first = outcome_of(law, fault.fault, kFirstSeed);
  if (!draws(first)) return;
  int seeds = first.held ? 0 : 1;
  for (int seed = kFirstSeed + 1; seed < kFirstSeed + kSeeds; ++seed) seeds += outcome_of(law, fault.fault, seed).held ? 0 : 1;
  of.tried += kSeeds;
  of.noticed += seeds;
  if (seeds < kSeeds) of.missed += " " + std::string(fault.id) + "/" + std::string(law.id) + "=" + std::to_string(seeds);
}

}  // namespace

TEST_CASE("the generators of every part of the laws notice at least 95 % of the planted faults at any seed", "[.strength]") {
  int tried = 0;
  for (const Part& part : parts()) {
    std::map<std::string, Law, std::less<>> laws;
    for (const Law& law : part.laws) laws.emplace(law.id, law);
    Count all;
    for (const mx::props::FaultRow& row : mx::props::all_faults()) {
      std::istringstream ids{std::string(row.laws)};
      for (std::string id; ids >> id;) {
        if (laws.contains(id)) count(all, laws.at(id), row);
      }
    }
    std::printf("%s: %d of %d; missed at some seed:%s\n", part.name, all.noticed, all.tried, all.missed.c_str());
    std::fflush(stdout);
    INFO(part.name);
    CHECK(all.noticed * 100 >= 95 * all.tried);
    tried += all.tried;
  }
  CHECK(tried > 300 * kSeeds);
  setenv("RC_PARAMS", "seed=1 noshrink=1", 1);
}
