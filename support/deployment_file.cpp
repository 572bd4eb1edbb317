#include "support/deployment_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/engine/vllm/variables.hpp"
#include "model/error.hpp"
#include "model/families/launch.hpp"
#include "model/names.hpp"
#include "support/file.hpp"
#include "support/info.hpp"
#include "support/quote.hpp"
#include "support/tuned_file.hpp"

namespace mx::support {
namespace {

// No published model or machine comes near these.
constexpr std::int64_t kMostExperts = 1 << 16;
constexpr std::int64_t kLargestLayerSize = 1 << 20;
constexpr std::int64_t kMostRanks = 4096;

[[noreturn]] void fail(const std::string& message, const std::string& where) { throw Error(ErrorCode::input, message, where); }

/// gfx90a 90, gfx942 94, gfx1100 110: the digits after "gfx", major first; with four of them the major version has two.
int capability_of(const std::string& gcn_arch, const std::string& where) {
  std::string digits;
  for (std::size_t i = 3; i < gcn_arch.size() && gcn_arch[i] >= '0' && gcn_arch[i] <= '9'; ++i) digits += gcn_arch[i];
  if (!gcn_arch.starts_with("gfx") || digits.size() < 2 || digits.size() > 4) {
    fail("hardware.gcn_arch is " + in_quotes(gcn_arch) + ", must be gfx and two to four digits", where);
  }
  return std::stoi(digits.substr(0, digits.size() == 4 ? 3 : 2));
}

deployment::Hardware read_hardware(const InfoNode& node) {
  deployment::Hardware hardware{};
  node.text("platform");
  const auto kinds = deployment::platform_kind_names();
  const std::string platform = node.choice_or("platform", "", kinds);
  hardware.platform = static_cast<deployment::PlatformKind>(std::find(kinds.begin(), kinds.end(), platform) - kinds.begin());
  const bool is_rocm = hardware.platform == deployment::PlatformKind::rocm;
  const bool is_cuda = hardware.platform == deployment::PlatformKind::cuda;
  hardware.gcn_arch = node.text_or("gcn_arch", "");
  if (!is_rocm && !hardware.gcn_arch.empty()) fail("hardware.gcn_arch is for platform rocm, not " + platform, node.where("gcn_arch"));
  if (is_rocm) hardware.capability = capability_of(node.text("gcn_arch"), node.where("gcn_arch"));
  if (is_cuda) {
    hardware.capability = static_cast<int>(node.integer("capability", 50, 199));
  } else if (node.has("capability")) {
    if (!is_rocm) fail("hardware.capability: platform " + platform + " has none", node.where("capability"));
    const std::int64_t given = node.integer("capability", 10, 999);
    if (given != *hardware.capability) {
      fail("hardware.capability is " + std::to_string(given) + ", but that of " + hardware.gcn_arch + " is " + std::to_string(*hardware.capability),
           node.where("capability"));
    }
  }
  if (node.has("amx") && hardware.platform != deployment::PlatformKind::cpu)
    fail("hardware.amx is for platform cpu, not " + platform, node.where("amx"));
  hardware.amx = node.boolean_or("amx", hardware.amx);
  for (std::string_view key : {"cpu_arch", "zen_cpu", "amx_fp8"}) {
    if (node.has(key) && hardware.platform != deployment::PlatformKind::cpu) {
      fail("hardware." + std::string(key) + " is for platform cpu, not " + platform, node.where(key));
    }
  }
  hardware.cpu_arch = node.choice_or("cpu_arch", hardware.cpu_arch, deployment::cpu_arch_names());
  hardware.zen_cpu = node.boolean_or("zen_cpu", hardware.zen_cpu);
  hardware.amx_fp8 = node.boolean_or("amx_fp8", hardware.amx_fp8);
  return hardware;
}

/// The preset or the hardware block, and the software that belongs to it.
void read_platform(const InfoNode& root, deployment::Deployment& deployment) {
  const auto hardware = root.child("hardware");
  if (hardware && root.has("platform")) fail("platform and hardware are both given, one is enough", hardware->where());
  if (hardware) {
    deployment.hardware = read_hardware(*hardware);
    deployment.software = deployment::software_on(deployment.hardware.platform);
    return;
  }
  const std::string name = root.text("platform");
  try {
    deployment = deployment::deployment_on(deployment::platform_named(name), {}, {});
  } catch (const Error& error) {
    throw Error(error.code() == ErrorCode::usage ? ErrorCode::input : error.code(), std::string("platform: ") + error.what(), root.where("platform"));
  }
}

deployment::ParallelRequest read_parallel(const InfoNode& node) {
  const auto size = [&](std::string_view key) { return static_cast<int>(node.integer_or(key, 1, 1, kMostRanks)); };
  deployment::ParallelRequest request{.tp = size("tp"), .pcp = size("pcp"), .dp = size("dp"), .sp = size("sp")};
  request.enable_expert_parallel = node.boolean_or("expert_parallel", request.enable_expert_parallel);
  request.all2all_backend = node.choice_or("all2all", request.all2all_backend, deployment::all2all_names());
  request.enable_eplb = node.boolean_or("eplb", request.enable_eplb);
  request.round_robin = node.boolean_or("round_robin", request.round_robin);
  if (std::int64_t{request.tp} * request.pcp * request.dp > kMostRanks) {
    fail("parallel: tp * pcp * dp is above " + std::to_string(kMostRanks) + " ranks", node.where());
  }
  if (request.enable_expert_parallel && request.tp * request.pcp * request.dp == 1) {
    fail("parallel.expert_parallel is true, but tp * pcp * dp is 1: there are no ranks to split the experts over", node.where("expert_parallel"));
  }
  return request;
}

/// Group-limited routing: groups of equal size, and enough of them for a token's experts.
void read_groups(const InfoNode& node, deployment::LayerConfig& layer) {
  layer.expert_groups = static_cast<int>(node.integer_or("expert_groups", 0, 0, layer.num_experts));
  layer.topk_group = static_cast<int>(node.integer_or("topk_group", 0, 0, layer.expert_groups));
  if (layer.expert_groups == 0) return;
  const std::string groups = "layer.expert_groups is " + std::to_string(layer.expert_groups);
  if (layer.num_experts % layer.expert_groups != 0) {
    fail(groups + ", which " + std::to_string(layer.num_experts) + " experts cannot be dealt out to equally", node.where("expert_groups"));
  }
  if (layer.topk_group == 0) fail(groups + ", but layer.topk_group is 0: a token would have no group to choose from", node.where("expert_groups"));
  const std::int64_t within_reach = layer.num_experts / layer.expert_groups * layer.topk_group;
  if (layer.experts_per_token > within_reach) {
    fail("layer.top_k is " + std::to_string(layer.experts_per_token) + ", but the " + std::to_string(layer.topk_group) + " of " +
             std::to_string(layer.expert_groups) + " groups that a token may use have " + std::to_string(within_reach) + " experts",
         node.where("top_k"));
  }
}

/// A finite number, or "none".
std::optional<double> number_of(const std::string& text, std::string_view key, const std::string& where) {
  if (text == "none") return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value)) return value;
  fail("layer." + std::string(key) + " is " + in_quotes(text) + ", must be a number or none", where);
}

