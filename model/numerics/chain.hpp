#pragma once
// One chain of a dot product: products enter an fp32 sum step by step, as the contract's row says. For the .cpp files of this folder, and tests.

#include <cstdint>
#include <optional>
#include <span>

#include "model/numerics/dot.hpp"

namespace mx {

/// fp32 bits of the chain over the products a[i] * b[i] (equally many) from `start`, +0 when there is none. `term` is one more term of an exact sum;
/// the other steps have none.
std::uint32_t chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::optional<std::uint32_t> start,
                    std::optional<std::uint32_t> term);

/// fp32 a * b + c rounded to nearest even, where subnormal operands and results become zeros with their sign. A result is subnormal when it is below
/// 2^-126 once rounded to 24 bits without a limit on its exponent (x86's rule).
std::uint32_t flushed_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c);

/// One group step of a tensor core: fp32 bits of the products and the sum c before them. E is the largest of the nominal exponents of nonzero
/// products (the sum of their factors') and of c, and at least row.least_exponent; every addend is truncated toward zero to a multiple of 2^(E - row.alignment_bits), these are summed
/// exactly, the sum is truncated toward zero to row.kept_bits significant bits, and to fp32's subnormals. A sum of zero is +0, one beyond fp32 is
/// Inf. Source: recorded outputs of an H200; what lies below 2^-149 or beyond fp32's range is assumed.
std::uint32_t aligned_sum(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::uint32_t c);

/// What the exponent field of a value of the format stands for: zero and subnormals share that of the smallest normal number.
std::int32_t nominal_exponent(const Value& value, const Format& format);

}  // namespace mx
