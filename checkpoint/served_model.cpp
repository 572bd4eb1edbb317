#include "checkpoint/served_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "checkpoint/configuration.hpp"
#include "checkpoint/expert_scheme.hpp"
#include "model/engine/vllm/env.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/setup/fp8_block_shape.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "support/model_json.hpp"

namespace mx::checkpoint {
namespace {

using support::Json;

constexpr const char* kConfig = "config.json";
constexpr const char* kParams = "params.json";
constexpr const char* kSidecar = "hf_quant_config.json";

/// False also for a word that is no path, such as one that is too long.
bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

/// Mistral's own form of a repository: its weights are in consolidated files.
bool is_consolidated(const std::filesystem::path& directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("consolidated") && name.ends_with(".safetensors")) return true;
  }
  return false;
}

/// The file that the engine reads of a directory.
std::filesystem::path file_of(const std::filesystem::path& path) {
  if (!is_folder(path)) return path;
  const bool has_params = support::is_there(path / kParams);
  if (has_params && (is_consolidated(path) || !support::is_there(path / kConfig))) return path / kParams;
  return path / kConfig;
}

/// A Mistral file says neither architecture nor type: what it has decides. Source: vllm transformers_utils/configs/mistral.py adapt_config_dict.
Json with_types(Json params, const std::string& where) {
  if (!params.is_object()) return params;
  const Json* const moe = params.find("moe");
  if (moe == nullptr || !moe->is_object()) throw Error(ErrorCode::unsupported, "no experts: moe is not there", where);
  params["architectures"] = Json::array({"MistralLarge3ForCausalLM"});
  params["model_type"] = "mistral_large_3";
  return params;
}

/// The quantization of a Mistral file as the configuration that the engine makes of it. Source: _remap_mistral_quantization_args.
Json mistral_quantization(const Json& params, const std::string& where) {
  const Json* const given = params.is_object() ? params.find("quantization") : nullptr;
  if (given == nullptr || !given->is_object() || given->empty()) return {};
  const Json* const weights = given->find("qformat_weight");
  if (weights != nullptr && *weights == Json("fp8_e4m3")) {
    const Json* const activations = given->find("qscheme_act");
    const bool is_dynamic = activations != nullptr && *activations == Json("NO_SCALES");
    return {{"quantization_config", {{"quant_method", "fp8"}, {"activation_scheme", is_dynamic ? "dynamic" : "static"}}}};
  }
  const Json* const method = given->find("quant_method");
  if (method == nullptr) throw Error(ErrorCode::unsupported, "quantization is " + given->dump() + ", of which the engine knows no form", where);
  return {{"quantization_config", *given}};
}

struct ReadFiles {
  std::filesystem::path file;
  Json config;
  Json quantization;  ///< what has the quantization configuration
  Json sidecar;
};

ReadFiles read_files(const std::filesystem::path& path) {
  ReadFiles files{file_of(path), {}, {}, {}};
  files.config = support::read_model_json(files.file);
  const std::string where = files.file.string();
  if (files.file.filename() == kParams) {
    files.quantization = mistral_quantization(files.config, where);
    files.config = with_types(std::move(files.config), where);
    return files;
  }
  files.quantization = files.config;
  const std::filesystem::path sidecar = files.file.parent_path() / kSidecar;
  if (!support::is_there(sidecar)) return files;
  files.sidecar = support::read_model_json(sidecar);
  if (!files.sidecar.is_object())
    throw Error(ErrorCode::input, fmt::format("{} is {}, must be an object", kSidecar, files.sidecar.dump().substr(0, 40)), sidecar.string());
  return files;
}

