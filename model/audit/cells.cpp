#include "model/audit/cells.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "model/audit/resolve.hpp"
#include "model/engine/vllm/method.hpp"

namespace mx::audit {
namespace {

constexpr std::array<std::string_view, 3> kStates = {"chosen", "possible", "refused"};
constexpr std::string_view kMissingClasses = "*";

/// The class as the tables have it: one of the row's, that of adapters, or none.
std::string_view class_in(const engine::BackendRow& row, std::string_view name) {
  if (name == kMissingClasses) return kMissingClasses;
  const auto known = std::ranges::find(row.classes, name);
  return known != row.classes.end() ? *known : name.empty() ? std::string_view() : row.lora_class;
}

/// The verdicts of one backend's classes, which stand together in their order.
BackendCell cell_of(const engine::BackendRow& row, std::span<const engine::Candidate> verdicts) {
  const auto name = [&](std::size_t i) { return class_in(row, verdicts[i].kernel_class); };
  // The backend's own answer comes before those of its classes.
  if (!verdicts.empty() && verdicts.front().kernel_class.empty()) {
    if (!verdicts.front().verdict.supported) return {CellState::refused, {}, verdicts.front().verdict.code, verdicts.front().verdict.text};
    verdicts = verdicts.subspan(1);
  }
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].verdict.supported) return {CellState::possible, name(i), {}, {}};
  }
  if (verdicts.empty()) return {CellState::refused, {}, {}, {}};
  const std::size_t last = verdicts.size() - 1;
  return {CellState::refused, name(last), verdicts[last].verdict.code, verdicts[last].verdict.text};
}

}  // namespace

std::string_view name_of(CellState state) { return kStates[static_cast<std::size_t>(state)]; }

BackendCells backend_cells(const engine::OracleTables& tables, const deployment::Deployment& given, engine::Detail detail) {
  const deployment::Deployment deployment = engine::as_asked(tables, given);
  const std::vector<engine::Candidate> verdicts = engine::support(tables, deployment, detail);
  const Resolution resolution = resolve(tables, deployment, engine::decide(tables, deployment, detail));
  const engine::Decision& decision = resolution.decision;
  BackendCells answer;
  if (resolution.failure) answer.refusal = resolution.failure->refusal.error_type;
  std::size_t at = 0;
  for (const engine::BackendRow& row : tables.backends) {
    std::size_t end = at;
    while (end < verdicts.size() && verdicts[end].backend == row.name) ++end;
    answer.cells.push_back(cell_of(row, std::span(verdicts).subspan(at, end - at)));
    at = end;
    if (!decision.choice || decision.choice->backend != row.name) continue;
    const std::string_view kernel_class = class_in(row, decision.choice->kernel_class);
    if (resolution.failure) {
      answer.cells.back() = {CellState::refused, kernel_class, "raises",
                             detail == engine::Detail::texts ? resolution.failure->refusal.text : std::string()};
      continue;
    }
    answer.chosen = answer.cells.size() - 1;
    answer.cells.back() = {CellState::chosen, kernel_class, {}, {}};
  }
  return answer;
}

}  // namespace mx::audit
