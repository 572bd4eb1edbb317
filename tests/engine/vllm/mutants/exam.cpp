#include "tests/engine/vllm/mutants/exam.hpp"

#include <algorithm>
#include <stdexcept>

#include "golden/witness/oracle.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/error.hpp"
#include "props/engine/vllm/law_tools.hpp"
#include "support/json.hpp"
#include "tests/engine/vllm/recorded_lines.hpp"

namespace mx::tests {
namespace {

using namespace deployment;
using namespace engine;
using support::Json;
using Name = std::string_view;
using props::RestatedAnswer;

/// What the result does not say is that of the deployment: most oracles round nothing and have no global scale.
RestatedAnswer recorded_answer(const Json& result, const LayerConfig& layer) {
  if (result.contains("error_type")) return {.error_type = result.at("error_type").get<std::string>()};
  const Json& kernel_class = result.at("kernel_class");
  const auto size_or = [&](const char* key, std::int64_t otherwise) { return result.contains(key) ? result.at(key).integer() : otherwise; };
  return {result.at("backend").get<std::string>(),
          kernel_class.is_null() ? std::string() : kernel_class.get<std::string>(),
          "",
          size_or("rounded_hidden", layer.hidden),
          size_or("rounded_intermediate", layer.intermediate_per_partition),
          result.contains("global_sf_supported") && result.at("global_sf_supported").flag()};
}

RestatedAnswer answer_of(const OracleTables& tables, const Deployment& deployment) {
  const Decision decision = select(tables, deployment);
  if (decision.refusal) return {.error_type = decision.refusal->error_type};
  const Choice& choice = *decision.choice;
  return {choice.backend,        choice.kernel_class,         "",
          choice.rounded_hidden, choice.rounded_intermediate, backend_named(tables, choice.backend).global_sf_supported};
}

}  // namespace

std::size_t Exams::size() const {
  std::size_t count = 0;
  for (const auto& [oracle, some] : answers) count += some.size();
  for (const auto& [name, some] : verdicts) count += some.size();
  return count;
}

Exams recorded_exams() {
  Exams exams;
  std::map<std::string, golden::RecordedSelection> selections;
  for (const Json& one : recorded_lines("selections.jsonl")) {
    auto selection = golden::recorded_selection(one);
    if (!selection) throw std::runtime_error("no selection: " + one.dump());
    exams.answers[selection->oracle].push_back({selection->deployment, recorded_answer(one.at("result"), selection->deployment.layer)});
    selections.emplace(one.at("id").get<std::string>(), std::move(*selection));
  }
  for (const Json& one : recorded_lines("selections_support.jsonl")) {
    const golden::RecordedSelection& selection = selections.at(one.at("id").get<std::string>());
    for (const auto& [name, verdict] : one.at("support").items()) {
      const std::size_t slash = name.find('/');
      const std::string code = verdict[1].is_null() ? std::string() : verdict[1].get<std::string>();
      exams.verdicts[name.substr(slash + 1)].push_back({selection.oracle, name.substr(0, slash), selection.deployment, code});
    }
  }
  return exams;
}

bool fails(const OracleTables& tables, const std::vector<AnswerExam>& exams) {
  return std::any_of(exams.begin(), exams.end(), [&](const AnswerExam& exam) {
    try {
      return answer_of(tables, exam.deployment) != exam.answer;
    } catch (const Error&) {
      return true;  // tables that cannot answer are noticed
    }
  });
}

bool fails(std::span<const KernelClass> classes, Name kernel_class, const std::vector<VerdictExam>& exams) {
  return std::any_of(exams.begin(), exams.end(), [&](const VerdictExam& exam) {
    // One backend is enough to ask one class.
    OracleTables tables = tables_of(deployment::kVllm2026_05, exam.oracle);
    const BackendRow row = backend_named(tables, exam.backend);
    tables.backends = {&row, 1};
    tables.classes = classes;
    try {
      for (const Candidate& candidate : engine::support(tables, exam.deployment)) {
        if (candidate.kernel_class == kernel_class) return candidate.verdict.code != exam.code;
      }
    } catch (const Error&) {
    }
    return true;
  });
}

bool fails_support(const OracleTables& tables, const std::vector<AnswerExam>& exams) {
  // Every so many-th is enough: the classes have exams of their own.
  const std::size_t stride = std::max<std::size_t>(1, exams.size() / 300);
  for (std::size_t i = 0; i < exams.size(); i += stride) {
    const std::vector<props::RestatedVerdict> restated = props::restated_support(tables.name, exams[i].deployment);
    try {
      const std::vector<Candidate> support = engine::support(tables, exams[i].deployment);
      const bool same = std::all_of(restated.begin(), restated.end(), [&](const props::RestatedVerdict& said) {
        return std::any_of(support.begin(), support.end(), [&](const Candidate& candidate) {
          return candidate.backend == said.backend && candidate.kernel_class == said.kernel_class && candidate.verdict.code == said.code;
        });
      });
      if (!same) return true;
    } catch (const Error&) {
      return true;
    }
  }
  return false;
}

bool fails_sizes(const OracleTables& tables) {
  for (const props::RestatedBackend& backend : props::restated_backends()) {
    if (!props::has_word(backend.oracles, tables.name)) continue;
    for (const PlatformKind kind : {PlatformKind::cuda, PlatformKind::rocm, PlatformKind::xpu, PlatformKind::cpu}) {
      Deployment deployment{};
      deployment.hardware.platform = kind;
      const props::Facts facts(tables.engine, deployment);
      for (const std::int64_t size : {1, 40, 100, 200, 300}) {
        try {
          const RoundedSizes sizes = round_up(tables, backend.name, deployment, {size, size});
          if (props::RestatedSizes{sizes.hidden, sizes.intermediate} != props::restated_sizes(tables.name, backend.name, facts, {size, size}))
            return true;
        } catch (const Error&) {
          return true;
        }
      }
    }
  }
  return false;
}

bool fails_order(const OracleTables& tables, const std::vector<AnswerExam>& exams) {
  return std::any_of(exams.begin(), exams.end(), [&](const AnswerExam& exam) {
    if (exam.deployment.hardware.platform == PlatformKind::rocm && tables.name == "mxfp4_deepseek_v4") return false;
    try {
      return !props::order_difference(tables, exam.deployment).empty();
    } catch (const Error&) {
      return true;
    }
  });
}

}  // namespace mx::tests