bool is_flag(const std::string& text) { return text == "true" || text == "false"; }

/// alpha and limit say either whether the model's own differ from the usual ones, or what they are; the others what they are.
void read_constants(const InfoNode& node, deployment::LayerConfig& layer) {
  struct Row {
    std::string_view key;
    bool deployment::LayerConfig::*flag;
    std::optional<double> deployment::ActivationConstants::*value;
  };
  constexpr std::array kRows = {
      Row{"swiglu_alpha", &deployment::LayerConfig::has_swiglu_alpha, &deployment::ActivationConstants::swiglu_alpha},
      Row{"swiglu_limit", &deployment::LayerConfig::has_swiglu_limit, &deployment::ActivationConstants::swiglu_limit},
      Row{"swiglu_beta", nullptr, &deployment::ActivationConstants::swiglu_beta},
      Row{"situ_beta", nullptr, &deployment::ActivationConstants::situ_beta},
      Row{"situ_linear_beta", nullptr, &deployment::ActivationConstants::situ_linear_beta},
  };
  const auto text = [&](const Row& row) { return node.text_or(row.key, ""); };
  for (const Row& row : kRows) {
    const std::string given = text(row);
    if (row.flag != nullptr && is_flag(given)) layer.*row.flag = node.boolean_or(row.key, false);
  }
  const deployment::ActivationConstants usual = deployment::constants_of(layer);
  for (const Row& row : kRows) {
    if (!node.has(row.key) || (row.flag != nullptr && is_flag(text(row)))) continue;
    if (!layer.constants) layer.constants = usual;
    *layer.constants.*row.value = number_of(text(row), row.key, node.where(row.key));
  }
  if (!layer.constants) return;
  const deployment::ActivationConstants common = deployment::constants_of(
      {.num_experts = 1, .experts_per_token = 1, .hidden = 1, .intermediate_per_partition = 1, .activation = layer.activation});
  layer.has_swiglu_alpha = layer.constants->swiglu_alpha != common.swiglu_alpha || layer.constants->swiglu_beta != common.swiglu_beta;
  layer.has_swiglu_limit = layer.constants->swiglu_limit != common.swiglu_limit;
}

