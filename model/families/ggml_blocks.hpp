#pragma once
// How ggml stores blocks, and how its CPU backend stores MXFP4 weights for its own kernels.
// Source: ggml-org/llama.cpp d99724f2 ggml/src/ggml-common.h block_mxfp4, block_nvfp4; ggml-cpu/repack.cpp.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mx::families::ggml {

/// A block in memory: the bytes of `scales` scales, then codes of 4 bits in groups of `group`, whose first half is in low nibbles and the second in
/// high ones.
struct StoredBlock {
  std::string_view name;
  int scales;
  int elements;
  int group;

  int bytes() const { return scales + elements / 2; }
};
inline constexpr StoredBlock kMxfp4{"ggml_mxfp4", 1, 32, 32};
inline constexpr StoredBlock kNvfp4{"ggml_nvfp4", 4, 64, 16};

/// The bytes of one block. scales, codes: of that block alone, codes one in each element, in logical order. Throws Error(usage) for other lengths,
/// and for a code of more than 4 bits.
std::vector<std::uint8_t> stored(const StoredBlock& block, std::span<const std::uint8_t> scales, std::span<const std::uint8_t> codes);

/// MXFP4 blocks of `rows` neighbouring rows put together: their scales, then chunks of that many bytes of each row by turns.
struct Repack {
  std::string_view name;
  int rows;
  int column_multiple;  ///< of elements
};
inline constexpr Repack kNone{"none", 1, 1};
inline constexpr Repack kFourRows{"ggml_mxfp4_4x4", 4, 8};
inline constexpr Repack kEightRows{"ggml_mxfp4_8x8", 8, 1};

/// Index in the plain memory (blocks of a row one behind the other, rows after each other) of each byte of the repacked one, of `batch` matrices.
/// Throws Error(usage) for sizes that are not whole blocks, or rows that are no multiple.
std::vector<std::uint32_t> repacked_source(const Repack& repack, std::int64_t cols, std::int64_t rows, std::int64_t batch);

/// What the processor offers; other features change nothing.
struct Features {
  bool avx2 = false;
  bool neon = false;
  bool dot_products = false;
};
/// Which of the three ggml-cpu takes for an MXFP4 weight. Source: repack.cpp ggml_repack_get_optimal_repack_type.
const Repack& repack_of(const Features& features, std::int64_t cols, std::int64_t rows);

}  // namespace mx::families::ggml
