// Every schema that reports know, and what its runs contribute.

#include <array>

#include "golden/report/parts.hpp"
#include "golden/report/verdicts.hpp"

namespace mx::golden {
namespace {

constexpr std::array kVerify{Contribution{Part::verdicts, verify_verdicts}, Contribution{Part::layouts, verify_layouts},
                             Contribution{Part::findings, verify_findings}};
constexpr std::array kWitness{Contribution{Part::recorded, witness_html}, Contribution{Part::findings, witness_findings}};
constexpr std::array kAudit{Contribution{Part::findings, audit_html}};
constexpr std::array kSweep{Contribution{Part::digests, sweep_html}};
constexpr std::array kCompare{Contribution{Part::differences, compare_html}};
constexpr std::array kMatrix{Contribution{Part::matrix, matrix_run_html}};
constexpr std::array kFormats{Contribution{Part::numbers, formats_html}};
constexpr std::array kQuantize{Contribution{Part::numbers, quantize_html}};
constexpr std::array kLayout{Contribution{Part::layouts, layout_html}};
constexpr std::array kStudy{Contribution{Part::errors, study_html}};
constexpr std::array kSim{Contribution{Part::verdicts, sim_html}, Contribution{Part::errors, sim_errors}, Contribution{Part::findings, sim_findings}};
constexpr std::array kDevice{Contribution{Part::recorded, any_html}};
constexpr std::array kBench{Contribution{Part::kernels, bench_html}, Contribution{Part::environment, bench_environment}};
constexpr std::array kDoctor{Contribution{Part::environment, doctor_html}};
constexpr std::array kOther{Contribution{Part::other, any_html}};

constexpr std::array kKinds{
    Kind{"mxact-verify", 1, "every backend on every platform", verify_outcome, kVerify, verify_figure},
    Kind{"mxact-witness", 1, "the model against recorded outputs", witness_outcome, kWitness, nullptr},
    Kind{"mxact-audit", 1, "the engine's choices against their kernels' needs", audit_outcome, kAudit, nullptr},
    Kind{"mxact-sweep", 1, "all 2^32 inputs of a conversion", sweep_outcome, kSweep, nullptr},
    Kind{"mxact-sweep-merge", 1, "the shards of a sweep as one", sweep_outcome, kSweep, nullptr},
    Kind{"mxact-compare", 1, "where two profiles part", compare_outcome, kCompare, nullptr},
    Kind{"mxact-matrix", 1, "which backend serves which deployment", matrix_outcome, kMatrix, nullptr},
    Kind{"mxact-formats", 1, "formats, profiles and contracts", shown_outcome, kFormats, formats_figure},
    Kind{"mxact-quantize", 1, "quantized blocks", shown_outcome, kQuantize, quantize_figure},
    Kind{"mxact-layout-draw", 1, "a layout", shown_outcome, kLayout, layout_figure},
    Kind{"mxact-layout-show", 1, "a layout", shown_outcome, kLayout, layout_figure},
    Kind{"mxact-study", 1, "the error of formats and scale rules", study_outcome, kStudy, study_figure},
    Kind{"mxact-sim", 1, "deployments rank by rank", sim_outcome, kSim, sim_figure},
    Kind{"mxact-ver", 1, "a device against the model", device_outcome, kDevice, nullptr},
    Kind{"mxact-vectors", 1, "the set of golden vectors", vectors_outcome, kOther, nullptr},
    Kind{"mxact-gen", 1, "vectors for a device", shown_outcome, kOther, nullptr},
    Kind{"google-benchmark", 1, "speed of the kernels", bench_outcome, kBench, bench_figure},
    Kind{"mxact-doctor", 1, "this machine and build", doctor_outcome, kDoctor, nullptr},
    Kind{"mxact-select", 1, "the engine's choice for a deployment", coded_outcome, kOther, nullptr},
    Kind{"mxact-select-diff", 1, "two deployments", coded_outcome, kOther, nullptr},
    Kind{"mxact-convert", 1, "a checkpoint converted", coded_outcome, kOther, nullptr},
    Kind{"mxact-restore", 1, "a checkpoint restored", coded_outcome, kOther, nullptr},
    Kind{"mxact-encode", 1, "values as codes", coded_outcome, kOther, nullptr},
    Kind{"mxact-decode", 1, "codes as values", coded_outcome, kOther, nullptr},
    Kind{"mxact-layout-list", 1, "layouts", coded_outcome, kOther, nullptr},
    Kind{"mxact-layout-where", 1, "a place in a layout", coded_outcome, kOther, nullptr},
    Kind{"mxact-layout-diff", 1, "two layouts", coded_outcome, kOther, nullptr},
    Kind{"mxact-layout-identify", 1, "the layout of a buffer", coded_outcome, kOther, nullptr},
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

}  // namespace mx::golden
