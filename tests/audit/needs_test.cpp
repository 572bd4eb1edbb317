// Needs: what a placement breaks, from the kernels' own limits; and that the tables say where each comes from.

#include "model/audit/needs.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "model/audit/placement.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"
#include "tests/catch.hpp"

using namespace mx::audit;
using namespace mx::deployment;
using namespace mx::families;
using namespace mx::engine;

namespace {

Deployment on(std::string_view platform) {
  LayerConfig layer{.num_experts = 128, .experts_per_token = 4, .hidden = 2880, .intermediate_per_partition = 2880};
  layer.has_bias = false;
  return deployment_on(platform_named(platform), {}, layer);
}

/// Ids of the broken needs, in order, with a blank between.
std::string broken(const Placement& placement) {
  std::string ids;
  for (const KernelNeed* need : needs_of(placement.engine, placement.oracle, placement.backend, placement.kernel_class)) {
    if (is_broken(*need, placement)) ids += (ids.empty() ? "" : " ") + std::string(need->id);
  }
  return ids;
}

}  // namespace

TEST_CASE("needs of MXFP4 classes name what is broken") {
  const Deployment deployment = on("SM100");
  const auto broken_at = [&](std::string_view backend, std::string_view kernel_class, std::int64_t hidden, std::int64_t intermediate) {
    return broken({deployment, mx::deployment::kVllm2026_05, "mxfp4", backend, kernel_class, hidden, intermediate, "kMxfp4Static"});
  };
  CHECK(broken_at("FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", 3072, 3072).empty());
  CHECK(broken_at("FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", 2880, 2880) == "sizes");
  CHECK(broken_at("FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", 2944, 2944) == "device");
  CHECK(broken_at("MARLIN", "MarlinExperts", 3072, 2944).empty());
  CHECK(broken_at("MARLIN", "MarlinExperts", 2880, 2880) == "sizes");
  CHECK(broken_at("BATCHED_MARLIN", "BatchedMarlinExperts", 3072, 2944) == "format");
  CHECK(broken_at("AITER_MXFP4_BF16", "AiterExperts", 3072, 3072) == "device");
  CHECK(broken_at("CPU", "CPUExpertsMxfp4", 2880, 2880) == "device");
  CHECK(broken_at("TRITON", "OAITritonExperts", 1000, 2880) == "hidden_blocks");
}

TEST_CASE("needs of FP8 classes follow the launcher's limits") {
  Deployment deployment = on("SM100");
  LayerConfig& layer = deployment.layer;
  layer = {.num_experts = 256, .experts_per_token = 8, .hidden = 7168, .intermediate_per_partition = 2048};
  layer.activation = "SILU";
  layer.routing_method = "DeepSeekV3";
  layer.has_bias = false;
  layer.expert_groups = 8;
  layer.topk_group = 4;
  const auto broken_now = [&](std::string_view key) {
    return broken({deployment, mx::deployment::kVllm2026_05, "fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", layer.hidden,
                   layer.intermediate_per_partition, key});
  };
  const std::string_view block = "kFp8Static128BlockSym";
  CHECK(broken_now(block).empty());
  CHECK(broken_now("kFp8StaticTensorSym") == "topk_group");
  layer.experts_per_token = 9;
  CHECK(broken_now(block) == "router_limits");
  layer.experts_per_token = 11;
  CHECK(broken_now(block) == "top_k router_limits");
  layer.experts_per_token = 8;
  layer.num_experts = 516;
  CHECK(broken_now(block) == "experts router_limits");  // 516 experts do not divide into 8 groups either
  layer.num_experts = 256;
  layer.activation = "RELU2_NO_MUL";
  CHECK(broken_now(block) == "block_activation");
  layer.activation = "SILU";
  layer.intermediate_per_partition = 2080;
  CHECK(broken_now(block) == "blocks sizes");
  layer.intermediate_per_partition = 2048;
  layer.router_weight_on_input = true;
  CHECK(broken_now(block) == "weight_on_input");
}

