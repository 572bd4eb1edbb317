#pragma once
// What each kind of run contributes to a report: its outcome, its part of the page, its picture. Each reads the JSON of one verb.

#include <string>

#include "verbs/report/run.hpp"

namespace mx::verbs {

/// Of runs that check nothing by design.
Outcome shown_outcome(const Run& run);
/// Of runs that say "exit_code": 1 failed, 4 refused, 5 mistrusted; without one, or with 0, they are shown.
Outcome coded_outcome(const Run& run);
/// Any JSON: members as terms, arrays of objects as tables.
std::string any_html(const Run& run);

Outcome witness_outcome(const Run& run);
std::string witness_html(const Run& run);
std::string witness_findings(const Run& run);

Outcome audit_outcome(const Run& run);
std::string audit_html(const Run& run);

Outcome upgrade_outcome(const Run& run);
std::string upgrade_html(const Run& run);

/// Both `sweep` and `sweep merge`.
Outcome sweep_outcome(const Run& run);
std::string sweep_html(const Run& run);

Outcome compare_outcome(const Run& run);
std::string compare_html(const Run& run);

Outcome matrix_outcome(const Run& run);
std::string matrix_run_html(const Run& run);

std::string formats_html(const Run& run);
Figure formats_figure(const Run& run);

std::string quantize_html(const Run& run);
Figure quantize_figure(const Run& run);

/// `layout draw` and `layout show`.
std::string layout_html(const Run& run);
Figure layout_figure(const Run& run);
/// `layout diff`.
Outcome diff_outcome(const Run& run);
std::string diff_html(const Run& run);
Figure diff_figure(const Run& run);
/// Of `verify`: how each backend that the engine chooses lays out the scales of a small layer.
std::string verify_layouts(const Run& run);

Outcome doctor_outcome(const Run& run);
std::string doctor_html(const Run& run);

Outcome bench_outcome(const Run& run);
std::string bench_html(const Run& run);
std::string bench_environment(const Run& run);
Figure bench_figure(const Run& run);
/// Whether a run of benchmarks has kernels with several numbers of rows.
bool has_speed(const Run& run);
Figure speed_figure(const Run& run);

/// `laws power`: errors of right and of wrong kernels on one axis; other laws have no picture.
Figure power_figure(const Run& run);
std::string laws_errors(const Run& run);

/// `faults`: the model made wrong on purpose.
Outcome faults_outcome(const Run& run);
std::string faults_html(const Run& run);
Figure faults_figure(const Run& run);

/// `faults --tables`: single changes of the tables.
Outcome changes_outcome(const Run& run);
std::string changes_html(const Run& run);

/// `faults --blind`: what public tolerances let pass.
Outcome blindness_outcome(const Run& run);
std::string blindness_html(const Run& run);
Figure blindness_figure(const Run& run);

/// `ver`: a device's answers.
Outcome device_outcome(const Run& run);
/// `coverage merge`: several runs of it.
Outcome merged_outcome(const Run& run);
/// `vectors`, which writes or checks a set of files, or says what they cover.
Outcome vectors_outcome(const Run& run);
std::string vectors_html(const Run& run);
Figure vectors_figure(const Run& run);

/// `sim`: one deployment, or a comparison of many.
Outcome sim_outcome(const Run& run);
std::string sim_html(const Run& run);
std::string sim_errors(const Run& run);
std::string sim_findings(const Run& run);
Figure sim_figure(const Run& run);

/// `inspect`: what a checkpoint is, its scales as histograms, and what is wrong with it.
Outcome inspect_outcome(const Run& run);
std::string inspect_html(const Run& run);
std::string inspect_findings(const Run& run);
Figure inspect_figure(const Run& run);

/// `convert`, `restore` and `merge`.
Outcome conversion_outcome(const Run& run);
std::string conversion_html(const Run& run);
/// What `plan --json` prints, and the file that it writes.
Outcome plan_outcome(const Run& run);
std::string plan_html(const Run& run);
/// `run`.
Outcome units_outcome(const Run& run);
std::string units_html(const Run& run);

/// `vectors --coverage`: which bins the tables hit.
bool has_coverage(const Run& run);
Outcome coverage_outcome(const Run& run);
std::string coverage_html(const Run& run);
Figure coverage_figure(const Run& run);

/// `audit --needs`: backend x constraint.
Outcome needs_outcome(const Run& run);
std::string needs_html(const Run& run);
/// Where a need is read, the upstream issues, and the version that mends it.
std::string source_of_need(const Node& need);
Figure needs_figure(const Run& run);

/// `study --rules`: where scale rules part.
Outcome rules_outcome(const Run& run);
std::string rules_html(const Run& run);
Figure rules_figure(const Run& run);
/// `study --line`: the error along the real line.
Outcome line_outcome(const Run& run);
std::string line_html(const Run& run);
Figure line_figure(const Run& run);

Outcome study_outcome(const Run& run);
std::string study_html(const Run& run);
Figure study_figure(const Run& run);

}  // namespace mx::verbs
