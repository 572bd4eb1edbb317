#pragma once
// What the panels hold: the checkpoints' formats as codes of 4 or 8 bits with one of three kinds of scales.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/moe/tile.hpp"
#include "model/layout/tensor.hpp"

namespace mx::kernels::moe {

/// Scales as they lie in a panel. Those that a checkpoint has for a square, a row or an expert stand at each of their columns.
enum class PanelScale : std::uint8_t {
  e8m0,  ///< bytes
  e4m3,  ///< bytes, each times the expert's fp32 number, rounded to fp32
  f32,
};

/// One format of weights in panels.
struct PanelFormat {
  layout::WeightFormat format;
  PanelKind kind;  ///< which kernels read it
  int code_bits;
  PanelScale scale;
  std::size_t scale_block;  ///< elements along K that share a scale; 0: the whole row

  std::size_t scale_bytes() const { return scale == PanelScale::f32 ? 4 : 1; }
  /// Elements along K that share a scale, of rows of `k`.
  std::size_t block_of(std::size_t k) const { return scale_block == 0 ? k : scale_block; }
  std::size_t scales_of(std::size_t k) const { return (k + block_of(k) - 1) / block_of(k); }
};

std::span<const PanelFormat> panel_formats();
/// Throws Error(unsupported) for int4, which no kernel multiplies.
const PanelFormat& panel_format_of(layout::WeightFormat format);

}  // namespace mx::kernels::moe
