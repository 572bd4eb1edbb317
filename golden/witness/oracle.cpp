#include "golden/witness/oracle.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "golden/witness/fields.hpp"
#include "golden/witness/oracle_functions.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/oracle/select.hpp"

namespace mx::golden {
namespace {

/// Reads values whose type the form fixes: anything else breaks the file.
class Values {
 public:
  Values(const Json& object, const std::string& what, const std::string& where) : fields_(object, what, where), what_(what) {}

  const Json& at(std::string_view key) { return fields_.at(key); }
  std::string text(std::string_view key) {
    const Json& value = at(key);
    if (!value.is_string()) wrong(key, "a string", value);
    return value.get<std::string>();
  }
  bool boolean(std::string_view key) {
    const Json& value = at(key);
    if (!value.is_boolean()) wrong(key, "true or false", value);
    return value.get<bool>();
  }
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high) { return checked(key, at(key), low, high); }
  int small(std::string_view key, int low) { return static_cast<int>(integer(key, low, oracle::kLargestGroup)); }
  std::int64_t size(std::string_view key) { return integer(key, 1, oracle::kLargestSize); }
  std::int64_t checked(std::string_view key, const Json& value, std::int64_t low, std::int64_t high) {
    const bool in_range = value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) &&
                          value.get<std::int64_t>() >= low && value.get<std::int64_t>() <= high;
    if (!in_range) wrong(key, "an integer in [" + std::to_string(low) + ", " + std::to_string(high) + "]", value);
    return value.get<std::int64_t>();
  }
  /// Marks a key as known that follows from others or is not looked at.
  void ignore(std::string_view key) { fields_.find(key); }
  bool has(std::string_view key) const { return fields_.has(key); }
  void finish() const { fields_.finish(); }
  [[noreturn]] void wrong(std::string_view key, const std::string& rule, const Json& value) {
    broken(what_ + " '" + std::string(key) + "' must be " + rule + ", not " + shown(value), fields_.where());
  }

 private:
  Fields fields_;
  std::string what_;
};

/// The recorded platform class also answers these; the model derives what it needs from capability and architecture.
constexpr std::array<std::string_view, 9> kDerivedHardwareKeys = {"device_name", "supports_fp8", "support_deep_gemm", "fp8_dtype", "on_gfx9",
                                                                  "on_mi3xx",    "on_gfx950",    "on_gfx1x",          "on_gfx12x"};

oracle::Hardware read_hardware(const Json& json, const std::string& where) {
  Values values(json, "hardware", where);
  for (std::string_view key : kDerivedHardwareKeys) values.ignore(key);
  oracle::Hardware hardware{};
  const std::string platform = values.text("platform");
  const auto kinds = oracle::platform_kind_names();
  const auto kind = std::find(kinds.begin(), kinds.end(), platform);
  if (kind == kinds.end()) throw Unmodelled(unknown_name("platform", platform, kinds));
  hardware.platform = static_cast<oracle::PlatformKind>(kind - kinds.begin());
  if (const Json& capability = values.at("capability"); !capability.is_null()) {
    if (!capability.is_array() || capability.size() != 2) values.wrong("capability", "null or [major, minor]", capability);
    hardware.capability =
        static_cast<int>(values.checked("capability", capability[0], 0, 1000) * 10 + values.checked("capability", capability[1], 0, 9));
  }
  if (values.has("gcn_arch")) hardware.gcn_arch = values.text("gcn_arch");
  values.finish();
  return hardware;
}

oracle::Software read_software(const Json& json, const std::string& where) {
  Values values(json, "software", where);
  oracle::Software software;
  for (const oracle::SoftwareRow& row : oracle::software_rows()) {
    if (row.name != "cutlass_group_gemm_op") {
      software.*row.answer = values.boolean(row.name);
      continue;
    }
    const std::string answer = values.text(row.name);
    constexpr std::array<std::string_view, 3> kAnswers = {"true", "false", "missing"};
    if (std::find(kAnswers.begin(), kAnswers.end(), answer) == kAnswers.end()) throw Unmodelled(unknown_name("answer", answer, kAnswers));
    software.*row.answer = answer == "true";
  }
  values.finish();
  return software;
}

