// Every planted fault is killed by the law that its row names. The model is compiled with the faults in it; one at a time is switched on.

#include <algorithm>
#include <set>
#include <string>

#include "props/faults.hpp"
#include "tests/catch.hpp"
#include "tests/props/all_laws.hpp"

namespace {

using mx::props::FaultRow;
using mx::props::Law;
using mx::props::Outcome;

std::vector<Law> laws_for(const FaultRow& row) {
  std::vector<Law> laws;
  for (const Law& law : mx::props::all_laws()) {
    if (law.id.starts_with(row.law)) laws.push_back(law);
  }
  return laws;
}

/// Switches a fault on for a scope.
class Planted {
 public:
  explicit Planted(mx::fault::Fault fault) { mx::fault::set_active(fault); }
  ~Planted() { mx::fault::set_active(mx::fault::Fault::none); }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
};

}  // namespace

TEST_CASE("every planted fault is killed by the law that its row names") {
  REQUIRE(mx::props::all_faults().size() >= 10);
  for (const FaultRow& row : mx::props::all_faults()) {
    const std::vector<Law> laws = laws_for(row);
    INFO(row.id << " in " << row.place << ": " << row.breaks << "; to be killed by " << row.law);
    REQUIRE_FALSE(laws.empty());
    const Planted planted(row.fault);
    CHECK(std::any_of(laws.begin(), laws.end(), [](const Law& law) { return !law.run(law).held; }));
  }
}

TEST_CASE("with no fault switched on the same laws hold on the same build") {
  std::set<std::string_view> done;
  for (const FaultRow& row : mx::props::all_faults()) {
    for (const Law& law : laws_for(row)) {
      if (!done.insert(law.id).second) continue;
      const Outcome outcome = law.run(law);
      INFO(outcome.message);
      CHECK(outcome.held);
    }
  }
  CHECK(done.size() > 3);
}

TEST_CASE("fault rows are unique and complete") {
  std::set<std::string_view> ids;
  for (const FaultRow& row : mx::props::all_faults()) {
    INFO(row.id);
    CHECK(ids.insert(row.id).second);
    CHECK_FALSE(row.place.empty());
    CHECK_FALSE(row.breaks.empty());
  }
  // One row for every enumerator but `none`: a planted fault without a row would never be tried.
  CHECK(ids.size() == static_cast<std::size_t>(mx::fault::Fault::kCount) - 1);
}