/// What no oracle reads, but kernels depend on.
void read_kernel_facts(const InfoNode& node, deployment::LayerConfig& layer) {
  layer.router_weight_on_input = node.boolean_or("router_weight_on_input", layer.router_weight_on_input);
  read_groups(node, layer);
  layer.has_correction_bias = node.boolean_or("correction_bias", layer.has_correction_bias);
  layer.has_routed_scaling = node.boolean_or("routed_scaling", layer.has_routed_scaling);
  read_constants(node, layer);
}

deployment::LayerConfig read_layer(const InfoNode& node, const deployment::ParallelRequest& request) {
  deployment::LayerConfig layer{};
  layer.num_experts = node.integer("experts", 1, kMostExperts);
  layer.experts_per_token = node.integer("top_k", 1, layer.num_experts);
  layer.hidden = node.integer("hidden", 1, kLargestLayerSize);
  const std::int64_t intermediate = node.integer("intermediate", 1, kLargestLayerSize);
  const int tp = deployment::tensor_ranks(request);
  if (intermediate % tp != 0) {
    fail("layer.intermediate is " + std::to_string(intermediate) + ", which " + std::to_string(tp) + " tensor parallel ranks cannot share equally",
         node.where("intermediate"));
  }
  layer.intermediate_per_partition = intermediate / tp;
  layer.activation = node.choice_or("activation", layer.activation, deployment::activation_names());
  layer.routing_method = node.choice_or("routing", layer.routing_method, deployment::routing_names());
  layer.in_dtype = node.choice_or("dtype", layer.in_dtype, deployment::dtype_names());
  layer.has_bias = node.boolean_or("bias", layer.has_bias);
  layer.is_act_and_mul = node.boolean_or("act_and_mul", layer.is_act_and_mul);
  layer.is_lora_enabled = node.boolean_or("lora", layer.is_lora_enabled);
  layer.router_logits_dtype = node.choice_or("router_logits_dtype", "", deployment::dtype_names());
  layer.has_hash_routing = node.boolean_or("hash_routing", layer.has_hash_routing);
  layer.require_decomposed_backend = node.boolean_or("decomposed_routing", layer.require_decomposed_backend);
  layer.skip_final_all_reduce = node.boolean_or("skip_final_all_reduce", layer.skip_final_all_reduce);
  read_kernel_facts(node, layer);
  return layer;
}

