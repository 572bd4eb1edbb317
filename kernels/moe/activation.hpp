#pragma once
// The activation between the two products, on a tile of gate and up: equal to mx::moe::activate in fp32, bit for bit.

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/isa.hpp"
#include "kernels/moe/curve.hpp"
#include "kernels/moe/swish.hpp"
#include "model/moe/activation.hpp"

namespace mx::kernels::moe {

/// The row as a swish, or none when it is another curve or clamps otherwise: such rows take the way of curve.hpp.
std::optional<Swish> as_swish(const mx::moe::Activation& row, const mx::moe::ActivationConstants& constants);

/// One row of the table with its constants, made ready for a tier.
class TileActivation {
 public:
  /// Throws Error(usage) as mx::moe::activate does for these constants, Error(unsupported) for a tier that does not run here.
  TileActivation(const mx::moe::Activation& row, const mx::moe::ActivationConstants& constants, const IsaTier& tier);

  /// False for a row of one half.
  bool gated() const { return row_->join != mx::moe::Join::none; }

  /// A tile of `rows` rows of 16 columns, `stride` floats apart: row i goes to out + i * out_stride. `up` lies as `gate` does; it is not read where
  /// the row has none.
  void operator()(const float* gate, const float* up, std::size_t rows, std::size_t stride, float* out, std::size_t out_stride,
                  CurveScratch& scratch) const;

 private:
  void by_swish(const SwishTile& tile) const;

  const mx::moe::Activation* row_;
  mx::moe::ActivationConstants constants_;
  std::optional<Swish> swish_;
  SwishFunction* run_;
  IsaTier tier_;
};

}  // namespace mx::kernels::moe
