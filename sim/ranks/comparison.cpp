#include "sim/ranks/comparison.hpp"

#include <algorithm>
#include <array>

#include "model/audit/cells.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "sim/ranks/converter.hpp"
#include "support/stopwatch.hpp"

namespace mx::sim {
namespace {

constexpr std::array kSpreads{
    Spread{"single", 1, 1, false},
    Spread{"TP=2", 2, 1, false},
    Spread{"DP=2+EP", 1, 2, true},
};

constexpr std::string_view kScales = "activation scales travel row-major and are not moved into the 128x4 tile that the kernel reads (vllm#42118)";

constexpr ReportedRow worked(int low, int high, std::string_view backend, std::string_view spread, std::string_view accuracy) {
  return {low, high, backend, spread, true, accuracy, {}};
}
constexpr ReportedRow failed(int low, int high, std::string_view backend, std::string_view spread, std::string_view how, std::string_view cause) {
  return {low, high, backend, spread, false, how, cause};
}

// Every cell that was reported, with accuracies of an evaluation whose target is 65.3 %. Source: vllm PR 37128 (gpt-oss-120b on GB200 and H200),
// vllm#42118.
constexpr std::array kReported{
    worked(100, 109, "FLASHINFER_TRTLLM_MXFP4_BF16", "single", "65.53 %"),
    worked(100, 109, "FLASHINFER_TRTLLM_MXFP4_BF16", "TP=2", "65.53 %"),
    worked(100, 109, "FLASHINFER_TRTLLM_MXFP4_BF16", "DP=2+EP", "66.35 %"),
    worked(100, 109, "FLASHINFER_TRTLLM_MXFP4_MXFP8", "single", "64.39 %"),
    worked(100, 109, "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TP=2", "65.21 %"),
    worked(100, 109, "FLASHINFER_TRTLLM_MXFP4_MXFP8", "DP=2+EP", "66.09 %"),
    worked(100, 109, "FLASHINFER_CUTLASS_MXFP4_MXFP8", "single", "65.66 %"),
    worked(100, 109, "FLASHINFER_CUTLASS_MXFP4_MXFP8", "TP=2", "64.39 %"),
    failed(100, 109, "FLASHINFER_CUTLASS_MXFP4_MXFP8", "DP=2+EP", "fails in the kernel", kScales),
    worked(100, 109, "TRITON", "single", "65.66 %"),
    worked(100, 109, "TRITON", "TP=2", "66.41 %"),
    failed(100, 109, "TRITON", "DP=2+EP", "raises", {}),
    worked(90, 90, "MARLIN", "single", "66.29 %"),
    worked(90, 90, "MARLIN", "TP=2", "65.78 %"),
    failed(90, 90, "MARLIN", "DP=2+EP", "fails", {}),
    worked(90, 90, "TRITON", "single", "64.46 %"),
    worked(90, 90, "TRITON", "TP=2", "66.48 %"),
    failed(90, 90, "TRITON", "DP=2+EP", "fails", {}),
};

const ReportedRow* reported_of(const deployment::Hardware& hardware, std::string_view backend, std::string_view spread) {
  const int capability = hardware.platform == deployment::PlatformKind::cuda ? hardware.capability.value_or(0) : 0;
  const auto* row = std::ranges::find_if(kReported, [&](const ReportedRow& report) {
    return report.backend == backend && report.spread == spread && capability >= report.capability_low && capability <= report.capability_high;
  });
  return row == kReported.end() ? nullptr : row;
}

/// The cells of one backend; the reference runs once, for the first cell that needs it, and again where ranks load scales of other squares.
std::vector<ComparedCell> cells_of(const Scenario& scenario, const std::string& backend, ExactOutputs& exact) {
  std::vector<ComparedCell> cells;
  std::optional<Reference> reference;
  std::int64_t group = 0;
  for (const Spread& spread : kSpreads) {
    deployment::ParallelRequest parallel{.tp = spread.tp, .dp = spread.dp, .enable_expert_parallel = spread.expert_parallel};
    parallel.all2all_backend = scenario.deployment.parallel.all2all_backend;
    ComparedCell cell{backend, &spread, audit::CellState::refused, {}, {}, {}, reported_of(scenario.deployment.hardware, backend, spread.name)};
    try {
      const deployment::Deployment deployment = respread(scenario.deployment, parallel);
      const Selected choice = selected(scenario.engine, scenario.oracle, deployment, backend);
      cell.answer = choice.answer;
      cell.kernel_class = choice.kernel_class;
      cell.reason = choice.reason;
      if (cell.answer != audit::CellState::refused) {
        const SimulationRequest request = request_of(scenario, deployment, backend, choice.kernel_class);
        const std::int64_t loaded = loaded_group(request, scenario.layer);
        if (!reference || loaded != group) reference = run_reference(request, scenario.layer, scenario.tokens, scenario.sample, exact);
        group = loaded;
        const support::Stopwatch watch;
        cell.simulation = simulate(request, scenario.layer, scenario.tokens, *reference, in_process());
        cell.seconds = watch.seconds();
      }
    } catch (const Error& error) {
      if (error.code() == ErrorCode::input || error.code() == ErrorCode::resource) throw;
      cell.simulation.refusal = SimulationRefusal{"execute", error.what()};
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace

std::span<const Spread> compared_spreads() { return kSpreads; }

std::string ComparedCell::verdict() const {
  if (simulation.refusal) return "refused: " + simulation.refusal->stage;
  if (!simulation.result) return "refused: " + reason;
  if (const LinkCheck* link = simulation.result->broken()) return "BROKEN: " + std::string(name_of(link->link));
  if (!simulation.result->mistrusted.empty()) return "MISTRUSTED: " + simulation.result->mistrusted;
  return std::string(name_of(simulation.result->bit_equal ? LinkState::equal : LinkState::bounded));
}

bool ComparedCell::works() const { return simulation.result && simulation.result->broken() == nullptr; }
bool ComparedCell::is_mistrusted() const { return works() && !simulation.result->mistrusted.empty(); }

int Comparison::exit_code() const {
  const bool any = std::ranges::any_of(cells, [](const ComparedCell& cell) { return cell.simulation.result.has_value(); });
  if (!any) return 5;
  bool refused = false;
  for (const ComparedCell& cell : cells) {
    if (cell.answer != audit::CellState::chosen || cell.works()) continue;
    if (cell.simulation.result) return 1;
    refused = true;
  }
  if (refused) return static_cast<int>(ErrorCode::unsupported);
  const auto blind = [](const ComparedCell& cell) { return cell.answer == audit::CellState::chosen && cell.is_mistrusted(); };
  return std::ranges::any_of(cells, blind) ? 5 : 0;
}

Selected selected(deployment::Engine engine, const std::string& oracle, const deployment::Deployment& deployment, std::string_view backend) {
  const engine::OracleTables& tables = engine::tables_of(engine, oracle);
  const audit::BackendCells cells = audit::backend_cells(tables, deployment, engine::Detail::codes);
  const auto row = std::ranges::find(tables.backends, backend, &engine::BackendRow::name);
  if (row == tables.backends.end()) return {audit::CellState::refused, {}, "no backend of the oracle"};
  const audit::BackendCell& cell = cells.cells[static_cast<std::size_t>(row - tables.backends.begin())];
  if (cell.state != audit::CellState::refused) return {cell.state, std::string(cell.kernel_class), {}};
  return {cell.state, {}, cell.code.empty() ? "no class" : std::string(cell.code)};
}

Comparison compare_backends(const Scenario& scenario, const CompareProgress& progress) {
  Comparison comparison;
  std::vector<std::string> backends;
  for (const engine::BackendRow& row : engine::tables_of(scenario.engine, scenario.oracle).backends) {
    if (families::find_execution(scenario.layer.experts.form.format, row.name) != nullptr) backends.emplace_back(row.name);
  }
  ExactOutputs exact(scenario.layer, scenario.tokens);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (progress) progress(backends[i], static_cast<double>(i) / static_cast<double>(backends.size()));
    std::vector<ComparedCell> cells = cells_of(scenario, backends[i], exact);
    std::ranges::move(cells, std::back_inserter(comparison.cells));
  }
  return comparison;
}

}  // namespace mx::sim
