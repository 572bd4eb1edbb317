// Which constants reach which kernel: no gap in the table, and no row that a recorded configuration contradicts.

#include "model/engine/vllm/setup/constants.hpp"

#include <string>
#include <vector>

#include "model/audit/strict.hpp"
#include "model/engine/vllm/select.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/recorded_lines.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using namespace mx::audit;
using namespace mx::families;
using mx::support::Json;

namespace {

constexpr mx::deployment::Engine kEngines[] = {mx::deployment::kVllm2026_05, mx::deployment::kVllm2026_08, mx::deployment::kVllm2026_11};
constexpr Activation kWithConstants[] = {Activation::silu, Activation::swigluoai, Activation::swigluoai_uninterleave};

Deployment some_deployment(std::string_view platform) {
  LayerConfig layer{.num_experts = 4, .experts_per_token = 2, .hidden = 256, .intermediate_per_partition = 128};
  return deployment_on(platform_named(platform), {}, layer);
}

const KernelClass* class_of(const OracleTables& tables, std::string_view name) {
  for (const KernelClass& row : tables.classes) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// The constants that mean something with an activation.
std::vector<Constant> constants_with(Activation activation) {
  if (activation == Activation::silu) return {Constant::limit};
  return {Constant::limit, Constant::alpha, Constant::beta};
}

/// Recorded configurations of a version: those of the functions around the choice, and the wheels'.
std::vector<Json> recorded(mx::deployment::Engine engine) {
  const bool first = engine == mx::deployment::kVllm2026_05;
  const char* const name = first                                    ? "functions.jsonl"
                           : engine == mx::deployment::kVllm2026_08 ? "2026-08/quant_configs.jsonl"
                                                                    : "2026-11/quant_configs.jsonl";
  std::vector<Json> cases;
  for (Json& one : mx::tests::recorded_lines(name)) {
    const std::string oracle = one.at("oracle").get<std::string>();
    if (oracle == "mxfp4_quant_config" || oracle == "nvfp4_quant_config" || oracle == "fp8_quant_config") cases.push_back(std::move(one));
  }
  return cases;
}

/// Weights and activations of the recorded call, as its oracle's callers pass them; false where no caller does.
bool take_keys(const Json& inputs, std::string_view oracle, Deployment& deployment) {
  if (oracle != "fp8") return true;
  const Json& block = inputs.at("block_shape");
  const bool token = inputs.at("per_act_token_quant").get<bool>();
  if (token != inputs.at("per_out_ch_quant").get<bool>()) return false;
  deployment.weight_key = token ? "kFp8StaticChannelSym" : block.is_null() ? "kFp8StaticTensorSym" : "kFp8Static128BlockSym";
  deployment.activation_key = token ? "kFp8DynamicTokenSym" : block.is_null() ? "kFp8StaticTensorSym" : "kFp8Dynamic128Sym";
  return block.is_null() || block[0].get<int>() == 128;
}

}  // namespace

TEST_CASE("every class of every version has a row for what its activations have") {
  int rows = 0;
  for (const mx::deployment::Engine engine : kEngines) {
    for (const std::string_view oracle : oracle_names(engine)) {
      const OracleTables& tables = tables_of(engine, oracle);
      for (const BackendRow& backend : tables.backends) {
        for (const std::string_view name : backend.classes) {
          const KernelClass* row = class_of(tables, name);
          REQUIRE(row != nullptr);
          Deployment deployment = some_deployment("SM100");
          deployment.weight_key = name_of(tables.usual_weight_key);
          INFO(mx::deployment::name_of(engine) << " " << oracle << " " << backend.name << " " << name);
          CHECK(reach(tables, deployment, backend.name, name, Constant::bias).has_value());
          for (const Activation activation : kWithConstants) {
            // FlashInfer's CUTLASS of 2026-05 computes SwiGLU where it is asked for SWIGLUOAI without MXFP4: nothing of it to hand on.
            const bool other = name == "FlashInferExperts" && engine == mx::deployment::kVllm2026_05 && activation == Activation::swigluoai;
            if (!contains(row->activations, activation) || other) continue;
            deployment.layer.activation = name_of(activation);
            for (const Constant constant : constants_with(activation)) {
              INFO(name_of(activation) << " " << name_of(constant));
              CHECK(reach(tables, deployment, backend.name, name, constant).has_value());
              ++rows;
            }
          }
        }
      }
    }
  }
  CHECK(rows > 500);
}

TEST_CASE("what a recorded configuration has not does not reach a class that takes it from there, and what it has does") {
  int compared = 0, dropped = 0;
  for (const mx::deployment::Engine engine : kEngines) {
    for (const Json& one : recorded(engine)) {
      const std::string function = one.at("oracle").get<std::string>();
      const std::string oracle = function.substr(0, function.find('_'));
      const Json& inputs = one.at("inputs");
      const Json& result = one.at("result");
      const OracleTables& tables = tables_of(engine, oracle);
      if (result.contains("error_type")) continue;
      Deployment deployment = some_deployment("SM100");
      deployment.layer.activation = "SILU";
      if (!take_keys(inputs, oracle, deployment)) continue;
      const std::string name = inputs.at("backend").get<std::string>();
      if (inputs.contains("use_a16")) deployment.activation_key = inputs.at("use_a16").get<bool>() ? "None" : "kNvfp4Dynamic";
      const bool has_limit = !result.at("gemm1_clamp_limit").is_null();
      // The nvfp4 function of 2026-05 has no argument for it.
      const bool given = inputs.contains("swiglu_limit") ? !inputs.at("swiglu_limit").is_null() : engine == mx::deployment::kVllm2026_05;
      if (!given) continue;
      for (const BackendRow& backend : tables.backends) {
        if (backend.name != name) continue;
        for (const std::string_view kernel_class : backend.classes) {
          const auto reached = reach(tables, deployment, name, kernel_class, Constant::limit);
          INFO(one.at("id") << " " << kernel_class);
          if (!reached || reached->row->from != From::config) continue;
          CHECK((reached->reach == Reach::reaches) == has_limit);
          ++compared;
          dropped += has_limit ? 0 : 1;
        }
      }
    }
  }
  CHECK(compared > 100);
  CHECK(dropped >= 5);
}

// vllm pull requests 42855, 43589, 45836, 46492, issues 53411, 55069; each version's own sources.
TEST_CASE("a limit of SILU: who clamps differs by version, oracle, backend, class and device") {
  struct Row {
    mx::deployment::Engine engine;
    const char* oracle;
    const char* platform;
    const char* weights;
    const char* backend;
    const char* kernel_class;
    Reach reach;
  };
  using enum Reach;
  constexpr auto kIn05 = mx::deployment::kVllm2026_05, kIn08 = mx::deployment::kVllm2026_08, kIn11 = mx::deployment::kVllm2026_11;
  const Row rows[] = {
      {kIn05, "nvfp4", "SM90", "kNvfp4Static", "MARLIN", "MarlinExperts", does_not},
      {kIn08, "nvfp4", "SM90", "kNvfp4Static", "MARLIN", "MarlinExperts", reaches},
      {kIn05, "nvfp4", "SM100", "kNvfp4Static", "FLASHINFER_CUTLASS", "FlashInferExperts", does_not},
      {kIn08, "nvfp4", "SM100", "kNvfp4Static", "FLASHINFER_CUTLASS", "FlashInferExperts", reaches},
      {kIn05, "nvfp4", "SM120", "kNvfp4Static", "VLLM_CUTLASS", "CutlassExpertsFp4", does_not},
      {kIn08, "nvfp4", "SM120", "kNvfp4Static", "VLLM_CUTLASS", "CutlassExpertsFp4", reaches},
      {kIn05, "nvfp4", "SM100", "kNvfp4Static", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", does_not},
      {kIn08, "nvfp4", "SM100", "kNvfp4Static", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", reaches},
      {kIn05, "fp8", "SM90", "kFp8StaticChannelSym", "TRITON", "TritonExperts", reaches},
      {kIn05, "fp8", "SM90", "kFp8Static128BlockSym", "TRITON", "TritonExperts", reaches},
      {kIn05, "fp8", "SM89", "kFp8Static128BlockSym", "TRITON", "TritonExperts", does_not},
      {kIn05, "fp8", "SM120", "kFp8Static128BlockSym", "TRITON", "TritonExperts", does_not},
      {kIn08, "fp8", "SM120", "kFp8Static128BlockSym", "TRITON", "TritonExperts", reaches},
      {kIn05, "fp8", "gfx942", "kFp8Static128BlockSym", "TRITON", "TritonExperts", does_not},
      {kIn08, "fp8", "gfx942", "kFp8Static128BlockSym", "TRITON", "TritonExperts", does_not},
      {kIn11, "fp8", "gfx942", "kFp8Static128BlockSym", "TRITON", "TritonExperts", reaches},
      {kIn05, "fp8", "SM90", "kFp8Static128BlockSym", "MARLIN", "MarlinExperts", does_not},
      {kIn08, "fp8", "SM90", "kFp8Static128BlockSym", "MARLIN", "MarlinExperts", reaches},
      {kIn05, "fp8", "SM100", "kFp8Static128BlockSym", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", does_not},
      {kIn08, "fp8", "SM100", "kFp8Static128BlockSym", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", raises},
      {kIn11, "fp8", "SM100", "kFp8Static128BlockSym", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", reaches},
      {kIn08, "fp8", "SM100", "kFp8StaticTensorSym", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", does_not},
      {kIn05, "mxfp8", "SM100", "kMxfp8Static", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", does_not},
      {kIn08, "mxfp8", "SM100", "kMxfp8Static", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", reaches},
      {kIn05, "mxfp4_deepseek_v4", "SM100", "kMxfp4Static", "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", reaches},
      {kIn05, "w4a8", "SM90", "kInt4Static", "CUTLASS", "CutlassExpertsW4A8Fp8", does_not},
      {kIn08, "w4a8", "SM90", "kInt4Static", "CUTLASS", "CutlassExpertsW4A8Fp8", reaches},
      {kIn08, "fp8", "gfx950", "kFp8StaticChannelSym", "AITER", "AiterExperts", does_not},
      {kIn11, "fp8", "gfx950", "kFp8StaticChannelSym", "AITER", "AiterFp8ChannelExperts", reaches},
      {kIn05, "fp8", "XPU", "kFp8StaticTensorSym", "XPU", "XPUExpertsFp8", does_not},
      {kIn08, "fp8", "XPU", "kFp8StaticTensorSym", "XPU", "XPUExpertsFp8", reaches},
  };
  for (const Row& row : rows) {
    Deployment deployment = some_deployment(row.platform);
    deployment.layer.activation = "SILU";
    deployment.layer.has_swiglu_limit = true;
    deployment.weight_key = row.weights;
    INFO(mx::deployment::name_of(row.engine) << " " << row.oracle << " " << row.platform << " " << row.weights << " " << row.backend);
    const auto reached = reach(tables_of(row.engine, row.oracle), deployment, row.backend, row.kernel_class, Constant::limit);
    REQUIRE(reached);
    CHECK(reached->reach == row.reach);
  }
}

TEST_CASE("biases: a class that reads them has them where the configuration does") {
  const auto of = [](mx::deployment::Engine engine, const char* oracle, const char* weights, const char* backend, const char* kernel_class) {
    Deployment deployment = some_deployment("SM90");
    deployment.weight_key = weights;
    return reach(tables_of(engine, oracle), deployment, backend, kernel_class, Constant::bias)->reach;
  };
  CHECK(of(mx::deployment::kVllm2026_05, "mxfp4", "kMxfp4Static", "MARLIN", "MarlinExperts") == Reach::reaches);
  CHECK(of(mx::deployment::kVllm2026_05, "nvfp4", "kNvfp4Static", "MARLIN", "MarlinExperts") == Reach::does_not);
  CHECK(of(mx::deployment::kVllm2026_11, "nvfp4", "kNvfp4Static", "MARLIN", "MarlinExperts") == Reach::does_not);
  CHECK(of(mx::deployment::kVllm2026_05, "fp8", "kFp8StaticChannelSym", "TRITON", "TritonExperts") == Reach::does_not);
  CHECK(of(mx::deployment::kVllm2026_08, "fp8", "kFp8StaticChannelSym", "TRITON", "TritonExperts") == Reach::reaches);
  CHECK(of(mx::deployment::kVllm2026_08, "fp8", "kFp8StaticTensorSym", "FLASHINFER_CUTLASS", "FlashInferExperts") == Reach::does_not);
  CHECK(of(mx::deployment::kVllm2026_08, "int8", "kInt8StaticChannelSym", "TRITON", "TritonExperts") == Reach::reaches);
}

TEST_CASE("a strict choice breaks no need about constants on any version") {
  for (const mx::deployment::Engine engine : kEngines) {
    for (const char* platform : {"SM80", "SM89", "SM90", "SM100", "SM120", "gfx942", "gfx950", "XPU", "CPU"}) {
      for (const std::string_view oracle : oracle_names(engine)) {
        for (const char* activation : {"SILU", "SWIGLUOAI"}) {
          Deployment deployment = some_deployment(platform);
          const OracleTables& tables = tables_of(engine, oracle);
          deployment.weight_key = name_of(tables.usual_weight_key);
          deployment.activation_key = name_of(tables.usual_activation_key);
          deployment.layer.activation = activation;
          deployment.layer.has_bias = false;
          deployment.layer.has_swiglu_limit = true;
          const StrictDecision strict = select_strict(engine, oracle, deployment);
          if (!strict.decision.choice || strict.decision.choice->kernel_class.empty()) continue;
          const auto reached = reach(tables, deployment, strict.decision.choice->backend, strict.decision.choice->kernel_class, Constant::limit);
          INFO(mx::deployment::name_of(engine) << " " << oracle << " " << platform << " " << activation << " " << strict.decision.choice->backend);
          CHECK((!reached || reached->reach == Reach::reaches));
        }
      }
    }
  }
}
