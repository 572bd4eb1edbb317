#include "sim/execute/shared_product.hpp"

#include <utility>

#include "model/fault.hpp"
#include "model/numerics/chain.hpp"

namespace mx::sim {
namespace {

using families::KSlice;

PreparedOperand part_of(const PreparedOperand& operand, KSlice run) {
  const auto first = operand.factors.begin() + run.first;
  return {static_cast<std::size_t>(run.last - run.first), {first, first + (run.last - run.first)}, {}, 0};
}

}  // namespace

SharedProduct::SharedProduct(const families::SharedSums& sums, const ContractRow& contract, SumsBy by)
    : sums_(sums), contract_(contract), quick_(by == SumsBy::twins && kernels::dot::takes(contract)), tiles_(sums.columns / sums.tile_n) {}

void SharedProduct::add(std::int64_t expert, std::vector<PreparedOperand> slots) {
  Group& group = groups_[expert];
  group.first_block = blocks_;
  blocks_ += families::ceil_div(static_cast<std::int64_t>(slots.size()), sums_.block_m);
  for (PreparedOperand& slot : slots) group.slots.push_back({sums_.parted(slot), {}});
}

std::vector<KSlice> SharedProduct::runs_of(std::int64_t block, std::int64_t column) const {
  const std::int64_t own = fault::planted(fault::Fault::sim_cuts_k_alone) ? 0 : block;
  return sums_.runs(cut_.slices(own * tiles_ + column / sums_.tile_n));
}

void SharedProduct::finish() {
  cut_ = sums_.cut(fault::planted(fault::Fault::sim_cuts_k_alone) ? 1 : blocks_);
  if (!quick_) return;
  for (auto& [expert, group] : groups_) {
    for (std::size_t slot = 0; slot < group.slots.size(); ++slot) {
      const std::int64_t block = group.first_block + static_cast<std::int64_t>(slot) / sums_.block_m;
      for (std::int64_t tile = 0; tile < tiles_; ++tile) {
        for (const KSlice& run : runs_of(block, tile * sums_.tile_n)) {
          Side& side = group.slots[slot];
          const std::pair key{run.first, run.last};
          if (!side.quick.contains(key)) side.quick.emplace(key, quick_run(side.operand, run));
        }
      }
    }
  }
}

kernels::dot::Row SharedProduct::quick_run(const PreparedOperand& operand, KSlice run) const {
  return kernels::dot::quick_row(contract_, part_of(operand, run));
}

void SharedProduct::row(std::int64_t expert, std::int64_t column, const PreparedOperand& weights, const Terms& terms, std::span<std::uint32_t> out,
                        std::vector<std::vector<std::uint32_t>>* possible) const {
  const Group& group = groups_.at(expert);
  const PreparedOperand parted = sums_.parted(weights);
  std::vector<std::uint32_t> sums;
  std::vector<KSlice> runs;
  std::vector<kernels::dot::Row> quick;
  for (std::size_t slot = 0; slot < group.slots.size(); ++slot) {
    const auto place = static_cast<std::int64_t>(slot);
    if (place % sums_.block_m == 0) {
      runs = runs_of(group.first_block + place / sums_.block_m, column);
      quick.clear();
      for (const KSlice& run : runs) {
        if (quick_) quick.push_back(quick_run(parted, run));
      }
    }
    const Side& side = group.slots[slot];
    sums.clear();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto first = static_cast<std::size_t>(runs[i].first), count = static_cast<std::size_t>(runs[i].last - runs[i].first);
      std::optional<std::uint32_t> sum;
      if (quick_) sum = kernels::dot::quick_dot(contract_, side.quick.at({runs[i].first, runs[i].last}), quick[i]);
      sums.push_back(
          sum ? *sum
              : chain(contract_, std::span(side.operand.factors).subspan(first, count), std::span(parted.factors).subspan(first, count), {}, {}));
    }
    out[slot] = sums_.joined(sums, terms.scale, terms.bias);
    if (possible == nullptr || !sums_.possible) continue;
    if (std::vector<std::uint32_t> all = sums_.possible(sums, terms.scale, terms.bias); all.size() > 1) (*possible)[slot] = std::move(all);
  }
}

}  // namespace mx::sim
