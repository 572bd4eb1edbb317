// Recorded decisions of the engines that came later: every choice, every verdict, every single function.

#include <map>
#include <string>

#include "golden/witness/oracle.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/recorded_lines.hpp"

namespace {

using mx::golden::CaseResult;
using mx::support::Json;

std::map<std::string, Json> read_cases(const std::string& name) {
  std::map<std::string, Json> cases;
  for (Json& one : mx::tests::recorded_lines(name)) {
    cases.emplace(one.at("id").get<std::string>(), std::move(one));
  }
  return cases;
}

using Counts = std::map<std::string, int>;

/// Cases by oracle; none may differ or be without a model.
Counts counted(const std::map<std::string, Json>& cases) {
  Counts by_oracle;
  for (const auto& [id, one] : cases) {
    const CaseResult result = mx::golden::evaluate_oracle_case(one);
    INFO(id << " " << result.note << " got " << result.got << " expected " << result.expected);
    CHECK(result.modelled);
    CHECK(result.equal);
    CHECK(result.compared > 0);
    ++by_oracle[one.at("oracle").text()];
  }
  return by_oracle;
}

struct Version {
  const char* folder;
  Counts selections;
  Counts functions;
  Counts configs;
  std::size_t supports;
  std::int64_t verdicts;
};

const Version kVersions[] = {
    {"2026-08/",
     {{"mxfp4", 150},
      {"mxfp4_deepseek_v4", 128},
      {"nvfp4", 110},
      {"fp8", 136},
      {"mxfp8", 105},
      {"w4a8", 61},
      {"unquantized", 128},
      {"int_wna16", 118},
      {"int8", 89},
      {"w4a8_int8", 71}},
     {{"all2all_hidden_roundup", 38},
      {"fp8_priority", 75},
      {"int8_priority", 6},
      {"int_wna16_priority", 10},
      {"moe_backend_map", 108},
      {"mxfp4_backend_activation_key", 12},
      {"mxfp4_deepseek_v4_priority", 9},
      {"mxfp4_priority", 1},
      {"mxfp4_round_up", 122},
      {"parallel_make", 21},
      {"routing_method_type", 89},
      {"unquantized_priority", 66},
      {"w4a8_int8_priority", 7}},
     {{"fp8_quant_config", 136},
      {"int8_quant_config", 12},
      {"int_wna16_quant_config", 24},
      {"mxfp4_quant_config", 54},
      {"nvfp4_quant_config", 30},
      {"w4a8_int8_quant_config", 3},
      {"w4a8_quant_config", 1}},
     1067,
     16028},
    {"2026-11/",
     {{"mxfp4", 187},
      {"mxfp4_deepseek_v4", 150},
      {"nvfp4", 131},
      {"fp8", 166},
      {"mxfp8", 113},
      {"w4a8", 77},
      {"unquantized", 133},
      {"int_wna16", 135},
      {"int8", 106},
      {"w4a8_int8", 83}},
     {{"all2all_hidden_roundup", 68},
      {"deep_gemm_auto_disabled", 25},
      {"fp8_block_shape", 109},
      {"fp8_priority", 110},
      {"int8_priority", 16},
      {"int_wna16_priority", 15},
      {"moe_backend_map", 213},
      {"mxfp4_backend_activation_key", 20},
      {"mxfp4_deepseek_v4_priority", 15},
      {"mxfp4_priority", 5},
      {"mxfp4_round_up", 205},
      {"mxfp8_priority", 7},
      {"nvfp4_priority", 8},
      {"parallel_make", 43},
      {"prefers_humming", 5},
      {"routing_method_type", 126},
      {"unquantized_priority", 101},
      {"unquantized_round_up", 38},
      {"w4a8_int8_priority", 10}},
     {{"fp8_quant_config", 144},
      {"int8_quant_config", 12},
      {"int_wna16_quant_config", 24},
      {"mxfp4_quant_config", 69},
      {"nvfp4_quant_config", 33},
      {"w4a8_int8_quant_config", 3},
      {"w4a8_quant_config", 1}},
     1239,
     22020},
};

}  // namespace

TEST_CASE("every recorded decision of a later engine is reproduced") {
  for (const Version& version : kVersions) {
    INFO(version.folder);
    CHECK(counted(read_cases(std::string(version.folder) + "selections.jsonl")) == version.selections);
    CHECK(counted(read_cases(std::string(version.folder) + "functions.jsonl")) == version.functions);
    CHECK(counted(read_cases(std::string(version.folder) + "quant_configs.jsonl")) == version.configs);
  }
}

TEST_CASE("every recorded verdict of a later engine is reproduced") {
  for (const Version& version : kVersions) {
    const auto cases = read_cases(std::string(version.folder) + "selections.jsonl");
    const auto supports = read_cases(std::string(version.folder) + "selections_support.jsonl");
    std::int64_t verdicts = 0;
    for (const auto& [id, support] : supports) {
      const CaseResult result = mx::golden::evaluate_support_case(cases.at(id), support);
      INFO(version.folder << id << " " << result.note << " got " << result.got << " expected " << result.expected);
      CHECK(result.modelled);
      CHECK(result.equal);
      verdicts += result.compared;
    }
    CHECK(supports.size() == version.supports);
    CHECK(verdicts == version.verdicts);
  }
}

TEST_CASE("a version does not answer with another's rows") {
  // The same inputs, asked of the other version: many answers differ, so neither table can stand in for the other.
  const auto august = read_cases("2026-08/selections.jsonl");
  int other = 0;
  for (const auto& [id, one] : august) {
    Json moved = one;
    moved["engine"] = "2026-11";
    const CaseResult result = mx::golden::evaluate_oracle_case(moved);
    other += result.modelled && !result.equal ? 1 : 0;
  }
  CHECK(other > 50);
}
