#include "props/engine/vllm/generators.hpp"

#include <rapidcheck.h>

#include <array>
#include <vector>

#include "model/audit/deployment_text.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/env.hpp"
#include "props/engine/vllm/restated.hpp"

namespace mx::props {
namespace {

using deployment::Deployment;
using Text = std::string_view;
using Words = std::span<const Text>;

std::size_t below(std::size_t count) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, count)); }

template <typename T>
T one_of(std::initializer_list<T> values) {
  return values.begin()[below(values.size())];
}
std::string one_word(Text words) { return std::string(pick_word(texts_of(words))); }

// Every capability at which a rule of the engine begins or ends, with its neighbours; real devices are presets.
constexpr std::array<int, 22> kEdges = {74, 76, 88, 91, 99, 101, 104, 109, 111, 112, 119, 122, 125, 129, 130, 70, 87, 90, 100, 110, 120, 89};
struct Gfx {
  Text name;
  int capability;
};
// Architectures that are no preset. Four digits make a capability of their own: gfx1030 passes for a Blackwell where nobody asks for the platform.
constexpr std::array<Gfx, 5> kOtherGfx = {{{"gfx906", 90}, {"gfx1030", 103}, {"gfx1101", 110}, {"gfx1151", 115}, {"gfx1200", 120}}};

// Devices that most classes are for.
constexpr Text kBusy = "SM90 SM100 gfx950 XPU CPU gfx950 SM120";

deployment::Hardware random_hardware(const DeploymentKind& kind) {
  const auto presets = deployment::all_platforms();
  const deployment::PlatformPreset& preset =
      chance(kind.plain ? 70 : 45) ? deployment::platform_named(pick_word(texts_of(kBusy))) : presets[below(presets.size())];
  deployment::Hardware hardware = deployment::deployment_on(preset, {}, {}).hardware;
  if (kind.possible || (kind.plain && !chance(30))) return hardware;
  if (preset.platform == deployment::PlatformKind::cuda && chance(25)) hardware.capability = kEdges[below(kEdges.size())];
  if (preset.platform == deployment::PlatformKind::rocm && chance(20)) {
    const Gfx& gfx = kOtherGfx[below(kOtherGfx.size())];
    hardware.gcn_arch = gfx.name;
    hardware.capability = gfx.capability;
  }
  return hardware;
}

deployment::ParallelRequest random_parallel(const DeploymentKind& kind) {
  deployment::ParallelRequest request;
  if (chance(kind.plain ? 30 : 60)) {
    request.tp = one_of({1, 2, 4, 8, 3});
    request.dp = one_of({1, 2, 8});
    request.enable_expert_parallel = chance(70);
  }
  if (chance(5)) request.pcp = 2;
  if (chance(5)) request.sp = 2;
  if (kind.possible && request.tp * request.dp == 1) request.enable_expert_parallel = false;
  request.enable_eplb = chance(kind.plain ? 4 : 12);
  request.round_robin = chance(5);
  if (chance(60)) request.all2all_backend = std::string(pick_word(deployment::all2all_names(mx::deployment::kVllm2026_05)));
  if (chance(15)) {
    request.dp = 2;
    request.enable_expert_parallel = true;
    request.all2all_backend = one_word("deepep_low_latency nixl_ep");
  }
  return request;
}

deployment::LayerConfig random_layer(Text oracle, const DeploymentKind& kind) {
  const auto size = [] {
    return chance(20) ? static_cast<std::int64_t>(1 + below(9000)) : one_of<std::int64_t>({2880, 1440, 720, 360, 2048, 3072, 7168, 130, 129, 127});
  };
  deployment::LayerConfig layer{
      .num_experts = one_of<std::int64_t>({128, 32, 256, 8}),
      .experts_per_token = one_of<std::int64_t>({4, 1, 8}),
      .hidden = size(),
      .intermediate_per_partition = size(),
  };
  const int oai_percent = oracle == "mxfp4" ? (kind.plain ? 65 : 55) : oracle == "mxfp4_deepseek_v4" ? 15 : 0;
  const Text usual = chance(oai_percent) ? "SWIGLUOAI" : "SILU";
  layer.has_bias = !chance(40);
  layer.activation = usual;
  // The one routing by which an oracle chooses its list.
  if (oracle == "mxfp4_deepseek_v4" && chance(30)) layer.routing_method = "DeepseekV4";
  if (kind.plain) return layer;
  layer.activation = chance(25) ? std::string(pick_word(deployment::activation_names(mx::deployment::kVllm2026_05))) : std::string(usual);
  if (chance(35)) layer.routing_method = std::string(pick_word(deployment::routing_names(mx::deployment::kVllm2026_05)));
  if (chance(12)) layer.in_dtype = std::string(pick_word(deployment::dtype_names()));
  layer.is_act_and_mul = !chance(8);
  layer.is_lora_enabled = chance(7);
  return layer;
}

