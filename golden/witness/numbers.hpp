#pragma once
// Tensors and parameters of layers as exact values: any floating type in, and out the type that the relation compares in.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/ops.hpp"
#include "model/moe/routing.hpp"
#include "model/numerics/value.hpp"

namespace mx::golden {

/// Throws Unmodelled when the entry has an input outside these.
void require_inputs_among(const OpContext& context, std::initializer_list<std::string_view> names);

/// One input of that shape. Throws Error(input) when it is missing or has another one.
Tensor input_of(const OpContext& context, const std::string& name, const std::vector<std::int64_t>& shape);

/// The same, of that type. Throws Error(input) for another one.
Tensor input_of(const OpContext& context, const std::string& name, std::string_view dtype, const std::vector<std::int64_t>& shape);

/// Elements of a floating type (f64 included) or of an integer one. Each throws Error(input) for the other kind.
std::vector<Value> values_of(const Tensor& tensor, const std::string& name, const std::string& where);
std::vector<std::int64_t> integers_of(const Tensor& tensor, const std::string& name, const std::string& where);

/// A parameter written as fp32 or fp64 bits, told by its length.
Value real_parameter(Fields& params, std::string_view key);

/// The model's values of one output: as fp64 under `rel`, which compares unrounded values, else rounded once to the recorded type, nearest even.
ModelOutput real_output(const OpContext& context, const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<Value>& values,
                        std::function<std::string(std::int64_t)> origin);

/// Inputs `router_w` and, if there is one, `router_b`.
moe::Router read_router(const OpContext& context, std::int64_t experts, std::int64_t hidden);

/// Calls run(arithmetic) with the arithmetic that the word of `compute` means; fp32 follows the contract. Throws Unmodelled for another word.
template <typename Run>
void in_arithmetic(const std::string& compute, Contract f32_contract, Run run) {
  if (compute == "f64") return run(moe::WideArithmetic{});
  if (compute == "f32") return run(moe::F32Arithmetic{f32_contract});
  if (compute == "bf16") return run(moe::Bf16Arithmetic{});
  throw Unmodelled("unknown compute '" + compute + "'");
}

}  // namespace mx::golden
