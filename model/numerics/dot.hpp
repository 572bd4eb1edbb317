#pragma once
// Arithmetic contracts: the declared order and rounding of a dot product. A result without a contract's name means nothing.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/value.hpp"

namespace mx {

enum class Contract {
  exact,           ///< the exact sum of products and bias, rounded once to fp32 (nearest even, overflow to Inf)
  f32_sequential,  ///< k ascending from +0, one fp32 fused multiply-add each; the bias is one fp32 add after the chain
};

/// Why a contract is believed to be what it says.
enum class Grounds { definition, verified, published, assumed };

struct ContractRow {
  Contract contract;
  std::string_view name;
  std::string_view operands;      ///< how operands are widened
  std::string_view accumulation;  ///< order, grouping and rounding
  std::string_view bias;          ///< where the bias enters
  Grounds grounds;
};

std::span<const ContractRow> all_contracts();
/// Throws Error(usage) with the nearest known name.
Contract contract_named(std::string_view name);
std::string_view name_of(Contract contract);

/// fp32 bits of sum(a[k] * b[k]) + bias under the contract. a and b have the same length; bias is fp32 bits.
/// f32_sequential widens both operands to fp32 first (nearest even, overflow to Inf).
std::uint32_t dot(Contract contract, std::span<const Value> a, std::span<const Value> b, std::uint32_t bias_f32);

}  // namespace mx