oracle::ParallelRequest read_parallel(Values& values) {
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

oracle::LayerConfig read_layer(const Json& json, const std::string& where) {
  Values values(json, "config", where);
  values.ignore("router_logits_dtype");  // no class of this engine version looks at it
  oracle::LayerConfig layer{
      .num_experts = values.size("num_experts"),
      .experts_per_token = values.size("experts_per_token"),
      .hidden = values.size("hidden_dim"),
      .intermediate_per_partition = values.size("intermediate_size_per_partition"),
      .activation = values.text("activation"),
      .routing_method = values.text("routing_method"),
      .in_dtype = values.text("in_dtype"),
      .moe_backend = values.text("moe_backend"),
      .has_bias = values.boolean("has_bias"),
      .is_act_and_mul = values.boolean("is_act_and_mul"),
      .is_lora_enabled = values.boolean("is_lora_enabled"),
  };
  values.finish();
  return layer;
}

oracle::Deployment read_deployment(const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  values.ignore("parallel_derived");
  oracle::Deployment deployment;
  deployment.hardware = read_hardware(values.at("hardware"), where);
  deployment.software = read_software(values.at("software"), where);
  const Json& env = values.at("env");
  if (!env.is_object()) values.wrong("env", "an object", env);
  for (const auto& [name, value] : env.items()) {
    if (!value.is_string()) values.wrong("env." + name, "a string", value);
    deployment.env[name] = value.get<std::string>();
  }
  Values parallel(values.at("parallel"), "parallel", where);
  deployment.parallel = read_parallel(parallel);
  parallel.finish();
  deployment.layer = read_layer(values.at("config"), where);
  Values call(values.at("call"), "call", where);
  deployment.activation_key = call.text("activation_key");
  deployment.quantization_override = call.text("quantization_config");
  call.finish();
  values.finish();
  return deployment;
}

struct FlagRow {
  std::string_view name;
  bool (oracle::Parallel::*holds)() const;
};
// In the order in which sorted names are recorded.
constexpr std::array kFlags = {
    FlagRow{"is_sequence_parallel", &oracle::Parallel::is_sequence_parallel},
    FlagRow{"use_ag_rs_all2all_kernels", &oracle::Parallel::use_ag_rs_all2all_kernels},
    FlagRow{"use_all2all_kernels", &oracle::Parallel::use_all2all_kernels},
    FlagRow{"use_batched_activation_format", &oracle::Parallel::use_batched_activation_format},
    FlagRow{"use_deepep_ht_kernels", &oracle::Parallel::use_deepep_ht_kernels},
    FlagRow{"use_deepep_ll_kernels", &oracle::Parallel::use_deepep_ll_kernels},
    FlagRow{"use_fi_nvl_one_sided_kernels", &oracle::Parallel::use_fi_nvl_one_sided_kernels},
    FlagRow{"use_fi_nvl_two_sided_kernels", &oracle::Parallel::use_fi_nvl_two_sided_kernels},
    FlagRow{"use_mori_kernels", &oracle::Parallel::use_mori_kernels},
    FlagRow{"use_nixl_ep_kernels", &oracle::Parallel::use_nixl_ep_kernels},
};

Json derived_json(const oracle::ParallelRequest& request) {
  const oracle::Parallel parallel = oracle::derive(request);
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

// Each evaluator gives what the model says, with the keys of the recorded result.

Json evaluate_selection(const Json& inputs, const std::string& where) {
  const oracle::Deployment deployment = read_deployment(inputs, where);
  const oracle::Decision decision = oracle::select("mxfp4", deployment);
  if (decision.refusal) return {{"error_type", decision.refusal->error_type}};
  const oracle::Choice& choice = *decision.choice;
  return {{"backend", choice.backend},
          {"kernel_class", choice.kernel_class},
          {"rounded_hidden", choice.rounded_hidden},
          {"rounded_intermediate", choice.rounded_intermediate}};
}

/// Objects within the value spelt as keys with dots: {"a1": {"scale": 1}} is {"a1.scale": 1}. Their order means nothing, in any depth.
void spell_out(const Json& object, const std::string& prefix, Json& out) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      spell_out(value, prefix + key + ".", out);
    } else {
      out[prefix + key] = value;
    }
  }
}

Json spelt_out(const Json& object) {
  Json out = Json::object();
  spell_out(object, "", out);
  return out;
}

