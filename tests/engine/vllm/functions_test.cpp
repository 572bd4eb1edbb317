// Recorded answers of the engine's single functions, and how broken lines are reported.

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <ranges>
#include <string>

#include "golden/witness/cases.hpp"
#include "golden/witness/oracle.hpp"
#include "golden/witness/oracle_functions.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"
#include "tests/engine/vllm/recorded_lines.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::golden::CaseResult;
using mx::golden::evaluate_oracle_case;
using mx::support::Json;
using mx::tests::message_of;
using mx::tests::says;

std::vector<Json> cases_of(const std::string& folder) {
  std::vector<Json> all;
  for (const char* name : {"functions.jsonl", "quant_configs.jsonl"}) {  // the second of later versions alone
    if (!mx::golden::has_recording(mx::tests::oracle_recording(folder + name))) continue;
    for (Json& one : mx::tests::recorded_lines(folder + name)) all.push_back(std::move(one));
  }
  return all;
}

const std::vector<Json>& cases() {
  static const auto read = cases_of("");
  return read;
}

/// Every version of the engine with its recorded functions.
const std::map<mx::deployment::Engine, std::vector<Json>>& all_cases() {
  static const std::map<mx::deployment::Engine, std::vector<Json>> read = {{mx::deployment::kVllm2026_05, cases()},
                                                                           {mx::deployment::kVllm2026_08, cases_of("2026-08/")},
                                                                           {mx::deployment::kVllm2026_11, cases_of("2026-11/")}};
  return read;
}

/// The first case of a function that gives a value; null without one.
const Json* first_case(const std::vector<Json>& all, std::string_view oracle) {
  const auto gives = [&](const Json& one) { return one.at("oracle") == oracle && !one.at("result").contains("error_type"); };
  const auto found = std::ranges::find_if(all, gives);
  return found == all.end() ? nullptr : &*found;
}

const Json& a_case(const std::string& oracle) {
  for (const Json& one : cases()) {
    if (one.at("oracle") == oracle && !one.at("result").contains("error_type")) return one;
  }
  throw std::runtime_error("no case of " + oracle);
}

/// The same value with the keys of every object in the opposite order.
Json reversed(const Json& value) {
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [key, member] : std::views::reverse(value.items())) out[key] = reversed(member);
  return out;
}

/// Another value of the same kind.
Json changed(const Json& value) {
  if (value.is_string()) return value.get<std::string>() + "?";
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() + 1;
  if (value.is_null()) return 1;
  Json out = value;
  if (value.is_array()) out.push_back(1);
  if (value.is_object()) out.items().front().value = changed(out.items().front().value);
  return out;
}

}  // namespace

TEST_CASE("every recorded answer of a function is reproduced") {
  std::map<std::string, int> by_oracle;
  for (const Json& one : cases()) {
    const CaseResult result = evaluate_oracle_case(one);
    INFO(one.at("id") << " " << result.note << " got " << result.got << " expected " << result.expected);
    CHECK(result.modelled);
    CHECK(result.equal);
    CHECK(result.compared > 0);
    ++by_oracle[one.at("oracle").text()];
  }
  CHECK(by_oracle == std::map<std::string, int>{{"mxfp4_round_up", 80},
                                                {"mxfp4_backend_activation_key", 17},
                                                {"routing_method_type", 45},
                                                {"parallel_make", 50},
                                                {"all2all_hidden_roundup", 45},
                                                {"fp8_priority", 30},
                                                {"flashinfer_moe_backend", 28},
                                                {"mxfp4_quant_config", 70},
                                                {"fp8_quant_config", 70},
                                                {"nvfp4_quant_config", 8},
                                                {"w4a8_quant_config", 1},
                                                {"legacy_mxfp4", 120},
                                                {"legacy_tile_tokens_dim", 45},
                                                {"legacy_can_support_mxfp4", 37}});
  CHECK(by_oracle.size() == mx::golden::oracle_functions(mx::deployment::kVllm2026_05).size());
}

TEST_CASE("a wrong recorded answer of a function is noticed, in every field") {
  for (const Json& one : cases()) {
    for (const auto& [key, value] : one.at("result").items()) {
      if (key == "error") continue;
      Json wrong = one;
      wrong["result"][key] = changed(value);
      const CaseResult result = evaluate_oracle_case(wrong);
      INFO(one.at("id") << " " << key);
      CHECK(result.modelled);
      CHECK_FALSE(result.equal);
      CHECK(says(result.expected, key));
    }
  }
}

TEST_CASE("the order of keys means nothing, at any depth") {
  for (const Json& one : cases()) {
    const CaseResult result = evaluate_oracle_case(reversed(one));
    INFO(one.at("id") << " " << result.note << " got " << result.got << " expected " << result.expected);
    CHECK(result.modelled);
    CHECK(result.equal);
  }
}

TEST_CASE("a case line that lacks an input says which") {
  for (const auto& [engine, recorded] : all_cases()) {
    for (const mx::golden::FunctionRow& row : mx::golden::oracle_functions(engine)) {
      const Json* const one = first_case(recorded, row.oracle);
      // 2026-08 was not asked for the order of mxfp8.
      if (one == nullptr) CHECK((engine == mx::deployment::kVllm2026_08 && row.oracle == "mxfp8_priority"));
      if (one == nullptr) continue;
      for (const auto& [key, value] : one->at("inputs").items()) {
        Json lacking = *one;
        lacking["inputs"].erase(key);
        const std::string message = message_of(mx::ErrorCode::input, [&] { evaluate_oracle_case(lacking); });
        INFO(row.oracle << ": " << message);
        CHECK(says(message, "'" + key + "'"));
        CHECK(says(message, one->at("id").get<std::string>()));
      }
    }
  }
}

