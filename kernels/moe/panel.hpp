#pragma once
// Expert weights in panels, the form that the GEMM kernels read: 32 columns side by side, one dword of codes each, so that a vector holds the same K
// of its columns and sums never cross lanes. Of a gated matrix half of a panel's columns are gate, the others the same columns of up.
// panel_codes() and panel_scales() say where everything lies; pack() is the fast way there.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/moe/aligned.hpp"
#include "kernels/moe/panel_format.hpp"
#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"

namespace mx::kernels::moe {

/// One kind of expert matrix: w13 as two halves of I columns over K = H, w2 as one half of H columns over K = I.
struct PanelShape {
  std::size_t experts;
  std::size_t halves;   ///< 1 or 2
  std::size_t columns;  ///< of each half: outputs of the product
  std::size_t k;        ///< a multiple of 32

  std::size_t lanes() const;   ///< columns of a half in one panel
  std::size_t panels() const;  ///< of one expert
  std::size_t blocks() const { return k / 32; }
  friend bool operator==(const PanelShape&, const PanelShape&) = default;
};

/// Throws Error(usage) naming the size: not positive, halves other than 1 or 2, or a K that is not whole blocks.
void check(const PanelShape& shape);

/// The view programs of codes and of scales, from the logical tensors: axes [E, half, N, K] or [E, N, K], and [E, half, N, G] or [E, N, G] with G the
/// scales of each row, also where a format's scale covers several rows. Missing columns of the last panel are zeros.
layout::Layout panel_codes(const std::vector<layout::Axis>& axes, const PanelFormat& format);
layout::Layout panel_scales(const std::vector<layout::Axis>& axes, const PanelFormat& format);

/// Smallest and largest scale byte of a panel's columns, or exponent field of their fp32 scales that are not zero: what a kernel may assume depends
/// on them.
struct ScaleRange {
  std::uint8_t least;
  std::uint8_t most;
  friend bool operator==(const ScaleRange&, const ScaleRange&) = default;
};

/// The matrices of a layer's experts in panels.
struct PanelMatrix {
  PanelShape shape;
  const PanelFormat* format;
  Lines<std::uint8_t> codes;         ///< [E][panel][octet or quad of K][32 columns] dwords
  Lines<std::uint8_t> scales;        ///< [E][panel][block][32 columns]
  std::vector<ScaleRange> ranges;    ///< [E][panel]; empty where scales are E4M3
  std::vector<float> expert_scales;  ///< [E], of the kind e4m3; else empty
  std::vector<float> bias;           ///< [E][panel][32 columns]; empty: none

  std::size_t panel_code_bytes() const { return shape.k * static_cast<std::size_t>(format->code_bits) / 8 * kPanelColumns; }
  std::size_t panel_scale_bytes() const { return format->scales_of(shape.k) * format->scale_bytes() * kPanelColumns; }
};

/// Tensors as a checkpoint has them, rows in their order: codes [E][rows][K], two of 4 bits in a byte; scales as the format has them; fp32 numbers of
/// experts [E] where the format has them; bias fp32 [E][rows] or empty.
struct RowMajor {
  std::span<const std::uint8_t> codes;
  std::span<const std::uint8_t> scales;
  std::span<const float> expert_scales;
  std::span<const float> bias;
};

/// Row-major tensors into panels, rows in `order` where there are two halves. Throws Error(usage) naming a size that disagrees.
PanelMatrix pack(const PanelShape& shape, const PanelFormat& format, layout::SourceOrder order, const RowMajor& from);

/// Throws Error(usage), with `place` as its place, when `out` overlaps memory of the matrix.
void require_apart(std::string_view place, std::span<const float> out, const PanelMatrix& matrix);

/// w13 and w2 of a layer.
struct PanelLayer {
  PanelMatrix w13;
  PanelMatrix w2;
};

/// The checkpoint's form into panels. Throws Error(unsupported) for int4, Error(usage) when a tensor is missing or does not fit.
PanelLayer pack(const layout::CanonicalLayer& layer);
/// A backend's form into panels at its padded sizes, each tensor in one gather. Where the backend has changed values, the layer is restored first,
/// which refuses what cannot be, and packed at the checkpoint's sizes. Throws Error(usage) when the backend is not modelled, a tensor is missing,
/// does not fit its layout or has lost values, Error(unsupported) for int4.
PanelLayer pack(const families::PackedLayer& layer);

}  // namespace mx::kernels::moe