/// What the engine's methods ask of a configuration before they look at a layer. Source: vllm quantization/modelopt.py from_config.
void require_words(const Configuration& configuration, const std::string& where) {
  if (configuration.method() == "modelopt_mixed") {
    const auto is_entry = [](const DeclaredScheme& scheme) { return scheme.table.ends_with("quantized_layers"); };
    if (std::ranges::none_of(configuration.schemes(), is_entry)) {
      throw Error(ErrorCode::input,
                  fmt::format("{}.quantized_layers is missing: quant_algo MIXED_PRECISION says by it what each layer has", configuration.root()),
                  where);
    }
  }
  if (configuration.root() != "hf_quant_config" || configuration.method() != "modelopt_fp4") return;
  for (const char* const key : {"quantization.group_size", "quantization.kv_cache_quant_algo", "quantization.exclude_modules"}) {
    if (!configuration.words().contains(key))
      throw Error(ErrorCode::input, fmt::format("{}: {} is missing, which NVFP4 needs there", kSidecar, key), where);
  }
}

/// What each layer's experts are quantized by.
class Schemes {
 public:
  Schemes(const ReadFiles& files, const ServingRequest& request, const engine::ModelReading& model)
      : files_(files),
        request_(request),
        model_(model),
        where_(files.file.string()),
        configuration_(files.quantization, files.sidecar, request.engine, where_) {
    require_words(configuration_, where_);
    for (const DeclaredScheme& scheme : configuration_.schemes()) {
      if (scheme.table == "config_groups") groups_.push_back(&scheme.words);
    }
  }

  ExpertScheme of(int layer) const {
    const ModuleMethod method = method_of(layer);
    const DeclaredScheme* const scheme = method.scheme;
    const bool batch_invariant = engine::read_switch(request_.env, engine::EnvVariable::batch_invariant) == engine::Switch::on;
    return expert_scheme({.method = method.quantized ? std::string_view(method.method) : std::string_view(),
                          .whole = configuration_.words(),
                          .scheme = scheme == nullptr ? nullptr : &scheme->words,
                          .groups = groups_,
                          .expert_dtype = expert_dtype(),
                          .path = configuration_.root(),
                          .engine = request_.engine,
                          .batch_invariant = batch_invariant,
                          .dropped = method.dropped},
                         where_);
  }

  std::vector<std::string> remarks() const {
    std::vector<std::string> remarks;
    const bool has_config = configuration_.root().starts_with("quantization_config") || configuration_.root().starts_with("compression_config");
    if (has_config && files_.sidecar.is_object())
      remarks.push_back(fmt::format("{} is not read: {} has a quantization configuration, which counts", kSidecar, kConfig));
    if (!configuration_.root().empty() && configuration_.method().empty()) {
      remarks.push_back(
          configuration_.root() == "hf_quant_config"
              ? fmt::format("{}: producer.name is not modelopt, so that the engine takes the model as unquantized, without a word", kSidecar)
              : fmt::format("{}.quant_method is missing, so that the engine takes the model as unquantized, without a word", configuration_.root()));
    }
    if (configuration_.root().starts_with("text_config")) remarks.push_back(configuration_.root() + " stands in text_config");
    return remarks;
  }

 private:
  /// What the engine raises for a layer is no fault of the file's form.
  ModuleMethod method_of(int layer) const {
    try {
      return configuration_.method_of(module_of(layer));
    } catch (const Error& error) {
      std::string message = error.what();
      if (message.starts_with(error.where() + ": ")) message.erase(0, error.where().size() + 2);
      throw Error(ErrorCode::unsupported, message, error.where());
    }
  }

  ExpertsModule module_of(int layer) const {
    ExpertsModule module{std::string(model_.row->experts_module)};
    const std::size_t at = module.name.find(".N.");
    module.name.replace(at + 1, 1, std::to_string(layer));
    if (!model_.row->projections.empty()) {
      module.projections.clear();
      for (const std::string_view name : model_.row->projections) {
        if (!name.empty()) module.projections.emplace_back(name);
      }
    }
    return module;
  }

