#pragma once
// One chain of a dot product: products enter an fp32 sum step by step, as the contract's row says. For the .cpp files of this folder, and tests.

#include <cstdint>
#include <optional>
#include <span>

#include "model/numerics/dot.hpp"

namespace mx {

/// fp32 bits of the chain over the products a[i] * b[i] (equally many) from `start`, +0 when there is none. `term` is one more term of an exact sum;
/// the other steps have none. `start_format` is that of `start`, fp32 or fp16; sums before later groups are of row.result.
std::uint32_t chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::optional<std::uint32_t> start,
                    std::optional<std::uint32_t> term, const Format& start_format = kF32);

/// fp32 a * b + c rounded to nearest even, where subnormal operands and results become zeros with their sign. A result is subnormal when it is below
/// 2^-126 once rounded to 24 bits without a limit on its exponent (x86's rule).
std::uint32_t flushed_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c);

/// Terms of an aligned group: runs of `presum` products.
inline constexpr std::size_t kLargestGroup = 64;

/// One group step of a tensor or matrix core: fp32 bits of the products and the sum c before them, a number of c_format. E is the largest exponent of
/// the terms that count, at least row.least_exponent: of products the sum of their factors' nominal exponents, of c its own. Every term is cut down
/// to a multiple of 2^(E - row.alignment_bits), these are summed exactly, the sum is rounded to row.kept_bits significant bits, and to the subnormals
/// of row.result. What differs from that in a row is said by its fields. Source: recorded outputs of an H200, an H100 and others' devices; of rows
/// whose evidence says so, of a simulator.
std::uint32_t aligned_sum(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::uint32_t c,
                          const Format& c_format = kF32);

/// The product as row.product has it: rounded to nearest even, or as it is.
Value rounded_product(const ContractRow& row, const Value& product);

/// What the exponent field of a value of the format stands for: zero and subnormals share that of the smallest normal number.
std::int32_t nominal_exponent(const Value& value, const Format& format);

}  // namespace mx
