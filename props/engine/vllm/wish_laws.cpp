// O2 a wish, a variable or a key is met or refused.

#include <rapidcheck.h>

#include <array>

#include "model/deployment/vocabulary.hpp"
#include "props/engine/vllm/law_tools.hpp"

namespace mx::props {
namespace {

using deployment::Deployment;
using engine::Decision;
using Text = std::string_view;

/// Variables that steer the search of an unspecific request.
constexpr std::array<Text, 11> kSteering = {
    "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16",
    "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8",
    "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS",
    "VLLM_MXFP4_USE_MARLIN",
    "VLLM_USE_FLASHINFER_MOE_FP4",
    "VLLM_USE_FLASHINFER_MOE_FP8",
    "VLLM_FLASHINFER_MOE_BACKEND",
    "VLLM_MOE_USE_DEEP_GEMM",
    "VLLM_TEST_FORCE_FP8_MARLIN",
    "VLLM_ROCM_USE_AITER_MOE",
    "VLLM_ROCM_USE_AITER",
};

/// A class check reads these two as well: AITER's classes are let in by them.
bool is_read_by_classes(Text variable) { return variable.starts_with("VLLM_ROCM_USE_AITER"); }

}  // namespace

Outcome wish_is_met_or_refused(const Law& law) {
  return on_random(law, {}, [](Text oracle, const Deployment& drawn) {
    Deployment deployment = drawn;
    if (deployment.layer.moe_backend == "auto") deployment.layer.moe_backend = std::string(pick_word(deployment::moe_backend_names().subspan(1)));
    const Decided it = decided(oracle, deployment);
    const bool listens = oracle != "w4a8";  // it has one backend and reads no wish
    if (listens) {
      require(!it.decision.choice || wish_means(oracle, deployment.layer.moe_backend, it.decision.choice->backend),
              "another backend than the wish means", it);
      require(!it.decision.refusal || it.decision.refusal->error_type != "NotImplementedError", "a wish is refused as if there had been none", it);
    } else {
      deployment.layer.moe_backend = "auto";
      require(same_answer(it.decision, engine::select(deployment::kVllm2026_05, oracle, deployment)), "an oracle without names listens to one", it);
    }
    for (Text name : kSteering) {
      if (!is_read_by_classes(name)) deployment.env.erase(std::string(name));
    }
    require(same_answer(it.decision, engine::select(deployment::kVllm2026_05, oracle, deployment)), "a variable changes a wish",
            {oracle, drawn, it.decision});
  });
}

namespace {

/// A wish, what it becomes under a batched exchange, and a layer that this takes.
struct BatchedRow {
  Text oracle;
  Text wish;
  Text backend;
  int capability;
  Text weights;
  Text activations;
};
constexpr std::array kBatchedRows = {
    BatchedRow{"mxfp4", "marlin", "BATCHED_MARLIN", 90, "kMxfp4Static", "None"},
    BatchedRow{"mxfp4", "auto", "BATCHED_MARLIN", 90, "kMxfp4Static", "None"},
    BatchedRow{"mxfp4_deepseek_v4", "marlin", "BATCHED_MARLIN", 80, "kMxfp4Static", "None"},
    BatchedRow{"nvfp4", "flashinfer_cutedsl", "FLASHINFER_CUTEDSL_BATCHED", 100, "kNvfp4Static", "kNvfp4Dynamic"},
    BatchedRow{"nvfp4", "auto", "FLASHINFER_CUTEDSL_BATCHED", 103, "kNvfp4Static", "kNvfp4Dynamic"},
    BatchedRow{"fp8", "deep_gemm", "BATCHED_DEEPGEMM", 90, "kFp8Static128BlockSym", "kFp8Dynamic128Sym"},
    BatchedRow{"fp8", "triton", "BATCHED_TRITON", 89, "kFp8StaticTensorSym", "kFp8DynamicTensorSym"},
    BatchedRow{"fp8", "cutlass", "BATCHED_VLLM_CUTLASS", 90, "kFp8StaticChannelSym", "kFp8DynamicTokenSym"},
    BatchedRow{"fp8", "auto", "BATCHED_DEEPGEMM", 100, "kFp8Static128BlockSym", "kFp8Dynamic128Sym"},
};

}  // namespace

Outcome batched_exchange_gets_batched_member(const Law& law) {
  return on_random(law, "mxfp4", {.wishes = false, .override_switches = false, .key_override = false}, [](const Deployment& drawn) {
    for (const BatchedRow& row : kBatchedRows) {
      Deployment deployment = drawn;
      deployment.hardware = {deployment::PlatformKind::cuda, row.capability, ""};
      deployment.software = deployment::software_on(deployment::PlatformKind::cuda);
      deployment.parallel = {
          .tp = drawn.parallel.tp, .dp = 2, .enable_expert_parallel = true, .all2all_backend = chance(50) ? "deepep_low_latency" : "nixl_ep"};
      deployment.layer.moe_backend = row.wish;
      deployment.layer.activation = "SILU";
      deployment.layer.is_act_and_mul = true;
      deployment.layer.is_lora_enabled = false;
      deployment.weight_key = row.weights;
      deployment.activation_key = row.activations;
      deployment.allow_vllm_cutlass = true;
      // These end the search before the list, or refuse every batched class.
      for (Text name : kSteering) deployment.env.erase(std::string(name));
      for (Text name : {"VLLM_BATCH_INVARIANT", "VLLM_USE_DEEP_GEMM"}) deployment.env.erase(std::string(name));
      const Decided it = decided(row.oracle, deployment);
      require(is_backend(it.decision, row.backend), "the batched member is " + std::string(row.backend), it);
    }
  });
}

namespace {

/// A variable that decides when it is on, in the order in which the engine asks.
struct DecidingRow {
  Text oracle;
  Text variable;
  Text backends;  ///< one of which is the answer, if there is a choice
  Text off;       ///< what is never the answer when it is off; "": nothing
};
constexpr std::array kDeciding = {
    DecidingRow{"mxfp4", "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_BF16",
                "FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_BF16"},
    DecidingRow{"mxfp4", "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", "FLASHINFER_TRTLLM_MXFP4_MXFP8", ""},
    DecidingRow{"mxfp4", "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", "FLASHINFER_CUTLASS_MXFP4_MXFP8", ""},
    DecidingRow{"mxfp4", "VLLM_MXFP4_USE_MARLIN", "MARLIN", ""},
    // Off, it raises whatever the deployment is.
    DecidingRow{"nvfp4", "VLLM_USE_FLASHINFER_MOE_FP4",
                "FLASHINFER_TRTLLM FLASHINFER_CUTLASS FLASHINFER_CUTEDSL FLASHINFER_CUTEDSL_BATCHED FLASHINFER_B12X",
                "FLASHINFER_TRTLLM FLASHINFER_CUTLASS FLASHINFER_CUTEDSL FLASHINFER_CUTEDSL_BATCHED FLASHINFER_B12X VLLM_CUTLASS MARLIN EMULATION"},
    DecidingRow{"nvfp4", "VLLM_TEST_FORCE_FP8_MARLIN", "MARLIN", ""},
    DecidingRow{"fp8", "VLLM_USE_FLASHINFER_MOE_FP8", "FLASHINFER_TRTLLM FLASHINFER_CUTLASS", "FLASHINFER_TRTLLM FLASHINFER_CUTLASS"},
    DecidingRow{"fp8", "VLLM_MOE_USE_DEEP_GEMM", "DEEPGEMM BATCHED_DEEPGEMM", "DEEPGEMM BATCHED_DEEPGEMM"},
    DecidingRow{"fp8", "VLLM_USE_DEEP_GEMM", "DEEPGEMM BATCHED_DEEPGEMM", "DEEPGEMM BATCHED_DEEPGEMM"},
    DecidingRow{"fp8", "VLLM_TEST_FORCE_FP8_MARLIN", "MARLIN", ""},
    DecidingRow{"fp8", "VLLM_ROCM_USE_AITER", "AITER", "AITER"},
};

}  // namespace

Outcome variables_end_the_search(const Law& law) {
  static constexpr DeploymentKind kKind{.wishes = false, .override_switches = false, .key_override = false, .odd_texts = false};
  return check_property(
      law,
      [] {
        const auto [oracle, drawn] = random_case(kKind);
        for (std::size_t first = 0; first < kDeciding.size(); ++first) {
          const DecidingRow& row = kDeciding[first];
          if (row.oracle != oracle) continue;
          Deployment deployment = drawn;
          for (std::size_t later = first; later < kDeciding.size(); ++later) {
            const bool counts = kDeciding[later].oracle == oracle && (later == first || chance(30));
            if (counts) deployment.env[std::string(kDeciding[later].variable)] = "1";
          }
          const Decided on = decided(oracle, deployment);
          require(!on.decision.choice || has_word(row.backends, on.decision.choice->backend), std::string(row.variable) + " is on", on);
          Deployment without = drawn;
          without.env[std::string(row.variable)] = "0";
          const Decided off = decided(oracle, without);
          const bool kept_out = row.off.empty() || !off.decision.choice || !has_word(row.off, off.decision.choice->backend);
          require(kept_out, std::string(row.variable) + " is off", off);
          if (!row.off.empty()) continue;
          // Off is then as good as unset.
          Deployment unset = drawn;
          unset.env.erase(std::string(row.variable));
          require(same_answer(off.decision, engine::select(deployment::kVllm2026_05, oracle, unset)),
                  std::string(row.variable) + " is off and still has an effect", off);
        }
      },
      kUsualCases);
}

Outcome requested_key_is_honoured(const Law& law) {
  return on_random(law, "mxfp4", {.override_switches = false, .key_override = false}, [](const Deployment& drawn) {
    constexpr std::array<std::array<Text, 2>, 4> kOverrides{{{"mxfp8", "kMxfp8Dynamic"},
                                                             {"mxfp4", "kMxfp4Dynamic"},
                                                             {"fp8_per_tensor_static", "kFp8StaticTensorSym"},
                                                             {"fp8_per_block_dynamic", "kFp8Dynamic128Sym"}}};
    for (const auto& [word, key] : kOverrides) {
      Deployment deployment = drawn;
      deployment.quantization_override = std::string(word);
      const Decided it = decided("mxfp4", deployment);
      if (drawn.activation_key != "None" && drawn.activation_key != key) {
        require(it.decision.refusal && it.decision.refusal->error_type == "ValueError", "two keys contradict each other", it);
        continue;
      }
      // XPU and CPU drop the wish in their last step, EMULATION takes any.
      const Text own = it.decision.choice ? restated_backend("mxfp4", it.decision.choice->backend)->own_key : key;
      const bool excepted = is_backend(it.decision, "EMULATION") || is_backend(it.decision, "XPU") || is_backend(it.decision, "CPU");
      require(own == key || excepted, "a backend of other activations than requested", it);
      Deployment by_caller = deployment;
      by_caller.activation_key = std::string(key);
      by_caller.quantization_override = "unset";
      require(same_answer(it.decision, engine::select(deployment::kVllm2026_05, "mxfp4", by_caller)),
              "the caller's key and the override differ in effect", it);
    }
  });
}

}  // namespace mx::props
