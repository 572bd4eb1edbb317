// Exams that the restatement answers: random deployments, and what lies one or two steps from them.

#include <algorithm>
#include <array>
#include <set>

#include "model/deployment/vocabulary.hpp"
#include "props/engine/vllm/generators.hpp"
#include "tests/engine/vllm/mutants/exam.hpp"

namespace mx::tests {
namespace {

using namespace deployment;
using namespace engine;
using Name = std::string_view;
using props::RestatedAnswer;

/// The deployment with one field changed to each value of a vocabulary.
template <typename Words, typename Put>
void add_each(std::vector<Deployment>& all, const Deployment& from, const Words& words, const Put& put) {
  for (const auto& word : words) {
    Deployment changed = from;
    put(changed, word);
    all.push_back(std::move(changed));
  }
}

constexpr std::array<int, 26> kCapabilities = {74,  75,  76,  79,  80,  86,  88,  89,  90,  91,  99,  100, 101,
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
      add_each(all, from, all2all_names(mx::deployment::kVllm2026_05), [&](Deployment& d, Name all2all) {
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
  add_each(all, from, quant_key_names(mx::deployment::kVllm2026_05), [](Deployment& d, Name key) { d.weight_key = key; });
  add_each(all, from, quant_key_names(mx::deployment::kVllm2026_05), [](Deployment& d, Name key) { d.activation_key = key; });
  add_each(all, from, activation_names(mx::deployment::kVllm2026_05), [](Deployment& d, Name word) { d.layer.activation = word; });
  add_each(all, from, routing_names(mx::deployment::kVllm2026_05), [](Deployment& d, Name word) { d.layer.routing_method = word; });
  add_each(all, from, dtype_names(), [](Deployment& d, Name word) { d.layer.in_dtype = word; });
  add_each(all, from, kSettings, [](Deployment& d, const auto& setting) { d.env[std::string(setting.first)] = setting.second; });
  add_each(all, from, software_rows(mx::deployment::kVllm2026_05),
           [](Deployment& d, const SoftwareRow& row) { d.software.*row.answer = !(d.software.*row.answer); });
  add_each(all, from, std::array{&LayerConfig::is_act_and_mul, &LayerConfig::is_lora_enabled},
           [](Deployment& d, bool LayerConfig::*flag) { d.layer.*flag = !(d.layer.*flag); });
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
    for (Name kernel_class : props::texts_of(backend.classes)) {
      Stars stars(oracle, backend, kernel_class);
      std::vector<VerdictExam>& all = exams.verdicts[std::string(kernel_class)];
      for (const Deployment& deployment : sample) stars.add(deployment, all);
    }
  }
}

/// Variables that steer a search, with texts that its conditions tell apart; an empty text takes the variable away.
constexpr std::array<std::pair<Name, Name>, 34> kSteering = {{{"VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", ""},
                                                              {"VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "0"},
                                                              {"VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "1"},
                                                              {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", ""},
                                                              {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", "0"},
                                                              {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", "1"},
                                                              {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", ""},
                                                              {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", "0"},
                                                              {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", "1"},
                                                              {"VLLM_MXFP4_USE_MARLIN", ""},
                                                              {"VLLM_MXFP4_USE_MARLIN", "0"},
                                                              {"VLLM_MXFP4_USE_MARLIN", "1"},
                                                              {"VLLM_USE_FLASHINFER_MOE_FP4", ""},
                                                              {"VLLM_USE_FLASHINFER_MOE_FP4", "0"},
                                                              {"VLLM_USE_FLASHINFER_MOE_FP4", "1"},
                                                              {"VLLM_USE_FLASHINFER_MOE_FP8", ""},
                                                              {"VLLM_USE_FLASHINFER_MOE_FP8", "0"},
                                                              {"VLLM_USE_FLASHINFER_MOE_FP8", "1"},
                                                              {"VLLM_FLASHINFER_MOE_BACKEND", ""},
                                                              {"VLLM_FLASHINFER_MOE_BACKEND", "latency"},
                                                              {"VLLM_FLASHINFER_MOE_BACKEND", "throughput"},
                                                              {"VLLM_FLASHINFER_MOE_BACKEND", "masked_gemm"},
                                                              {"VLLM_USE_DEEP_GEMM", ""},
                                                              {"VLLM_USE_DEEP_GEMM", "0"},
                                                              {"VLLM_USE_DEEP_GEMM", "1"},
                                                              {"VLLM_MOE_USE_DEEP_GEMM", ""},
                                                              {"VLLM_MOE_USE_DEEP_GEMM", "0"},
                                                              {"VLLM_MOE_USE_DEEP_GEMM", "1"},
                                                              {"VLLM_TEST_FORCE_FP8_MARLIN", ""},
                                                              {"VLLM_TEST_FORCE_FP8_MARLIN", "1"},
                                                              {"VLLM_ROCM_USE_AITER", ""},
                                                              {"VLLM_ROCM_USE_AITER", "1"},
                                                              {"VLLM_ROCM_USE_AITER_MOE", "0"},
                                                              {"VLLM_ROCM_USE_AITER_MOE", "1"}}};

/// With each variable set otherwise, and other keys.
void add_settings(std::vector<Deployment>& all, const Deployment& from) {
  add_each(all, from, kSteering, [](Deployment& d, const auto& setting) {
    d.env.erase(std::string(setting.first));
    if (!setting.second.empty()) d.env[std::string(setting.first)] = setting.second;
  });
  add_each(all, from, kKeyPairs, [](Deployment& d, const auto& pair) {
    d.weight_key = pair.first;
    d.activation_key = pair.second;
  });
}

/// With any one or two of the packages missing.
void add_missing_packages(std::vector<Deployment>& all, const Deployment& from) {
  for (const SoftwareRow& first : software_rows(mx::deployment::kVllm2026_05)) {
    for (const SoftwareRow& second : software_rows(mx::deployment::kVllm2026_05)) {
      if (second.name < first.name) continue;
      all.push_back(from);
      all.back().software.*first.answer = false;
      all.back().software.*second.answer = false;
    }
  }
}

/// The search by its end, and by what was asked for.
std::string search_of(const Deployment& deployment, const RestatedAnswer& answer) {
  return answer.backend + "/" + answer.kernel_class + answer.error_type + " " + std::string(name_of(deployment.hardware.platform)) + " " +
         deployment.layer.moe_backend + " " + deployment.layer.routing_method +
         (props::Facts(props::kSearched, deployment).batched() ? " batched" : "");
}

/// The switches that are plainly on or off, and FlashInfer's variant.
std::string switches_of(const Deployment& deployment) {
  std::string text;
  for (const auto& [name, value] : deployment.env) {
    const bool says = value == "0" || value == "1" || name == "VLLM_FLASHINFER_MOE_BACKEND";
    if (says) text += " " + name + "=" + value;
  }
  return text;
}

/// Answers to the sample, and around each new kind of search in it.
void add_answers(Exams& exams, Name oracle, const std::vector<Deployment>& sample, bool plain) {
  constexpr std::size_t kMostKinds = 150;
  std::vector<AnswerExam>& answers = exams.answers[std::string(oracle)];
  std::set<std::string> searches, kinds;
  for (const Deployment& deployment : sample) {
    const RestatedAnswer answer = props::restated_answer(oracle, deployment);
    answers.push_back({deployment, answer});
    if (!plain) continue;
    const std::string search = search_of(deployment, answer);
    const std::string switches = switches_of(deployment);
    std::vector<Deployment> near;
    if (kinds.size() < kMostKinds && kinds.insert(search + switches).second) {
      add_settings(near, deployment);
      // One kind of packages and devices for each search, whatever its unrelated switches are.
      const bool steered = switches.find("_FP") != std::string::npos;
      if (searches.insert(search + (steered ? switches : "")).second) {
        add_missing_packages(near, deployment);
        add_devices(near, deployment);
      }
    }
    for (Deployment& one : near) {
      RestatedAnswer there = props::restated_answer(oracle, one);
      answers.push_back({std::move(one), std::move(there)});
    }
  }
}

/// What a quantization method asks on the devices that most classes are for, nothing switched.
std::vector<Deployment> usual_deployments(Name oracle) {
  std::vector<Deployment> all;
  for (const Name preset : {"SM80", "SM90", "SM100", "SM120", "gfx950", "XPU", "CPU"}) {
    for (const bool batched : {false, true}) {
      Deployment usual =
          deployment_on(platform_named(preset), {}, {.num_experts = 64, .experts_per_token = 4, .hidden = 2880, .intermediate_per_partition = 1440});
      if (batched) usual.parallel = {.dp = 2, .enable_expert_parallel = true, .all2all_backend = "deepep_low_latency"};
      usual.layer.activation = oracle == "mxfp4" ? "SWIGLUOAI" : "SILU";
      usual.allow_vllm_cutlass = true;
      usual.weight_key = name_of(tables_of(deployment::kVllm2026_05, oracle).usual_weight_key);
      usual.activation_key = name_of(tables_of(deployment::kVllm2026_05, oracle).usual_activation_key);
      all.push_back(usual);
      // A key without a text form raises in the first class that takes the activation.
      all.push_back(usual);
      all.back().weight_key = "kInt4Static";
      all.back().layer.activation = "SWIGLUSTEP";
      add_each(all, usual, kKeyPairs, [](Deployment& d, const auto& pair) {
        d.weight_key = pair.first;
        d.activation_key = pair.second;
      });
    }
  }
  return all;
}

/// Variables that steer the search of an oracle.
constexpr std::array<std::pair<Name, Name>, 3> kSteers = {
    {{"mxfp4",
      "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16 VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8 VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS VLLM_MXFP4_USE_MARLIN"},
     {"nvfp4", "VLLM_USE_FLASHINFER_MOE_FP4 VLLM_FLASHINFER_MOE_BACKEND VLLM_TEST_FORCE_FP8_MARLIN"},
     {"fp8",
      "VLLM_USE_FLASHINFER_MOE_FP8 VLLM_FLASHINFER_MOE_BACKEND VLLM_USE_DEEP_GEMM VLLM_MOE_USE_DEEP_GEMM VLLM_TEST_FORCE_FP8_MARLIN "
      "VLLM_ROCM_USE_AITER VLLM_ROCM_USE_AITER_MOE"}}};

/// Usual deployments as they are, with any two settings of the oracle's variables, and with one of them and two packages missing.
void add_steered(Exams& exams, Name oracle) {
  const auto steers = std::find_if(kSteers.begin(), kSteers.end(), [&](const auto& row) { return row.first == oracle; });
  if (steers == kSteers.end()) return;
  std::vector<std::pair<Name, Name>> settings;
  for (const auto& setting : kSteering) {
    if (!setting.second.empty() && props::has_word(steers->second, setting.first)) settings.push_back(setting);
  }
  std::vector<Deployment> all;
  for (const Deployment& usual : usual_deployments(oracle)) {
    all.push_back(usual);
    for (const auto& first : settings) {
      Deployment set = usual;
      set.env[std::string(first.first)] = first.second;
      add_each(all, set, settings, [](Deployment& d, const auto& second) { d.env[std::string(second.first)] = second.second; });
      const bool usual_keys = set.weight_key == name_of(tables_of(deployment::kVllm2026_05, oracle).usual_weight_key);
      if (usual_keys) add_missing_packages(all, set);
    }
  }
  for (Deployment& one : all) {
    RestatedAnswer answer = props::restated_answer(oracle, one);
    exams.answers[std::string(oracle)].push_back({std::move(one), std::move(answer)});
  }
}

}  // namespace

Exams restated_exams() {
  constexpr int kDeployments = 3000;
  Exams exams;
  for (Name oracle : oracle_names(mx::deployment::kVllm2026_05)) {
    for (const props::DeploymentKind& kind : {props::DeploymentKind{.plain = true}, props::DeploymentKind{}}) {
      const std::vector<Deployment> sample = props::sample_deployments(oracle, kind, kDeployments);
      if (kind.plain) add_stars(exams, oracle, sample);
      add_answers(exams, oracle, sample, kind.plain);
    }
    add_steered(exams, oracle);
  }
  return exams;
}

}  // namespace mx::tests
