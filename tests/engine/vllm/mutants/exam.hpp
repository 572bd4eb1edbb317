#pragma once
// What tells right tables from wrong ones: deployments with the answer that the real engine recorded, or that the restatement gives.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/tables.hpp"
#include "props/engine/vllm/restated.hpp"

namespace mx::tests {

/// A search with its answer.
struct AnswerExam {
  deployment::Deployment deployment;
  props::RestatedAnswer answer;
};

/// One (backend, class) of an oracle, asked as the recorded support files ask.
struct VerdictExam {
  std::string oracle;
  std::string backend;
  deployment::Deployment deployment;
  std::string code;  ///< "" when the class takes the layer
};

/// By oracle, and by class.
struct Exams {
  std::map<std::string, std::vector<AnswerExam>, std::less<>> answers;
  std::map<std::string, std::vector<VerdictExam>, std::less<>> verdicts;

  std::size_t size() const;
};

/// The recorded cases of golden/witness/oracle/selections.jsonl and its verdicts.
Exams recorded_exams();
/// Random deployments of every oracle, and around each of them that a class takes: every change of one word, number, package, variable or device.
Exams restated_exams();

/// True when tables of that oracle give another answer to one of the exams, or none.
bool fails(const engine::OracleTables& tables, const std::vector<AnswerExam>& exams);
/// True when the verdicts of those tables differ from the restatement's for some of the deployments.
bool fails_support(const engine::OracleTables& tables, const std::vector<AnswerExam>& exams);
/// True when the list of an unspecific request differs from the restatement's for some of them.
bool fails_order(const engine::OracleTables& tables, const std::vector<AnswerExam>& exams);
/// True when those tables round some size otherwise than the restatement.
bool fails_sizes(const engine::OracleTables& tables);
/// The same for the class in the tables of each oracle, by name.
bool fails(std::span<const engine::KernelClass> classes, std::string_view kernel_class, const std::vector<VerdictExam>& exams);

}  // namespace mx::tests