TEST_CASE("sizes are rounded as the exchange and the method do before the kernel sees them") {
  Deployment deployment = on("SM100");
  const auto sizes = [&](std::string_view oracle, std::string_view backend, std::string_view kernel_class) {
    const Placement placement = place(tables_of(mx::deployment::kVllm2026_05, oracle), deployment, backend, kernel_class);
    return std::to_string(placement.hidden) + "x" + std::to_string(placement.intermediate);
  };
  CHECK(sizes("mxfp4", "TRITON", "OAITritonExperts") == "2880x2880");
  CHECK(sizes("mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts") == "2880x2880");
  deployment.layer.intermediate_per_partition = 720;
  CHECK(sizes("mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts") == "2880x768");
  deployment.quant_method = "quark";
  CHECK(sizes("mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts") == "2880x720");
  CHECK(place(tables_of(mx::deployment::kVllm2026_05, "mxfp4"), deployment, "TRITON", "OAITritonExperts").kernel_class ==
        "OAITritonMxfp4ExpertsMonolithic");
  deployment.quant_method = "own";
  deployment.parallel = {.dp = 2, .enable_expert_parallel = true, .all2all_backend = "deepep_low_latency"};
  CHECK(sizes("mxfp4", "BATCHED_MARLIN", "BatchedMarlinExperts") == "3072x768");
  deployment.parallel = {};
  deployment.weight_key = "kNvfp4Static";
  CHECK(sizes("nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular") == "3072x720");
  deployment.layer.is_act_and_mul = false;
  CHECK(sizes("nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular") == "3072x768");
  deployment.weight_key = "kFp8StaticTensorSym";
  CHECK(sizes("fp8", "FLASHINFER_CUTLASS", "FlashInferExperts") == "2880x768");
}

TEST_CASE("a method that asks no oracle is placed whatever the oracle says") {
  Deployment deployment = on("SM100");
  deployment.quant_method = "compressed_tensors";
  const auto placement = place(tables_of(mx::deployment::kVllm2026_05, "mxfp4"), deployment, Decision{{}, Refusal{"ValueError", ""}, {}});
  REQUIRE(placement);
  CHECK(placement->backend == kNotAsked);
  CHECK(placement->kernel_class == "CutlassExpertsMxfp4");
  CHECK(broken(*placement) == "sizes");
  // Marlin's memory is made, of sizes that nobody rounds.
  deployment = on("SM90");
  deployment.quant_method = "compressed_tensors";
  deployment.layer.moe_backend = "triton";
  deployment.layer.intermediate_per_partition = 720;
  const auto marlin = place(tables_of(mx::deployment::kVllm2026_05, "mxfp4"), deployment, Decision{{}, Refusal{"ValueError", ""}, {}});
  REQUIRE(marlin);
  CHECK(marlin->backend == "MARLIN");
  CHECK(marlin->intermediate == 720);
  CHECK(broken(*marlin).find("wish") != std::string::npos);
}

TEST_CASE("a need of a converter is what the converter of that version takes") {
  const Deployment deployment = on("SM100");
  const auto broken_at = [&](mx::deployment::Engine engine, std::int64_t intermediate) {
    return broken({deployment, engine, "nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", 3072, intermediate, "kNvfp4Static"});
  };
  CHECK(broken_at(mx::deployment::kVllm2026_05, 704) == "activation");
  CHECK(broken_at(mx::deployment::kVllm2026_05, 720) == "scale_rows activation");
  CHECK(broken_at(mx::deployment::kVllm2026_08, 720) == "activation");  // pads it
}

