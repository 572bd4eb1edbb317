#pragma once
// Converters as loops over their published formulas: what the answers of the layout verbs are held against.

#include <cstdint>
#include <vector>

namespace mx::tests {

using Bytes = std::vector<std::uint8_t>;

/// Bytes from a linear congruential generator (Numerical Recipes, ranqd1).
inline Bytes noise(std::size_t size, std::uint32_t seed) {
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) {
    seed = 1664525 * seed + 1013904223;
    byte = static_cast<std::uint8_t>(seed >> 24);
  }
  return bytes;
}

/// Offset of a scale in the 128x4 tiles of a matrix with `cols` scales a row. Source: cuBLASLt documentation, "1D block scaling factors layout".
inline std::int64_t offset_128x4(std::int64_t row, std::int64_t col, std::int64_t cols) {
  const std::int64_t tiles = (cols + 3) / 4;
  return (row / 128 * tiles + col / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + col % 4;
}

/// rows x cols scales in 128x4 tiles, padded with zero.
inline Bytes tiled_128x4(const Bytes& scales, std::int64_t rows, std::int64_t cols) {
  Bytes out(static_cast<std::size_t>((rows + 127) / 128 * 128 * ((cols + 3) / 4 * 4)));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) out[static_cast<std::size_t>(offset_128x4(r, c, cols))] = scales[static_cast<std::size_t>(r * cols + c)];
  }
  return out;
}

/// Source row of row r in FlashInfer's shuffle of 32 rows. Source: FlashInfer, flashinfer/utils.py, get_shuffle_block_size and the row map in
/// fp4_quantization.py.
inline std::int64_t shuffled_from(std::int64_t row) { return row / 32 * 32 + row % 8 * 4 + row % 32 / 8; }

/// w13 of a gpt-oss checkpoint (row 2i gate, 2i+1 up, each of `row` bytes) as the TRT-LLM kernels take it: up first, then shuffled.
inline Bytes trtllm_w13(const Bytes& checkpoint, std::int64_t rows, std::int64_t row) {
  Bytes out(checkpoint.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t alternating = shuffled_from(r);
    const std::int64_t from = alternating % 2 == 0 ? alternating + 1 : alternating - 1;
    for (std::int64_t b = 0; b < row; ++b) out[static_cast<std::size_t>(r * row + b)] = checkpoint[static_cast<std::size_t>(from * row + b)];
  }
  return out;
}

}  // namespace mx::tests
