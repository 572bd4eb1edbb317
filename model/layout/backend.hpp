#pragma once
// Which layout each backend gives each tensor: one row per backend, one file per backend family. This table is the answer to
// "which byte goes where".

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/layout/layout.hpp"
#include "model/layout/tensor.hpp"

namespace mx::layout {

/// How the value of a unit changes on the way into memory.
enum class Cast {
  none,
  bf16_to_f32,  ///< exact widening, 2 bytes -> 4
};

/// Where a fact comes from.
struct Source {
  std::string_view repository;
  std::string_view path;
  std::string_view symbol;
  std::string_view commit;
};

/// A size rule that a converter enforces: `quantity` (as in "2I", "H", "H/32") must be a multiple.
struct Need {
  std::string_view quantity;
  std::int64_t multiple;
  std::string_view why;
};

/// One backend's conversion of a layer's tensors.
struct BackendLayout {
  std::string_view backend;  ///< the oracle's name: FLASHINFER_TRTLLM_MXFP4_BF16
  std::string_view family;   ///< file of model/layout that holds it
  std::string_view summary;  ///< one line: row order, weight, scale, bias
  bool accepts_standard;     ///< whether the engine converts checkpoints in standard order for it
  bool needs_bias;           ///< gpt-oss conversion refuses a layer without biases
  Cast bias_cast;
  std::span<const Need> needs;
  /// The packed memory of a tensor. `sizes` are the checkpoint's (this rank's), `padded` what the buffers were rounded up to.
  /// Throws Error(usage) with the first Need that the padded sizes break.
  Layout (*build)(Role role, const Sizes& sizes, const Sizes& padded, SourceOrder order);
  Source source;
};

/// Every modelled backend.
std::span<const BackendLayout> all_backend_layouts();
/// The row of a backend, or null when its converter is not modelled.
const BackendLayout* find_backend_layout(std::string_view backend);

/// Throws Error(usage) naming the first broken rule, the value and the multiple. Null-safe on bias: has_bias false breaks needs_bias.
void check_needs(const BackendLayout& row, const Sizes& padded, bool has_bias);

/// Shared building blocks (rows axis named `rows`), each also a layout of its own for `layout show`.
namespace blocks {

/// dst row r <- src 32*(r/32) + 4*(r%8) + (r%32)/8 (epilogue tile 128). Source: FlashInfer shuffle_matrix_a.
Layout& shuffle_a128(Layout& layout, std::string_view rows);
/// dst row r <- src 16*(r/16) + 2*(r%8) + (r%16)/8 (epilogue tile 64).
Layout& shuffle_a64(Layout& layout, std::string_view rows);
/// The 128x4 scale tile of cuBLASLt and CUTLASS; pads rows to 128 and columns to 4 with zero. The view must end in [rows, cols].
Layout& sf128x4(Layout& layout, std::string_view rows, std::string_view cols);

}  // namespace blocks

/// Building blocks by name, as `mxact layout show sf_128x4` names them.
struct StageLayout {
  std::string_view name;
  std::string_view summary;
  std::string_view formula;
  Source source;
};
std::span<const StageLayout> all_stage_layouts();
/// Layout of a stage on a [batch, rows, cols] matrix of units of `unit_bits`. Throws Error(usage) on a size that the stage refuses.
Layout stage_layout(std::string_view name, std::int64_t batch, std::int64_t rows, std::int64_t cols, int unit_bits);

}  // namespace mx::layout
