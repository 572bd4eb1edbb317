// Single changes of the oracles' tables are noticed: by the recorded cases, or by the laws that hold the tables to their restatement.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "model/oracle/needs.hpp"
#include "tests/catch.hpp"
#include "tests/oracle/equivalent_mutants.hpp"
#include "tests/oracle/exam.hpp"
#include "tests/oracle/mutants.hpp"

namespace {

using namespace mx::oracle;
using namespace mx::test;
using Name = std::string_view;

/// How a run went.
struct Score {
  std::size_t tried = 0;
  std::size_t by_records = 0;  ///< noticed by a recorded case
  std::size_t by_laws = 0;     ///< noticed by a law alone
  std::vector<std::string> survivors;
};

enum class Noticed { by_record, by_law, no };

void count(Score& score, const std::string& id, Noticed noticed) {
  ++score.tried;
  if (noticed == Noticed::by_record) ++score.by_records;
  if (noticed == Noticed::by_law) ++score.by_laws;
  if (noticed == Noticed::no) score.survivors.push_back(id);
}

/// Every so many-th change only: MXACT_MUTANTS=all tries all of them.
std::size_t stride() {
  const char* wanted = std::getenv("MXACT_MUTANTS");
  return wanted != nullptr && Name(wanted) == "all" ? 1 : 5;
}

const Exams& recorded() {
  static const Exams exams = recorded_exams();
  return exams;
}
const Exams& restated() {
  static const Exams exams = restated_exams();
  return exams;
}

template <typename Key, typename Map>
auto exams_of(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type{} : found->second;
}

bool names(const BackendRow& row, Name kernel_class) {
  return std::find(row.classes.begin(), row.classes.end(), kernel_class) != row.classes.end();
}

/// The class, or the pair that it is half of.
std::vector<Name> asked_through(Name kernel_class) {
  std::vector<Name> through = {kernel_class};
  for (const KernelClass& row : kernel_classes()) {
    if (std::find(row.halves.begin(), row.halves.end(), kernel_class) != row.halves.end()) through.push_back(row.name);
  }
  return through;
}

/// Keys that some oracle can ask the class about.
AskedKeys asked_keys(Name kernel_class) {
  AskedKeys asked{0, 0};
  for (Name oracle : oracle_names()) {
    const OracleTables& tables = tables_of(oracle);
    for (const BackendRow& row : tables.backends) {
      for (Name name : asked_through(kernel_class)) {
        if (!names(row, name)) continue;
        asked.weights |= tables.weight_key ? bit(*tables.weight_key) : kEverything;
        asked.activations |= tables.keys == KeyPolicy::own ? bit(row.own_key) : kEverything;
      }
    }
  }
  return asked;
}

/// Law O5/tables: a class that routes by itself, or takes batched activations, is in that list of the needs and in no other.
bool is_listed_as(const KernelClass& row) {
  const Name kind = row.monolithic ? "monolithic" : row.format == ActivationFormat::batched_experts ? "batched" : "plain";
  for (const ClassList& list : class_lists()) {
    const bool listed = std::find(list.classes.begin(), list.classes.end(), row.name) != list.classes.end();
    if (listed != (list.kind == kind)) return false;
  }
  return true;
}

Noticed class_change_noticed(const std::vector<KernelClass>& classes, const KernelClass& changed) {
  for (const Exams* exams : {&recorded(), &restated()}) {
    for (Name name : asked_through(changed.name)) {
      const auto found = exams->verdicts.find(name);
      if (found != exams->verdicts.end() && fails(classes, name, found->second)) return exams == &recorded() ? Noticed::by_record : Noticed::by_law;
    }
  }
  return is_listed_as(changed) ? Noticed::no : Noticed::by_law;
}

Score score_of_classes() {
  Score score;
  std::size_t place = 0;
  const auto rows = kernel_classes();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Store store;
    for (const Change<KernelClass>& change : class_changes(store, rows[i], asked_keys(rows[i].name))) {
      if (place++ % stride() != 0) continue;
      std::vector<KernelClass> classes(rows.begin(), rows.end());
      classes[i] = change.value;
      count(score, "class " + std::string(rows[i].name) + " " + change.id, class_change_noticed(classes, change.value));
    }
  }
  return score;
}

Score score_of_oracles() {
  Score score;
  std::size_t place = 0;
  for (Name oracle : oracle_names()) {
    Store store;
    for (const Change<OracleTables>& change : oracle_changes(store, tables_of(oracle))) {
      if (place++ % stride() != 0) continue;
      const bool by_record = fails(change.value, recorded().answers.at(std::string(oracle)));
      const bool noticed = by_record || fails(change.value, restated().answers.at(std::string(oracle)));
      count(score, std::string(oracle) + " " + change.id, by_record ? Noticed::by_record : noticed ? Noticed::by_law : Noticed::no);
    }
  }
  return score;
}

void print(const char* what, const Score& score) {
  std::printf("%s: %zu changes, %zu noticed by recorded cases, %zu by laws alone, %zu survive\n", what, score.tried, score.by_records, score.by_laws,
              score.survivors.size());
}

}  // namespace

TEST_CASE("the tables as they are pass every exam") {
  for (const Exams* exams : {&recorded(), &restated()}) {
    CHECK(exams->size() > 5000);
    for (const auto& [oracle, answers] : exams->answers) {
      INFO(oracle);
      CHECK_FALSE(fails(tables_of(oracle), answers));
    }
    for (const auto& [name, verdicts] : exams->verdicts) {
      if (name == "*") continue;
      INFO(name);
      CHECK_FALSE(fails(kernel_classes(), name, verdicts));
    }
  }
}

TEST_CASE("the restatement gives every recorded answer and verdict") {
  for (const auto& [oracle, answers] : recorded().answers) {
    for (const AnswerExam& exam : answers) CHECK(mx::props::restated_answer(oracle, exam.deployment) == exam.answer);
  }
  std::size_t compared = 0;
  for (const auto& [name, verdicts] : recorded().verdicts) {
    for (const VerdictExam& exam : verdicts) {
      for (const mx::props::RestatedVerdict& said : mx::props::restated_support(exam.oracle, exam.deployment)) {
        if (said.backend != exam.backend || said.kernel_class != name) continue;
        CHECK(said.code == exam.code);
        ++compared;
      }
    }
  }
  CHECK(compared > 5000);
}

TEST_CASE("single changes of the tables are noticed, all but those that change nothing") {
  const Score classes = score_of_classes();
  const Score oracles = score_of_oracles();
  print("classes", classes);
  print("oracles", oracles);
  std::vector<std::string> survivors = classes.survivors;
  survivors.insert(survivors.end(), oracles.survivors.begin(), oracles.survivors.end());
  std::set<const EquivalentMutants*> used;
  for (const std::string& id : survivors) {
    const EquivalentMutants* reason = reason_of(id);
    INFO(id << " survives, and no reason is listed");
    CHECK(reason != nullptr);
    used.insert(reason);
  }
  const std::size_t tried = classes.tried + oracles.tried;
  CHECK(tried > 500);
  std::printf("%zu of %zu survive\n", survivors.size(), tried);
  for (const std::string& id : survivors) std::printf("SURVIVOR %s\n", id.c_str());
}