/// Key by key. A choice against a refusal differs. An expected key that the model does not produce makes the case unmodelled, unless another differs.
CaseResult compare(const Json& got, const Json& expected, const std::string& prefix = {}) {
  CaseResult result{true, true, 0, "", "", ""};
  if (got.contains("error_type") != expected.contains("error_type")) return {true, false, 1, got.dump(), expected.dump(), ""};
  std::string unknown;
  for (const auto& [key, value] : expected.items()) {
    if (!got.contains(key)) {
      unknown = key;
      continue;
    }
    ++result.compared;
    if (got.at(key) == value || !result.equal) continue;
    result.equal = false;
    result.got = prefix + key + ": " + got.at(key).dump();
    result.expected = prefix + key + ": " + value.dump();
  }
  if (result.equal && !unknown.empty()) throw Unmodelled("unknown key '" + prefix + unknown + "' in result");
  if (result.equal && result.compared != static_cast<std::int64_t>(got.size())) throw Unmodelled("the result lacks a key of " + got.dump());
  if (result.equal) {
    result.got = got.dump();
    result.expected = expected.dump();
  }
  return result;
}

std::string place(const Json& one_case) {
  if (!one_case.is_object()) broken("a case must be an object, not " + shown(one_case), "oracle case");
  const auto id = one_case.find("id");
  if (id == one_case.end() || !id->is_string()) broken("'id' must be a string", "oracle case");
  return "oracle case " + id->get<std::string>();
}

CaseResult unmodelled(const std::string& why) { return {false, false, 0, "", "", why}; }

/// Names that the model does not know arrive as usage errors: they make the case unmodelled, like unknown words met in reading.
template <typename Evaluate>
CaseResult guarded(const Evaluate& evaluate) {
  try {
    return evaluate();
  } catch (const Unmodelled& reason) {
    return unmodelled(reason.what());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    return unmodelled(error.what());
  }
}

/// The recorded derived configuration is held against the model's as well: it is an output of the same engine.
void compare_derived(const Json& inputs, CaseResult& result) {
  const auto recorded = inputs.find("parallel_derived");
  if (recorded == inputs.end() || !result.equal) return;
  Values values(inputs.at("parallel"), "parallel", "");
  CaseResult derived = compare(derived_json(read_parallel(values)), *recorded, "parallel_derived.");
  derived.compared += result.compared;
  if (!derived.equal) result = derived;
  result.compared = derived.compared;
}

}  // namespace

CaseResult evaluate_oracle_case(const nlohmann::ordered_json& one_case) {
  const std::string where = place(one_case);
  return guarded([&]() -> CaseResult {
    Values values(one_case, "case", where);
    values.ignore("id");
    const std::string name = values.text("oracle");
    const Json& inputs = values.at("inputs");
    Json expected = values.at("result");
    if (!expected.is_object()) values.wrong("result", "an object", expected);
    const FunctionRow* function = oracle_function(name);
    if (function == nullptr && name != "mxfp4") return unmodelled("no model for oracle " + name);
    values.finish();
    expected.erase("error");  // the engine's text is for people; its type is the answer
    const Json got = function != nullptr ? function->evaluate(inputs, where) : evaluate_selection(inputs, where);
    CaseResult result = compare(spelt_out(got), spelt_out(expected));
    compare_derived(inputs, result);
    return result;
  });
}

CaseResult evaluate_support_case(const nlohmann::ordered_json& one_case, const nlohmann::ordered_json& support) {
  const std::string where = place(one_case);
  if (place(support) != where) broken("joined with the support line of another case, " + shown(support.at("id")), where);
  return guarded([&]() -> CaseResult {
    Values line(support, "support line", where);
    line.ignore("id");
    Values values(one_case, "case", where);
    const std::string name = line.text("oracle");
    if (values.text("oracle") != name) line.wrong("oracle", "that of its case", name);
    if (name != "mxfp4") return unmodelled("no model for the support of oracle " + name);
    const Json& expected = line.at("support");
    if (!expected.is_object()) line.wrong("support", "an object", expected);
    line.finish();
    for (const auto& [key, verdict] : expected.items()) {
      const bool shaped = verdict.is_array() && verdict.size() == 2 && verdict[0].is_boolean() && (verdict[1].is_null() || verdict[1].is_string());
      if (!shaped) line.wrong(key, "[supported, code or null]", verdict);
    }
    Json got = Json::object();
    for (const oracle::Candidate& candidate : oracle::support("mxfp4", read_deployment(values.at("inputs"), where))) {
      const bool supported = candidate.verdict.supported;
      got[candidate.backend + "/" + candidate.kernel_class] = {supported, supported ? Json() : Json(candidate.verdict.code)};
    }
    return compare(got, expected);
  });
}

}  // namespace mx::golden
