#pragma once
// Fast twins of the model's elementary functions: correctly rounded in fp32, many numbers at a time.

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/isa.hpp"

namespace mx::kernels {

/// One function: what the model has under the same name in model/numerics/f32.hpp.
struct ElementaryFunction {
  std::string_view name;
  std::uint32_t (*model)(std::uint32_t);
};

/// exp, exp2, log2, log1p, tanh, erf.
std::span<const ElementaryFunction> elementary_functions();
/// Throws Error(usage) with the nearest name.
const ElementaryFunction& elementary_function_named(std::string_view name);

/// y[i] = function(x[i]), fp32 bits, as the model has them for every input (a NaN is 0x7FC00000). A result that double precision leaves in doubt
/// comes from the model. x and y may be the same. Before anything is written, throws Error(usage) for sizes that differ, for memory that
/// begins at no multiple of 4 bytes and for any other overlap, Error(unsupported) for a tier that does not run here. The processor must round to
/// nearest even and keep subnormals.
void apply(const ElementaryFunction& function, std::span<const std::uint32_t> x, std::span<std::uint32_t> y, const IsaTier& tier);

}  // namespace mx::kernels