TEST_CASE("a need ends with the version whose source says otherwise, and says so") {
  const auto need_at = [](mx::deployment::Engine engine, std::string_view id) -> const KernelNeed* {
    for (const KernelNeed* need : needs_of(engine, "fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic")) {
      if (need->id == id) return need;
    }
    return nullptr;
  };
  const KernelNeed* bias = need_at(mx::deployment::kVllm2026_05, "correction_bias");
  REQUIRE(bias != nullptr);
  CHECK(source_text(*bias) == "E/trtllm_fp8_moe.py apply; flashinfer issue 2909; until vllm@2026-08");
  CHECK(need_at(mx::deployment::kVllm2026_08, "correction_bias") == nullptr);
  // Of all three versions the class's apply keeps it from the call of scales of a tensor.
  for (const mx::deployment::Engine engine : {mx::deployment::kVllm2026_05, mx::deployment::kVllm2026_08, mx::deployment::kVllm2026_11})
    CHECK(need_at(engine, "topk_group") != nullptr);
}

TEST_CASE("what a later version's converters of DeepSeek-V4 take breaks no need") {
  const auto broken_at = [](mx::deployment::Engine engine, std::string_view platform, std::string_view backend, std::string_view kernel_class) {
    Deployment deployment = on(platform);
    deployment.layer.activation = "SILU";
    return broken({deployment, engine, "mxfp4_deepseek_v4", backend, kernel_class, 3072, 3072, "kMxfp4Static"});
  };
  CHECK(broken_at(mx::deployment::kVllm2026_05, "gfx950", "AITER_MXFP4_BF16", "AiterExperts") == "row_order");
  CHECK(broken_at(mx::deployment::kVllm2026_08, "gfx950", "AITER_MXFP4_BF16", "AiterExperts").empty());
  CHECK(broken_at(mx::deployment::kVllm2026_05, "gfx950", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts") == "converter");
  CHECK(broken_at(mx::deployment::kVllm2026_08, "gfx950", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts").empty());
  CHECK(broken_at(mx::deployment::kVllm2026_08, "XPU", "XPU", "XPUExpertsMxFp4").empty());
  CHECK(broken_at(mx::deployment::kVllm2026_08, "SM90", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts").empty());
  CHECK(broken_at(mx::deployment::kVllm2026_08, "CPU", "CPU", "CPUExpertsMxfp4") == "converter");
  CHECK(broken_at(mx::deployment::kVllm2026_11, "CPU", "CPU", "CPUExpertsMxfp4").empty());
  // The packed axis of w13 is interleaved to this day.
  CHECK(broken_at(mx::deployment::kVllm2026_11, "SM90", "TRITON", "OAITritonExperts") == "activation row_order");
}

TEST_CASE("Marlin's converters pad I since 2026-08, and never H") {
  Deployment deployment = on("SM90");
  deployment.layer.activation = "SILU";
  const auto broken_at = [&](mx::deployment::Engine engine, std::string_view oracle, std::string_view key, std::int64_t hidden,
                             std::int64_t intermediate) {
    return broken({deployment, engine, oracle, "MARLIN", "MarlinExperts", hidden, intermediate, key});
  };
  for (const auto& [oracle, key] : {std::pair{"nvfp4", "kNvfp4Static"}, {"fp8", "kFp8StaticTensorSym"}, {"mxfp8", "kMxfp8Static"}}) {
    INFO(oracle);
    CHECK(broken_at(mx::deployment::kVllm2026_05, oracle, key, 2048, 96) == "sizes");
    CHECK(broken_at(mx::deployment::kVllm2026_08, oracle, key, 2048, 96).empty());
    CHECK(broken_at(mx::deployment::kVllm2026_08, oracle, key, 2080, 96) == "sizes");
  }
  // NVFP4 alone is padded further where H asks for it.
  CHECK(broken_at(mx::deployment::kVllm2026_08, "nvfp4", "kNvfp4Static", 2112, 192).empty());
  CHECK(broken_at(mx::deployment::kVllm2026_08, "fp8", "kFp8StaticTensorSym", 2112, 192) == "sizes");
  CHECK(broken_at(mx::deployment::kVllm2026_08, "fp8", "kFp8StaticTensorSym", 2112, 256).empty());
}

TEST_CASE("since 2026-08 every class gets the map of experts that it reads, and ranks of prefill context exchange") {
  Deployment deployment = on("gfx950");
  deployment.parallel = {.tp = 8, .enable_expert_parallel = true};
  deployment.env = {{"VLLM_ROCM_USE_AITER", "1"}};
  deployment.layer.activation = "SILU";
  const auto broken_at = [&](mx::deployment::Engine engine) {
    return broken({deployment, engine, "fp8", "TRITON", "TritonExperts", 2048, 2048, "kFp8Static128BlockSym"});
  };
  CHECK(broken_at(mx::deployment::kVllm2026_05) == "expert_mask");
  CHECK(broken_at(mx::deployment::kVllm2026_08).empty());

  deployment = on("SM100");
  deployment.layer.num_experts = 130;
  deployment.parallel = {.pcp = 4, .enable_expert_parallel = true, .all2all_backend = "nixl_ep"};
  const auto of_ranks = [&](mx::deployment::Engine engine, std::string_view all2all) {
    deployment.parallel.all2all_backend = all2all;
    return broken({deployment, engine, "nvfp4", "MARLIN", "MarlinExperts", 3072, 3072, "kNvfp4Static"});
  };
  CHECK(of_ranks(mx::deployment::kVllm2026_05, "nixl_ep").empty());
  CHECK(of_ranks(mx::deployment::kVllm2026_08, "nixl_ep") == "even_exchange format");
  CHECK(of_ranks(mx::deployment::kVllm2026_08, "mori_low_latency") == "even_exchange");
}

TEST_CASE("AITER's classes of 2026-11 keep the needs of the one that they were") {
  Deployment deployment = on("gfx942");
  deployment.layer.activation = "SWIGLUSTEP";
  const auto broken_at = [&](mx::deployment::Engine engine, std::string_view kernel_class, std::string_view key) {
    return broken({deployment, engine, "fp8", "AITER", kernel_class, 2048, 2048, key});
  };
  CHECK(broken_at(mx::deployment::kVllm2026_08, "AiterExperts", "kFp8Static128BlockSym") == "activation");
  CHECK(broken_at(mx::deployment::kVllm2026_11, "AiterFp8BlockExperts", "kFp8Static128BlockSym") == "activation");
  CHECK(broken_at(mx::deployment::kVllm2026_11, "AiterFp8TensorExperts", "kFp8StaticTensorSym") == "activation");
  const auto of_mxfp4 = [&](mx::deployment::Engine engine, std::string_view backend, std::string_view kernel_class) {
    return broken({deployment, engine, "mxfp4", backend, kernel_class, 2048, 384, "kMxfp4Static"});
  };
  deployment = on("gfx950");
  deployment.layer.intermediate_per_partition = 384;
  CHECK(of_mxfp4(mx::deployment::kVllm2026_08, "AITER_MXFP4_MXFP4", "AiterExperts") == "sizes");
  CHECK(of_mxfp4(mx::deployment::kVllm2026_11, "AITER_MXFP4_MXFP4", "AiterMxfp4Experts").empty());
  CHECK(of_mxfp4(mx::deployment::kVllm2026_11, "AITER_MXFP4_BF16", "AiterMxfp4Experts") == "sizes");
  deployment.layer.activation = "SITU";
  CHECK(of_mxfp4(mx::deployment::kVllm2026_11, "AITER_MXFP4_BF16", "AiterMxfp4Experts").empty());
}

TEST_CASE("TRT-LLM's FP8 class behind the router asserts nothing, and its launcher does") {
  Deployment deployment = on("SM100");
  LayerConfig& layer = deployment.layer;
  layer.activation = "SILU";
  const auto broken_now = [&](std::string_view kernel_class) {
    return broken({deployment, mx::deployment::kVllm2026_05, "fp8", "FLASHINFER_TRTLLM", kernel_class, 2048, 2048, "kFp8Static128BlockSym"});
  };
  layer.experts_per_token = 12;
  CHECK(broken_now("TrtLlmFp8ExpertsMonolithic") == "top_k");
  CHECK(broken_now("TrtLlmFp8ExpertsModular").empty());
  layer.experts_per_token = 33;
  CHECK(broken_now("TrtLlmFp8ExpertsModular") == "top_k");
  layer.experts_per_token = 1;
  layer.num_experts = 126;
  CHECK(broken_now("TrtLlmFp8ExpertsModular") == "experts");
  layer.num_experts = 128;
  layer.router_weight_on_input = true;
  CHECK(broken_now("TrtLlmFp8ExpertsModular") == "weight_twice");
}

TEST_CASE("TRT-LLM's router of 2026-08 reads groups and scaling for DeepSeekV3 alone") {
  Deployment deployment = on("SM100");
  LayerConfig& layer = deployment.layer;
  const auto broken_now = [&](mx::deployment::Engine engine) {
    return broken({deployment, engine, "mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", 3072, 3072, "kMxfp4Static"});
  };
  layer.expert_groups = 8;
  layer.topk_group = 4;
  layer.has_routed_scaling = true;
  CHECK(broken_now(mx::deployment::kVllm2026_05) == "expert_groups routed_scaling");
  CHECK(broken_now(mx::deployment::kVllm2026_08) == "expert_groups routed_scaling");
  layer.routing_method = "DeepSeekV3";
  CHECK(broken_now(mx::deployment::kVllm2026_05) == "expert_groups routed_scaling");
  CHECK(broken_now(mx::deployment::kVllm2026_08).empty());
  layer.topk_group = 5;
  CHECK(broken_now(mx::deployment::kVllm2026_08) == "router_limits");
  layer.expert_groups = 1;
  layer.topk_group = 1;
  layer.activation = "SITU";
  CHECK(broken_now(mx::deployment::kVllm2026_08).empty());
  layer.constants.emplace();
  layer.constants->situ_beta = 4.0;
  CHECK(broken_now(mx::deployment::kVllm2026_08) == "situ_betas");
  deployment.software.flashinfer_situ = false;
  CHECK(broken_now(mx::deployment::kVllm2026_08) == "activation situ_betas");
}

TEST_CASE("what a later version's class takes, device and activation, no need forbids that an earlier source says") {
  // A row that forbids it names the version: its source was read for it.
  // Rows of 2026-08 whose source reads the same in 0.33.0.
  const auto reads_the_same = [](const KernelNeed& need) {
    return need.source.starts_with("E/trtllm_fp8_moe.py ") || need.source.starts_with("vllm quantization/mxfp4.py") ||
           need.source.starts_with("E/mxfp8_native_moe.py");
  };
  const auto is_judged = [](const KernelNeed& need) {
    return need.id.find("activation") != std::string_view::npos || need.id == "oai_constants" || need.id == "no_constants" || need.id == "device";
  };
  const auto is_stale = [&](const KernelNeed& need, const Placement& placement) {
    if (need.versions.since == mx::deployment::kVllm2026_08 && placement.engine == mx::deployment::kVllm2026_11 && reads_the_same(need)) return false;
    return need.grounds == mx::Grounds::read && is_judged(need) && is_broken(need, placement) && need.versions.since != placement.engine;
  };
  int asked = 0;
  const auto check = [&](const OracleTables& tables, const Deployment& deployment) {
    for (const Candidate& candidate : support(tables, deployment)) {
      if (!candidate.verdict.supported) continue;
      const Placement placement = place(tables, deployment, candidate.backend, candidate.kernel_class);
      for (const KernelNeed* need : needs_of(tables.engine, tables.name, candidate.backend, candidate.kernel_class)) {
        INFO(name_of(tables.engine) << " " << tables.name << " " << candidate.backend << "/" << candidate.kernel_class << " takes "
                                    << deployment.layer.activation << " on " << deployment.hardware.capability.value_or(0)
                                    << deployment.hardware.gcn_arch << "; " << need->id << ": " << need->statement << " [" << need->source << "]");
        CHECK_FALSE(is_stale(*need, placement));
        ++asked;
      }
    }
  };
  struct Keys {
    std::string_view oracle, weights, activations;
  };
  constexpr std::array kKeys = {Keys{"mxfp4", "kMxfp4Static", "None"},
                                Keys{"mxfp4_deepseek_v4", "kMxfp4Static", "None"},
                                Keys{"nvfp4", "kNvfp4Static", "kNvfp4Dynamic"},
                                Keys{"fp8", "kFp8Static128BlockSym", "kFp8Dynamic128Sym"},
                                Keys{"fp8", "kFp8StaticTensorSym", "kFp8StaticTensorSym"},
                                Keys{"mxfp8", "kMxfp8Static", "kMxfp8Dynamic"},
                                Keys{"w4a8", "kInt4Static", "kFp8DynamicTokenSym"}};
  for (const mx::deployment::Engine engine : {mx::deployment::kVllm2026_08, mx::deployment::kVllm2026_11}) {
    for (const Keys& keys : kKeys) {
      const OracleTables& tables = tables_of(engine, keys.oracle);
      for (const PlatformPreset& platform : all_platforms()) {
        for (int word = 0; word <= static_cast<int>(Activation::swigluoai_uninterleave); ++word) {
          Deployment deployment = on(platform.name);
          deployment.env = {{"VLLM_ROCM_USE_AITER", "1"}};
          // The compiled operation answers for the capability.
          deployment.software.mxfp4_experts_quant_op = platform.capability >= 100 && platform.capability < 120;
          deployment.layer.hidden = deployment.layer.intermediate_per_partition = 3072;
          deployment.weight_key = keys.weights;
          deployment.activation_key = keys.activations;
          deployment.layer.activation = name_of(static_cast<Activation>(word));
          deployment.layer.is_act_and_mul = !deployment.layer.activation.ends_with("_NO_MUL");
          check(tables, deployment);
        }
      }
    }
  }
  CHECK(asked > 10'000);
  // May's row of a class that took SILU alone.
  const Deployment deployment = [] {
    Deployment of_gelu = on("SM120");
    of_gelu.layer.activation = "GELU_TANH";
    return of_gelu;
  }();
  const Placement later{deployment, mx::deployment::kVllm2026_08, "nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", 2048, 2048, "kNvfp4Static"};
  const std::vector<const KernelNeed*> early = needs_of(mx::deployment::kVllm2026_05, "nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts");
  CHECK(std::ranges::any_of(early, [&](const KernelNeed* need) { return is_stale(*need, later); }));
}

TEST_CASE("every need says what it is, where it comes from, and judges only what is known") {
  std::set<std::string_view> classes;
  for (const KernelClassFacts& row : kernel_class_facts()) CHECK(classes.insert(row.name).second);
  for (const NeedTable& table : need_tables()) {
    for (const KernelNeed& need : table.rows) {
      INFO(need.id << ": " << need.statement);
      CHECK_FALSE(need.statement.empty());
      CHECK_FALSE(need.consequence.empty());
      CHECK_FALSE(need.source.empty());
      if (need.grounds == mx::Grounds::assumed) CHECK(need.holds == nullptr);
      for (std::string_view name : need.classes) CHECK(classes.contains(name));
      if (need.of_classes != nullptr) CHECK_FALSE(classes_of(need).empty());
      if (need.source.starts_with("fi ") || need.source.starts_with("deepseek-ai/"))
        CHECK((need.of == NeedOf::kernel || need.of == NeedOf::converter));
      if (need.source.starts_with("vllm fused_moe/")) CHECK(need.of == NeedOf::engine);
    }
  }
}
