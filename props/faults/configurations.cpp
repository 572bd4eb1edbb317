// Faults of reading a configuration, and of holding tensors against it.

#include <array>

#include "props/faults/tables.hpp"

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    FaultRow{Fault::lists_want_whole_names, "lists_want_whole_names", "checkpoint/module_method.cpp fits",
             "an entry for one expert's projection leaves nothing out (vllm is_layer_skipped)", "O8/lists O8/agreement"},
    FaultRow{Fault::parts_end_at_dots, "parts_end_at_dots", "checkpoint/module_method.cpp fits",
             "ModelOpt's entry of layer 1 does not leave out layers 10 to 19", "O8/lists"},
    FaultRow{Fault::lists_are_forgotten, "lists_are_forgotten", "checkpoint/module_method.cpp list", "no list counts (tokenspeed#527, sglang#36761)",
             "O8/lists O8/agreement"},
    FaultRow{Fault::first_projection_decides, "first_projection_decides", "checkpoint/module_method.cpp left_out",
             "projections of one expert may have unlike schemes", "O8/lists"},
    FaultRow{Fault::configurations_of_may, "configurations_of_may", "checkpoint/module_method.cpp table, list",
             "lists and tables are those of 2026-05 for every version", "O8/lists"},
    FaultRow{Fault::hooks_are_forgotten, "hooks_are_forgotten", "checkpoint/configuration.cpp apply_hooks",
             "the method of the file is the engine's (vllm#50516)", "O8/lists"},
    FaultRow{Fault::plain_experts_fit_all, "plain_experts_fit_all", "checkpoint/agreement.cpp disagreement_of",
             "experts in 16 bits are taken where no list leaves them out (Model-Optimizer#2334)", "O8/agreement"},
    FaultRow{Fault::left_experts_may_be_coded, "left_experts_may_be_coded", "checkpoint/agreement.cpp disagreement_of",
             "quantized experts are taken where a list leaves them out (TensorRT-LLM#17551)", "O8/agreement"},
    FaultRow{Fault::layers_may_be_of_two_kinds, "layers_may_be_of_two_kinds", "checkpoint/agreement.cpp check_one_kind",
             "a layer may be quantized in part", "O8/agreement"},
    FaultRow{Fault::first_expert_is_inspected, "first_expert_is_inspected", "checkpoint/inspect/layer_facts.cpp layer_facts",
             "the first expert stands for all", "O8/defects"},
    FaultRow{Fault::statistics_are_forgotten, "statistics_are_forgotten", "checkpoint/inspect/inspect_layer.cpp inspect_layer",
             "numbers are looked at one by one alone", "O8/defects"},
    FaultRow{Fault::findings_name_no_tensor, "findings_name_no_tensor", "checkpoint/inspect/inspect_layer.cpp inspect_layer",
             "a finding names its layer alone", "O8/defects"},
    FaultRow{Fault::dead_experts_are_odd, "dead_experts_are_odd", "checkpoint/inspect/layer_statistics.cpp look_at_alike",
             "an expert that was never trained is a finding", "O8/sound"},
    FaultRow{Fault::makers_see_codes_alone, "makers_see_codes_alone", "checkpoint/maker/attempt.cpp same_scale",
             "a scale that is another is none of a rule's differences", "O8/makers"},
    FaultRow{Fault::first_rows_stand_for_all, "first_rows_stand_for_all", "checkpoint/maker/made_by.cpp hold",
             "a rule that fits the rows that are tried is held against no others", "O8/makers"},
    FaultRow{Fault::bases_are_as_they_lie, "bases_are_as_they_lie", "checkpoint/maker/candidates.cpp is_tried",
             "no base was converted on its way to a quantizer", "O8/makers"},
    FaultRow{Fault::bridges_of_first_rows, "bridges_of_first_rows", "checkpoint/compare/bridges.cpp is_it",
             "a bridge that explains the first row explains all", "O8/bridges"},
    FaultRow{Fault::roundings_may_be_off, "roundings_may_be_off", "checkpoint/compare/matrix_pair.cpp is_rounding_of",
             "a number is the rounding of another that lies some units away", "O8/bridges"},
};

}  // namespace

std::span<const FaultRow> configuration_faults() { return kFaults; }

}  // namespace mx::props