  std::string_view expert_dtype() const {
    const Json* const dtype = files_.config.is_object() ? files_.config.find("expert_dtype") : nullptr;
    return dtype != nullptr && dtype->is_string() ? std::string_view(dtype->text()) : std::string_view();
  }

  const ReadFiles& files_;
  const ServingRequest& request_;
  const engine::ModelReading& model_;
  std::string where_;
  Configuration configuration_;
  std::vector<const Words*> groups_;
};

deployment::Deployment deployment_of(const engine::ModelReading& model, const deployment::LayerConfig& layer, const ExpertScheme& scheme,
                                     const ServingRequest& request, const std::string& where) {
  const deployment::ParallelRequest parallel = engine::parallel_of(model, request.parallel, request.engine);
  deployment::Deployment deployment = deployment::deployment_on(deployment::platform_named(request.platform), parallel,
                                                                engine::on_ranks(model, layer, parallel, request.engine, where));
  deployment.layer.moe_backend = request.moe_backend;
  deployment.env = request.env;
  // Its linear layers have the same scheme, which the engine's method takes on Hopper alone.
  // Source: vllm compressed_tensors.py CompressedTensorsConfig._is_fp8_w4a8_sm90.
  if (scheme.oracle == "w4a8" && deployment.hardware.capability != 90)
    throw Error(ErrorCode::unsupported, "INT4 weights with FP8 activations: the engine's linear layers of that scheme need capability 90", where);
  const engine::OracleTables& tables = engine::tables_of(request.engine, scheme.oracle);
  deployment.weight_key = tables.weight_key ? std::string(deployment::name_of(*tables.weight_key)) : scheme.weight_key;
  deployment.activation_key =
      tables.support_keys == engine::KeyPolicy::own ? std::string(deployment::name_of(tables.usual_activation_key)) : scheme.activation_key;
  deployment.allow_vllm_cutlass = scheme.allow_vllm_cutlass;
  deployment.quant_method = scheme.quant_method;
  deployment.weight_only = scheme.weight_only;
  const std::string& text_type = model.text_model_type.empty() ? model.model_type : model.text_model_type;
  if (engine::deep_gemm_auto_disabled(request.engine, deployment.hardware, text_type))
    deployment.model = {.model_type = model.model_type, .text_model_type = model.text_model_type};
  return engine::as_asked(tables, deployment);
}

}  // namespace

bool is_model(const std::filesystem::path& path) {
  if (!is_folder(path)) return path.extension() == ".json";
  return support::is_there(path / kConfig) || support::is_there(path / kParams);
}

ServedModel served_model(const std::filesystem::path& path, const ServingRequest& request) {
  const deployment::PlatformPreset& preset = deployment::platform_named(request.platform);
  const ReadFiles files = read_files(path);
  const std::string where = files.file.string();
  const deployment::Hardware hardware = deployment::deployment_on(preset, {}, {}).hardware;
  ServedModel served{files.file, engine::read_model(support::config_value_of(files.config), where, request.engine, hardware), {}, {}};
  const Schemes schemes(files, request, served.reading);
  for (const engine::LayerKind& kind : served.reading.kinds) {
    for (const int layer : kind.layers) {
      const ExpertScheme scheme = schemes.of(layer);
      deployment::Deployment deployment = deployment_of(served.reading, kind.config, scheme, request, where);
      const auto alike =
          std::ranges::find_if(served.kinds, [&](const ServedKind& one) { return one.oracle == scheme.oracle && one.deployment == deployment; });
      if (alike != served.kinds.end()) {
        alike->layers.push_back(layer);
      } else {
        served.kinds.push_back({{layer}, scheme.oracle, std::move(deployment)});
      }
    }
  }
  std::ranges::sort(served.kinds, {}, [](const ServedKind& kind) { return kind.layers.front(); });
  served.remarks = served.reading.remarks;
  for (std::string& remark : schemes.remarks()) served.remarks.push_back(std::move(remark));
  return served;
}

}  // namespace mx::checkpoint
