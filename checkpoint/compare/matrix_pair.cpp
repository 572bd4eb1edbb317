#include "checkpoint/compare/matrix_pair.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "checkpoint/nearest_even.hpp"
#include "model/fault.hpp"

namespace mx::checkpoint {
namespace {

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

double rounded(double value, int bits) { return bits == 11 ? nearest_fp16(value) : bits == 8 ? nearest_bf16(value) : value; }

/// a * d == b * c for numbers of at most 30 bits: the products are exact in 64 bits of a significand, and compared in parts where a double has fewer.
bool equal_products(double a, double d, double b, double c) {
  const double left = a * d, right = b * c;
  return left == right && std::fma(a, d, -left) == std::fma(b, c, -right);
}

/// Distance as a factor.
double ratio_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b) || a == 0 || b == 0 || std::signbit(a) != std::signbit(b)) return HUGE_VAL;
  return std::max(std::abs(a / b), std::abs(b / a));
}

std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0xFF51AFD7ED558CCDU;
  return state ^ state >> 32U;
}

}  // namespace

void MatrixPair::add(std::span<const double> a, std::span<const double> b) {
  for (std::size_t i = 0; i < a.size(); ++i, ++values_) {
    if (is_factor_) {
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
        is_factor_ = false;
      } else if (factor_a_ == 0 && a[i] != 0 && b[i] != 0) {
        factor_a_ = a[i];
        factor_b_ = b[i];
      } else if (factor_a_ == 0) {
        is_factor_ = a[i] == 0 && b[i] == 0;
      } else {
        is_factor_ = (a[i] == b[i] && factor_a_ == factor_b_) || equal_products(a[i], factor_b_, b[i], factor_a_);
      }
    }
    if (same(a[i], b[i])) continue;
    if (differing_++ == 0) {
      first_ = values_;
      first_a_ = a[i];
      first_b_ = b[i];
    }
    ratio_ = std::max(ratio_, ratio_of(a[i], b[i]));
    if (b_bits_ > 0 && !is_rounding_of(a[i], b[i], b_bits_) && b_beyond_.count++ == 0) b_beyond_.first = values_;
    if (a_bits_ > 0 && !is_rounding_of(b[i], a[i], a_bits_) && a_beyond_.count++ == 0) a_beyond_.first = values_;
  }
}

bool is_rounding_of(double number, double is, int bits) {
  if (fault::planted(fault::Fault::roundings_may_be_off)) return std::abs(number - is) <= std::ldexp(std::abs(number), 3 - bits);
  const auto narrow = static_cast<double>(static_cast<float>(number));
  if (bits == 24) return same(narrow, is);
  return same(rounded(number, bits), is) || (bits > 0 && same(rounded(narrow, bits), is));
}

std::optional<MatrixPair::Beyond> MatrixPair::beyond_rounding() const {
  for (const auto& [bits, beyond] : {std::pair(b_bits_, b_beyond_), std::pair(a_bits_, a_beyond_)}) {
    if (bits > 0 && beyond.count > 0 && 2 * beyond.count <= differing_) return beyond;
  }
  return std::nullopt;
}

std::optional<double> MatrixPair::factor() const {
  if (!is_factor_ || factor_a_ == 0) return std::nullopt;
  return factor_b_ / factor_a_;
}

void ValueDigest::add(std::span<const double> values) {
  for (const double value : values) {
    // 0 and -0 are one number, and so is every NaN.
    const std::uint64_t word = std::isnan(value) ? 0x7FF8000000000000U : value == 0 ? 0 : std::bit_cast<std::uint64_t>(value);
    low_ = mixed(low_, word);
    high_ = mixed(std::rotl(high_, 29), word + 0x165667B19E3779F9U);
  }
}

}  // namespace mx::checkpoint