/// Keys that go together somewhere in an oracle.
struct Keys {
  Text oracles;
  Text weights;
  Text activations;
  bool asked_with = false;  ///< by some quantization method
};
constexpr std::array kKeys = {
    Keys{"mxfp4", "kMxfp4Static", "None", true},
    Keys{"mxfp4", "kMxfp4Static", "None kMxfp8Dynamic kFp8StaticTensorSym kMxfp4Dynamic", true},
    Keys{"mxfp4", "kMxfp4Static", "kMxfp4Dynamic kFp8StaticTensorSym", true},
    Keys{"mxfp4", "kMxfp4Static", "kFp8Dynamic128Sym"},
    Keys{"mxfp4_deepseek_v4", "kMxfp4Static", "None", true},
    Keys{"nvfp4", "kNvfp4Static", "kNvfp4Dynamic", true},
    Keys{"nvfp4", "kNvfp4Static", "None", true},
    Keys{"fp8", "kFp8Static128BlockSym", "kFp8Dynamic128Sym", true},
    Keys{"fp8", "kFp8StaticTensorSym", "kFp8StaticTensorSym kFp8DynamicTensorSym kFp8Dynamic128Sym", true},
    Keys{"fp8", "kFp8StaticChannelSym", "kFp8DynamicTokenSym", true},
    Keys{"fp8", "kFp8StaticTensorSym", "kFp8DynamicTokenSym None"},
    Keys{"fp8", "None kMxfp8Static kInt8StaticChannelSym", "None kMxfp8Dynamic kInt8DynamicTokenSym"},
    Keys{"nvfp4 fp8", "kMxfp4Static kMxfp8Static kInt4Static kInt8Static kNvfp4Static", "None kMxfp8Dynamic kMxfp4Dynamic kNvfp4Dynamic"},
    Keys{"w4a8", "kInt4Static", "kFp8DynamicTokenSym", true},
    Keys{"mxfp8", "kMxfp8Static", "None", true},
};

void set_keys(Text oracle, const DeploymentKind& kind, Deployment& deployment) {
  std::vector<Keys> fitting;
  for (const Keys& row : kKeys) {
    if (has_word(row.oracles, oracle) && (row.asked_with || !kind.possible)) fitting.push_back(row);
  }
  const Keys& row = fitting[below(fitting.size())];
  const auto any_or = [&](Text words) {
    return !kind.possible && chance(12) ? std::string(pick_word(deployment::quant_key_names(mx::deployment::kVllm2026_05))) : one_word(words);
  };
  deployment.weight_key = any_or(row.weights);
  deployment.activation_key = any_or(row.activations);
}

/// A variable: the oracles whose search it steers, how often it is set there, how often elsewhere (where a class may read it, or nobody), and texts.
struct Variable {
  Text steers;
  int percent;
  int elsewhere;
  Text name;
  Text texts;
};
constexpr Text kSwitch = "1 0 10 00 +1 1_0";
constexpr Text kOdd = "yes true 1__0 _1 0x1 1.0 -";
constexpr Text kVariants = "latency throughput masked_gemm latency throughput masked_gemm Latency";
constexpr std::array kVariables = {
    Variable{"fp8", 12, 55, "VLLM_ROCM_USE_AITER", "1 true TRUE 1 0 False yes"},
    Variable{"fp8", 12, 10, "VLLM_ROCM_USE_AITER_MOE", "1 0 true False"},
    Variable{"", 0, 8, "VLLM_BATCH_INVARIANT", kSwitch},
    Variable{"", 0, 25, "VLLM_HUMMING_MOE_GEMM_TYPE", "grouped indexed GROUPED_CONTIGUOUS auto"},
    Variable{"fp8", 10, 8, "VLLM_USE_DEEP_GEMM", kSwitch},
    Variable{"fp8", 10, 3, "VLLM_MOE_USE_DEEP_GEMM", kSwitch},
    Variable{"mxfp4", 10, 3, "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", kSwitch},
    Variable{"mxfp4", 10, 3, "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", kSwitch},
    Variable{"mxfp4", 10, 3, "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", kSwitch},
    Variable{"mxfp4", 10, 3, "VLLM_MXFP4_USE_MARLIN", kSwitch},
    Variable{"nvfp4", 25, 3, "VLLM_USE_FLASHINFER_MOE_FP4", kSwitch},
    Variable{"fp8", 20, 3, "VLLM_USE_FLASHINFER_MOE_FP8", kSwitch},
    Variable{"nvfp4 fp8", 30, 3, "VLLM_FLASHINFER_MOE_BACKEND", kVariants},
    Variable{"nvfp4 fp8", 10, 3, "VLLM_TEST_FORCE_FP8_MARLIN", "1 0 true False"},
};
constexpr Text kReadAsIntegers =
    "VLLM_BATCH_INVARIANT VLLM_USE_DEEP_GEMM VLLM_USE_FLASHINFER_MOE_MXFP4_BF16 VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8 "
    "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS VLLM_MXFP4_USE_MARLIN VLLM_USE_FLASHINFER_MOE_FP4 VLLM_USE_FLASHINFER_MOE_FP8 "
    "VLLM_MOE_USE_DEEP_GEMM";

