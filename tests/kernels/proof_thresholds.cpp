// Every largest magnitude through the tables of scales, and through the model's rules.

#include <algorithm>
#include <memory>
#include <variant>

#include "kernels/codec/plans.hpp"
#include "kernels/codec/scaling.hpp"
#include "model/numerics/f32.hpp"
#include "tests/kernels/proof_rows.hpp"

namespace mx::tests {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kMagnitudes = 1U << 15;  // of 16 bits

/// A recipe whose scales are looked up, from one source.
struct Looked {
  RecipeCase the;
  TensorScale tensor;
  kernels::ScaledRecipe how;
};

/// Whether what the kernels do with a group of this amax is the model's: the scale, and the factor or, of powers of two, its exact reciprocal.
bool is_right(const Looked& looked, std::uint32_t amax) {
  const auto scaling = kernels::scaling_of(looked.how, amax);
  if (!scaling) return true;  // left to the model
  if (amax >= kInfinity) return false;
  const BlockScaling want = block_scaling(amax, *looked.the.source, *looked.the.recipe, looked.tensor);
  if (scaling->scale != want.scale) return false;
  // Zeros are the same under every factor.
  if (amax == 0 || scaling->factor == want.factor) return true;
  return looked.how.plan.divides == 0 && f32::div(f32::kOne, scaling->factor) == want.factor && f32::div(f32::kOne, want.factor) == scaling->factor &&
         (scaling->factor & 0x007FFFFFU & (scaling->factor - 1U)) == 0;
}

ChunkResult check_chunk_of(const Looked& looked, std::uint32_t chunk) {
  ChunkResult result;
  const bool words = *looked.the.source != kF32;
  for (std::uint32_t i = 0; i < (words ? kMagnitudes : kChunkInputs); ++i) {
    const std::uint32_t amax = words ? to_f32(i, *looked.the.source) : chunk * kChunkInputs + i;
    ++result.inputs;
    if (is_right(looked, amax)) continue;
    if (result.wrong == 0) result.first_wrong = amax;
    ++result.wrong;
  }
  return result;
}

/// Finite magnitudes, the table alone.
std::uint64_t left_to_model(const Looked& looked) {
  std::uint64_t left = 0;
  if (*looked.the.source != kF32) {
    for (std::uint32_t i = 0; i < kMagnitudes; ++i) {
      const std::uint32_t amax = to_f32(i, *looked.the.source);
      left += amax < kInfinity && !kernels::scaling_of(looked.how, amax) ? 1U : 0U;
    }
    return left;
  }
#pragma omp parallel for schedule(static) reduction(+ : left)
  for (std::uint32_t amax = 0; amax < kInfinity; ++amax) left += kernels::scaling_of(looked.how, amax) ? 0U : 1U;
  return left;
}

}  // namespace

std::vector<ThresholdProof> threshold_proofs(const Wanted& wanted) {
  std::vector<ThresholdProof> proofs;
  for (const RecipeCase& the : recipe_cases()) {
    const TensorScale tensor = tensor_scale_for(tensor_needs(*the.recipe), 0);
    if (!wanted(the.name()) || kernels::quantize_way(*the.recipe, *the.source, tensor) != kernels::CodecWay::thresholds) continue;
    const auto looked = std::make_shared<const Looked>(Looked{the, tensor, *kernels::scaled_recipe(*the.recipe, *the.source, tensor)});
    const std::uint32_t chunks = *the.source == kF32 ? kChunks / 2 : 1;
    const auto check = [looked](std::uint32_t chunk) { return check_chunk_of(*looked, chunk); };
    proofs.push_back({{std::string(kThresholds), row_name(the.name(), {}), check, {}, chunks}, left_to_model(*looked)});
  }
  return proofs;
}

}  // namespace mx::tests
