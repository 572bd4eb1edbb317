#pragma once
// One call of dequantize, as its parts share it. For .cpp files of this folder.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/codec/arguments.hpp"
#include "kernels/codec/codec.hpp"
#include "kernels/codec/plans.hpp"
#include "kernels/codec/scale_tiles.hpp"

namespace mx::kernels {

/// One call of dequantize.
struct DequantizeJob {
  const QuantizedBits& blocks;
  const Shape& shape;
  const Dequantizer& how;
  const TensorScale& tensor;
  BlockGrid grid;
  ScaleTiles tiles;
  const ElementRoom& out;
  std::size_t words;        ///< bytes of an element's word
  std::size_t scale_width;  ///< bytes of a scale
  bool streams;             ///< the result does not stay in the caches anyway
};

/// What each scale of a call multiplies by.
class ScaleFactors {
 public:
  ScaleFactors(const Dequantizer& how, const TensorScale& tensor);
  /// fp32 bits for a scale code or for fp32 bits; none where the kernels cannot take it.
  std::optional<std::uint32_t> of(std::uint32_t scale) const;

 private:
  std::array<std::uint32_t, 256> factors_{};
  bool has_infinity_;
  bool is_f32_;
};

std::uint32_t scale_at(const DequantizeJob& job, std::size_t block);

/// One block by the model.
void dequantize_by_model(const DequantizeJob& job, std::size_t block);

/// Every block.
void dequantize_powers(const DequantizeJob& job, const UnpackPlan& plan, const Workers& workers);
void dequantize_products(const DequantizeJob& job, const ProductPlan& plan, const Workers& workers);
void dequantize_by_model(const DequantizeJob& job, const Workers& workers);

}  // namespace mx::kernels
