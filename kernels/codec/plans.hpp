#pragma once
// From rows of the model to the plain numbers that kernels run on.

#include <optional>
#include <span>

#include "kernels/codec/nvfp4_plan.hpp"
#include "kernels/codec/power_plan.hpp"
#include "kernels/codec/product_plan.hpp"
#include "kernels/codec/scaled_plan.hpp"
#include "kernels/codec/unpack_plan.hpp"
#include "kernels/isa.hpp"
#include "model/numerics/profile.hpp"

namespace mx::kernels {

/// The plan of a recipe whose scales are powers of two; none when the kernels do not know it.
std::optional<PowerPlan> power_plan(const Recipe& recipe, const Format& source);

/// The plan of an NVFP4 recipe under these numbers of the tensor; none when the kernels do not know it.
std::optional<Nvfp4Plan> nvfp4_plan(const Recipe& recipe, const Format& source, const TensorScale& tensor);

/// The plan of a dequantizer of E8M0 scales into fp32 or bf16; none when the kernels do not know it.
std::optional<UnpackPlan> unpack_plan(const Dequantizer& how);

/// The plan of a dequantizer whose numbers are products of codes and one factor per block; none when the kernels do not know it.
std::optional<ProductPlan> product_plan(const Dequantizer& how);

/// Implementations, one per tier that has its own.
std::span<const KernelRow<PowerQuantize>> power_quantizers();
std::span<const KernelRow<LargestMagnitudes>> largest_magnitudes();
std::span<const KernelRow<ScaledEncode>> scaled_encoders();
std::span<const KernelRow<Unpack>> unpackers();
std::span<const KernelRow<ProductUnpack>> product_unpackers();
/// That of the tier; null where none is faster than the scaled recipe's.
const KernelRow<Nvfp4Quantize>* nvfp4_quantizer(const IsaTier& tier);

}  // namespace mx::kernels
