#pragma once
// The two sides of a tile in memory as the kernels read them. For tile.cpp alone.

#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/dot/aligned_args.hpp"
#include "model/numerics/chain.hpp"
#include "model/numerics/tile.hpp"

namespace mx::kernels::dot {
namespace {

/// What a factor is to the kernels.
struct QuickFactor {
  float value = 0;
  std::int16_t exponent = kZeroExponent;
  bool plain = true;  ///< false: a number that they do not take
};

QuickFactor quick_factor(const Factor& factor) {
  if (factor.value.cls == ValueClass::zero) return {};
  const bool plain =
      factor.value.cls == ValueClass::finite && factor.nominal_exponent >= kLeastExponent && factor.nominal_exponent <= kLargestExponent;
  if (!plain) return {0, kZeroExponent, false};
  return {std::bit_cast<float>(factor.f32), static_cast<std::int16_t>(factor.nominal_exponent), true};
}

/// What every code of up to 16 bits comes to without a scale.
using CodeTable = std::vector<QuickFactor>;

/// The row as it takes codes alone.
ContractRow without_scales(ContractRow row) {
  row.scales = ScaleEntry::operand;
  return row;
}

/// Tables are worked out once for each format and cast.
std::shared_ptr<const CodeTable> table_of(const ContractRow& row, Side side, const Format& format) {
  using Key = std::tuple<std::string_view, std::string_view, bool, bool, bool>;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const CodeTable>> tables;
  const Key key{format.name, row.cast == nullptr ? std::string_view{} : row.cast->name, row.cast_cuts, row.flush, row.flush_to_plus};
  const std::scoped_lock lock(mutex);
  std::shared_ptr<const CodeTable>& table = tables[key];
  if (table) return table;
  std::vector<Value> values;
  for (std::uint32_t code = 0; code >> format.width == 0; ++code) values.push_back(decode(format, code));
  ContractRow plain = without_scales(row);
  constexpr std::array<std::uint8_t, 1> kAscending{0};
  plain.order = kAscending;
  auto made = std::make_shared<CodeTable>();
  for (const Factor& factor : prepare(plain, side, {.elements = values, .format = &format}).factors) made->push_back(quick_factor(factor));
  table = std::move(made);
  return table;
}

std::uint32_t word_at(std::span<const std::uint8_t> bytes, std::size_t width, std::size_t index) {
  std::uint32_t word = bytes[index * width];
  if (width > 1) word |= std::uint32_t{bytes[index * width + 1]} << 8;
  return word;
}

/// An fp32 number rounded to bf16, nearest even; every NaN is the quiet one. The exponents are the same, so that a carry does all that rounding has
/// to.
std::uint32_t bf16_of(std::span<const std::uint8_t> bytes, std::size_t index) {
  const std::uint32_t word = word_at(bytes, 2, 2 * index) | word_at(bytes, 2, 2 * index + 1) << 16U;
  constexpr std::uint32_t kMagnitude = 0x7FFFFFFF, kInf = 0x7F800000, kQuietNan = 0x7FC0;
  if ((word & kMagnitude) > kInf) return kQuietNan;
  return (word + 0x7FFFU + (word >> 16U & 1U)) >> 16U;
}

/// Whether an operand of fp32 is one of bf16 once the contract has rounded it.
bool is_rounded_to_bf16(const ContractRow& row, const TileOperand& operand) {
  return *operand.format == kF32 && row.cast != nullptr && *row.cast == kBf16 && !row.cast_cuts;
}

/// One side of the aligned way, in memory as the kernels read it: `lanes` rows side by side, or each for itself where that is 1.
class AlignedSide {
 public:
  AlignedSide(const ContractRow& row, Side side, const TileOperand& operand, std::size_t rows, std::size_t k, std::size_t lanes)
      : row_(&row), side_(side), operand_(&operand), k_(k), lanes_(lanes) {
    const auto group = static_cast<std::size_t>(row.group);
    const std::size_t period = row.order.size();
    const std::size_t filled = (k + period - 1) / period * period;
    length_ = (filled + group - 1) / group * group;
    const std::size_t places = (rows + lanes - 1) / lanes * lanes;
    values_.assign(places * length_, 0.0F);
    exponents_.assign(places * length_, kZeroExponent);
    plain_.assign(rows, 1);
    rounded_ = is_rounded_to_bf16(row, operand);
    const bool by_table = (rounded_ || operand.format->width <= 16) && (operand.scale_format == nullptr || row.scales != ScaleEntry::operand);
    if (by_table) table_ = table_of(row, side, rounded_ ? kBf16 : *operand.format);
    for (std::size_t i = 0; i < rows; ++i) by_table ? fill_by_table(i) : fill_by_model(i);
  }

  std::size_t length() const { return length_; }
  bool is_plain(std::size_t i) const { return plain_[i] != 0; }
  const float* values(std::size_t block) const { return values_.data() + block * lanes_ * length_; }
  const std::int16_t* exponents(std::size_t block) const { return exponents_.data() + block * lanes_ * length_; }

 private:
  void place(std::size_t i, std::size_t at, const QuickFactor& factor) {
    const std::size_t index = i / lanes_ * lanes_ * length_ + at * lanes_ + i % lanes_;
    values_[index] = factor.value;
    exponents_[index] = factor.exponent;
    if (!factor.plain) plain_[i] = 0;
  }

