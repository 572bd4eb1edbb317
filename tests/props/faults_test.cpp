// Every planted fault breaks the laws that its row names, and every law is broken by a fault. The model is compiled with the faults in it; one at
// a time is switched on.

#include "props/faults.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/counts.hpp"
#include "tests/props/all_laws.hpp"

namespace {

using mx::props::FaultRow;
using mx::props::Law;
using mx::props::Outcome;

/// That a law breaks is asked here, not how small its counterexample can be: shrinking takes most of the time of a failure.
const int kNoShrinking = setenv("RC_PARAMS", "seed=1 noshrink=1", 0);

std::vector<std::string> ids_of(const FaultRow& row) {
  std::istringstream words{std::string(row.laws)};
  std::vector<std::string> ids;
  for (std::string id; words >> id;) ids.push_back(id);
  return ids;
}

std::map<std::string, Law, std::less<>> laws_by_id() {
  std::map<std::string, Law, std::less<>> laws;
  for (const Law& law : mx::tests::all_laws()) laws.emplace(law.id, law);
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

/// The file that a row's place names, as text.
std::string source_of(const FaultRow& row) {
  const std::string_view file = row.place.substr(0, row.place.find(' '));
  std::ifstream in(MXACT_SOURCE_DIR "/" + std::string(file));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// True when the text has the name, and not only as the beginning of a longer one.
bool holds_name(const std::string& text, const std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end == text.size() || kLetters.find(text[end]) == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the file that a fault's row names holds the fault") {
  for (const FaultRow& row : mx::props::all_faults()) {
    INFO(row.id << " in " << row.place);
    CHECK(holds_name(source_of(row), "Fault::" + std::string(row.id)));
  }
  CHECK_FALSE(holds_name("planted(Fault::encode_ties_away_more)", "Fault::encode_ties_away"));
}

TEST_CASE("every planted fault breaks the laws that its row names") {
  REQUIRE(kNoShrinking == 0);
  const auto laws = laws_by_id();
  for (const FaultRow& row : mx::props::all_faults()) {
    const std::vector<std::string> ids = ids_of(row);
    INFO(row.id << " in " << row.place << ": " << row.breaks);
    REQUIRE_FALSE(ids.empty());
    const Planted planted(row.fault);
    for (const std::string& id : ids) {
      INFO(id);
      REQUIRE(laws.contains(id));
      const Outcome outcome = laws.at(id).run(laws.at(id));
      INFO(outcome.message);
      CHECK_FALSE(outcome.held);
      // A law that ends in an error of the model noticed nothing itself.
      CHECK(outcome.message.find("Exception thrown with message") == std::string::npos);
    }
  }
}

TEST_CASE("every law is broken by a planted fault") {
  std::set<std::string> broken;
  for (const FaultRow& row : mx::props::all_faults()) {
    for (const std::string& id : ids_of(row)) broken.insert(id);
  }
  for (const Law& law : mx::tests::all_laws()) {
    INFO(law.id << " is named by no fault");
    CHECK(broken.contains(std::string(law.id)));
  }
}

TEST_CASE("with no fault switched on the laws hold on the same build") {
  mx::tests::EveryNth picked(8);
  for (const Law& law : mx::tests::all_laws()) {
    if (!picked()) continue;
    const Outcome outcome = law.run(law);
    INFO(outcome.message);
    CHECK(outcome.held);
  }
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
