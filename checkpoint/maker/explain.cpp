#include "checkpoint/maker/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "checkpoint/compare/bridges.hpp"

namespace mx::checkpoint {
namespace {

/// A quotient may be rounded to bf16 before it is rounded to a code.
constexpr double kRounded = 1.0 + 0x1p-7;

/// What was counted of the sample.
struct Sums {
  MakerCounts all;  ///< of every block
  std::int64_t blocks = 0, smaller = 0, larger = 0;
  double least_ratio = HUGE_VAL, largest_ratio = 0;  ///< of the file's scale to the rule's
  std::int64_t codes = 0, other_codes = 0;
  std::int64_t far = 0;  ///< codes that are not the nearest of their scale
  double xx = 0, xy = 0, yy = 0;
  std::vector<double> column_xx, column_xy;
  std::vector<double> row_xx, row_yy;

  bool one_ratio() const { return smaller + larger == blocks && largest_ratio - least_ratio <= 1e-6 * largest_ratio; }
  /// The part of the numbers' power that a factor for all leaves; for each column.
  double rest() const { return xx * yy == 0 ? 1 : 1 - xy * xy / (xx * yy); }
  double rest_of_columns() const {
    double explained = 0;
    for (std::size_t k = 0; k < column_xx.size(); ++k) explained += column_xx[k] == 0 ? 0 : column_xy[k] * column_xy[k] / column_xx[k];
    return yy == 0 ? 1 : 1 - explained / yy;
  }
  /// Whether the rows have the base's norms.
  bool norms_stay() const {
    std::size_t rows = 0, like = 0;
    for (std::size_t r = 0; r < row_xx.size(); ++r) {
      rows += row_xx[r] > 0 ? 1U : 0U;
      like += row_xx[r] > 0 && std::abs(row_yy[r] - row_xx[r]) <= 0.1 * row_xx[r] ? 1U : 0U;
    }
    return rows > 0 && like * 10 >= rows * 9;
  }
};

/// Which code is nearest: the positive numbers of an element in order.
class Nearest {
 public:
  explicit Nearest(const CodedNumbers& numbers) {
    for (const double number : numbers.codes()) {
      if (std::isfinite(number) && number >= 0 && !std::signbit(number)) grid_.push_back(number);
    }
    std::ranges::sort(grid_);
  }
  /// Whether a code's number is nearest to a quotient, where that may have been rounded.
  bool holds(double quotient, double number) const {
    if (std::isnan(quotient) || std::isnan(number)) return std::isnan(quotient) == std::isnan(number);
    if (quotient != 0 && number != 0 && std::signbit(quotient) != std::signbit(number)) return false;
    const double magnitude = std::abs(quotient), at = std::abs(number);
    const auto found = std::ranges::lower_bound(grid_, at);
    const double below = found == grid_.begin() ? 0 : (*(found - 1) + at) / 2;
    const double above = found == grid_.end() || found + 1 == grid_.end() ? HUGE_VAL : (*(found + 1) + at) / 2;
    return magnitude * kRounded >= below && magnitude <= above * kRounded;
  }

 private:
  std::vector<double> grid_;
};

class Count {
 public:
  Count(const CodedMatrix& matrix, Attempt& nearest) : matrix_(matrix), nearest_(nearest), numbers_(matrix), grid_(numbers_) {
    sums_.all = nearest.counts();
    sums_.column_xx.resize(static_cast<std::size_t>(matrix.columns));
    sums_.column_xy.resize(static_cast<std::size_t>(matrix.columns));
  }

  void add(const SampleBlocks& sample) {
    nearest_.forget();
    nearest_.add({sample.blocks, sample.first_row});
    sums_.other_codes += nearest_.counts().codes;
    const CodedBlocks& blocks = sample.blocks;
    for (std::size_t block = 0; block < blocks.count; ++block) {
      const double factor = numbers_.factor(blocks, block);
      ++sums_.blocks;
      add_ratio(sample.blocks, block);
      for (std::size_t i = block * blocks.length; i < (block + 1) * blocks.length; ++i) add_number(sample, block, i, factor);
    }
  }
  const Sums& sums() const { return sums_; }

 private:
  void add_ratio(const CodedBlocks& blocks, std::size_t block) {
    const auto made = static_cast<double>(std::bit_cast<float>(nearest_.scale_bits(block)));
    const double stored = numbers_.scale(blocks, block);
    if (made == 0 || stored == 0) return;
    const double ratio = stored / made;
    sums_.least_ratio = std::min(sums_.least_ratio, ratio);
    sums_.largest_ratio = std::max(sums_.largest_ratio, ratio);
    sums_.smaller += ratio < 1 ? 1 : 0;
    sums_.larger += ratio > 1 ? 1 : 0;
  }
  void add_number(const SampleBlocks& sample, std::size_t block, std::size_t index, double factor) {
    const CodedBlocks& blocks = sample.blocks;
    const double x = numbers_.base_at(blocks, index), code = numbers_.code_at(blocks, index), y = code * factor;
    ++sums_.codes;
    if (!grid_.holds(x / factor, code)) ++sums_.far;
    if (!std::isfinite(x) || !std::isfinite(y)) return;
    sums_.xx += x * x;
    sums_.xy += x * y;
    sums_.yy += y * y;
    const bool one = matrix_.is_one_block();
    const auto columns = static_cast<std::size_t>(matrix_.columns), inside = index - block * blocks.length;
    const auto [row, column] = place_of(matrix_, one ? inside / columns : block, one ? inside % columns : inside);
    const std::size_t at = static_cast<std::size_t>(sample.first_row) + row;
    if (column >= columns) return;
    sums_.column_xx[column] += x * x;
    sums_.column_xy[column] += x * y;
    if (at >= sums_.row_xx.size()) {
      sums_.row_xx.resize(at + 1);
      sums_.row_yy.resize(at + 1);
    }
    sums_.row_xx[at] += x * x;
    sums_.row_yy[at] += y * y;
  }

