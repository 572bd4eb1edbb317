#include "kernels/dot/row_set.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "kernels/dot/kernels.hpp"
#include "kernels/dot/sums.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels::dot {
namespace {

/// What a kernel sums; other rows are summed one by one.
bool is_plain(const ContractRow& contract, const Row& row) { return row.holds && row.narrow && has_whole_chains(contract, row); }

}  // namespace

RowSet::RowSet(const ContractRow& contract, std::vector<const Row*> rows, const IsaTier& tier) : contract_(&contract), rows_(std::move(rows)) {
  kernel_ = contract.step == Step::aligned ? kernel_for(aligned_kernels(), tier).run : nullptr;
  if (kernel_ == nullptr) return;
  for (std::size_t first = 0; first < rows_.size(); first += kLanes) {
    const std::size_t count = std::min(kLanes, rows_.size() - first);
    const std::size_t length = rows_[first]->values.size();
    Block block{first, std::vector<float>(length * kLanes), std::vector<std::int16_t>(length * kLanes, kZeroExponent)};
    for (std::size_t lane = 0; lane < count; ++lane) {
      const Row& row = *rows_[first + lane];
      if (!is_plain(contract, row) || row.values.size() != length) continue;
      for (std::size_t k = 0; k < length; ++k) {
        block.values[k * kLanes + lane] = row.values[k];
        block.exponents[k * kLanes + lane] = row.exponents[k];
      }
    }
    blocks_.push_back(std::move(block));
  }
}

void RowSet::dots(const Row& other, std::optional<std::uint32_t> bias, std::span<std::optional<std::uint32_t>> out) const {
  const bool by_kernel = kernel_ != nullptr && is_plain(*contract_, other);
  for (std::size_t at = 0; at < rows_.size(); ++at) {
    if (by_kernel && at % kLanes == 0) sum_block(blocks_[at / kLanes], other, out);
    if (!by_kernel || !is_plain(*contract_, *rows_[at]) || rows_[at]->elements != other.elements)
      out[at] = quick_dot(*contract_, *rows_[at], other, bias);
  }
}

void RowSet::sum_block(const Block& block, const Row& other, std::span<std::optional<std::uint32_t>> out) const {
  if (block.values.size() != other.values.size() * kLanes) return;
  const std::size_t all = other.values.size();
  const std::size_t lanes = std::min(kLanes, rows_.size() - block.first);
  const std::size_t chain = contract_->restart == 0 ? all : static_cast<std::size_t>(contract_->restart);
  std::array<float, kLanes> sums{};
  std::array<std::uint32_t, kLanes> totals{};
  for (std::size_t k = 0; k < all; k += chain) {
    sums = {};
    sum_chain(block, other, k, std::min(chain, all - k), sums);
    if (contract_->restart == 0) continue;
    for (std::size_t lane = 0; lane < lanes; ++lane)
      totals[lane] =
          entered(*contract_, totals[lane], std::bit_cast<std::uint32_t>(sums[lane]), scale_of(*rows_[block.first + lane], k), scale_of(other, k));
  }
  for (std::size_t lane = 0; lane < lanes; ++lane)
    out[block.first + lane] =
        contract_->restart == 0 ? std::bit_cast<std::uint32_t>(sums[lane]) : finished(*contract_, totals[lane], f32::kOne, f32::kOne, {});
}

void RowSet::sum_chain(const Block& block, const Row& other, std::size_t first, std::size_t length, std::array<float, kLanes>& sums) const {
  // From +0, with exponents in range, no lane is given up.
  std::array<std::int32_t, kLanes> given_up{};
  kernel_({.lanes = block.values.data() + first * kLanes,
           .lane_exponents = block.exponents.data() + first * kLanes,
           .row = other.values.data() + first,
           .row_exponents = other.exponents.data() + first,
           .length = length,
           .group = static_cast<std::size_t>(contract_->group),
           .alignment_bits = contract_->alignment_bits,
           .kept_bits = contract_->kept_bits,
           .least_exponent = std::max(contract_->least_exponent, 2 * kLeastExponent),
           .rounding = GroupRounding::truncated,
           .sums = sums.data(),
           .given_up = given_up.data()});
}

}  // namespace mx::kernels::dot
