#pragma once
// Dot products under a contract: one interpreter for all rows of contract.hpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/numerics/contract.hpp"
#include "model/numerics/value.hpp"

namespace mx {

/// One factor of a dot product: elements along k, and their scales where they have any.
struct Operand {
  std::span<const Value> elements;
  const Format* format = nullptr;      ///< the format that the elements are codes of; null: any numbers
  std::span<const Value> scales = {};  ///< one for each `block` elements, the last block may be short; empty: none
  int block = 0;
  const Format* scale_format = nullptr;  ///< that the scales are codes of; needed where they enter the terms (ScaleEntry::term)
};

/// What is added to the products, as fp32 bits: C where the contract lets it enter, the bias at the end.
struct Addends {
  std::optional<std::uint32_t> c;
  std::optional<std::uint32_t> bias;
};

/// An element as a contract takes it: cast, in the contract's order of k, filled up with zeros to a whole period.
struct Factor {
  Value value;
  /// Of its format's exponent field: not normalized, a subnormal has that of the smallest normal number. With ScaleEntry::term the scale's is added,
  /// or stands alone, as row.reference says.
  std::int32_t nominal_exponent;
  std::uint32_t f32;  ///< fp32 bits of the value, nearest even
};

/// An operand made ready once for many dot products.
struct PreparedOperand {
  std::size_t elements;
  std::vector<Factor> factors;
  std::vector<std::uint32_t> scales;  ///< fp32 bits; empty: none, or already in the factors
  std::size_t block = 0;              ///< factors that share a scale
};

enum class Side { a, b };

/// Throws Error(usage) for a format or a block of scales that the contract does not take.
PreparedOperand prepare(const ContractRow& row, Side side, const Operand& operand);

/// fp32 bits of sum(a[k] * b[k]) under the contract; both operands prepared with the same row. Throws Error(usage) for unequal lengths, and for block
/// sizes that do not fit together.
std::uint32_t dot(const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, const Addends& addends);
std::uint32_t dot(const ContractRow& row, const Operand& a, const Operand& b, const Addends& addends);

/// fp32 bits of a + b rounded once to row.result, nearest even; with row.flush subnormal operands and sums become zero with their sign.
std::uint32_t added(const ContractRow& row, std::uint32_t a, std::uint32_t b);

/// The total behind one chain of a contract that restarts: its sum enters with the scales that belong to it (fp32 bits, 1.0 for none).
std::uint32_t entered(const ContractRow& row, std::uint32_t total, std::uint32_t sum, std::uint32_t scale_a, std::uint32_t scale_b);

/// What dot() makes of the sum of all k: C where the row adds it last, the scales of the total (fp32 bits, 1.0 for none), the bias where it comes
/// after, the contract's NaN.
std::uint32_t finished(const ContractRow& row, std::uint32_t sum, std::uint32_t scale_a, std::uint32_t scale_b, const Addends& addends);

/// The same for plain values without scales or format, and a bias of fp32 bits.
std::uint32_t dot(Contract contract, std::span<const Value> a, std::span<const Value> b, std::uint32_t bias_f32);

/// Code of a contract's fp32 result in bf16, fp16 or fp32: nearest even, overflow to Inf, the NaN of the contract's kind (its top bits).
std::uint32_t narrowed(const ContractRow& row, std::uint32_t f32, const Format& format);

}  // namespace mx
