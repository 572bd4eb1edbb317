#include "tests/oracle/exam.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "golden/witness/oracle.hpp"
#include "model/error.hpp"
#include "model/oracle/select.hpp"
#include "model/oracle/vocabulary.hpp"
#include "props/oracle/generators.hpp"

namespace mx::test {
namespace {

using namespace oracle;
using Json = nlohmann::ordered_json;
using Name = std::string_view;
using props::RestatedAnswer;

std::vector<Json> lines_of(const std::string& name) {
  std::ifstream file(std::string(MXACT_SOURCE_DIR) + "/golden/witness/oracle/" + name);
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

/// What the result does not say is that of the deployment: most oracles round nothing and have no global scale.
RestatedAnswer recorded_answer(const Json& result, const LayerConfig& layer) {
  if (result.contains("error_type")) return {.error_type = result.at("error_type").get<std::string>()};
  const Json& kernel_class = result.at("kernel_class");
  return {result.at("backend").get<std::string>(),
          kernel_class.is_null() ? std::string() : kernel_class.get<std::string>(),
          "",
          result.value("rounded_hidden", layer.hidden),
          result.value("rounded_intermediate", layer.intermediate_per_partition),
          result.value("global_sf_supported", false)};
}

RestatedAnswer answer_of(const OracleTables& tables, const Deployment& deployment) {
  const Decision decision = select(tables, deployment);
  if (decision.refusal) return {.error_type = decision.refusal->error_type};
  const Choice& choice = *decision.choice;
  return {choice.backend,
          choice.kernel_class,
          "",
          choice.rounded_hidden,
          choice.rounded_intermediate,
          backend_named(tables, choice.backend).global_sf_supported};
}

/// The deployment with one field changed to each value of a vocabulary.
template <typename Words, typename Put>
void add_each(std::vector<Deployment>& all, const Deployment& from, const Words& words, const Put& put) {
  for (const auto& word : words) {
    Deployment changed = from;
    put(changed, word);
    all.push_back(std::move(changed));
  }
}

constexpr std::array<int, 26> kCapabilities = {74, 75,  76,  79,  80,  86,  88,  89,  90,  91,  99,  100, 101,
                                               103, 109, 110, 111, 119, 120, 121, 122, 125, 129, 130, 131, 84};
constexpr std::array<std::pair<Name, int>, 9> kGfx = {{{"gfx906", 90},
                                                      {"gfx90a", 90},
                                                      {"gfx942", 94},
                                                      {"gfx950", 95},
                                                      {"gfx1030", 103},
                                                      {"gfx1100", 110},
                                                      {"gfx1151", 115},
                                                      {"gfx1201", 120},
                                                      {"gfx1250", 125}}};
constexpr std::array<std::pair<Name, Name>, 10> kSettings = {{{"VLLM_BATCH_INVARIANT", "1"},
                                                             {"VLLM_BATCH_INVARIANT", "x"},
                                                             {"VLLM_USE_DEEP_GEMM", "0"},
                                                             {"VLLM_USE_DEEP_GEMM", "x"},
                                                             {"VLLM_ROCM_USE_AITER", "0"},
                                                             {"VLLM_ROCM_USE_AITER", "1"},
                                                             {"VLLM_ROCM_USE_AITER_MOE", "0"},
                                                             {"VLLM_HUMMING_MOE_GEMM_TYPE", "grouped"},
                                                             {"VLLM_HUMMING_MOE_GEMM_TYPE", "indexed"},
                                                             {"VLLM_USE_FLASHINFER_MOE_FP8", "0"}}};

void add_devices(std::vector<Deployment>& all, const Deployment& from) {
  for (const PlatformPreset& preset : all_platforms()) {
    Deployment changed = from;
    changed.hardware = deployment_on(preset, {}, from.layer).hardware;
    all.push_back(changed);
  }
  add_each(all, from, kCapabilities, [](Deployment& d, int capability) { d.hardware = {PlatformKind::cuda, capability, ""}; });
  add_each(all, from, kGfx, [](Deployment& d, const auto& gfx) { d.hardware = {PlatformKind::rocm, gfx.second, std::string(gfx.first)}; });
}

void add_parallelism(std::vector<Deployment>& all, const Deployment& from) {
  for (const int dp : {1, 2}) {
    for (const bool experts : {false, true}) {
      add_each(all, from, all2all_names(), [&](Deployment& d, Name all2all) {
        d.parallel = {.tp = 2, .dp = dp, .enable_expert_parallel = experts, .all2all_backend = std::string(all2all)};
      });
    }
  }
  all.push_back(from);
  all.back().parallel.enable_eplb = !from.parallel.enable_eplb;
}

/// Everything that is one step away, and the deployment itself.
std::vector<Deployment> around(const Deployment& from) {
  std::vector<Deployment> all = {from};
  add_devices(all, from);
  add_parallelism(all, from);
  add_each(all, from, quant_key_names(), [](Deployment& d, Name key) { d.weight_key = key; });
  add_each(all, from, quant_key_names(), [](Deployment& d, Name key) { d.activation_key = key; });
  add_each(all, from, activation_names(), [](Deployment& d, Name word) { d.layer.activation = word; });
  add_each(all, from, routing_names(), [](Deployment& d, Name word) { d.layer.routing_method = word; });
  add_each(all, from, dtype_names(), [](Deployment& d, Name word) { d.layer.in_dtype = word; });
  add_each(all, from, kSettings, [](Deployment& d, const auto& setting) { d.env[std::string(setting.first)] = setting.second; });
  add_each(all, from, software_rows(), [](Deployment& d, const SoftwareRow& row) { d.software.*row.answer = !(d.software.*row.answer); });
  add_each(all, from, std::array{&LayerConfig::is_act_and_mul, &LayerConfig::is_lora_enabled},
           [](Deployment& d, bool LayerConfig::* flag) { d.layer.*flag = !(d.layer.*flag); });
  return all;
}

/// Deployments that differ in this have neighbours of their own: which alternative of a rule lets them in.
std::string kind_of(const std::string& subject, const Deployment& deployment) {
  const Hardware& hardware = deployment.hardware;
  return subject + " " + std::string(name_of(hardware.platform)) + " " + std::to_string(hardware.capability.value_or(0) / 10) + " " +
         hardware.gcn_arch.substr(0, 5) + " " + deployment.weight_key + " " + deployment.activation_key;
}

void add_verdicts(Exams& exams, Name oracle, const Deployment& deployment, std::set<std::string>& kinds) {
  for (const props::RestatedVerdict& taken : props::restated_support(oracle, deployment)) {
    const std::string subject = std::string(oracle) + " " + std::string(taken.backend) + "/" + std::string(taken.kernel_class);
    if (!taken.code.empty() || !kinds.insert(kind_of(subject, deployment)).second) continue;
    for (Deployment& one : around(deployment)) {
      for (const props::RestatedVerdict& verdict : props::restated_support(oracle, one)) {
        if (verdict.backend != taken.backend || verdict.kernel_class != taken.kernel_class) continue;
        exams.verdicts[std::string(taken.kernel_class)].push_back({std::string(oracle), std::string(taken.backend), one, verdict.code});
      }
    }
  }
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
  for (const Json& one : lines_of("selections.jsonl")) {
    auto selection = golden::recorded_selection(one);
    if (!selection) throw std::runtime_error("no selection: " + one.dump());
    exams.answers[selection->oracle].push_back({selection->deployment, recorded_answer(one.at("result"), selection->deployment.layer)});
    selections.emplace(one.at("id").get<std::string>(), std::move(*selection));
  }
  for (const Json& one : lines_of("selections_support.jsonl")) {
    const golden::RecordedSelection& selection = selections.at(one.at("id").get<std::string>());
    for (const auto& [name, verdict] : one.at("support").items()) {
      const std::size_t slash = name.find('/');
      const std::string code = verdict[1].is_null() ? std::string() : verdict[1].get<std::string>();
      exams.verdicts[name.substr(slash + 1)].push_back({selection.oracle, name.substr(0, slash), selection.deployment, code});
    }
  }
  return exams;
}

Exams restated_exams() {
  constexpr int kDeployments = 4000;
  Exams exams;
  std::set<std::string> kinds;
  for (Name oracle : oracle_names()) {
    for (Deployment& deployment : props::sample_deployments(oracle, {}, kDeployments)) {
      add_verdicts(exams, oracle, deployment, kinds);
      exams.answers[std::string(oracle)].push_back({deployment, props::restated_answer(oracle, deployment)});
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
    OracleTables tables = tables_of(exam.oracle);
    const BackendRow row = backend_named(tables, exam.backend);
    tables.backends = {&row, 1};
    tables.classes = classes;
    try {
      for (const Candidate& candidate : support(tables, exam.deployment)) {
        if (candidate.kernel_class == kernel_class) return candidate.verdict.code != exam.code;
      }
    } catch (const Error&) {
    }
    return true;
  });
}

}  // namespace mx::test
