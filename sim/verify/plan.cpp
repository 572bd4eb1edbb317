#include "sim/verify/plan.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string_view>

#include "checkpoint/conversion.hpp"
#include "checkpoint/rounding.hpp"
#include "checkpoint/shard.hpp"
#include "model/deployment/models.hpp"
#include "model/engine/vllm/env.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/error.hpp"
#include "model/families/arithmetic.hpp"
#include "model/families/carried.hpp"
#include "model/families/fnuz.hpp"
#include "model/names.hpp"
#include "sim/verify/check_layer.hpp"
#include "sim/verify/layer_config.hpp"

namespace mx::sim {
namespace {

using layout::Sizes;

/// Switches that are off by default and take classes in.
constexpr std::array kMayAdd = {engine::EnvVariable::rocm_use_aiter, engine::EnvVariable::use_flashinfer_moe_int4};

/// Cells of one platform and tensor parallel size: the automatic choice, then every backend that answers to a name of its own.
class CellPlanner {
 public:
  CellPlanner(const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options, VerifyReport& report)
      : checkpoint_(checkpoint),
        options_(options),
        report_(report),
        layer_(layer_config(checkpoint, common_activation(checkpoint, report.layers_verified), options.engine)) {}

  void plan(const deployment::PlatformPreset& platform, int tp) {
    std::set<std::string> seen;
    const int cut = deployment::tensor_ranks(parallel_of(tp));
    if (report_.sizes.intermediate % cut != 0) {
      report_.cells.push_back({.platform = std::string(platform.name),
                               .tp = tp,
                               .request = "auto",
                               .refusal = engine::Refusal{"AssertionError", "intermediate size " + std::to_string(report_.sizes.intermediate) +
                                                                                " is not divisible by " + std::to_string(cut)},
                               .decides = !options_.tp.empty() || options_.deployment});
      return;
    }
    const std::string wish = wished();
    add(platform, tp, wish, seen);
    for (std::string_view name : engine::user_names(oracle_of(checkpoint_, options_.engine))) {
      if (name != "auto" && name != wish) add(platform, tp, std::string(name), seen);
    }
    for (const std::string& backend : options_.backends) add_unreached(platform, tp, backend, seen);
    for (const engine::EnvVariable variable : kMayAdd) hint_at(platform, tp, variable, seen);
  }

  /// Why a run of these backends has no cell.
  void explain_nothing(const deployment::PlatformPreset& platform, int tp) {
    const engine::OracleTables& tables = oracle_of(checkpoint_, options_.engine);
    for (const std::string& backend : options_.backends) {
      const auto row = std::ranges::find_if(tables.backends, [&](const engine::BackendRow& one) { return same_name(one.name, backend); });
      report_.hints.push_back("no cell of " + std::string(row->name) + ": on " + std::string(platform.name) + " " +
                              engine::why_not(tables, deployment_of(platform, tp, wished()), row->name));
    }
  }

 private:
  /// The backend that is asked for where nothing else is.
  std::string wished() const { return options_.deployment ? options_.deployment->deployment.layer.moe_backend : "auto"; }

  /// The experts are whole on each rank that has them; over one rank they are not shared.
  deployment::ParallelRequest parallel_of(int tp) const {
    if (options_.deployment) return options_.deployment->deployment.parallel;
    return {.tp = tp, .dp = options_.dp, .enable_expert_parallel = options_.expert_parallel && tp * options_.dp > 1};
  }

  /// A variable that is not set, and whose backends the engine would then take on the platform.
  void hint_at(const deployment::PlatformPreset& platform, int tp, engine::EnvVariable variable, const std::set<std::string>& seen) {
    if (engine::is_set(options_.env, variable)) return;
    const engine::OracleTables& tables = oracle_of(checkpoint_, options_.engine);
    std::set<std::string> added;
    for (const std::string_view name : engine::user_names(tables)) {
      deployment::Deployment deployment = deployment_of(platform, tp, std::string(name));
      deployment.env[std::string(engine::name_of(variable))] = "1";
      const engine::Decision decision = engine::decide(tables, deployment);
      if (decision.choice && wanted(decision.choice->backend) && !seen.contains(decision.choice->backend)) added.insert(decision.choice->backend);
    }
    for (const std::string& backend : added) {
      std::string hint = std::string(platform.name) + ": --env " + std::string(engine::name_of(variable)) + "=1 gives " + backend;
      if (std::ranges::find(report_.hints, hint) == report_.hints.end()) report_.hints.push_back(std::move(hint));
    }
  }