TEST_CASE("inputs of functions that break their form are errors, unknown words are unmodelled") {
  struct Row {
    const char* oracle;
    std::function<void(Json& inputs)> change;
    const char* part;
  };
  const Row broken[] = {
      {"routing_method_type", [](Json& j) { j["num_expert_group"] = "8"; }, "'num_expert_group'"},
      {"routing_method_type", [](Json& j) { j["renormalize"] = 1; }, "'renormalize'"},
      {"all2all_hidden_roundup", [](Json& j) { j["parallel"].erase("dp_size"); }, "'dp_size'"},
      {"all2all_hidden_roundup", [](Json& j) { j["hidden_size"] = 0; }, "'hidden_size'"},
      {"fp8_priority", [](Json& j) { j["ep_size"] = 0; }, "'ep_size'"},
      {"flashinfer_moe_backend", [](Json& j) { j["env"]["VLLM_FLASHINFER_MOE_BACKEND"] = 1; }, "'VLLM_FLASHINFER_MOE_BACKEND'"},
      {"mxfp4_quant_config", [](Json& j) { j["gemm1_alpha"] = "1.702"; }, "'gemm1_alpha'"},
      {"fp8_quant_config", [](Json& j) { j["block_shape"] = Json::array({128}); }, "'block_shape'"},
      {"fp8_quant_config",
       [](Json& j) {
         j["block_shape"] = Json::array({0, 128});
       },
       "'block_shape'"},
      {"legacy_mxfp4", [](Json& j) { j["software"]["torch_at_least_2_8_0"] = !j["software"]["torch_at_least_2_8_0"].get<bool>(); }, "torch_version"},
      {"legacy_mxfp4", [](Json& j) { j["software"].erase("torch_version"); }, "'torch_version'"},
      {"legacy_can_support_mxfp4", [](Json& j) { j["expert_map"] = true; }, "'expert_map'"},
      {"legacy_tile_tokens_dim", [](Json& j) { j["num_experts"] = 0; }, "'num_experts'"},
  };
  for (const Row& row : broken) {
    Json one = a_case(row.oracle);
    row.change(one["inputs"]);
    const std::string message = message_of(mx::ErrorCode::input, [&] { evaluate_oracle_case(one); });
    INFO(row.oracle << ": " << message);
    CHECK(says(message, row.part));
  }
  const Row unknown[] = {
      {"all2all_hidden_roundup", [](Json& j) { j["act_dtype"] = "float7"; }, "float7"},
      {"fp8_priority", [](Json& j) { j["weight_key"] = "kOther"; }, "kOther"},
      {"mxfp4_quant_config", [](Json& j) { j["backend"] = "HUMMING"; }, "HUMMING"},
      {"nvfp4_quant_config", [](Json& j) { j["mood"] = 1; }, "mood"},
      {"legacy_mxfp4", [](Json& j) { j["software"]["torch_version"] = "nightly"; }, "nightly"},
      {"legacy_mxfp4", [](Json& j) { j["hardware"]["platform"] = "tpu"; }, "tpu"},
  };
  for (const Row& row : unknown) {
    Json one = a_case(row.oracle);
    row.change(one["inputs"]);
    const CaseResult result = evaluate_oracle_case(one);
    INFO(row.oracle << ": " << result.note);
    CHECK_FALSE(result.modelled);
    CHECK(says(result.note, row.part));
  }
}

TEST_CASE("a set with one case that lacks an input names it as unmodelled, and holds the others") {
  const mx::tests::ScratchDirectory scratch;
  const auto file = scratch.path() / "odd.jsonl";
  Json good = a_case("parallel_make");
  // As a recorder of 2026-08 wrote the order of mxfp8: without any input.
  const std::string odd = R"({"id":"0dd0dd0dd0dd","engine":"2026-08","oracle":"mxfp8_priority","inputs":{},"result":{"backends":["MARLIN"]}})";
  std::ofstream(file) << odd << "\n" << good.dump() << "\n";
  const mx::golden::SetResult set = mx::golden::run_cases(file, {});
  REQUIRE(set.entries.size() == 2);
  CHECK(set.count(mx::golden::EntryStatus::equal) == 1);
  CHECK(set.count(mx::golden::EntryStatus::unmodelled) == 1);
  const auto unmodelled = std::ranges::find(set.entries, mx::golden::EntryStatus::unmodelled, &mx::golden::EntryResult::status);
  CHECK(unmodelled->id == "mxfp8_priority without model");
  CHECK(says(unmodelled->reason, "0dd0dd0dd0dd"));
  CHECK(says(unmodelled->reason, "inputs has no 'hardware'"));
  // A case without inputs at all is no case: that is the file's fault, and ends the run.
  std::ofstream(file) << R"({"id":"0dd0dd0dd0dd","engine":"2026-08","oracle":"mxfp8_priority","result":{"backends":[]}})"
                      << "\n";
  CHECK(says(message_of(mx::ErrorCode::input, [&] { mx::golden::run_cases(file, {}); }), "'inputs'"));
}
