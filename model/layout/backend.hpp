#pragma once
// Which layout each backend gives each tensor: one row per backend, one file per backend family. This table is the answer to
// "which byte goes where".

#include <cstdint>
#include <span>
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

/// A size rule that a converter enforces: `quantity` ("2I", "H", "H/group", "I/group") must be a multiple.
struct Need {
  std::string_view quantity;
  std::int64_t multiple;
  std::string_view why;
};

/// A rule that a layer breaks. A missing bias has the quantity "biases", value 0 and multiple 1.
struct BrokenNeed {
  Need need;
  std::int64_t value;
};

/// One backend's conversion of a layer's tensors.
struct BackendLayout {
  std::string_view backend;  ///< the oracle's name: FLASHINFER_TRTLLM_MXFP4_BF16
  std::string_view family;   ///< file of model/layout that holds it
  std::string_view summary;  ///< one line: row order, weight, scale, bias
  bool accepts_standard;     ///< whether the engine converts checkpoints in standard order for it
  bool needs_bias;           ///< whether the conversion from gpt-oss order refuses a layer without biases
  Cast bias_cast;
  std::span<const Need> needs;
  /// The packed memory of a tensor. `sizes` are the checkpoint's (this rank's), `padded` what the buffers were rounded up to. Units are those of
  /// memory: 32 bits for a bias that is cast to fp32. Throws Error(usage) with the first Need that the padded sizes break.
  Layout (*build)(Role role, const Sizes& sizes, const Sizes& padded, SourceOrder order);
  Source source;
};

/// Every modelled backend.
std::span<const BackendLayout> all_backend_layouts();
/// The row of a backend, or null when its converter is not modelled.
const BackendLayout* find_backend_layout(std::string_view backend);

/// Every rule that the sizes, or the lack of biases in gpt-oss order, break; empty when the backend converts such a layer.
std::vector<BrokenNeed> broken_needs(const BackendLayout& row, const Sizes& padded, bool has_bias, SourceOrder order = SourceOrder::gpt_oss);

/// Throws Error(usage) naming the first broken rule, the value and the multiple. Biases are demanded of gpt-oss order alone.
void check_needs(const BackendLayout& row, const Sizes& padded, bool has_bias, SourceOrder order = SourceOrder::gpt_oss);

/// The sizes alone, for a family's build: throws Error(usage) as check_needs does, `where` being the family.
void check_sizes(std::span<const Need> needs, const Sizes& padded, std::string_view where);

/// Bits of one unit of a converted tensor: unit_bits(role), or what the bias cast makes of it.
int memory_unit_bits(const BackendLayout& row, Role role);

/// The rows of each family, joined by all_backend_layouts().
std::span<const BackendLayout> trtllm_layouts();
std::span<const BackendLayout> flashinfer_cutlass_layouts();
std::span<const BackendLayout> identity_layouts();

/// Shared building blocks (rows axis named `rows`), each also a layout of its own for `layout show`.
namespace blocks {

/// Merges [half, I] into the axis `rows` with up and gate rows alternating, up first: row 2i up i, row 2i+1 gate i.
Layout& up_gate_interleaved(Layout& layout);
/// Merges [half, I] into the axis `rows`, all up rows before all gate rows.
Layout& up_before_gate(Layout& layout);
/// dst row r <- src 32*(r/32) + 4*(r%8) + (r%32)/8 (epilogue tile 128). Source: FlashInfer shuffle_matrix_a.
Layout& shuffle_a128(Layout& layout, std::string_view rows);
/// dst row r <- src 16*(r/16) + 2*(r%8) + (r%16)/8 (epilogue tile 64).
Layout& shuffle_a64(Layout& layout, std::string_view rows);
/// The 128x4 scale tile of cuBLASLt and CUTLASS; pads rows to 128 and columns to 4 with zero. The view must end in [rows, cols].
Layout& sf128x4(Layout& layout, std::string_view rows, std::string_view cols);
/// The 8x4 tile of activation block scales; pads rows to 8 and columns to 4 with zero.
Layout& sf8x4(Layout& layout, std::string_view rows, std::string_view cols);

}  // namespace blocks

/// What a stage needs to know beyond the matrix.
struct StageParams {
  std::int64_t epilogue_tile_m = 128;  ///< shuffle_matrix_*: multiples of 128 shuffle blocks of 32 rows, others blocks of 16
};

/// Building blocks by name, as `mxact layout show sf_128x4` names them.
struct StageLayout {
  std::string_view name;
  std::string_view summary;
  std::string_view formula;
  /// The program, appended to the identity on the axes [batch, rows, cols].
  void (*build)(Layout& layout, const StageParams& params);
  Source source;
};
std::span<const StageLayout> all_stage_layouts();
/// Layout of a stage on a [batch, rows, cols] matrix of units of `unit_bits`. Throws Error(usage) on an unknown name or a size that the stage
/// refuses.
Layout stage_layout(std::string_view name, std::int64_t batch, std::int64_t rows, std::int64_t cols, int unit_bits, const StageParams& params = {});

}  // namespace mx::layout
