#include "verbs/engine/arithmetic_diff.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/families/arithmetic.hpp"
#include "sim/ranks/converter.hpp"

namespace mx::verbs {

void ArithmeticChanges::add(std::string_view oracle, const deployment::Hardware& hardware, const sim::WeightsMemory& before,
                            const sim::WeightsMemory& after, const std::function<std::string()>& deployment) {
  if (before.backend != after.backend || !after.format) return;
  const families::ExecutionRow* const row = families::find_execution(*after.format, after.backend);
  if (row == nullptr) return;
  const families::Arch arch = sim::arch_of(hardware);
  const auto add_change = [&](std::string_view where, const std::string& text, std::string_view source) {
    auto [at, is_new] = found_.try_emplace(Key{std::string(oracle), after.backend, std::string(where)},
                                           ArithmeticChange{std::string(oracle), after.backend, text, std::string(source), 0, {}});
    if (is_new) at->second.smallest = deployment();
    ++at->second.deployments;
  };
  for (const std::span<const families::KnownDifference> differences : {row->differences, row->changes}) {
    for (const families::KnownDifference& difference : differences) {
      if ((difference.on != nullptr && !difference.on(arch)) || difference.engines.has(before_) || !difference.engines.has(after_)) continue;
      add_change(difference.where, families::where_text(difference), difference.source);
    }
  }
  const auto added = [&](std::string_view name) {
    const families::Quantizer &then = families::quantizer_on(name, arch, before_), &now = families::quantizer_on(name, arch, after_);
    if (then.profile == now.profile) return false;
    add_change("activations in groups",
               fmt::format("activations are quantized by {}, before by {}, since {}; scales that are powers of two stay", now.profile, then.profile,
                           deployment::name_of(now.engines.since)),
               now.source);
    return true;
  };
  if (!added(row->first)) added(row->second);
  const families::SlotSum then = families::slot_sum_on(*row, arch, before_), now = families::slot_sum_on(*row, arch, after_);
  if (then == now) return;
  add_change("the sum of slots",
             fmt::format("slots are summed in {}, before in {}, since {}", families::name_of(now), families::name_of(then),
                         deployment::name_of(deployment::kVllm2026_08)),
             "outputs of an H100, golden/witness/hardware");
}

std::vector<ArithmeticChange> ArithmeticChanges::all() const {
  std::vector<ArithmeticChange> changes;
  for (const auto& [key, change] : found_) changes.push_back(change);
  std::ranges::stable_sort(changes, [](const ArithmeticChange& a, const ArithmeticChange& b) { return a.deployments > b.deployments; });
  return changes;
}

}  // namespace mx::verbs
