#include "golden/vectors/differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace mx::golden {
namespace {

std::uint32_t lane_mask(const Column& column) { return column.bits == 32 ? 0xFFFFFFFFU : (1U << column.bits) - 1U; }

/// Formats with a sign count magnitudes.
std::uint32_t sign_of(const Column& column) {
  const bool has = column.format != nullptr && column.format->has_sign && column.format->encoding == Encoding::floating;
  return has ? 1U << (column.bits - 1) : 0U;
}

/// The columns of a block's scale have its name.
bool is_scale(const Column& column) { return column.name.starts_with("scale"); }

/// "2 too low"; of floating-point numbers whole binades: "2^3 times too large".
std::string amount_text(std::int64_t difference, const Column& column) {
  const std::int64_t amount = std::abs(difference);
  const int mantissa = column.format != nullptr && column.format->encoding == Encoding::floating ? column.format->mantissa_bits : 0;
  if (mantissa > 0 && amount % (std::int64_t{1} << mantissa) == 0)
    return fmt::format("2^{} times too {}", amount >> mantissa, difference > 0 ? "large" : "small");
  return fmt::format("{} too {}", amount == 1 ? "one" : std::to_string(amount), difference > 0 ? "high" : "low");
}

/// The column's codes moved by `difference`.
WrongRule moved(const std::vector<Column>& columns, std::size_t which, std::int64_t difference, bool modulo) {
  const Column column = columns[which];
  const auto first = lane_count(std::span(columns).first(which));
  const FaultClass cls = is_scale(column) ? FaultClass::scale : FaultClass::value;
  std::string name = fmt::format("a constant difference: {} {}{}", column.name, amount_text(difference, column), modulo ? ", modulo the width" : "");
  return {cls, std::move(name), [column, first, difference, modulo](Lanes /*operands*/, Lanes right, MutableLanes answer) {
            std::ranges::copy(right, answer.begin());
            const std::uint32_t sign = sign_of(column);
            const std::int64_t most = column.format != nullptr ? max_finite_code(*column.format) : lane_mask(column);
            for (std::size_t i = first; i < first + static_cast<std::size_t>(column.lanes); ++i) {
              const std::uint32_t code = right[i];
              if (modulo) {
                answer[i] = static_cast<std::uint32_t>(code + difference) & lane_mask(column);
              } else if (column.format == nullptr || (!is_nan_code(*column.format, code) && !is_inf_code(*column.format, code))) {
                answer[i] = (code & sign) | static_cast<std::uint32_t>(std::clamp<std::int64_t>((code & ~sign) + difference, 0, most));
              }
            }
          }};
}

/// The column has one code, whatever is right.
WrongRule stuck(const std::vector<Column>& columns, std::size_t which, std::uint32_t code) {
  const Column& column = columns[which];
  const auto first = lane_count(std::span(columns).first(which));
  const auto lanes = static_cast<std::size_t>(column.lanes);
  std::string name = fmt::format("{} stuck at 0x{:0{}x}", column.name, code, (column.bits + 3) / 4);
  return {is_scale(column) ? FaultClass::scale : FaultClass::value, std::move(name),
          [first, lanes, code](Lanes /*operands*/, Lanes right, MutableLanes answer) {
            std::ranges::copy(right, answer.begin());
            std::ranges::fill(answer.subspan(first, lanes), code);
          }};
}

}  // namespace

void DifferenceCount::add(Lanes right, Lanes answer) {
  std::size_t lane = 0;
  for (std::size_t c = 0; c < columns_->size(); ++c) {
    const Column& column = (*columns_)[c];
    const std::uint32_t sign = sign_of(column);
    for (int i = 0; i < column.lanes; ++i, ++lane) {
      if (right[lane] == answer[lane] || column.flags) continue;
      // Two of each are enough to know that they are several.
      if (answers_[c].given.size() < 2) answers_[c].given.insert(answer[lane]);
      if (answers_[c].right.size() < 2) answers_[c].right.insert(right[lane]);
      if (((right[lane] ^ answer[lane]) & sign) != 0) continue;
      ++counts_[c][static_cast<std::int64_t>(answer[lane]) - static_cast<std::int64_t>(right[lane])];
    }
  }
}

std::vector<WrongRule> DifferenceCount::rules() const {
  std::vector<WrongRule> rules;
  for (std::size_t c = 0; c < columns_->size(); ++c) {
    if (answers_[c].are_stuck()) {
      rules.push_back(stuck(*columns_, c, *answers_[c].given.begin()));
      continue;
    }
    const auto most = std::ranges::max_element(counts_[c], {}, [](const auto& row) { return row.second; });
    if (most == counts_[c].end()) continue;
    const std::uint64_t all =
        std::accumulate(counts_[c].begin(), counts_[c].end(), std::uint64_t{0}, [](std::uint64_t sum, const auto& row) { return sum + row.second; });
    if (2 * most->second < all) continue;
    for (const bool modulo : {false, true}) rules.push_back(moved(*columns_, c, most->first, modulo));
  }
  return rules;
}

}  // namespace mx::golden