  void fill_by_model(std::size_t i) {
    const PreparedOperand prepared = prepared_row(*row_, side_, *operand_, i, k_);
    for (std::size_t at = 0; at < prepared.factors.size(); ++at) place(i, at, quick_factor(prepared.factors[at]));
  }

  QuickFactor scaled(QuickFactor factor, const QuickFactor& scale) const {
    const int exponent = factor.exponent + scale.exponent;
    if (!factor.plain || !scale.plain) return {0, kZeroExponent, false};
    if (factor.exponent == kZeroExponent || scale.exponent == kZeroExponent) return {};
    return {factor.value * scale.value, static_cast<std::int16_t>(exponent), exponent >= kLeastExponent && exponent <= kLargestExponent};
  }

  void fill_by_table(std::size_t i) {
    const std::size_t width = tile_word_bytes(*operand_->format);
    const std::size_t period = row_->order.size();
    const bool has_terms = row_->scales == ScaleEntry::term;
    const std::size_t blocks = has_terms ? (k_ + operand_->block - 1) / operand_->block : 0;
    std::vector<QuickFactor> scales;
    for (std::size_t b = 0; b < blocks; ++b) scales.push_back(scale_of(word_at(operand_->scales, 1, i * blocks + b)));
    for (std::size_t at = 0; at < (k_ + period - 1) / period * period; ++at) {
      const std::size_t k = at / period * period + row_->order[at % period];
      if (k >= k_) continue;
      const std::size_t index = i * k_ + k;
      const QuickFactor& factor = (*table_)[rounded_ ? bf16_of(operand_->codes, index) : word_at(operand_->codes, width, index)];
      place(i, at, has_terms ? scaled(factor, scales[k / operand_->block]) : factor);
    }
  }

  QuickFactor scale_of(std::uint32_t word) const {
    const Format& format = *operand_->scale_format;
    Value value = decode(format, word & (format == kUe4m3 ? magnitude_mask(kUe4m3) : 0xFFU));
    value.negative = false;
    return quick_factor({value, nominal_exponent(value, format), to_f32(value)});
  }

  const ContractRow* row_;
  Side side_;
  const TileOperand* operand_;
  std::size_t k_, lanes_;
  std::size_t length_ = 0;
  std::vector<float> values_;
  std::vector<std::int16_t> exponents_;
  std::vector<std::uint8_t> plain_;
  std::shared_ptr<const CodeTable> table_;
  bool rounded_ = false;  ///< codes of fp32, which the table has as bf16
};

/// One side of the fp4 way, likewise.
class Fp4Side {
 public:
  Fp4Side(const ContractRow& row, const TileOperand& operand, std::size_t rows, std::size_t k, std::size_t lanes) : lanes_(lanes) {
    run_ = static_cast<std::size_t>(row.presum);
    terms_ = (k + run_ - 1) / run_;
    const std::size_t places = (rows + lanes - 1) / lanes * lanes;
    numbers_.assign(places * terms_ * run_, 0);
    scales_.assign(places * terms_, 0);
    exponents_.assign(places * terms_, kZeroExponent);
    bits_.assign(places * terms_, 0);
    plain_.assign(rows, 1);
    const std::size_t blocks = (k + operand.block - 1) / operand.block;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t block = i / lanes * lanes;
      for (std::size_t term = 0; term < terms_; ++term) {
        const std::size_t at = block * terms_ + term * lanes + i % lanes;
        const std::uint32_t word = operand.scales[i * blocks + term * run_ / operand.block];
        const Format& format = *operand.scale_format;
        Value scale = decode(format, word & (format == kUe4m3 ? magnitude_mask(kUe4m3) : 0xFFU));
        if (scale.cls == ValueClass::nan) plain_[i] = 0;
        if (scale.cls != ValueClass::finite) continue;
        scales_[at] = std::ldexp(static_cast<double>(scale.significand), scale.exponent);
        exponents_[at] = nominal_exponent(scale, format);
        for (std::size_t k_of = 0; k_of < run_ && term * run_ + k_of < k; ++k_of) {
          const Value value = decode(kE2m1, operand.codes[i * k + term * run_ + k_of]);
          const auto twice = static_cast<std::int16_t>(std::ldexp(static_cast<double>(value.significand), value.exponent + 1));
          numbers_[block * terms_ * run_ + (term * run_ + k_of) * lanes + i % lanes] = value.negative ? static_cast<std::int16_t>(-twice) : twice;
          if (twice != 0) bits_[at] |= 1 << k_of;
        }
      }
    }
  }

  std::size_t terms() const { return terms_; }
  std::size_t run() const { return run_; }
  bool is_plain(std::size_t i) const { return plain_[i] != 0; }
  const std::int16_t* numbers(std::size_t block) const { return numbers_.data() + block * lanes_ * terms_ * run_; }
  const double* scales(std::size_t block) const { return scales_.data() + block * lanes_ * terms_; }
  const std::int32_t* exponents(std::size_t block) const { return exponents_.data() + block * lanes_ * terms_; }
  const std::int32_t* places(std::size_t block) const { return bits_.data() + block * lanes_ * terms_; }

 private:
  std::size_t lanes_;
  std::size_t run_ = 0;
  std::size_t terms_ = 0;
  std::vector<std::int16_t> numbers_;
  std::vector<double> scales_;
  std::vector<std::int32_t> exponents_, bits_;
  std::vector<std::uint8_t> plain_;
};

}  // namespace
}  // namespace mx::kernels::dot
