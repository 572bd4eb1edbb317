// O4 every deployment has an answer. O6 a fallback is visible.

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <set>

#include "model/audit/placement.hpp"
#include "model/audit/strict.hpp"
#include "props/engine/vllm/law_tools.hpp"

namespace mx::props {
namespace {

using deployment::Deployment;
using engine::Candidate;
using engine::Decision;
using Text = std::string_view;

constexpr Text kErrorTypes = "ValueError NotImplementedError ModuleNotFoundError KeyError";

bool has_reason(const Candidate& candidate) {
  return candidate.verdict.supported ? candidate.verdict.code.empty() : !candidate.verdict.code.empty() && !candidate.verdict.text.empty();
}

void require_answer(const Decided& it) {
  const Decision& decision = it.decision;
  require(decision.choice.has_value() != decision.refusal.has_value(), "neither or both of choice and refusal", it);
  require(!decision.trace.empty(), "no trace", it);
  const bool has_class = decision.choice && !decision.choice->kernel_class.empty();
  for (const Candidate& candidate : decision.trace) {
    require(has_reason(candidate), "a verdict on " + candidate.backend + " without a reason", it);
    const bool last = &candidate == &decision.trace.back();
    require(candidate.verdict.supported == (last && has_class), "the trace does not end where the choice is", it);
  }
  if (has_class) {
    const Candidate& last = decision.trace.back();
    require(last.backend == decision.choice->backend && last.kernel_class == decision.choice->kernel_class, "the trace ends elsewhere", it);
  }
  if (decision.refusal) {
    require(has_word(kErrorTypes, decision.refusal->error_type) && !decision.refusal->text.empty(), "a refusal without type or text", it);
  }
}

/// Answers that some deployment gets, to be met in a full run. BATCHED_DEEPGEMM and the like are the answer to a batched exchange.
constexpr std::array<std::array<Text, 2>, 6> kAnswers{{
    {"mxfp4",
     "DEEPGEMM_MXFP4 FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_TRTLLM_MXFP4_MXFP8 FLASHINFER_CUTLASS_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_MXFP8 "
     "BATCHED_MARLIN MARLIN AITER_MXFP4_BF16 AITER_MXFP4_FP8 AITER_MXFP4_MXFP4 TRITON TRITON_UNFUSED XPU CPU EMULATION HUMMING ValueError "
     "NotImplementedError ModuleNotFoundError"},
    {"mxfp4_deepseek_v4",
     "DEEPGEMM_MXFP4 FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_TRTLLM_MXFP4_MXFP8 FLASHINFER_CUTLASS_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_MXFP8 "
     "BATCHED_MARLIN MARLIN AITER_MXFP4_BF16 TRITON TRITON_UNFUSED XPU CPU EMULATION HUMMING ValueError NotImplementedError ModuleNotFoundError"},
    {"nvfp4",
     "FLASHINFER_TRTLLM FLASHINFER_CUTLASS FLASHINFER_CUTEDSL FLASHINFER_CUTEDSL_BATCHED FLASHINFER_B12X VLLM_CUTLASS MARLIN EMULATION ValueError "
     "NotImplementedError KeyError"},
    {"fp8",
     "FLASHINFER_TRTLLM FLASHINFER_CUTLASS DEEPGEMM BATCHED_DEEPGEMM MARLIN TRITON BATCHED_TRITON AITER VLLM_CUTLASS BATCHED_VLLM_CUTLASS XPU CPU "
     "NONE ValueError NotImplementedError KeyError"},
    {"mxfp8", "FLASHINFER_TRTLLM MARLIN XPU ValueError"},
    {"w4a8", "CUTLASS NotImplementedError KeyError ValueError"},
}};

/// The answers that a run has not met; "" when it has met all.
std::string missed(const std::set<std::string>& met) {
  std::string text;
  for (const auto& [oracle, answers] : kAnswers) {
    for (Text answer : texts_of(answers)) {
      const std::string name = std::string(oracle) + "/" + std::string(answer);
      if (!met.contains(name)) text += " " + name;
    }
  }
  return text;
}

}  // namespace

Outcome every_deployment_has_an_answer(const Law& law) {
  std::set<std::string> met;
  const auto look = [&](const DeploymentKind& kind) {
    const Drawn drawn = random_case(kind);
    const Decided it = decided(drawn.oracle, drawn.deployment, engine::Detail::texts);
    require_answer(it);
    met.insert(std::string(drawn.oracle) + "/" + (it.decision.choice ? it.decision.choice->backend : it.decision.refusal->error_type));
  };
  // Rare answers take plain deployments, and several of them a case.
  Outcome outcome = check_property(
      law,
      [&] {
        look({});
        for (int i = 0; i < 19; ++i) look({.override_switches = i % 2 == 0, .plain = true});
      },
      kUsualCases);
  // A generator that never gets somewhere proves nothing about it. A replay of one case is excused.
  if (outcome.held && outcome.cases >= static_cast<std::uint64_t>(kUsualCases) && !missed(met).empty()) {
    outcome = {false, outcome.cases, std::string(law.id) + ": answers that were not met:" + missed(met)};
  }
  return outcome;
}

namespace {

/// Where a backend is named in the trace without being chosen.
bool is_refused_in(const Decision& decision, Text backend) {
  return std::any_of(decision.trace.begin(), decision.trace.end(), [&](const Candidate& candidate) {
    return candidate.backend == backend && !candidate.verdict.supported && has_reason(candidate);
  });
}

/// What a wish means, in the order of trial.
std::vector<Text> meant_by(Text oracle, Text wish, bool batched) {
  std::vector<Text> backends;
  for (const RestatedBackend& row : restated_backends()) {
    if (has_word(row.oracles, oracle) && has_word(row.wishes, wish)) backends.push_back(batched ? batched_member(oracle, row.name) : row.name);
  }
  return backends;
}

}  // namespace

Outcome fallback_is_visible(const Law& law) {
  constexpr DeploymentKind kKind{.override_switches = false, .key_override = true};
  return on_random(law, kKind, [](Text oracle, const Deployment& deployment) {
    const Decided it = decided(oracle, deployment, engine::Detail::texts);
    if (!it.decision.choice) return;
    const Facts facts(kSearched, deployment);
    const bool listens = oracle != "w4a8" && deployment.layer.moe_backend != "auto";
    const std::vector<Text> order = listens ? meant_by(oracle, deployment.layer.moe_backend, facts.batched()) : restated_order(oracle, facts);
    for (Text backend : order) {
      if (backend == it.decision.choice->backend) break;
      require(is_refused_in(it.decision, backend), std::string(backend) + " comes first and no reason against it is given", it);
    }
    // A class behind another of the same backend is a fallback as well.
    const RestatedBackend* row = restated_backend(oracle, it.decision.choice->backend);
    for (Text name : texts_of(row == nullptr ? Text() : row->classes)) {
      if (name == it.decision.choice->kernel_class) break;
      const bool said = std::any_of(it.decision.trace.begin(), it.decision.trace.end(), [&](const Candidate& candidate) {
        return candidate.kernel_class == name && candidate.backend == it.decision.choice->backend && !candidate.verdict.supported;
      });
      require(said, std::string(name) + " comes first and no reason against it is given", it);
    }
  });
}

Outcome strict_says_what_it_skipped(const Law& law) {
  return on_random(law, {}, [](Text oracle, const Deployment& deployment) {
    const Decided it = decided(oracle, deployment);
    const audit::StrictDecision strict = audit::select_strict(deployment::kVllm2026_05, oracle, deployment);
    const auto placement = audit::place(engine::tables_of(deployment::kVllm2026_05, oracle), deployment, it.decision);
    const families::KernelNeed* broken = placement ? audit::first_broken_need(*placement) : nullptr;
    if (broken == nullptr) {
      require(strict.skipped.empty() && same_answer(strict.decision, it.decision), "strict selection differs and the engine's choice breaks no need",
              it);
      return;
    }
    require(!strict.skipped.empty(), "the engine's choice breaks '" + std::string(broken->id) + "' and strict selection is silent", it);
    const audit::Skipped& first = strict.skipped.front();
    require(first.backend == placement->backend && first.kernel_class == placement->kernel_class && first.need == broken,
            "strict selection first skips another than what the engine chose", it);
    require(!same_answer(strict.decision, it.decision), "strict selection takes what it says that it skipped", it);
  });
}

}  // namespace mx::props
