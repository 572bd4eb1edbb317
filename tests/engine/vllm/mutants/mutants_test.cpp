// Single changes of the oracles' tables are noticed: by the recorded cases, or by the laws that hold the tables to their restatement.

#include "tests/engine/vllm/mutants/mutants.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <regex>
#include <set>

#include "model/audit/needs.hpp"
#include "props/engine/vllm/law_tools.hpp"
#include "tests/catch.hpp"
#include "tests/counts.hpp"
#include "tests/engine/vllm/mutants/equivalent_mutants.hpp"
#include "tests/engine/vllm/mutants/exam.hpp"

namespace {

using namespace mx::deployment;
using namespace mx::engine;
using namespace mx::families;
using namespace mx::tests;
using namespace mx::audit;
using Name = std::string_view;

/// How a run went.
struct Score {
  std::vector<std::string> ids;
  std::size_t by_records = 0;  ///< noticed by a recorded case
  std::size_t by_laws = 0;     ///< noticed by a law alone
  std::vector<std::string> survivors;
};

enum class Noticed { by_record, by_law, no };

void count(Score& score, const std::string& id, Noticed noticed) {
  score.ids.push_back(id);
  if (noticed == Noticed::by_record) ++score.by_records;
  if (noticed == Noticed::by_law) ++score.by_laws;
  if (noticed == Noticed::no) score.survivors.push_back(id);
}

const Exams& recorded() {
  static const Exams exams = recorded_exams();
  return exams;
}
const Exams& restated() {
  static const Exams exams = restated_exams();
  return exams;
}

bool names(const BackendRow& row, Name kernel_class) { return std::find(row.classes.begin(), row.classes.end(), kernel_class) != row.classes.end(); }

const KernelClass& row_of(Name kernel_class) {
  const auto rows = kernel_classes(mx::deployment::kVllm2026_05);
  return *std::find_if(rows.begin(), rows.end(), [&](const KernelClass& row) { return row.name == kernel_class; });
}

/// The class, or the pair that it is half of.
std::vector<Name> asked_through(Name kernel_class) {
  std::vector<Name> through = {kernel_class};
  for (const KernelClass& row : kernel_classes(mx::deployment::kVllm2026_05)) {
    if (std::find(row.halves.begin(), row.halves.end(), kernel_class) != row.halves.end()) through.push_back(row.name);
  }
  return through;
}

/// Keys that occur in the rules of the other half: no other pair gets past both.
Asked within_other_half(Name kernel_class, Name pair, const Asked& asked) {
  Asked left{0, 0, true};
  for (const KernelClass& half : kernel_classes(mx::deployment::kVllm2026_05)) {
    if (half.name == kernel_class || std::find(row_of(pair).halves.begin(), row_of(pair).halves.end(), half.name) == row_of(pair).halves.end())
      continue;
    for (const QuantRule& rule : half.quant) {
      for (const KeyPairs& pairs : rule.pairs) {
        left.weights |= pairs.weights & asked.weights;
        left.activations |= pairs.activations & asked.activations;
      }
    }
  }
  return left;
}

/// Where the caller asks for none and the backend owns a key, that one is asked with.
Mask activations_of(KeyPolicy policy, QuantKey own) {
  if (policy == KeyPolicy::callers) return kEverything;
  if (policy == KeyPolicy::own) return bit(own);
  return own == QuantKey::none ? kEverything : kEverything & ~bit(QuantKey::none);
}

Asked asked_of(Name kernel_class) {
  Asked asked{0, 0, true};
  const std::vector<Name> through = asked_through(kernel_class);
  for (Name oracle : oracle_names(mx::deployment::kVllm2026_05)) {
    const OracleTables& tables = tables_of(mx::deployment::kVllm2026_05, oracle);
    for (const BackendRow& row : tables.backends) {
      for (Name name : through) {
        if (!names(row, name)) continue;
        if (name == kernel_class) asked.as_half = false;
        asked.weights |= tables.weight_key ? bit(*tables.weight_key) : kEverything;
        asked.activations |= activations_of(tables.keys, row.own_key);
      }
    }
  }
  return asked.as_half ? within_other_half(kernel_class, through.back(), asked) : asked;
}

/// Law O5/tables: the needs know whether a class routes by itself, or takes batched activations.
bool is_known_as(const KernelClass& row) {
  const Name kind = row.monolithic ? "monolithic" : row.format == ActivationFormat::batched_experts ? "batched" : "plain";
  const KernelClassFacts* facts = find_class_facts(row.name);
  return facts != nullptr && name_of(facts->kind) == kind;
}

Noticed class_change_noticed(const std::vector<KernelClass>& classes, const KernelClass& changed) {
  for (const Exams* exams : {&recorded(), &restated()}) {
    for (Name name : asked_through(changed.name)) {
      const auto found = exams->verdicts.find(name);
      if (found != exams->verdicts.end() && fails(classes, name, found->second)) return exams == &recorded() ? Noticed::by_record : Noticed::by_law;
    }
  }
  return is_known_as(changed) ? Noticed::no : Noticed::by_law;
}

/// An ordinary run tries one change in so many.
constexpr std::size_t kOrdinary = 5;

Score score_of_classes() {
  Score score;
  EveryNth picked(kOrdinary);
  const auto rows = kernel_classes(mx::deployment::kVllm2026_05);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Store store;
    for (const Change<KernelClass>& change : class_changes(store, rows[i], asked_of(rows[i].name))) {
      if (!picked()) continue;
      std::vector<KernelClass> classes(rows.begin(), rows.end());
      classes[i] = change.value;
      count(score, "class " + std::string(rows[i].name) + " " + change.id, class_change_noticed(classes, change.value));
    }
  }
  return score;
}