engine::Environment random_environment(Text oracle, const DeploymentKind& kind, deployment::PlatformKind platform) {
  engine::Environment environment;
  // Without it no AITER class is for any device.
  if (kind.plain && platform == deployment::PlatformKind::rocm && chance(60)) environment["VLLM_ROCM_USE_AITER"] = "1";
  for (const Variable& variable : kVariables) {
    const bool steers = has_word(variable.steers, oracle);
    if (steers && !kind.override_switches) continue;
    const int percent = steers ? variable.percent : variable.elsewhere;
    if (!chance(steers && kind.plain ? 3 * percent : percent)) continue;
    const bool odd = kind.odd_texts && has_word(kReadAsIntegers, variable.name) && chance(12);
    environment[std::string(variable.name)] = one_word(odd ? kOdd : variable.texts);
  }
  return environment;
}

/// Mostly a name that the oracle knows.
std::string random_wish(Text oracle) {
  std::vector<Text> known;
  for (const RestatedBackend& row : restated_backends()) {
    if (!has_word(row.oracles, oracle)) continue;
    for (Text wish : texts_of(row.wishes)) known.push_back(wish);
  }
  return std::string(pick_word(known.empty() || chance(8) ? deployment::moe_backend_names() : Words(known)));
}

}  // namespace

Text pick_word(Words words) { return words[below(words.size())]; }

bool chance(int percent) { return below(100) >= static_cast<std::size_t>(100 - percent); }

void showValue(const Drawn& drawn, std::ostream& out) { out << "a deployment for oracle " << drawn.oracle; }

Drawn random_case(const DeploymentKind& kind) {
  return *rc::gen::exec([kind] {
    const Text oracle = random_oracle();
    return Drawn{oracle, random_deployment(oracle, kind)};
  });
}

Drawn random_case(Text oracle, const DeploymentKind& kind) {
  return *rc::gen::exec([oracle, kind] { return Drawn{oracle, random_deployment(oracle, kind)}; });
}

std::vector<Deployment> sample_deployments(Text oracle, const DeploymentKind& kind, int count) {
  const auto generator = rc::gen::exec([oracle, kind] { return random_deployment(oracle, kind); });
  std::vector<Deployment> sample;
  rc::Random random(1);
  for (int i = 0; i < count; ++i) sample.push_back(generator(random.split(), rc::kNominalSize).value());
  return sample;
}

Text random_oracle() { return one_of<Text>({"mxfp4", "mxfp4_deepseek_v4", "nvfp4", "fp8", "mxfp8", "w4a8"}); }

Deployment random_deployment(Text oracle, const DeploymentKind& kind) {
  Deployment deployment;
  deployment.hardware = random_hardware(kind);
  deployment.software = deployment::software_on(deployment.hardware.platform);
  deployment.parallel = random_parallel(kind);
  deployment.layer = random_layer(oracle, kind);
  deployment.env = random_environment(oracle, kind, deployment.hardware.platform);
  set_keys(oracle, kind, deployment);
  if (kind.wishes && chance(45)) deployment.layer.moe_backend = random_wish(oracle);
  if (kind.key_override && oracle == "mxfp4" && chance(15))
    deployment.quantization_override = std::string(pick_word(deployment::override_names(mx::deployment::kVllm2026_05)));
  deployment.allow_vllm_cutlass = oracle == "fp8" && chance(60);
  for (const deployment::SoftwareRow& row : deployment::software_rows(mx::deployment::kVllm2026_05)) {
    const bool installed = deployment.software.*row.answer;
    if (chance(kind.plain ? 1 : 8) && (installed || !kind.possible)) deployment.software.*row.answer = !installed;
  }
  return deployment;
}

std::string info_file(Text oracle, const Deployment& deployment) {
  std::string file;
  std::string indent;
  bool is_key = true;
  const std::string text = audit::info_text(deployment::kVllm2026_05, oracle, deployment);
  for (Text word : texts_of(text)) {
    if (word == "{" || word == "}") {
      if (word == "}") indent.resize(indent.size() - 2);
      file += (is_key ? indent : " ") + std::string(word) + "\n";
      if (word == "{") indent += "  ";
      is_key = true;
    } else {
      file += is_key ? indent + std::string(word) : " " + std::string(word) + "\n";
      is_key = !is_key;
    }
  }
  return file;
}

std::string describe(const engine::Decision& decision) {
  if (decision.choice) return decision.choice->backend + "/" + decision.choice->kernel_class;
  return decision.refusal ? decision.refusal->error_type + ": " + decision.refusal->text : "neither a choice nor a refusal";
}

}  // namespace mx::props
