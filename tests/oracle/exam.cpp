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
// Pairs that some class takes and that are two changes away from any other.
constexpr std::array<std::pair<Name, Name>, 8> kKeyPairs = {{{"None", "None"},
                                                            {"kInt8StaticChannelSym", "kInt8DynamicTokenSym"},
                                                            {"kFp8Static128BlockSym", "kFp8Dynamic128Sym"},
                                                            {"kFp8StaticChannelSym", "kFp8DynamicTokenSym"},
                                                            {"kFp8StaticTensorSym", "kFp8StaticTensorSym"},
                                                            {"kMxfp8Static", "kMxfp8Dynamic"},
                                                            {"kMxfp4Static", "kMxfp8Dynamic"},
                                                            {"kNvfp4Static", "kNvfp4Dynamic"}}};
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
  add_each(all, from, kKeyPairs, [](Deployment& d, const auto& pair) {
    d.weight_key = pair.first;
    d.activation_key = pair.second;
  });
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
std::string kind_of(const Deployment& deployment) {
  const Hardware& hardware = deployment.hardware;
  return std::string(name_of(hardware.platform)) + " " + std::to_string(hardware.capability.value_or(0) / 10) + " " + hardware.gcn_arch + " " +
         deployment.weight_key;
}

bool is_preset(const Hardware& hardware) {
  const auto presets = all_platforms();
  return std::any_of(presets.begin(), presets.end(), [&](const PlatformPreset& preset) {
    return preset.platform == hardware.platform && preset.capability == hardware.capability.value_or(0) && preset.gcn_arch == hardware.gcn_arch;
  });
}

/// Stars around each new kind of deployment that the class takes, and around what is found on the way.
class Stars {
 public:
  Stars(Name oracle, const props::RestatedBackend& backend, Name kernel_class) : oracle_(oracle), backend_(backend), class_(kernel_class) {}

  void add(const Deployment& first, std::vector<VerdictExam>& exams) {
    std::vector<Deployment> open = {first};
    while (!open.empty()) {
      const Deployment deployment = std::move(open.back());
      open.pop_back();
      if (!is_center(deployment) || !kinds_.insert(kind_of(deployment)).second) continue;
      for (Deployment& one : around(deployment)) {
        if (is_center(one) && !kinds_.contains(kind_of(one))) open.push_back(one);
        // Humming's classes cannot be asked where the package is missing.
        if (backend_.name == "HUMMING" && !one.software.humming_installed) continue;
        std::string code = verdict(one);
        exams.push_back({std::string(oracle_), std::string(backend_.name), std::move(one), std::move(code)});
      }
    }
  }

 private:
  std::string verdict(const Deployment& deployment) const { return props::restated_verdict(oracle_, backend_, class_, deployment); }
  bool is_center(const Deployment& deployment) const { return is_preset(deployment.hardware) && verdict(deployment).empty(); }

  Name oracle_;
  const props::RestatedBackend& backend_;
  Name class_;
  std::set<std::string> kinds_;
};

void add_stars(Exams& exams, Name oracle, const std::vector<Deployment>& sample) {
  for (const props::RestatedBackend& backend : props::restated_backends()) {
    if (!props::has_word(backend.oracles, oracle)) continue;
    for (Name kernel_class : props::words_of(backend.classes)) {
      Stars stars(oracle, backend, kernel_class);
      std::vector<VerdictExam>& all = exams.verdicts[std::string(kernel_class)];
      for (const Deployment& deployment : sample) stars.add(deployment, all);
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
  constexpr int kDeployments = 3000;
  Exams exams;
  for (Name oracle : oracle_names()) {
    for (const props::DeploymentKind& kind : {props::DeploymentKind{.plain = true}, props::DeploymentKind{}}) {
      const std::vector<Deployment> sample = props::sample_deployments(oracle, kind, kDeployments);
      if (kind.plain) add_stars(exams, oracle, sample);
      for (const Deployment& deployment : sample) exams.answers[std::string(oracle)].push_back({deployment, props::restated_answer(oracle, deployment)});
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

bool fails_support(const OracleTables& tables, const std::vector<AnswerExam>& exams) {
  constexpr std::size_t kEnough = 200;
  for (std::size_t i = 0; i < std::min(kEnough, exams.size()); ++i) {
    const std::vector<props::RestatedVerdict> restated = props::restated_support(tables.name, exams[i].deployment);
    try {
      const std::vector<Candidate> support = oracle::support(tables, exams[i].deployment);
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
      const props::Multiples to = props::restated_multiples(backend, kind);
      for (const std::int64_t size : {1, 40, 100, 200, 300}) {
        const auto rounded = [&](std::int64_t multiple) { return (size + multiple - 1) / multiple * multiple; };
        try {
          const RoundedSizes sizes = round_up(tables, backend.name, kind, size, size);
          if (sizes.hidden != rounded(to.hidden) || sizes.intermediate != rounded(to.intermediate)) return true;
        } catch (const Error&) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace mx::test
