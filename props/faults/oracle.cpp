// Faults of the oracles.

#include <array>

#include "props/faults/tables.hpp"

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    FaultRow{Fault::oracle_skips_device_check, "oracle_skips_device_check", "model/engine/vllm/check.cpp ask_device",
             "classes accept any device (vllm#37787: AITER on gfx942)", "O1/takes O1/needs O1/findings O1/verdicts"},
    FaultRow{Fault::oracle_accepts_any_activation, "oracle_accepts_any_activation", "model/engine/vllm/check.cpp accepted_activations",
             "the classes of SILU and SwiGLU-OAI take every activation", "O1/takes O1/needs O1/verdicts"},
    FaultRow{Fault::oracle_skips_first_candidate, "oracle_skips_first_candidate", "model/engine/vllm/select.cpp walk",
             "the best candidate is never tried", "O3/priority O3/answer"},
    FaultRow{Fault::oracle_rounds_down, "oracle_rounds_down", "model/engine/vllm/rounding.cpp up_to",
             "sizes go down to the multiple: data are cut off", "O1/sizes O3/answer"},
    FaultRow{Fault::oracle_ignores_parallel, "oracle_ignores_parallel", "model/engine/vllm/check.cpp refused_fact",
             "a monolithic kernel gets an exchange or EPLB", "O1/takes O1/needs O1/verdicts"},
    FaultRow{Fault::oracle_swallows_refusal, "oracle_swallows_refusal", "model/engine/vllm/select.cpp run",
             "a wish that fails silently becomes auto (vllm#49591)", "O2/wish O4/total"},
    FaultRow{Fault::oracle_ignores_environment, "oracle_ignores_environment", "model/engine/vllm/select.cpp variables_fit",
             "the override variables have no effect", "O2/environment O3/answer"},
    FaultRow{Fault::oracle_ignores_requested_key, "oracle_ignores_requested_key", "model/engine/vllm/select.cpp resolve_requested_key",
             "a requested activation format is lost", "O2/key O3/answer"},
    FaultRow{Fault::oracle_forgets_batched_member, "oracle_forgets_batched_member", "model/engine/vllm/select.cpp rewrite",
             "Marlin under DeepEP low latency is refused", "O2/batched O3/answer"},
    FaultRow{Fault::oracle_forgets_own_key, "oracle_forgets_own_key", "model/engine/vllm/select.cpp activation_key",
             "every backend is said to take 16-bit activations", "O5/tables"},
    FaultRow{Fault::oracle_wants_exact_device, "oracle_wants_exact_device", "model/engine/vllm/check.cpp ask_device",
             "a device predicate knows the first device of a family alone (vllm#43906: SM103)", "O1/verdicts O3/monotone"},
    FaultRow{Fault::oracle_moves_nothing_to_front, "oracle_moves_nothing_to_front", "model/engine/vllm/oracles/priority.cpp priority_order",
             "block FP8 on Hopper, XPU and CPU are tried in the common order", "O3/order"},
    FaultRow{Fault::oracle_hides_refusals, "oracle_hides_refusals", "model/engine/vllm/select.cpp chosen",
             "a fallback does not say what came first and why it was refused", "O6/visible"},
    FaultRow{Fault::strict_hides_skips, "strict_hides_skips", "model/audit/strict.cpp select_strict",
             "strict selection takes another backend and keeps the need to itself", "O6/strict"},
    FaultRow{Fault::oracle_ignores_wish, "oracle_ignores_wish", "model/engine/vllm/select.cpp map_name", "a named backend is ignored (vllm#55232)",
             "O2/wish O4/total O6/visible"},
    FaultRow{Fault::oracle_rounds_other_side, "oracle_rounds_other_side", "model/engine/vllm/rounding.cpp rounded_up",
             "hidden is rounded by the rule of the intermediate size and the other way round (vllm-ascend#16561)", "O1/sizes"},
    FaultRow{Fault::oracle_ends_without_answer, "oracle_ends_without_answer", "model/engine/vllm/select.cpp refused",
             "a search that finds nothing ends without a reason (vllm#46752)", "O2/wish O2/environment O2/key O4/total"},
};

}  // namespace

std::span<const FaultRow> oracle_faults() { return kFaults; }

}  // namespace mx::props