  deployment::Deployment deployment_of(const deployment::PlatformPreset& platform, int tp, const std::string& request) const {
    if (options_.deployment) {
      deployment::Deployment deployment = options_.deployment->deployment;
      deployment.layer.moe_backend = request;
      for (const auto& [name, value] : options_.env) deployment.env.insert_or_assign(name, value);
      return deployment;
    }
    deployment::LayerConfig config = layer_;
    const deployment::ParallelRequest parallel = parallel_of(tp);
    config.intermediate_per_partition = report_.sizes.intermediate / deployment::tensor_ranks(parallel);
    config.moe_backend = request;
    deployment::Deployment deployment = deployment::deployment_on(platform, parallel, config);
    const deployment::Scheme& scheme = deployment::scheme_named(checkpoint_.source_form().use.scheme);
    deployment.weight_key = scheme.weight_key;
    deployment.activation_key = scheme.activation_key;
    deployment.allow_vllm_cutlass = scheme.allow_vllm_cutlass;
    deployment.quant_method = checkpoint_.source_form().use.quant_method;
    deployment.env = options_.env;
    return deployment;
  }

  void add(const deployment::PlatformPreset& platform, int tp, const std::string& request, std::set<std::string>& seen) {
    const engine::OracleTables& tables = oracle_of(checkpoint_, options_.engine);
    deployment::Deployment deployment = deployment_of(platform, tp, request);
    Cell cell{.platform = std::string(platform.name), .tp = tp, .request = request};
    // A method that takes a class by the device does not hear the request; what the backend would do is shown all the same.
    cell.heard = request == wished() || !engine::own_choice(tables, deployment).taken();
    if (!cell.heard) deployment.quant_method = "own";
    const deployment::Deployment asked = engine::as_asked(tables, deployment);
    const bool has_squares = layout::has_squares(checkpoint_.layout_form().format);
    const std::int64_t group = has_squares ? families::group_of_key(asked.weight_key) : report_.sizes.group;
    add(platform, std::move(cell), audit::resolve(tables, deployment, engine::decide(tables, deployment, engine::Detail::texts)), group, seen);
  }

  /// `group`: Sizes::group of what a rank loads, of FP8 in blocks that of the blocks that the engine makes of those that the rank's share cuts.
  void add(const deployment::PlatformPreset& platform, Cell cell, const audit::Resolution& resolution, std::int64_t group,
           std::set<std::string>& seen) {
    const bool is_auto = cell.request == wished();
    if (!resolution.decision.choice) {
      if (!is_auto) return;  // a name that the platform cannot serve is no cell
      cell.refusal = resolution.decision.refusal;
      cell.decides = !options_.platforms.empty() || options_.deployment;
      report_.cells.push_back(std::move(cell));
      return;
    }
    const engine::Choice& choice = *resolution.decision.choice;
    if (!wanted(choice.backend) || !seen.insert(choice.backend).second) return;
    cell.backend = choice.backend;
    cell.kernel_class = choice.kernel_class;
    cell.decides = is_auto || !options_.backends.empty();
    if (cell.heard) {
      cell.broken = resolution.broken;
      if (resolution.failure) cell.refusal = resolution.failure->refusal;
    }
    const int cut = deployment::tensor_ranks(parallel_of(cell.tp));
    if (!cell.refusal) cell.conversion = conversion_of(platform, choice, cut, group);
    report_.cells.push_back(std::move(cell));
  }

  /// A backend that was asked for by --backend and that no name of the engine's leads to on this platform.
  void add_unreached(const deployment::PlatformPreset& platform, int tp, const std::string& backend, std::set<std::string>& seen) {
    const bool is_known = std::ranges::any_of(seen, [&](const std::string& name) { return same_name(name, backend); });
    if (is_known || (options_.platforms.empty() && !options_.deployment)) return;
    const engine::OracleTables& tables = oracle_of(checkpoint_, options_.engine);
    const auto row = std::ranges::find_if(tables.backends, [&](const engine::BackendRow& one) { return same_name(one.name, backend); });
    report_.cells.push_back({.platform = std::string(platform.name),
                             .tp = tp,
                             .request = backend,
                             .backend = std::string(row->name),
                             .refusal = engine::Refusal{"ValueError", engine::why_not(tables, deployment_of(platform, tp, wished()), row->name)}});
  }

