// O1 a choice satisfies what its kernel needs. O2 a wish is met or refused. O3 nothing better is skipped. O4 every deployment has an answer.
// O5 the tables are complete.

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "model/oracle/findings.hpp"
#include "model/oracle/needs.hpp"
#include "model/oracle/placement.hpp"
#include "props/law.hpp"
#include "props/oracle/generators.hpp"
#include "props/oracle/restated.hpp"

namespace mx::props {
namespace {

using oracle::Decision;
using oracle::Deployment;

/// Several random deployments a case, each looked at on every platform: a decision costs microseconds, and rare corners should be met.
Outcome on_every_platform(const Law& law, const DeploymentKind& kind, const std::function<void(const Deployment&)>& check) {
  return check_property(law, [&] {
    constexpr int kDeployments = 10;
    const auto presets = oracle::all_platforms();
    for (int i = 0; i < kDeployments; ++i) {
      const Deployment drawn = random_deployment(presets[static_cast<std::size_t>(i) % presets.size()], kind);
      check(drawn);
      for (const oracle::PlatformPreset& preset : presets) check(moved_to(drawn, preset));
    }
  });
}

void require(bool holds, const std::string& what, const Deployment& deployment, const Decision& decision) {
  if (!holds) RC_FAIL(what + "; chosen: " + describe(decision) + "; deployment: " + describe(deployment));
}

bool is_backend(const Decision& decision, std::string_view backend) { return decision.choice && decision.choice->backend == backend; }

bool same_answer(const Decision& a, const Decision& b) {
  if (a.choice.has_value() != b.choice.has_value()) return false;
  return a.choice ? a.choice->backend == b.choice->backend && a.choice->kernel_class == b.choice->kernel_class
                  : a.refusal->error_type == b.refusal->error_type;
}

Outcome choice_satisfies_needs(const Law& law) {
  return on_every_platform(law, {}, [](const Deployment& deployment) {
    const Decision decision = oracle::select("mxfp4", deployment);
    const auto placement = oracle::place(oracle::tables_of("mxfp4"), deployment, decision);
    if (!placement) return;
    for (const oracle::KernelNeed* need : oracle::needs_of(placement->oracle, placement->backend, placement->kernel_class)) {
      if (!oracle::is_broken(*need, *placement)) continue;
      require(oracle::find_finding(*placement, *need) != nullptr,
              "breaks a need in a way that no finding covers: " + std::string(need->id) + ", " + std::string(need->statement), deployment, decision);
    }
  });
}

Outcome audit_and_ledger_agree(const Law& law) {
  Exhaustive cases(law);
  for (std::string_view oracle : oracle::oracle_names()) {
    const std::string_view one[] = {oracle};
    const oracle::AuditReport report = oracle::audit(one);
    for (const oracle::Violation& violation : report.violations) {
      cases.expect(violation.times > 0, [&] { return std::string(violation.need->id) + " is broken by nothing"; });
    }
    const std::vector<std::string> differences = oracle::differences(report, one);
    cases.expect(differences.empty(), [&] { return std::string(oracle) + ": " + differences.front(); });
  }
  return cases.outcome();
}

Outcome sizes_round_up(const Law& law) {
  Exhaustive cases(law);
  constexpr std::array kKinds = {oracle::PlatformKind::cuda, oracle::PlatformKind::rocm, oracle::PlatformKind::xpu, oracle::PlatformKind::cpu};
  for (const RestatedBackend& backend : restated_backends()) {
    for (oracle::PlatformKind kind : kKinds) {
      const bool rocm = kind == oracle::PlatformKind::rocm;
      const bool marlin_on_xpu = kind == oracle::PlatformKind::xpu && backend.name.ends_with("MARLIN");
      const std::int64_t hidden_multiple = marlin_on_xpu ? 128 : rocm ? backend.hidden_on_rocm : backend.hidden;
      const std::int64_t intermediate_multiple = rocm ? backend.intermediate_on_rocm : backend.intermediate;
      for (std::int64_t size = 1; size <= 600; ++size) {
        const oracle::RoundedSizes sizes = oracle::round_up(oracle::mxfp4_tables(), backend.name, kind, size, 601 - size);
        const auto least = [](std::int64_t rounded, std::int64_t from, std::int64_t multiple) {
          return rounded >= from && rounded < from + multiple && rounded % multiple == 0;
        };
        cases.expect(least(sizes.hidden, size, hidden_multiple) && least(sizes.intermediate, 601 - size, intermediate_multiple), [&] {
          return std::string(backend.name) + " on " + std::string(name_of(kind)) + " rounds " + std::to_string(size) + " x " +
                 std::to_string(601 - size) + " to " + std::to_string(sizes.hidden) + " x " + std::to_string(sizes.intermediate);
        });
      }
    }
  }
  return cases.outcome();
}

Outcome wish_is_met_or_refused(const Law& law) {
  return on_every_platform(law, {}, [](const Deployment& drawn) {
    Deployment deployment = drawn;
    if (deployment.layer.moe_backend == "auto") deployment.layer.moe_backend = std::string(pick_word(oracle::moe_backend_names().subspan(1)));
    const Decision decision = oracle::select("mxfp4", deployment);
    require(!decision.choice || wish_means(deployment.layer.moe_backend, decision.choice->backend), "another backend than the wish means", deployment,
            decision);
    // The variables that steer an unspecific request play no part.
    for (std::string_view name : {"VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8",
                                  "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", "VLLM_MXFP4_USE_MARLIN"}) {
      deployment.env.erase(std::string(name));
    }
    require(same_answer(decision, oracle::select("mxfp4", deployment)), "a variable changes a wish", drawn, decision);
  });
}

Outcome batched_exchange_gets_batched_marlin(const Law& law) {
  return check_property(law, [] {
    constexpr std::array<std::string_view, 2> kExchanges = {"deepep_low_latency", "nixl_ep"};
    constexpr std::array<std::string_view, 2> kWishes = {"auto", "marlin"};
    for (const oracle::PlatformPreset& preset : oracle::all_platforms()) {
      if (preset.platform != oracle::PlatformKind::cuda) continue;
      Deployment deployment = random_deployment(preset, {.wishes = false, .override_switches = false, .key_override = false});
      deployment.parallel = {
          .tp = deployment.parallel.tp, .dp = 2, .enable_expert_parallel = true, .all2all_backend = std::string(pick_word(kExchanges))};
      deployment.layer.moe_backend = std::string(pick_word(kWishes));
      deployment.layer.activation = chance(50) ? "SILU" : "SWIGLUOAI";
      deployment.layer.is_lora_enabled = false;
      deployment.activation_key = "None";
      deployment.env.erase("VLLM_BATCH_INVARIANT");
      const Decision decision = oracle::select("mxfp4", deployment);
      require(is_backend(decision, "BATCHED_MARLIN"), "a batched exchange on cuda must end in BATCHED_MARLIN", deployment, decision);
    }
  });
}

/// What a switched-on variable must end in on this device; empty: a refusal.
std::string_view override_target(std::string_view variable, const oracle::Hardware& hardware) {
  if (variable == "VLLM_MXFP4_USE_MARLIN") return "MARLIN";
  if (variable == "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8") return "FLASHINFER_TRTLLM_MXFP4_MXFP8";
  if (variable == "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS") return "FLASHINFER_CUTLASS_MXFP4_MXFP8";
  const int capability = hardware.capability.value_or(0);
  if (capability == 90) return "FLASHINFER_CUTLASS_MXFP4_BF16";
  return capability >= 100 && capability < 110 ? "FLASHINFER_TRTLLM_MXFP4_BF16" : "";
}

Outcome variables_end_the_search(const Law& law) {
  constexpr DeploymentKind kKind{.wishes = false, .override_switches = false, .key_override = false};
  return on_every_platform(law, kKind, [](const Deployment& drawn) {
    // In the order in which the engine asks.
    constexpr std::array<std::string_view, 4> kVariables = {"VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8",
                                                            "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", "VLLM_MXFP4_USE_MARLIN"};
    for (std::size_t first = 0; first < kVariables.size(); ++first) {
      Deployment deployment = drawn;
      for (std::size_t i = first; i < kVariables.size(); ++i) {
        if (i == first || chance(30)) deployment.env[std::string(kVariables[i])] = "1";
      }
      const Decision decision = oracle::select("mxfp4", deployment);
      require(!decision.choice || decision.choice->backend == override_target(kVariables[first], deployment.hardware),
              std::string(kVariables[first]) + " is on", deployment, decision);
      require(!decision.refusal || decision.refusal->error_type == "ValueError", "a variable is refused with ValueError", deployment, decision);
    }
    Deployment off = drawn;
    off.env[std::string(kVariables[0])] = "0";
    const Decision decision = oracle::select("mxfp4", off);
    require(!is_backend(decision, "FLASHINFER_TRTLLM_MXFP4_BF16") && !is_backend(decision, "FLASHINFER_CUTLASS_MXFP4_BF16"),
            "the variable is off, its backends are chosen", off, decision);
  });
}

Outcome requested_key_is_honoured(const Law& law) {
  return on_every_platform(law, {.override_switches = false, .key_override = false}, [](const Deployment& drawn) {
    constexpr std::array<std::array<std::string_view, 2>, 4> kOverrides{{{"mxfp8", "kMxfp8Dynamic"},
                                                                         {"mxfp4", "kMxfp4Dynamic"},
                                                                         {"fp8_per_tensor_static", "kFp8StaticTensorSym"},
                                                                         {"fp8_per_block_dynamic", "kFp8Dynamic128Sym"}}};
    for (const auto& [word, key] : kOverrides) {
      Deployment deployment = drawn;
      deployment.quantization_override = std::string(word);
      const Decision decision = oracle::select("mxfp4", deployment);
      if (drawn.activation_key != "None" && drawn.activation_key != key) {
        require(decision.refusal && decision.refusal->error_type == "ValueError", "two keys contradict each other", deployment, decision);
        continue;
      }
      // XPU and CPU drop the wish in their last step, EMULATION takes any.
      const std::string_view own = decision.choice ? restated_backend(decision.choice->backend)->own_key : key;
      const bool excepted = is_backend(decision, "EMULATION") || is_backend(decision, "XPU") || is_backend(decision, "CPU");
      require(own == key || excepted, "a backend of other activations than requested", deployment, decision);
      deployment.activation_key = std::string(key);
      deployment.quantization_override = "unset";
      require(same_answer(decision, oracle::select("mxfp4", deployment)), "the caller's key and the override differ in effect", deployment, decision);
    }
  });
}

/// "BACKEND/Class" of the first class of the list that takes the deployment, each asked on its own.
std::string first_supported(const Deployment& deployment) {
  const std::vector<oracle::Candidate> support = oracle::support("mxfp4", deployment);
  for (std::string_view backend : restated_priority()) {
    if (restated_backend(backend)->own_key != deployment.activation_key) continue;
    for (const oracle::Candidate& candidate : support) {
      if (candidate.backend == backend && candidate.verdict.supported) return candidate.backend + "/" + candidate.kernel_class;
    }
  }
  return {};
}

Outcome nothing_better_is_skipped(const Law& law) {
  constexpr DeploymentKind kKind{.wishes = false, .override_switches = false, .key_override = false};
  return on_every_platform(law, kKind, [](const Deployment& deployment) {
    const Decision decision = oracle::select("mxfp4", deployment);
    const std::string best = first_supported(deployment);
    const std::string got = decision.choice ? decision.choice->backend + "/" + decision.choice->kernel_class : "";
    const bool last_resort = best.empty() && (is_backend(decision, "XPU") || is_backend(decision, "CPU"));
    require(got == best || last_resort, "the first supported of the list is '" + best + "'", deployment, decision);
  });
}

constexpr std::array<std::string_view, 3> kErrorTypes = {"ValueError", "NotImplementedError", "ModuleNotFoundError"};

void check_answer(const Deployment& deployment, const Decision& decision) {
  require(decision.choice.has_value() != decision.refusal.has_value(), "neither or both of choice and refusal", deployment, decision);
  require(!decision.trace.empty(), "no trace", deployment, decision);
  for (const oracle::Candidate& candidate : decision.trace) {
    const bool last = &candidate == &decision.trace.back();
    const bool reasoned =
        candidate.verdict.supported ? candidate.verdict.code.empty() : !candidate.verdict.code.empty() && !candidate.verdict.text.empty();
    require(reasoned, "a verdict on " + candidate.backend + " without a reason", deployment, decision);
    require(candidate.verdict.supported == (last && decision.choice.has_value()), "the trace does not end where the choice is", deployment, decision);
  }
  if (decision.choice) {
    const oracle::Candidate& last = decision.trace.back();
    require(last.backend == decision.choice->backend && last.kernel_class == decision.choice->kernel_class, "the trace ends elsewhere", deployment,
            decision);
    return;
  }
  const auto type = std::find(kErrorTypes.begin(), kErrorTypes.end(), decision.refusal->error_type);
  require(type != kErrorTypes.end() && !decision.refusal->text.empty(), "a refusal without type or text", deployment, decision);
}

Outcome every_deployment_has_an_answer(const Law& law) {
  std::set<std::string> reached;
  Outcome outcome = on_every_platform(law, {}, [&](const Deployment& drawn) {
    Deployment deployment = drawn;
    constexpr std::array<std::string_view, 3> kOddTexts = {"", "yes", "1_0"};
    for (auto& [name, value] : deployment.env) {
      if (chance(5)) value = std::string(pick_word(kOddTexts));
    }
    const Decision decision = oracle::select("mxfp4", deployment, oracle::Detail::texts);
    check_answer(deployment, decision);
    reached.insert(decision.choice ? decision.choice->backend : decision.refusal->error_type);
  });
  // A generator that never gets somewhere proves nothing about it. A replay of one case is excused.
  constexpr std::uint64_t kFullRun = 100;
  const std::size_t places = restated_backends().size() + kErrorTypes.size();
  if (outcome.held && outcome.cases >= kFullRun && reached.size() < places) {
    outcome = {false, outcome.cases,
               std::string(law.id) + ": only " + std::to_string(reached.size()) + " of " + std::to_string(places) + " answers were reached"};
  }
  return outcome;
}

/// A class that the mxfp4 oracle names is in the one list that its columns say.
void check_class_lists(Exhaustive& cases) {
  using oracle::ActivationFormat;
  const auto backends = oracle::mxfp4_tables().backends;
  for (const oracle::KernelClass& row : oracle::kernel_classes()) {
    const auto names = [&](const oracle::BackendRow& backend) { return std::count(backend.classes.begin(), backend.classes.end(), row.name) > 0; };
    if (std::none_of(backends.begin(), backends.end(), names)) continue;
    const std::string_view kind = row.monolithic ? "monolithic" : row.format == ActivationFormat::batched_experts ? "batched" : "plain";
    for (const oracle::ClassList& list : oracle::class_lists()) {
      const auto times = std::count(list.classes.begin(), list.classes.end(), row.name);
      cases.expect(times == (list.kind == kind ? 1 : 0), [&] {
        return "class " + std::string(row.name) + " is " + std::to_string(times) + " times in the list of " + std::string(list.kind) + " classes";
      });
    }
  }
}

/// Every (backend, class) that an oracle can choose needs a device, and no two of its needs have one name.
void check_device_needs(Exhaustive& cases) {
  for (std::string_view oracle : oracle::oracle_names()) {
    for (const oracle::BackendRow& backend : oracle::tables_of(oracle).backends) {
      for (std::string_view kernel_class : backend.classes) {
        std::set<std::string_view> ids;
        for (const oracle::KernelNeed* need : oracle::needs_of(oracle, backend.name, kernel_class)) {
          cases.expect(ids.insert(need->id).second, [&] { return std::string(kernel_class) + " has two needs " + std::string(need->id); });
        }
        cases.expect(ids.contains("device"),
                     [&] { return std::string(backend.name) + "/" + std::string(kernel_class) + " has no need of a device"; });
      }
    }
  }
}

Outcome tables_are_complete(const Law& law) {
  Exhaustive cases(law);
  for (const RestatedBackend& backend : restated_backends()) {
    const auto name = std::string(backend.name);
    cases.expect(name_of(oracle::activation_key(oracle::mxfp4_tables(), name)) == backend.own_key,
                 [&] { return name + " owns another activation key"; });
  }
  check_device_needs(cases);
  for (const oracle::BackendRow& backend : oracle::mxfp4_tables().backends) {
    const auto name = std::string(backend.name);
    cases.expect(name == "NONE" || restated_backend(name) != nullptr, [&] { return name + " is not among the backends"; });
    for (std::string_view class_name : backend.classes) {
      const auto classes = oracle::kernel_classes();
      const bool known = std::any_of(classes.begin(), classes.end(), [&](const oracle::KernelClass& row) { return row.name == class_name; });
      cases.expect(known, [&] { return name + ": no row for class " + std::string(class_name); });
    }
  }
  for (const oracle::UserNameRow& row : oracle::mxfp4_tables().user_names) {
    for (std::string_view backend : row.backends) {
      cases.expect(wish_means(row.name, backend), [&] { return std::string(row.name) + " does not mean " + std::string(backend); });
    }
  }
  check_class_lists(cases);
  return cases.outcome();
}

constexpr std::array kLaws = {
    Law{"O1/needs", "what is chosen satisfies what its kernel needs, the listed findings aside", choice_satisfies_needs},
    Law{"O1/findings", "the audit finds what the ledger lists, no more and no less", audit_and_ledger_agree},
    Law{"O1/sizes", "sizes go up to the next multiple and no further", sizes_round_up},
    Law{"O2/wish", "a wish is met or refused, whatever the variables say", wish_is_met_or_refused},
    Law{"O2/batched", "a batched exchange gets the batched member", batched_exchange_gets_batched_marlin},
    Law{"O2/environment", "a variable that is on decides, the first one asked first", variables_end_the_search},
    Law{"O2/key", "a requested activation key is honoured, from wherever it comes", requested_key_is_honoured},
    Law{"O3/priority", "the first supported class of the list is chosen", nothing_better_is_skipped},
    Law{"O4/total", "every deployment has a choice or a refusal with a reason, and a trace that leads there", every_deployment_has_an_answer},
    Law{"O5/tables", "every backend has its classes, key, needs and names, every class its kind", tables_are_complete},
};

}  // namespace

std::span<const Law> oracle_laws() { return kLaws; }

}  // namespace mx::props
