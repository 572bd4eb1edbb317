#include "checkpoint/kernel_platforms.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "model/engine/vllm/select.hpp"
#include "model/error.hpp"
#include "model/families/memory.hpp"
#include "model/names.hpp"

namespace mx::checkpoint {
namespace {

constexpr std::string_view kOracle = "mxfp4";

/// Whether some class of the backend takes the device, whatever else it asks of a layer; nothing where the oracle does not have the backend.
std::optional<bool> takes_device(std::string_view backend, const deployment::Scheme& scheme, deployment::Engine engine,
                                 const deployment::PlatformPreset& platform) {
  deployment::Deployment deployment = deployment::deployment_on(
      platform, {}, {.num_experts = 32, .experts_per_token = 4, .hidden = 4096, .intermediate_per_partition = 2048, .activation = "SILU"});
  deployment.weight_key = scheme.weight_key;
  deployment.activation_key = scheme.activation_key;
  deployment.env = {{"VLLM_ROCM_USE_AITER", "1"}};
  std::optional<bool> takes;
  for (const engine::Candidate& candidate : engine::support(engine, scheme.oracle, deployment)) {
    if (same_name(candidate.backend, backend)) takes = takes.value_or(false) || !std::string_view(candidate.verdict.code).starts_with("device");
  }
  return takes;
}

/// What a layer of other sizes, another activation or another spread would not change.
bool is_for_good(std::string_view code) { return code.starts_with("device") || code == "quant_scheme" || code.starts_with("exc:"); }

bool has_kernel(const engine::OracleTables& tables, std::string_view backend, const deployment::PlatformPreset& platform) {
  // SILU, which every class takes: activations are looked at before types.
  const deployment::LayerConfig layer{
      .num_experts = 32, .experts_per_token = 4, .hidden = 2880, .intermediate_per_partition = 2880, .activation = "SILU"};
  deployment::Deployment deployment = deployment::deployment_on(platform, {}, layer);
  deployment.env = {{"VLLM_ROCM_USE_AITER", "1"}};
  const std::vector<engine::Candidate> verdicts = engine::support(tables, deployment);
  return std::ranges::any_of(verdicts, [&](const engine::Candidate& c) { return c.backend == backend && !is_for_good(c.verdict.code); });
}

[[noreturn]] void refuse_device(std::string_view backend, const families::Setting& setting, const std::string& names) {
  throw Error(ErrorCode::unsupported,
              "engine " + std::string(deployment::name_of(setting.engine)) + " has no kernel of " + std::string(backend) + " on " +
                  std::string(families::name_of(setting.arch)) + "; it has on " + names + " (--any-platform converts all the same)",
              "--platform");
}

}  // namespace

std::vector<std::string_view> kernel_platforms(std::string_view backend, deployment::Engine engine) {
  const std::string_view name = families::backend_layout_named(backend, layout::WeightFormat::mxfp4, engine).backend;
  const engine::OracleTables& tables = engine::tables_of(engine, kOracle);
  std::vector<std::string_view> platforms;
  for (const deployment::PlatformPreset& platform : deployment::all_platforms()) {
    if (has_kernel(tables, name, platform)) platforms.push_back(platform.name);
  }
  return platforms;
}

void check_takes_device(std::string_view backend, const families::Setting& setting, const deployment::Scheme& scheme) {
  std::string names;
  for (const deployment::PlatformPreset& platform : deployment::all_platforms()) {
    const std::optional<bool> takes = takes_device(backend, scheme, setting.engine, platform);
    if (!takes || (*takes && families::arch_named(platform.name) == setting.arch)) return;
    if (*takes) names += (names.empty() ? "" : ", ") + std::string(platform.name);
  }
  refuse_device(backend, setting, names);
}

void check_has_kernel(std::string_view backend, const families::Setting& setting) {
  const std::vector<std::string_view> platforms = kernel_platforms(backend, setting.engine);
  if (std::ranges::any_of(platforms, [&](std::string_view name) { return families::arch_named(name) == setting.arch; })) return;
  const std::string_view known = families::backend_layout_named(backend, layout::WeightFormat::mxfp4, setting.engine).backend;
  std::string names;
  for (std::string_view name : platforms) names += (names.empty() ? "" : ", ") + std::string(name);
  refuse_device(known, setting, names);
}

}  // namespace mx::checkpoint
