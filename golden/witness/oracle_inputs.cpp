#include "golden/witness/oracle_inputs.hpp"

#include <algorithm>
#include <array>

#include "model/names.hpp"

namespace mx::golden {
namespace {

/// The recorded platform class also answers these; the model derives what it needs from capability and architecture.
constexpr std::array<std::string_view, 13> kDerivedHardwareKeys = {"device_name", "supports_fp8", "support_deep_gemm", "fp8_dtype", "on_gfx9",
                                                                   "on_mi3xx",    "on_gfx950",    "on_gfx1x",          "on_gfx12x", "on_gfx1250",
                                                                   "on_rdna4",    "cdna_version", "supports_mx"};

struct FlagRow {
  std::string_view name;
  bool (deployment::Parallel::*holds)() const;
};
// In the order in which sorted names are recorded.
constexpr std::array kFlags = {
    FlagRow{"is_sequence_parallel", &deployment::Parallel::is_sequence_parallel},
    FlagRow{"use_ag_rs_all2all_kernels", &deployment::Parallel::use_ag_rs_all2all_kernels},
    FlagRow{"use_all2all_kernels", &deployment::Parallel::use_all2all_kernels},
    FlagRow{"use_batched_activation_format", &deployment::Parallel::use_batched_activation_format},
    FlagRow{"use_deepep_ht_kernels", &deployment::Parallel::use_deepep_ht_kernels},
    FlagRow{"use_deepep_ll_kernels", &deployment::Parallel::use_deepep_ll_kernels},
    FlagRow{"use_deepep_v2_kernels", &deployment::Parallel::use_deepep_v2_kernels},
    FlagRow{"use_fi_nvl_one_sided_kernels", &deployment::Parallel::use_fi_nvl_one_sided_kernels},
    FlagRow{"use_fi_nvl_two_sided_kernels", &deployment::Parallel::use_fi_nvl_two_sided_kernels},
    FlagRow{"use_moonep_kernels", &deployment::Parallel::use_moonep_kernels},
    FlagRow{"use_mori_kernels", &deployment::Parallel::use_mori_kernels},
    FlagRow{"use_nixl_ep_kernels", &deployment::Parallel::use_nixl_ep_kernels},
    FlagRow{"use_passthrough_all2all", &deployment::Parallel::use_passthrough_all2all},
};

}  // namespace

std::string Values::text(std::string_view key) {
  const Json& value = at(key);
  if (!value.is_string()) wrong(key, "a string", value);
  return value.get<std::string>();
}

std::string Values::text_or_null(std::string_view key) { return at(key).is_null() ? std::string() : text(key); }

bool Values::boolean(std::string_view key) {
  const Json& value = at(key);
  if (!value.is_boolean()) wrong(key, "true or false", value);
  return value.get<bool>();
}

std::optional<std::int64_t> Values::integer_or_null(std::string_view key, std::int64_t low, std::int64_t high) {
  const Json& value = at(key);
  if (value.is_null()) return std::nullopt;
  return checked(key, value, low, high);
}

std::optional<double> Values::number_or_null(std::string_view key) {
  const Json& value = at(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number()) wrong(key, "a number or null", value);
  return value.get<double>();
}

bool Values::presence(std::string_view key) {
  const Json& value = at(key);
  if (!value.is_null() && value != "set") wrong(key, "\"set\" or null", value);
  return !value.is_null();
}

std::int64_t Values::checked(std::string_view key, const Json& value, std::int64_t low, std::int64_t high) {
  const bool in_range = value.is_int64() && value.get<std::int64_t>() >= low && value.get<std::int64_t>() <= high;
  if (!in_range) wrong(key, "an integer in [" + std::to_string(low) + ", " + std::to_string(high) + "]", value);
  return value.get<std::int64_t>();
}

void Values::wrong(std::string_view key, const std::string& rule, const Json& value) {
  broken(what_ + " '" + std::string(key) + "' must be " + rule + ", not " + shown(value), fields_.where());
}

deployment::Hardware read_hardware(const Json& json, const std::string& where) {
  Values values(json, "hardware", where);
  for (std::string_view key : kDerivedHardwareKeys) values.ignore(key);
  deployment::Hardware hardware{};
  const std::string platform = values.text("platform");
  const auto kinds = deployment::platform_kind_names();
  const auto kind = std::find(kinds.begin(), kinds.end(), platform);
  if (kind == kinds.end()) throw Unmodelled(unknown_name("platform", platform, kinds));
  hardware.platform = static_cast<deployment::PlatformKind>(kind - kinds.begin());
  if (const Json& capability = values.at("capability"); !capability.is_null()) {
    if (!capability.is_array() || capability.size() != 2) values.wrong("capability", "null or [major, minor]", capability);
    hardware.capability =
        static_cast<int>(values.checked("capability", capability[0], 0, 1000) * 10 + values.checked("capability", capability[1], 0, 9));
  }
  if (values.has("gcn_arch")) hardware.gcn_arch = values.text("gcn_arch");
  if (values.has("cpu_arch")) hardware.cpu_arch = values.text("cpu_arch");
  if (values.has("amx")) hardware.amx = values.boolean("amx");
  hardware.zen_cpu = values.flag("zen_cpu");
  hardware.amx_fp8 = values.flag("amx_fp8");
  values.finish();
  return hardware;
}

Json hardware_json(const deployment::Hardware& hardware) {
  Json json = {{"platform", deployment::name_of(hardware.platform)}, {"capability", nullptr}};
  if (hardware.capability) json["capability"] = Json::array({*hardware.capability / 10, *hardware.capability % 10});
  if (!hardware.gcn_arch.empty()) json["gcn_arch"] = hardware.gcn_arch;
  return json;
}

engine::Environment read_environment(Values& values, const std::string& where) {
  const Json& env = values.at("env");
  if (!env.is_object()) values.wrong("env", "an object", env);
  engine::Environment environment;
  Values variables(env, "env", where);
  for (const auto& [name, value] : env.items()) environment[name] = variables.text(name);
  return environment;
}

deployment::ParallelRequest read_parallel(Values& values) {
  return {
      .tp = values.small("tp_size", 1),
      .pcp = values.small("pcp_size", 1),
      .dp = values.small("dp_size", 1),
      .sp = values.small("sp_size", 1),
      .enable_expert_parallel = values.boolean("enable_expert_parallel"),
      .all2all_backend = values.text("all2all_backend"),
      .enable_eplb = values.boolean("enable_eplb"),
  };
}

Json parallel_json(const deployment::ParallelRequest& request) {
  return {{"tp_size", request.tp},
          {"pcp_size", request.pcp},
          {"dp_size", request.dp},
          {"sp_size", request.sp},
          {"enable_expert_parallel", request.enable_expert_parallel},
          {"all2all_backend", request.all2all_backend},
          {"enable_eplb", request.enable_eplb}};
}

Json derived_json(const deployment::ParallelRequest& request, deployment::Engine engine) {
  const deployment::Parallel parallel = deployment::derive(request, engine);
  Json flags = Json::array();
  for (const FlagRow& row : kFlags) {
    if ((parallel.*row.holds)()) flags.push_back(row.name);
  }
  return {{"tp_size", parallel.tp_size},
          {"pcp_size", parallel.pcp_size},
          {"dp_size", parallel.dp_size},
          {"ep_size", parallel.ep_size},
          {"sp_size", parallel.sp_size},
          {"use_ep", parallel.use_ep},
          {"enable_eplb", parallel.enable_eplb},
          {"all2all_backend", parallel.all2all_backend},
          {"flags", flags}};
}

}  // namespace mx::golden
