#pragma once
// One call of dequantize, as its parts share it. For .cpp files of this folder.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>

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
  /// Of as many scale codes, 0 where there is none; sets their bits, counted from that of irregular[0] on, where the kernels cannot take one.
  void look_up(std::span<const std::uint8_t> scales, std::uint32_t* factors, std::uint64_t* irregular) const;

 private:
  bool is_regular(std::uint32_t factor) const;

  std::array<std::uint32_t, 256> factors_{};      ///< 0 where there is none
  std::array<std::uint8_t, 256> is_irregular_{};  ///< 1 there
  bool has_infinity_;
  bool is_f32_;
};

struct Dequantizing::Way {
  Dequantizer how;
  TensorScale tensor;
  std::variant<std::monostate, UnpackPlan, std::pair<ProductPlan, ScaleFactors>> plan;  ///< none: the model does it
};

std::uint32_t scale_at(const DequantizeJob& job, std::size_t block);

/// Sizes and memory were checked.
void dequantize_checked(const QuantizedBits& blocks, const Shape& shape, const BlockGrid& grid, const Dequantizing::Way& way, ScaleLayout layout,
                        std::span<std::byte> out, const Workers& workers);

/// Error(usage) for numbers of another format than the dequantizer's target.
void require_target(const Dequantizer& how, const Format& format);

/// One block by the model.
void dequantize_by_model(const DequantizeJob& job, std::size_t block);

/// Every block.
void dequantize_powers(const DequantizeJob& job, const UnpackPlan& plan, const Workers& workers);
void dequantize_products(const DequantizeJob& job, const ProductPlan& plan, const ScaleFactors& factors, const Workers& workers);
void dequantize_by_model(const DequantizeJob& job, const Workers& workers);

}  // namespace mx::kernels
