// Faults of what versions of the engine since 2026-08 added to the oracles' tables and to what follows from a choice.

#include <array>

#include "props/faults/tables.hpp"

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    FaultRow{Fault::rounding_of_may, "rounding_of_may", "model/engine/vllm/rounding.cpp applies",
             "rows that a later version has for a platform are passed over: AITER's sizes are those of 2026-05", "O7/sizes"},
    FaultRow{Fault::routing_keeps_scaling, "routing_keeps_scaling", "model/engine/vllm/setup/routing_method.cpp holds",
             "a scaling factor is no matter for the routing method", "O7/routing"},
    FaultRow{Fault::lists_never_reorder, "lists_never_reorder", "model/engine/vllm/oracles/priority.cpp priority_order",
             "HUMMING stays behind MARLIN on Hopper, TRITON before it on family 120", "O7/lists"},
    FaultRow{Fault::added_names_unknown, "added_names_unknown", "model/engine/vllm/select.cpp map_name",
             "names that a later version brought are unknown", "O7/names"},
    FaultRow{Fault::oracle_raises_another_type, "oracle_raises_another_type", "model/engine/vllm/select.cpp raise",
             "a search that finds nothing ends with a ValueError everywhere", "O7/ends O3/answer"},
    FaultRow{Fault::configs_take_all, "configs_take_all", "model/engine/vllm/query.cpp config_refusal",
             "layers that the engine does not build are put to the oracle", "O7/configs"},
    FaultRow{Fault::mega_moe_asks_nothing, "mega_moe_asks_nothing", "model/engine/vllm/model_file.cpp own_experts_refusal",
             "mega MoE runs without expert parallelism and on any device", "O7/mega"},
    FaultRow{Fault::mega_moe_is_unknown, "mega_moe_is_unknown", "model/engine/vllm/model_file.cpp own_experts",
             "the name of mega MoE goes to the oracle, which does not know it", "O7/mega"},
    FaultRow{Fault::constants_of_may, "constants_of_may", "model/engine/vllm/setup/constants.cpp is_about",
             "which constants reach a class is answered for 2026-05 (vllm#53411)", "O7/limits"},
    FaultRow{Fault::needs_of_may, "needs_of_may", "model/audit/needs.cpp needs_of", "needs of 2026-05 are those of every version", "O7/needs"},
    FaultRow{Fault::needs_never_end, "needs_never_end", "model/audit/needs.cpp needs_of", "a need that a version mended goes on", "O7/needs"},
    FaultRow{Fault::class_rules_before_skipped, "class_rules_before_skipped", "model/engine/vllm/check.cpp check_class",
             "what a class asks before all others is not asked", "O7/classes"},
    FaultRow{Fault::class_rules_after_skipped, "class_rules_after_skipped", "model/engine/vllm/check.cpp check_class",
             "what a class asks behind all others is not asked", "O7/classes"},
    FaultRow{Fault::class_takes_hash_routing, "class_takes_hash_routing", "model/engine/vllm/check.cpp routes_itself",
             "kernels that route by themselves take layers with a hash table", "O7/classes"},
    FaultRow{Fault::call_rules_skipped, "call_rules_skipped", "model/engine/vllm/call_rules.cpp refusal_of",
             "int_wna16 asks the classes without asking the backend", "O7/calls"},
    FaultRow{Fault::keys_never_fall_back, "keys_never_fall_back", "model/engine/vllm/select.cpp filter_keys",
             "a requested activation is never dropped", "O7/keys"},
    FaultRow{Fault::lora_class_forgotten, "lora_class_forgotten", "model/engine/vllm/select.cpp try_backend", "the class for LoRA is not tried",
             "O7/lora"},
    FaultRow{Fault::method_schemes_of_any_version, "method_schemes_of_any_version", "model/engine/vllm/method.cpp method_refusal",
             "a method refuses what it refused in any version", "O7/methods"},
    FaultRow{Fault::added_activations_kept, "added_activations_kept", "model/engine/vllm/setup/quant_config.cpp config_of",
             "configurations that a later version brought quantize no activations", "O7/activations"},
    FaultRow{Fault::carried_changes_forgotten, "carried_changes_forgotten", "model/families/carried.cpp conversion_at",
             "every conversion of 2026-08 stands for 2026-11", "O7/carried"},
    FaultRow{Fault::release_differs_everywhere, "release_differs_everywhere", "model/engine/vllm/releases.cpp release_differences",
             "a release's differences are said of every deployment", "O7/releases"},
    FaultRow{Fault::ranks_of_context_send_nothing, "ranks_of_context_send_nothing", "model/deployment/deployment.cpp use_all2all_kernels",
             "ranks of prefill context and of sequences exchange nothing", "O7/configs O7/classes"},
};

}  // namespace

std::span<const FaultRow> version_faults() { return kFaults; }

}  // namespace mx::props