Noticed oracle_change_noticed(const OracleTables& changed) {
  const std::string oracle(changed.name);
  if (fails(changed, recorded().answers.at(oracle))) return Noticed::by_record;
  const std::vector<AnswerExam>& restated_answers = restated().answers.at(oracle);
  const bool by_law = !mx::props::table_differences(changed).empty() || fails_sizes(changed) || fails_order(changed, restated_answers) ||
                      fails_support(changed, restated_answers) || fails(changed, restated_answers);
  return by_law ? Noticed::by_law : Noticed::no;
}

Score score_of_oracles() {
  Score score;
  EveryNth picked(kOrdinary);
  for (Name oracle : oracle_names(mx::deployment::kVllm2026_05)) {
    Store store;
    for (const Change<OracleTables>& change : oracle_changes(store, tables_of(mx::deployment::kVllm2026_05, oracle))) {
      if (!picked()) continue;
      count(score, std::string(oracle) + " " + change.id, oracle_change_noticed(change.value));
    }
  }
  return score;
}

void print(const char* what, const Score& score) {
  std::printf("%s: %zu single changes, %zu noticed by recorded cases, %zu by laws alone, %zu change no answer\n", what, score.ids.size(),
              score.by_records, score.by_laws, score.survivors.size());
}

}  // namespace

TEST_CASE("the tables as they are pass every exam") {
  for (const Exams* exams : {&recorded(), &restated()}) {
    CHECK(exams->size() > 5000);
    for (const auto& [oracle, answers] : exams->answers) {
      INFO(oracle);
      CHECK_FALSE(fails(tables_of(mx::deployment::kVllm2026_05, oracle), answers));
    }
    for (const auto& [name, verdicts] : exams->verdicts) {
      if (name == "*") continue;
      INFO(name);
      CHECK_FALSE(fails(kernel_classes(mx::deployment::kVllm2026_05), name, verdicts));
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

TEST_CASE("single changes of the tables are noticed, all but those that are listed as changing nothing") {
  const Score scores[] = {score_of_classes(), score_of_oracles()};
  print("classes", scores[0]);
  print("oracles", scores[1]);
  std::map<std::string_view, int> met;
  std::vector<std::regex> expressions;
  for (const EquivalentChanges& row : equivalent_changes()) expressions.emplace_back(std::string(row.ids));
  std::set<std::string> ids;
  for (const Score& score : scores) {
    const std::set<std::string> survivors(score.survivors.begin(), score.survivors.end());
    for (const std::string& id : score.ids) {
      INFO(id);
      CHECK(ids.insert(id).second);
      int listed = 0;
      for (std::size_t i = 0; i < expressions.size(); ++i) {
        if (!std::regex_match(id, expressions[i])) continue;
        ++listed;
        ++met[equivalent_changes()[i].ids];
      }
      // A change that survives and is not listed, or is listed and noticed, fails.
      CHECK(listed == (survivors.contains(id) ? 1 : 0));
    }
  }
  CHECK(ids.size() > (full_counts() ? 4500U : 900U));
  for (const EquivalentChanges& row : equivalent_changes()) {
    INFO(row.ids << " lists nothing");
    // A part of the changes need not meet every row.
    if (full_counts()) CHECK(met.contains(row.ids));
    CHECK_FALSE(row.reason.empty());
  }
}
