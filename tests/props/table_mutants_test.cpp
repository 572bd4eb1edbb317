// A sample of the single changes of tables: each is noticed, changes no output, or is a known survivor with its reason. `mxact faults --tables` tries
// all.

#include "tests/props/table_mutants.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "model/moe/activation.hpp"
#include "tests/catch.hpp"
#include "tests/props/known_survivors.hpp"
#include "tests/props/mutant_records.hpp"
#include "tests/props/mutant_runs.hpp"
#include "tests/props/restated_activations.hpp"
#include "tests/props/restated_answers.hpp"
#include "tests/props/restated_deployments.hpp"

namespace {

using mx::tests::Judgement;
using mx::tests::TableMutant;

constexpr std::size_t kSample = 24;
constexpr unsigned kLimitSeconds = 300;

bool is_known(const std::string& id) {
  return std::ranges::find(mx::tests::known_survivors(), id, &mx::tests::KnownSurvivor::id) != mx::tests::known_survivors().end();
}

}  // namespace

TEST_CASE("changes of tables have ids of their own, and every table has some") {
  std::set<std::string> ids;
  std::set<std::string> tables;
  for (const TableMutant& mutant : mx::tests::table_mutants()) {
    INFO(mutant.id());
    CHECK(ids.insert(mutant.id()).second);
    tables.insert(mutant.table);
  }
  CHECK(tables == std::set<std::string>{"activations", "contracts", "dequantizers", "exchanges", "layouts", "loaders", "recipes", "roundings",
                                        "routers", "units"});
}

TEST_CASE("the tables as they are give the restated answers") {
  CHECK(mx::tests::wrong_rounding().empty());
  CHECK(mx::tests::wrong_weight_place().empty());
  CHECK(mx::tests::wrong_block_scales().empty());
  CHECK(mx::tests::wrong_exchange().empty());
  CHECK(mx::tests::wrong_loader().empty());
  CHECK(mx::tests::wrong_unit().empty());
  for (const mx::moe::Activation& row : mx::moe::all_activations()) {
    INFO(row.name);
    CHECK(mx::tests::wrong_activation(row.name).empty());
  }
}

TEST_CASE("known survivors are changes that exist and survive") {
  setenv("RC_PARAMS", "seed=1 noshrink=1", 1);
  std::vector<TableMutant> mutants = mx::tests::table_mutants();
  std::erase_if(mutants, [](const TableMutant& mutant) { return !is_known(mutant.id()); });
  CHECK(mutants.size() == mx::tests::known_survivors().size());
  for (const mx::tests::KnownSurvivor& row : mx::tests::known_survivors()) {
    INFO(row.id);
    CHECK_FALSE(row.reason.empty());
  }
  if (mutants.empty()) return;
  const mx::tests::Records records;
  for (const mx::tests::MutantRun& run : mx::tests::run_mutants(mutants, records, 2, kLimitSeconds, [](std::size_t) {})) {
    INFO(run.mutant->id() << ": " << name_of(run.judgement) << " " << run.text);
    CHECK(run.judgement == Judgement::survives);
  }
}

TEST_CASE("a sample of the changes of tables is noticed, changes nothing, or is known") {
  setenv("RC_PARAMS", "seed=1 noshrink=1", 1);
  const std::vector<TableMutant> mutants = mx::tests::sample_of(mx::tests::table_mutants(), kSample);
  const mx::tests::Records records;
  int noticed = 0;
  for (const mx::tests::MutantRun& run : mx::tests::run_mutants(mutants, records, 2, kLimitSeconds, [](std::size_t) {})) {
    INFO(run.mutant->id() << ": " << name_of(run.judgement) << " " << run.text);
    CHECK((run.judgement != Judgement::survives || is_known(run.mutant->id())));
    noticed += mx::tests::is_noticed(run.judgement) ? 1 : 0;
  }
  CHECK(noticed > 8);
}
