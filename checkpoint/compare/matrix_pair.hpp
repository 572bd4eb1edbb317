#pragma once
// Two matrices beside each other, and what one thing would make one of the other.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/stop.hpp"

namespace mx::checkpoint {

/// What is learned of two matrices as their numbers come, row by row.
class MatrixPair {
 public:
  /// `a_bits`, `b_bits`: significant bits of a file that holds numbers as they are, 8 (BF16) or 11 (FP16), 0: it does not.
  MatrixPair(std::int64_t columns, int a_bits, int b_bits) : columns_(columns), a_bits_(a_bits), b_bits_(b_bits) {}

  /// The next numbers of both.
  void add(std::span<const double> a, std::span<const double> b);

  std::int64_t values() const { return values_; }
  std::int64_t differing() const { return differing_; }
  double ratio() const { return ratio_; }
  std::vector<std::int64_t> place(std::int64_t at) const { return {at / columns_, at % columns_}; }
  std::vector<std::int64_t> first() const { return place(first_); }
  double first_a() const { return first_a_; }
  double first_b() const { return first_b_; }
  /// b / a of every pair, where it is the same for all; none where it is not, or nothing is to be divided.
  std::optional<double> factor() const;
  /// Whether one side is the other one, rounded to the bits of its file to nearest even.
  bool is_rounded() const { return differing_ > 0 && ((b_bits_ > 0 && b_beyond_.count == 0) || (a_bits_ > 0 && a_beyond_.count == 0)); }

  /// Numbers that are not the other side's, rounded.
  struct Beyond {
    std::int64_t count = 0;
    std::int64_t first = 0;
  };
  /// Where the rounding to the bits of a side's file is most of what differs: the rest.
  std::optional<Beyond> beyond_rounding() const;

 private:
  std::int64_t columns_;
  int a_bits_;
  int b_bits_;
  std::int64_t values_ = 0;
  std::int64_t differing_ = 0;
  std::int64_t first_ = 0;
  double first_a_ = 0;
  double first_b_ = 0;
  double ratio_ = 1;
  double factor_a_ = 0;  ///< the first pair of numbers that are not 0
  double factor_b_ = 0;
  bool is_factor_ = true;
  Beyond a_beyond_;
  Beyond b_beyond_;
};

/// Whether a number is another one, rounded to so many bits to nearest even: from its exact value, or from fp32, in which engines multiply. 24: to
/// fp32; 0: not at all. NaN is NaN.
bool is_rounding_of(double number, double rounded, int bits);

/// A digest of numbers that are equal exactly where the numbers are: of one matrix, as they come. 128 bits in two words.
class ValueDigest {
 public:
  void add(std::span<const double> values);
  friend bool operator==(const ValueDigest&, const ValueDigest&) = default;
  friend auto operator<=>(const ValueDigest&, const ValueDigest&) = default;

 private:
  std::uint64_t low_ = 0x9E3779B97F4A7C15U;
  std::uint64_t high_ = 0xC2B2AE3D27D4EB4FU;
};

}  // namespace mx::checkpoint
