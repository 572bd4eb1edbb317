// Every schema that reports know, and what its runs contribute.

#include <array>

#include "verbs/report/parts.hpp"
#include "verbs/report/verdicts.hpp"

namespace mx::verbs {
namespace {

constexpr std::array kVerify{Contribution{Part::verdicts, verify_verdicts}, Contribution{Part::layouts, verify_layouts},
                             Contribution{Part::findings, verify_findings}};
constexpr std::array kWitness{Contribution{Part::recorded, witness_html}, Contribution{Part::findings, witness_findings}};
constexpr std::array kAudit{Contribution{Part::findings, audit_html}};
constexpr std::array kUpgrade{Contribution{Part::differences, upgrade_html}};
constexpr std::array kSweep{Contribution{Part::digests, sweep_html}};
constexpr std::array kCompare{Contribution{Part::differences, compare_html}};
constexpr std::array kMatrix{Contribution{Part::matrix, matrix_run_html}};
constexpr std::array kFormats{Contribution{Part::numbers, formats_html}};
constexpr std::array kQuantize{Contribution{Part::numbers, quantize_html}};
constexpr std::array kLayout{Contribution{Part::layouts, layout_html}};
constexpr std::array kStudy{Contribution{Part::errors, study_html}};
constexpr std::array kSim{Contribution{Part::verdicts, sim_html}, Contribution{Part::errors, sim_errors}, Contribution{Part::findings, sim_findings}};
constexpr std::array kFaults{Contribution{Part::faults, faults_html}};
constexpr std::array kBlindness{Contribution{Part::faults, blindness_html}};
constexpr std::array kDevice{Contribution{Part::recorded, any_html}};
constexpr std::array kBench{Contribution{Part::kernels, bench_html}, Contribution{Part::environment, bench_environment}};
constexpr std::array kDoctor{Contribution{Part::environment, doctor_html}};
constexpr std::array kChanges{Contribution{Part::faults, changes_html}};
constexpr std::array kConversion{Contribution{Part::conversions, conversion_html}};
constexpr std::array kInspect{Contribution{Part::conversions, inspect_html}, Contribution{Part::findings, inspect_findings}};
constexpr std::array kPlan{Contribution{Part::conversions, plan_html}};
constexpr std::array kUnits{Contribution{Part::conversions, units_html}};
constexpr std::array kVectors{Contribution{Part::recorded, vectors_html}};
constexpr std::array kNeeds{Contribution{Part::constraints, needs_html}};
constexpr std::array kRules{Contribution{Part::numbers, rules_html}};
constexpr std::array kLine{Contribution{Part::errors, line_html}};
constexpr std::array kDiff{Contribution{Part::layouts, diff_html}};
constexpr std::array kLaws{Contribution{Part::errors, laws_errors}, Contribution{Part::other, any_html}};
constexpr std::array kOther{Contribution{Part::other, any_html}};

constexpr std::array kKinds{
    Kind{"mxact-verify", 1, "every backend on every platform", verify_outcome, kVerify, verify_figure},
    Kind{"mxact-witness", 1, "the model against recorded outputs", witness_outcome, kWitness, nullptr},
    Kind{"mxact-audit", 1, "the engine's choices against their kernels' needs", audit_outcome, kAudit, nullptr},
    Kind{"mxact-engine-diff", 1, "what an upgrade of the engine changes", upgrade_outcome, kUpgrade, nullptr},
    Kind{"mxact-sweep", 1, "all 2^32 inputs of a conversion", sweep_outcome, kSweep, nullptr},
    Kind{"mxact-sweep-merge", 1, "the shards of a sweep as one", sweep_outcome, kSweep, nullptr},
    Kind{"mxact-compare", 1, "where two profiles part", compare_outcome, kCompare, nullptr},
    Kind{"mxact-matrix", 1, "which backend serves which deployment", matrix_outcome, kMatrix, nullptr},
    Kind{"mxact-formats", 1, "formats, profiles and contracts", shown_outcome, kFormats, formats_figure},
    Kind{"mxact-quantize", 1, "quantized blocks", shown_outcome, kQuantize, quantize_figure},
    Kind{"mxact-layout-draw", 1, "a layout", shown_outcome, kLayout, layout_figure},
    Kind{"mxact-layout-show", 1, "a layout", shown_outcome, kLayout, layout_figure},
    Kind{"mxact-study", 1, "the error of formats and scale rules", study_outcome, kStudy, study_figure},
    Kind{"mxact-scale-rules", 1, "where scale rules part", rules_outcome, kRules, rules_figure},
    Kind{"mxact-error-line", 1, "the error of formats along the real line", line_outcome, kLine, line_figure},
    Kind{"mxact-needs", 1, "what each kernel needs", needs_outcome, kNeeds, needs_figure},
    Kind{"mxact-sim", 1, "deployments rank by rank", sim_outcome, kSim, sim_figure},
    Kind{"mxact-laws", 1, "somebody else's program under the laws", coded_outcome, kLaws, power_figure},
    Kind{"mxact-faults", 1, "planted faults and the laws that notice", faults_outcome, kFaults, faults_figure},
    Kind{"mxact-table-changes", 1, "single changes of the tables and who notices", changes_outcome, kChanges, nullptr},
    Kind{"mxact-blindness", 1, "what public tolerances let pass", blindness_outcome, kBlindness, blindness_figure},
    Kind{"mxact-ver", 1, "a device against the model", device_outcome, kDevice, nullptr},
    Kind{"mxact-coverage", 1, "what runs of a device covered", merged_outcome, kDevice, nullptr},
    Kind{"mxact-vectors", 1, "the set of golden vectors", vectors_outcome, kVectors, vectors_figure},
    Kind{"mxact-gen", 1, "vectors for a device", shown_outcome, kOther, nullptr},
    Kind{"google-benchmark", 1, "speed of the kernels", bench_outcome, kBench, bench_figure},
    Kind{"mxact-doctor", 1, "this machine and build", doctor_outcome, kDoctor, nullptr},
    Kind{"mxact-select", 1, "the engine's choice for a deployment", coded_outcome, kOther, nullptr},
    Kind{"mxact-select-model", 1, "the engine's choices for a model's layers", coded_outcome, kOther, nullptr},
    Kind{"mxact-info", 1, "what a model stands for as INFO files", coded_outcome, kOther, nullptr},
    Kind{"mxact-select-diff", 1, "two deployments", coded_outcome, kOther, nullptr},
    Kind{"mxact-inspect", 1, "what a checkpoint is, and whether it is sound", inspect_outcome, kInspect, inspect_figure},
    Kind{"mxact-convert", 1, "a checkpoint converted", conversion_outcome, kConversion, nullptr},
    Kind{"mxact-restore", 1, "a checkpoint restored", conversion_outcome, kConversion, nullptr},
    Kind{"mxact-plan", 1, "a conversion planned in units", plan_outcome, kPlan, nullptr},
    Kind{"mxact-run", 1, "units of a conversion", units_outcome, kUnits, nullptr},
    Kind{"mxact-merge", 1, "a conversion put together of its units", conversion_outcome, kConversion, nullptr},
    Kind{"mxact-encode", 1, "values as codes", coded_outcome, kOther, nullptr},
    Kind{"mxact-decode", 1, "codes as values", coded_outcome, kOther, nullptr},
    Kind{"mxact-layer", 1, "stages of a layer", coded_outcome, kOther, nullptr},
    Kind{"mxact-layout-list", 1, "layouts", coded_outcome, kOther, nullptr},
    Kind{"mxact-layout-where", 1, "a place in a layout", coded_outcome, kOther, nullptr},
    Kind{"mxact-layout-diff", 1, "two layouts", diff_outcome, kDiff, diff_figure},
    Kind{"mxact-layout-identify", 1, "the layout of a buffer", coded_outcome, kOther, nullptr},
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

}  // namespace mx::verbs
