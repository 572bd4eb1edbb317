// Every law holds on the model, names are unique, and a failure can be replayed from what it prints.

#include <array>
#include <cstdio>
#include <set>
#include <string>

#include "model/numerics/contract.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/props/all_laws.hpp"

namespace {

using mx::props::Law;

void require_all_hold(std::span<const Law> laws) {
  REQUIRE_FALSE(laws.empty());
  for (const Law& law : laws) {
    const mx::props::Outcome outcome = law.run(law);
    INFO(outcome.message);
    CHECK(outcome.held);
    CHECK(outcome.cases > 0);
  }
}

std::string output_of(const std::string& command) {
  std::string text;
  std::array<char, 4096> buffer{};
  FILE* pipe = popen(("env -u CI " + command + " 2>&1").c_str(), "r");  // in CI replays are refused
  REQUIRE(pipe != nullptr);
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) text += buffer.data();
  pclose(pipe);
  return text;
}

}  // namespace

TEST_CASE("the numeric laws hold") { require_all_hold(mx::props::numeric_laws()); }
TEST_CASE("the layout laws hold") { require_all_hold(mx::props::layout_laws()); }
TEST_CASE("the laws of routing and layers hold") { require_all_hold(mx::props::moe_laws()); }
TEST_CASE("the laws of deployments hold") { require_all_hold(mx::props::sim_laws()); }
TEST_CASE("the laws of configurations hold") { require_all_hold(mx::props::configuration_laws()); }
TEST_CASE("the oracle laws hold") { require_all_hold(mx::props::oracle_laws()); }

TEST_CASE("law ids are unique and begin with a number of the catalogue") {
  std::set<std::string_view> ids;
  for (const Law& law : mx::tests::all_laws()) {
    INFO(law.id);
    CHECK(ids.insert(law.id).second);
    CHECK(std::string_view("NLSOT").find(law.id[0]) != std::string_view::npos);
  }
  // All of the catalogue: T1 and T2 are tests.
  for (const std::string_view number :
       {"N1", "N2", "N3", "N4", "N5", "N6", "N7",  "N8", "N9", "N10", "N11", "N12", "N13", "N14", "N15", "N16", "L1", "L2", "L3",
        "L4", "L5", "L6", "L7", "L8", "L9", "L10", "S1", "S2", "S3",  "S4",  "S5",  "O1",  "O2",  "O3",  "O4",  "O5", "O6", "O7"}) {
    INFO(number);
    CHECK(std::any_of(ids.begin(), ids.end(), [&](std::string_view id) { return id.substr(0, id.find_first_of("/-")) == number; }));
  }
}

TEST_CASE("every contract has a law that restates it, every dequantizing and quantizing implementation one that holds its programs") {
  std::set<std::string> ids;
  for (const Law& law : mx::props::numeric_laws()) ids.emplace(law.id);
  for (const mx::ContractRow& row : mx::all_contracts()) {
    INFO(row.name);
    CHECK(ids.contains("N10/" + std::string(row.name)));
  }
  for (const mx::Profile& profile : mx::all_profiles()) {
    INFO(profile.name);
    if (!profile.recipes.empty()) CHECK(ids.contains("N6/program/" + std::string(profile.implementation)));
    if (!profile.dequantizers.empty()) CHECK(ids.contains("N4/program/" + std::string(profile.implementation)));
  }
}

/// The value of RC_PARAMS that a failure's output says to use.
std::string reproduce_of(const std::string& failure) {
  const std::size_t begin = failure.find("reproduce=");
  REQUIRE(begin != std::string::npos);
  return failure.substr(begin, failure.find_first_of("'\" \n", begin) - begin);
}

/// The line with the counterexample.
std::string counterexample_of(const std::string& output) {
  const std::size_t begin = output.find("\n[");
  REQUIRE(begin != std::string::npos);
  return output.substr(begin, output.find('\n', begin + 1) - begin);
}

TEST_CASE("a failing law prints a line that replays its minimal case") {
  const std::string program = MXACT_LAWS_PROGRAM;
  const std::string failure = output_of("RC_PARAMS=seed=7 " + program + " demo/failure");
  INFO(failure);
  CHECK(failure.find("replay: ") != std::string::npos);
  const std::string other_seed = output_of("RC_PARAMS=seed=8 " + program + " demo/failure");
  REQUIRE(counterexample_of(other_seed) != counterexample_of(failure));
  // The replay needs no seed: it follows the recorded path to the same minimal case at the first try.
  const std::string replayed = output_of("RC_PARAMS='" + reproduce_of(failure) + "' " + program + " demo/failure");
  INFO(replayed);
  CHECK(replayed.find("BROKEN demo/failure") != std::string::npos);
  CHECK(replayed.find("after 1 tests") != std::string::npos);
  CHECK(counterexample_of(replayed) == counterexample_of(failure));
}

TEST_CASE("a replay variable that names another law is not a pass") {
  const std::string program = MXACT_LAWS_PROGRAM;
  const std::string failure = output_of("RC_PARAMS=seed=7 " + program + " demo/failure");
  const std::string skipped = output_of("RC_PARAMS='" + reproduce_of(failure) + "' " + program + " L1");
  INFO(skipped);
  CHECK(skipped.find("BROKEN") != std::string::npos);
}