  const CodedMatrix& matrix_;
  Attempt& nearest_;
  CodedNumbers numbers_;
  Nearest grid_;
  Sums sums_;
};

constexpr std::string_view kNotPlain = "not a plain rounding of this base: ";
/// From here on what a factor leaves is more than the rounding of 4 bits.
constexpr double kRounding = 0.03;

std::string ratio_text(double ratio) {
  const std::string text = known_ratio(ratio);
  return text.empty() ? text : "; " + text;
}

/// A cause: what it says where it explains all.
struct CauseRow {
  std::string_view id;
  std::string (*says)(const Sums& sums);  ///< empty: it does not explain it
};
constexpr std::array<CauseRow, 9> kCauses{{
    {"changed",
     [](const Sums& s) -> std::string {
       if (s.all.differing * 50 > s.all.blocks) return {};
       return "every other block is the rule's: these were written by something else";
     }},
    {"factor-of-scales",
     [](const Sums& s) -> std::string {
       if (!s.one_ratio() || s.other_codes > 0) return {};
       return fmt::format("the codes are the rule's, and every scale is {} times the rule's{}", s.largest_ratio, ratio_text(s.largest_ratio));
     }},
    {"another-amax",
     [](const Sums& s) -> std::string {
       if (!s.one_ratio() || s.far > 0) return {};
       return fmt::format("every scale is {} times what the largest magnitude gives: made from another amax; each code is the nearest of its scale{}",
                          s.largest_ratio, ratio_text(s.largest_ratio));
     }},
    {"clipping",
     [](const Sums& s) -> std::string {
       if (s.far > 0 || s.smaller == 0 || s.larger > 0) return {};
       return fmt::format("clipping: {} of {} scales are smaller than the largest magnitude asks for; each code is the nearest of its scale",
                          s.smaller, s.blocks);
     }},
    {"search",
     [](const Sums& s) -> std::string {
       if (s.far > 0 || s.smaller + s.larger == 0) return {};
       return fmt::format("a search over scales: of {}, {} are smaller and {} larger than the rule's; each code is the nearest of its scale",
                          s.blocks, s.smaller, s.larger);
     }},
    {"adaptive",
     [](const Sums& s) -> std::string {
       if (s.smaller + s.larger > 0 || s.rest() > kRounding) return {};
       return fmt::format("the scales are the rule's, and {} of {} codes are not the nearest: adaptive rounding (GPTQ, AdaRound and the like)", s.far,
                          s.codes);
     }},
    {"smoothing",
     [](const Sums& s) -> std::string {
       if (s.rest() <= kRounding || s.rest_of_columns() > kRounding) return {};
       return fmt::format("{}each column has a factor of its own, as smoothing puts it there", kNotPlain);
     }},
    {"rotation",
     [](const Sums& s) -> std::string {
       if (s.rest() < 0.5 || !s.norms_stay()) return {};
       return fmt::format("{}rows have the base's norms in other directions, as a rotation leaves them", kNotPlain);
     }},
    {"other",
     [](const Sums& s) -> std::string {
       if (s.rest() > 0.5) return fmt::format("{}these are other weights", kNotPlain);
       return fmt::format("{}{} of {} codes are not the nearest of their scales", kNotPlain, s.far, s.codes);
     }},
}};

}  // namespace

std::string known_scale(const CodedMatrix& matrix, std::uint32_t amax) {
  const CodedNumbers numbers(matrix);
  double largest = 0;
  for (const double code : numbers.codes()) largest = std::isfinite(code) ? std::max(largest, code) : largest;
  const auto most = static_cast<double>(std::bit_cast<float>(to_f32(amax, *matrix.source)));
  const std::string text =
      matrix.number && most > 0 ? known_ratio(static_cast<double>(std::bit_cast<float>(matrix.number->bits)) / (most / largest)) : "";
  return text.empty() ? text : fmt::format("the scale is that of the largest magnitude times {}", text);
}

std::string cause_of(const CodedMatrix& matrix, Attempt& nearest, const std::vector<SampleBlocks>& sample) {
  Count count(matrix, nearest);
  for (const SampleBlocks& one : sample) count.add(one);
  for (const CauseRow& row : kCauses) {
    if (std::string text = row.says(count.sums()); !text.empty()) return text;
  }
  return {};
}

}  // namespace mx::checkpoint
