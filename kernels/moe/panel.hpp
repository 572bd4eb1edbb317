#pragma once
// Expert weights in panels, the form that the GEMM engines read: 32 columns side by side, one dword of eight codes each, so that a vector holds the
// same K of its columns and sums never cross lanes. Of a gated matrix half of a panel's columns are gate, the others the same columns of up.
// panel_codes() and panel_scales() say where everything lies; pack() is the fast way there.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/moe/aligned.hpp"
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

/// Throws Error(usage) naming the size: not positive, or a K that is not whole blocks.
void check(const PanelShape& shape);

/// The view programs of codes and of scale bytes, from [E, half, N, K] and [E, half, N, G]. Missing columns of the last panel are zeros.
layout::Layout panel_codes(const PanelShape& shape);
layout::Layout panel_scales(const PanelShape& shape);

/// Smallest and largest scale byte of a panel's columns: what an engine may assume depends on them.
struct ScaleRange {
  std::uint8_t least;
  std::uint8_t most;
  friend bool operator==(const ScaleRange&, const ScaleRange&) = default;
};

/// The MXFP4 matrices of a layer's experts in panels.
struct PanelMatrix {
  PanelShape shape;
  Lines<std::uint8_t> codes;       ///< [E][panel][block][octet][32 columns] dwords
  Lines<std::uint8_t> scales;      ///< [E][panel][block][32 columns]
  std::vector<ScaleRange> ranges;  ///< [E][panel]
  std::vector<float> bias;         ///< [E][panel][32 columns]; empty: none
};

/// Where the rows of a half lie in a row-major matrix of all rows: row i of half h is `first[h] + i * step`.
struct RowOrder {
  std::size_t first[2];
  std::size_t step;
};
RowOrder row_order(const PanelShape& shape, layout::SourceOrder order);

/// Row-major codes [E][rows][K / 2] and scales [E][rows][K / 32] into panels; bias fp32 [E][rows] or empty. Throws Error(usage) naming a size that
/// disagrees.
PanelMatrix pack(const PanelShape& shape, const RowOrder& order, std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                 std::span<const float> bias);

/// w13 and w2 of a layer.
struct PanelLayer {
  PanelMatrix w13;
  PanelMatrix w2;
};

/// The checkpoint's form into panels. Throws Error(unsupported) for another format than MXFP4, Error(usage) when a tensor is missing or does not fit.
PanelLayer pack(const layout::CanonicalLayer& layer);
/// A backend's form into panels, each tensor through one gather at its padded sizes. Throws Error(usage) when the backend is not modelled, a tensor
/// is missing or does not fit its layout, Error(unsupported) for another format than MXFP4.
PanelLayer pack(const layout::PackedLayer& layer);

}  // namespace mx::kernels::moe
