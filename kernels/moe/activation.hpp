#pragma once
// The activation between the two products, on a tile of gate and up: equal to mx::moe::activate in fp32, bit for bit.

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/isa.hpp"
#include "kernels/moe/swish.hpp"
#include "model/moe/activation.hpp"

namespace mx::kernels::moe {

/// Every implementation of the swish family, the plainest first.
std::span<const KernelRow<SwishFunction>> swish_kernels();

/// The row as a swish, or none when it is another curve, clamps otherwise, or rounds to a narrower type: such rows take the model's own function.
std::optional<Swish> as_swish(const mx::moe::Activation& row, const mx::moe::ActivationConstants& constants);

/// One row of the table with its constants, made ready for a tier.
class GatedActivation {
 public:
  /// Throws Error(usage) as mx::moe::activate does for these constants, and for a row that has no up.
  GatedActivation(const mx::moe::Activation& row, const mx::moe::ActivationConstants& constants, const IsaTier& tier);

  /// out[i] of gate[i] and up[i], `count` of at most 16 columns; 16 of each are read.
  void operator()(const float* gate, const float* up, std::size_t count, float* out) const;

 private:
  const mx::moe::Activation* row_;
  mx::moe::ActivationConstants constants_;
  std::optional<Swish> swish_;
  SwishFunction* run_;
};

}  // namespace mx::kernels::moe
