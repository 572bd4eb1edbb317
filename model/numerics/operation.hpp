#pragma once
// The operations of an arithmetic unit in any format: the exact result, rounded once, with the flags of IEEE 754.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/convert.hpp"
#include "model/numerics/ieee_flags.hpp"

namespace mx {

enum class Operation {
  add,          ///< a + b
  subtract,     ///< a - b
  multiply,     ///< a * b
  fma,          ///< a * b + c
  divide,       ///< a / b
  square_root,  ///< of a
  minimum,      ///< a NaN wins; -0 is below +0 (IEEE 754-2019 section 9.6)
  maximum,
  minimum_number,  ///< a number wins over a NaN
  maximum_number,
};

/// "add", "square-root"; and how many operands there are.
struct OperationRow {
  Operation operation;
  std::string_view name;
  int operands;
};
std::span<const OperationRow> all_operations();
/// Throws Error(usage) with the nearest name.
const OperationRow& operation_named(std::string_view name);

/// The code of the result. `codes` are as many as the operation has operands, each of its own format in `from`; `how` rounds into `to` and says what
/// a NaN, an Inf and what is too large become there; no payload of a NaN is kept. Flags: signalling operands, and what has no answer (0 * Inf, Inf -
/// Inf, 0 / 0, Inf / Inf, the root of a negative number; fma of 0, Inf and a NaN too) are invalid, a finite number over 0 divides by zero, all others
/// are those of the rounding. An exact zero sum of unlike signs is +0, rounded downward -0 (section 6.3). Throws Error(usage) for another number of
/// codes or formats, and where `how` refuses. Source: IEEE 754-2019 sections 5.4.1, 6.1 to 6.3, 7.2, 7.3, 9.6.
std::uint32_t operate(Operation operation, std::span<const std::uint32_t> codes, std::span<const Format* const> from, const Format& to,
                      const Conversion& how, IeeeFlags& flags, Random random = {});

}  // namespace mx
