#pragma once
// Products, dot products, activations, layers and layouts as operations. Each pair of functions is a family's names and its maker.

#include "golden/vectors/op.hpp"
#include "golden/vectors/options.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/profile.hpp"

namespace mx::golden {

/// "product_A_B": fp32 bits of the exact product; a NaN is 0x7FC00000.
std::vector<std::string> product_names();
std::unique_ptr<VectorOp> make_product(std::string_view name, const OpOptions& options);

/// "add_E", "fma_E_to_F", "fma_A_B_C_to_F": an operation of IEEE 754 (operation.hpp) on codes of one format or of one each, rounded once.
std::vector<std::string> scalar_names();
std::unique_ptr<VectorOp> make_scalar(std::string_view name, const OpOptions& options);

/// "quiet-less_A", "signalling-equal_A_B": a predicate of IEEE 754 (comparison.hpp) on codes of one format or of one each.
std::vector<std::string> comparison_names();
std::unique_ptr<VectorOp> make_comparison(std::string_view name, const OpOptions& options);

/// "SOURCE_to_i32", "i64_to_TARGET", "SOURCE_to_q4.12,round=rtz,overflow=riscv": conversions to and from integers (integer.hpp). Without words behind
/// a target: nearest even, saturating.
std::vector<std::string> integer_names();
std::unique_ptr<VectorOp> make_integer(std::string_view name, const OpOptions& options);

/// The contract that --contract asks for by this name, in the edition's version of it.
struct AskedContract {
  std::string name;
  Contract contract;
};
/// Throws Error(usage) with the nearest name.
AskedContract contract_of(const OpOptions& options);

/// "dot_A_B" of formats or block formats: fp32 bits under --contract over --length elements.
std::vector<std::string> dot_names();
std::unique_ptr<VectorOp> make_dot(std::string_view name, const OpOptions& options);

/// "activation_NAME": fp32 bits of gate and up, with the constants of the row.
std::vector<std::string> activation_names();
std::unique_ptr<VectorOp> make_activation(std::string_view name, const OpOptions& options);

/// "address_LAYOUT" (row, column -> address) and "element_LAYOUT" (address -> row, column, padding) of building blocks, under --shape.
std::vector<std::string> layout_names();
std::unique_ptr<VectorOp> make_layout(std::string_view name, const OpOptions& options);

/// "moe_layer": one token through a layer of four experts in MXFP4, weights and all in each vector.
std::vector<std::string> layer_names();
std::unique_ptr<VectorOp> make_layer(std::string_view name, const OpOptions& options);

}  // namespace mx::golden
