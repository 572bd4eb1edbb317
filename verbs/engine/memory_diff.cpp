#include "verbs/engine/memory_diff.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace mx::verbs {
namespace {

/// The first kind of difference in the order of what weighs most: a tensor that one side lacks, dtype, shape, steps.
std::string first_difference(const sim::WeightsMemory& before, const sim::WeightsMemory& after) {
  if (before.tensors.size() != after.tensors.size()) return "other tensors";
  for (const std::string_view kind : {"dtype", "shape", "steps"}) {
    for (const sim::TensorMemory& tensor : after.tensors) {
      const sim::TensorMemory* const other = find_tensor(before, tensor.tensor);
      if (other == nullptr) return "other tensors";
      if (difference_of(*other, tensor) == kind) return fmt::format("other {} of {}", kind, tensor.tensor);
    }
  }
  return {};
}

std::string cause_of(const sim::WeightsMemory& before, const sim::WeightsMemory& after) {
  if (!after.is_known()) return after.missing;
  if (!before.is_known()) return before.missing;
  if (before.backend != after.backend) return "another backend";
  const std::string what = first_difference(before, after);
  if (before.conversion.row != after.conversion.row) return "the backend's conversion changed: " + what;
  if (what.ends_with("shape of w13_weight")) return "other sizes";
  const std::string_view library = before.conversion.row->calls_library;
  return (library.empty() ? std::string("the same conversion") : "another release of " + std::string(library)) + ": " + what;
}

}  // namespace

const sim::TensorMemory* find_tensor(const sim::WeightsMemory& memory, std::string_view name) {
  const auto at = std::ranges::find(memory.tensors, name, &sim::TensorMemory::tensor);
  return at == memory.tensors.end() ? nullptr : &*at;
}

std::string layout_text(const sim::WeightsMemory& memory) {
  const families::BackendLayout* const row = memory.conversion.row;
  if (row == nullptr) return memory.missing;
  const deployment::Versions& engines = row->engines;
  std::string text = fmt::format("{} {}", row->backend, layout::name_of(row->format));
  if (engines.since != deployment::kVllm2026_05) text += fmt::format(", since {}", deployment::name_of(engines.since));
  if (engines.until) text += fmt::format(", until {}", deployment::name_of(*engines.until));
  return text;
}

std::string tensor_text(const sim::TensorMemory& tensor) { return fmt::format("{}[{}]", tensor.dtype, fmt::join(tensor.shape, ", ")); }

std::string_view difference_of(const sim::TensorMemory& before, const sim::TensorMemory& after) {
  if (before.dtype != after.dtype) return "dtype";
  if (before.shape != after.shape) return "shape";
  return before.program != after.program ? "steps" : "";
}

void MemoryChanges::add(std::string_view oracle, sim::WeightsMemory before, sim::WeightsMemory after,
                        const std::function<std::string()>& deployment) {
  ++counts_.compared;
  const bool is_known = before.is_known() && after.is_known();
  if (is_known && before.tensors == after.tensors) return;
  ++(is_known ? counts_.differing : counts_.unknown);
  if (!is_known && before.backend == after.backend && before.missing == after.missing) return;
  const std::string cause = cause_of(before, after);
  Key key{std::string(oracle), before.backend + ": " + layout_text(before), after.backend + ": " + layout_text(after), cause};
  auto [at, is_new] = found_.try_emplace(std::move(key), MemoryChange{std::string(oracle), cause, {}, {}, 0, {}});
  MemoryChange& change = at->second;
  ++change.deployments;
  if (!is_new) return;
  change.before = std::move(before);
  change.after = std::move(after);
  change.smallest = deployment();
}

MemoryDiff MemoryChanges::all() const {
  MemoryDiff diff = counts_;
  for (const auto& [key, change] : found_) diff.changes.push_back(change);
  std::ranges::stable_sort(diff.changes, [](const MemoryChange& a, const MemoryChange& b) {
    return a.is_known() != b.is_known() ? a.is_known() : a.deployments > b.deployments;
  });
  return diff;
}

}  // namespace mx::verbs