engine::Environment read_environment(const InfoNode& node) {
  engine::Environment environment;
  const auto known = engine::env_names();
  for (const auto& [name, value] : node.entries()) {
    // Variables are case sensitive: one in lower case would be ignored by the engine.
    if (std::find(known.begin(), known.end(), name) == known.end()) fail(engine::unknown_variable(name), node.where(name));
    environment[name] = value;
  }
  return environment;
}

deployment::WeightOnlyCall read_weight_only(const InfoNode& node) {
  deployment::WeightOnlyCall call;
  call.kind = node.choice_or("kind", call.kind, deployment::weight_only_kinds());
  call.group_size = node.integer_or("group_size", 0, -1, kLargestLayerSize);
  call.desc_act = node.boolean_or("desc_act", false);
  call.actorder = node.choice_or("actorder", "", deployment::actorder_names());
  call.strategy = node.choice_or("strategy", "", deployment::strategy_names());
  call.may_have_zp = node.boolean_or("zero_point", false);
  call.may_have_bias = node.boolean_or("bias", false);
  call.allow_tile_padding = node.boolean_or("tile_padding", false);
  return call;
}

deployment::ModelFacts read_model(const InfoNode& node) {
  deployment::ModelFacts model;
  model.model_type = node.text_or("type", "");
  model.text_model_type = node.text_or("text_type", "");
  model.weight_transfer = node.boolean_or("weight_transfer", false);
  model.enable_dbo = node.boolean_or("dbo", false);
  return model;
}

/// A named key, or one that a caller builds.
std::string key_or(const InfoNode& root, std::string_view key, std::string_view fallback) {
  const std::string text = root.text_or(key, fallback);
  if (!text.starts_with("INT:") && !text.starts_with("FP8:") && text != "kInt4W4A8StaticChannelSym") {
    return root.choice_or(key, fallback, deployment::quant_key_names());
  }
  try {
    deployment::quant_key_named(text);
  } catch (const Error& error) {
    fail(std::string(key) + ": " + error.what(), root.where(key));
  }
  return text;
}

bool any_step(const engine::OracleTables& tables, bool (*is)(const engine::Step& step)) {
  return std::any_of(tables.steps.begin(), tables.steps.end(), is);
}

/// What the oracle's caller hands over. A key of the file that this oracle does not read is a misunderstanding.
void read_call(const InfoNode& root, const engine::OracleTables& tables, deployment::Deployment& deployment) {
  const std::string name(tables.name);
  deployment.weight_key = key_or(root, "weight_key", deployment::name_of(tables.usual_weight_key));
  if (tables.weight_key && deployment.weight_key != deployment::name_of(*tables.weight_key)) {
    fail("weight_key is " + deployment.weight_key + ", but oracle " + name + " always takes " + std::string(deployment::name_of(*tables.weight_key)),
         root.where("weight_key"));
  }
  deployment.activation_key = key_or(root, "activation_key", deployment::name_of(tables.usual_activation_key));
  deployment.quantization_override = root.choice_or("quantization_override", "unset", deployment::override_names());
  deployment.allow_vllm_cutlass = root.boolean_or("allow_vllm_cutlass", false);
  deployment.quant_method = root.choice_or("quant_method", "own", deployment::quant_method_names());
  const bool reads_override = any_step(tables, [](const engine::Step& step) { return step.kind == engine::StepKind::resolve_key; });
  const bool reads_cutlass = any_step(tables, [](const engine::Step& step) { return step.when.allow_vllm_cutlass.has_value(); });
  if (const auto weight_only = root.child("weight_only")) {
    if (!tables.asks_backends) fail("weight_only: oracle " + name + " does not read it", root.where("weight_only"));
    deployment.weight_only = read_weight_only(*weight_only);
  }
  if (const auto model = root.child("model")) deployment.model = read_model(*model);
  const std::pair<std::string_view, bool> reads[] = {{"activation_key", tables.support_keys != engine::KeyPolicy::own},
                                                     {"quantization_override", reads_override},
                                                     {"allow_vllm_cutlass", reads_cutlass}};
  for (const auto& [key, is_read] : reads) {
    if (!is_read && root.has(key)) fail(std::string(key) + ": oracle " + name + " does not read it", root.where(key));
  }
}

}  // namespace

