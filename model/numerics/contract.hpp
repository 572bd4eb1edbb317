#pragma once
// Arithmetic contracts: the declared order and rounding of a dot product, as rows of data. A result without a contract's name means nothing.
// How a row is executed: dot.hpp.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/grounds.hpp"
#include "model/numerics/format.hpp"

namespace mx {

enum class Contract {
  exact,
  f32_sequential,
  bf16_chain,
  bf16_block,
  int8_block,
  hopper_fp8,
  hopper_fp8_promoted,
  hopper_fp8_block_1x128,
  hopper_fp8_block_128x128,
  hopper_bf16,
  hopper_fp16,
  hopper_mma_fp8,
  hopper_bf16_v1,
};

/// How one product enters a chain.
enum class Step {
  exact,    ///< the whole chain is an exact sum, rounded once to fp32, nearest even
  fused,    ///< one fp32 fused multiply-add, nearest even
  aligned,  ///< a group of products at once: truncated to a common unit, summed exactly, truncated (`alignment_bits`, `kept_bits`)
};

/// Where the scales of the operands enter. S is the sum of one chain, v the total over the chains, d the whole dot product, a and b the scales;
/// every product and fused multiply-add is one fp32 operation, nearest even, subnormals kept.
enum class ScaleEntry {
  operand,           ///< folded into each element before its cast: the exact product, rounded once by the cast
  chain_product,     ///< v = fma(S, a * b, v)
  chain_one_by_one,  ///< v = fma(S * a, b, v)
  total_product,     ///< d * (a * b), one scale for all k
  total_one_by_one,  ///< (d * a) * b, likewise
};

/// Below every exponent of a product: E has no lower bound.
inline constexpr int kAnyExponent = -1000;

/// One contract. Without restarts a dot product is one chain over k that starts from C (+0 when there is none). With restarts the total starts from
/// C, every chain from +0, and each chain's sum enters the total by one fp32 operation. Then come the scales of the total, and the bias. Whoever
/// records another place of the scales copies a row and replaces `scales` (and `restart`, when they come in blocks).
struct ContractRow {
  Contract contract;
  std::string_view name;
  std::string_view operands;      ///< for people: how operands are widened
  std::string_view accumulation;  ///< for people: order, grouping and rounding
  std::string_view bias;          ///< for people: where the bias enters

  std::span<const Format* const> a_formats;  ///< formats that the first operand may be in; empty: any values
  std::span<const Format* const> b_formats;  ///< likewise of the second one
  const Format* cast;                        ///< both operands are rounded to it, nearest even, overflow to Inf; null: taken as they are
  bool flush;                                ///< subnormals become zero, with their sign: of cast operands, of sums before and after each step
  ScaleEntry scales;

  std::span<const std::uint8_t> order;  ///< the k taken first, second, ... of each `order.size()` consecutive ones; missing ones are zero
  Step step;
  int group;                          ///< aligned: products in a group
  int alignment_bits;                 ///< aligned: addends become multiples of 2^(E - this), E the largest nominal exponent of the group
  int kept_bits;                      ///< aligned: significant bits of a group's sum
  int least_exponent = kAnyExponent;  ///< aligned: E is at least this
  int restart;       ///< products in a chain; 0: one chain for all k; kScaleBlock: as many as share a scale, of which there must be some
  bool bias_in_sum;  ///< the bias is a term of the exact sum; else one fp32 add at the end

  std::uint32_t nan;  ///< fp32 bits of every NaN result
  Grounds grounds;
  std::string_view source;
  std::span<const Recording> recordings = {};  ///< of rows that were run
  std::string_view known_to_differ = {};       ///< where a device was seen to contradict the row; empty: nowhere
};

inline constexpr int kScaleBlock = -1;

/// Every contract. Names are unique.
std::span<const ContractRow> all_contracts();
const ContractRow& row_of(Contract contract);
/// Throws Error(usage) with the nearest known name.
Contract contract_named(std::string_view name);
std::string_view name_of(Contract contract);

}  // namespace mx