  bool wanted(std::string_view backend) const {
    return options_.backends.empty() ||
           std::any_of(options_.backends.begin(), options_.backends.end(), [&](const std::string& name) { return same_name(name, backend); });
  }

  /// Gives a conversion what its rank is loaded with; why no rank can be, else empty.
  std::string load(ConversionResult& result) const {
    try {
      result.sizes.intermediate =
          checkpoint::rank_sizes(report_.sizes, result.form, result.tp, result.padded.intermediate, result.sizes.group).intermediate;
      checkpoint::require_room(result.backend, result.sizes, result.padded);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  std::size_t conversion_of(const deployment::PlatformPreset& platform, const engine::Choice& choice, int tp, std::int64_t group) {
    ConversionResult result{};
    result.backend = choice.backend;
    result.tp = tp;
    result.sizes = report_.sizes;
    result.sizes.experts = report_.experts_verified;
    result.sizes.group = group;
    result.form = checkpoint_.layout_form();
    result.sizes.intermediate = report_.sizes.intermediate / tp;
    result.padded = result.sizes;
    if (checkpoint_.source_form().use.rounds) {
      result.padded.hidden = choice.rounded_hidden;
      result.padded.intermediate = choice.rounded_intermediate;
    }
    const std::string not_loaded = load(result);
    result.activation = checkpoint_.converted_activation();
    result.has_bias = checkpoint_.has_bias();
    result.method = checkpoint_.source_form().use.quant_method;
    const families::StandingConversion conversion = families::conversion_at(choice.backend, result.form.format, options_.engine);
    result.engine = conversion.stands() ? conversion.of : options_.engine;
    result.served_by = options_.engine;
    result.libraries = families::carried_libraries(conversion, options_.engine);
    result.libraries.insert(result.libraries.end(), options_.libraries.begin(), options_.libraries.end());
    if (conversion.row != nullptr) result.standing = families::standing_text(conversion, options_.engine);
    if (conversion.is_own(options_.engine) && decided_by_library(result)) result.standing = "as " + result.libraries.front() + " has it";
    result.env = options_.deployment ? deployment_of(platform, tp, wished()).env : options_.env;
    result.arch = families::arch_named(platform.name);
    std::string programs;
    try {
      programs = programs_of(result);
    } catch (const Error& error) {
      result.verdict = Verdict::refused;
      result.detail = error.what();
      report_.conversions.push_back(result);
      return report_.conversions.size() - 1;
    }
    const auto same = [&](const ConversionResult& other) {
      return other.backend == result.backend && other.tp == result.tp && other.padded == result.padded &&
             families::sums_alike(result.form.format, result.backend, families::operation_of(setting_of(other)),
                                  families::operation_of(setting_of(result))) &&
             programs_of(other) == programs;
    };
    const auto known = std::find_if(report_.conversions.begin(), report_.conversions.end(), same);
    if (known != report_.conversions.end()) return static_cast<std::size_t>(known - report_.conversions.begin());
    result.detail = missing_of(result, choice);
    result.verdict = result.detail.empty() ? Verdict::passed : Verdict::not_modelled;
    if (result.detail.empty() && !not_loaded.empty()) {
      result.verdict = Verdict::refused;
      result.detail = not_loaded;
    }
    report_.conversions.push_back(result);
    return report_.conversions.size() - 1;
  }

  /// What mxact lacks of the conversion; empty where it has all.
  static std::string missing_of(const ConversionResult& result, const engine::Choice& choice) {
    const families::BackendLayout* backend = backend_of(result);
    if (choice.kernel_class.empty()) return "the engine goes on without a kernel class; what it computes is not in mxact yet";
    if (backend == nullptr) {
      const std::string whose = choice.backend == engine::kNotAsked ? choice.kernel_class : choice.backend;
      return whose + (result.standing.empty() ? ": its memory is not in mxact yet" : ": its conversion was " + result.standing);
    }
    if (!is_modelled(result)) return choice.backend + ": its memory of experts without a gate is not in mxact yet";
    if (result.sizes.intermediate % result.sizes.group != 0) return {};
    for (const families::BrokenNeed& broken : families::broken_needs(*backend, setting_of(result))) {
      if (broken.need.is_ours) return choice.backend + ": " + std::string(broken.need.why);
    }
    return {};
  }

  const checkpoint::Checkpoint& checkpoint_;
  const VerifyOptions& options_;
  VerifyReport& report_;
  deployment::LayerConfig layer_;
};

std::vector<const deployment::PlatformPreset*> chosen_platforms(const std::vector<std::string>& names) {
  std::vector<const deployment::PlatformPreset*> platforms;
  if (names.empty()) {
    for (const deployment::PlatformPreset& preset : deployment::all_platforms()) platforms.push_back(&preset);
  }
  for (const std::string& name : names) {
    const deployment::PlatformPreset& preset = deployment::platform_named(name);
    if (std::ranges::find(platforms, &preset) != platforms.end())
      throw Error(ErrorCode::usage, "platform " + std::string(preset.name) + " is given twice");
    platforms.push_back(&preset);
  }
  return platforms;
}

/// The preset that stands for a deployment's hardware. Throws Error(unsupported) where none does.
const deployment::PlatformPreset& preset_of(const support::DeploymentFile& file) {
  const deployment::Hardware& hardware = file.deployment.hardware;
  for (const deployment::PlatformPreset& preset : deployment::all_platforms()) {
    const bool is_it =
        preset.platform == hardware.platform && preset.capability == hardware.capability.value_or(0) && preset.gcn_arch == hardware.gcn_arch;
    if (is_it) return preset;
  }
  throw Error(ErrorCode::unsupported,
              "its hardware, " + std::string(deployment::name_of(hardware.platform)) + " " +
                  (hardware.capability ? "capability " + std::to_string(*hardware.capability) : hardware.gcn_arch) + ", has no converters here",
              "--deployment");
}

/// What a deployment says of the layer must be what the checkpoint has: the engine would be asked about another one. Throws Error(input) otherwise.
void require_same(const checkpoint::Checkpoint& checkpoint, const VerifyReport& report, const VerifyOptions& options) {
  const support::DeploymentFile& file = *options.deployment;
  const deployment::LayerConfig& layer = file.deployment.layer;
  const deployment::LayerConfig own = layer_config(checkpoint, common_activation(checkpoint, report.layers_verified), options.engine);
  const engine::OracleTables& tables = oracle_of(checkpoint, options.engine);
  const deployment::Scheme& scheme = deployment::scheme_named(checkpoint.source_form().use.scheme);
  const auto same = [](std::string_view key, const auto& given, const auto& has) {
    if (given == has) return;
    std::ostringstream text;
    text << std::boolalpha << key << " is " << given << ", and the checkpoint has " << has;
    throw Error(ErrorCode::input, text.str(), "--deployment");
  };
  same("oracle", std::string_view(file.oracle), std::string_view(tables.name));
  if (!tables.weight_key) same("weight_key", std::string_view(file.deployment.weight_key), scheme.weight_key);
  same("layer.experts", layer.num_experts, own.num_experts);
  same("layer.top_k", layer.experts_per_token, own.experts_per_token);
  same("layer.hidden", layer.hidden, own.hidden);
  same("layer.intermediate", layer.intermediate_per_partition * deployment::tensor_ranks(file.deployment.parallel), own.intermediate_per_partition);
  same("layer.activation", layer.activation, own.activation);
  same("layer.bias", layer.has_bias, own.has_bias);
  same("layer.act_and_mul", layer.is_act_and_mul, own.is_act_and_mul);
}

}  // namespace

/// The oracle that the engine asks about such a checkpoint.
const engine::OracleTables& oracle_of(const checkpoint::Checkpoint& checkpoint, deployment::Engine engine) {
  return engine::tables_of(engine, deployment::scheme_named(checkpoint.source_form().use.scheme).oracle);
}

void plan_cells(const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options, VerifyReport& report) {
  if (options.deployment) require_same(checkpoint, report, options);
  CellPlanner planner(checkpoint, options, report);
  if (options.deployment) {
    const deployment::PlatformPreset& preset = preset_of(*options.deployment);
    const int tp = options.deployment->deployment.parallel.tp;
    planner.plan(preset, tp);
    if (report.cells.empty()) planner.explain_nothing(preset, tp);
    return;
  }
  const std::vector<int> sizes = options.tp.empty() ? std::vector<int>{1, 2} : options.tp;
  const std::vector<const deployment::PlatformPreset*> platforms = chosen_platforms(options.platforms);
  for (const deployment::PlatformPreset* platform : platforms) {
    for (const int tp : sizes) planner.plan(*platform, tp);
  }
  if (report.cells.empty()) planner.explain_nothing(*platforms.front(), sizes.front());
}

}  // namespace mx::sim