deployment::Deployment read_deployment(const InfoNode& block, std::string_view oracle, deployment::Engine engine) {
  const engine::OracleTables& tables = engine::tables_of(engine, oracle);
  deployment::Deployment deployment;
  read_platform(block, deployment);
  if (const auto parallel = block.child("parallel")) deployment.parallel = read_parallel(*parallel);
  const auto layer = block.child("layer");
  if (!layer) {
    block.text("layer");
  } else {
    deployment.layer = read_layer(*layer, deployment.parallel);
  }
  deployment.layer.moe_backend = block.choice_or("backend", "auto", deployment::moe_backend_names());
  read_call(block, tables, deployment);
  if (const auto env = block.child("env")) deployment.env = read_environment(*env);
  if (const auto software = block.child("software")) {
    for (const deployment::SoftwareRow& row : deployment::software_rows()) {
      deployment.software.*row.answer = software->boolean_or(row.name, deployment.software.*row.answer);
    }
  }
  return deployment;
}

namespace {

/// As launch_of takes it; `folder`: where a tuned file lies whose name is not absolute.
std::string read_launch(const InfoNode& node, const std::filesystem::path& folder) {
  std::string text;
  for (const auto& [name, value] : node.entries()) {
    std::string one = name + "=" + value;
    if (one.starts_with(kTunedField)) {
      if (value.empty() || value.find(',') != std::string::npos)
        fail("launch.tuned is " + in_quotes(value) + ", must name a file, without a comma", node.where(name));
      one = std::string(kTunedField) + (folder / value).string();
    } else {
      try {
        static_cast<void>(families::read_launch(one));
      } catch (const Error& error) {
        fail(error.what(), node.where(name));
      }
    }
    text += (text.empty() ? "" : ",") + one;
  }
  return text;
}

DeploymentFile read_root(const InfoNode& root, std::string_view oracle, deployment::Engine engine, const std::filesystem::path& folder = {}) {
  DeploymentFile file{engine, {}, {}};
  file.oracle = root.choice_or("oracle", "mxfp4", engine::oracle_names());
  if (!oracle.empty()) file.oracle = oracle;
  file.deployment = read_deployment(root, file.oracle, engine);
  if (const auto launch = root.child("launch")) file.launch = read_launch(*launch, folder);
  root.finish();
  return file;
}

}  // namespace

DeploymentFile parse_deployment_file(std::string_view text, const std::string& where, std::string_view oracle, deployment::Engine engine) {
  return read_root(InfoNode::parse(text, where), oracle, engine);
}

DeploymentFile deployment_file_of(const Json& object, const std::string& where, std::string_view oracle, deployment::Engine engine) {
  return read_root(InfoNode::of(object, where), oracle, engine);
}

DeploymentFile load_deployment_file(const std::filesystem::path& path, std::string_view oracle, deployment::Engine engine) {
  const std::vector<std::uint8_t> bytes = read_file(path, kLargestInfoFile);
  const InfoNode root = InfoNode::parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), path.string());
  return read_root(root, oracle, engine, path.parent_path());
}

deployment::Deployment load_deployment(const std::filesystem::path& path) { return load_deployment_file(path).deployment; }
deployment::Deployment parse_deployment(std::string_view text, const std::string& where) { return parse_deployment_file(text, where).deployment; }

}  // namespace mx::support
