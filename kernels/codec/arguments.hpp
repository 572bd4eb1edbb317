#pragma once
// What quantize and dequantize ask of their arguments before they write anything.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/codec/codec.hpp"

namespace mx::kernels {

/// A buffer as the checks see it.
struct Buffer {
  std::string_view name;
  std::span<const std::byte> bytes;
  std::size_t alignment;
};

/// Error(usage) that names the buffer, its size and the one that the shape asks for.
void require_size(const Buffer& buffer, std::size_t bytes, const Shape& shape);
/// Error(usage) for a buffer that does not begin at a multiple of its alignment, and for two that overlap.
void require_separate(std::span<const Buffer> buffers);
/// Error(usage) for no threads, Error(unsupported) for a tier that does not run here.
void require_workers(const Workers& workers);

/// Throws Error(usage) for an element whose word has bits above those of a code.
[[noreturn]] void refuse_code(const Format& format, std::uint32_t word, std::size_t element);

/// Bytes of a word of an element: 4 of fp32, 2 of bf16 and fp16; Error(usage) for another format.
std::size_t word_bytes(const Format& format);
/// Bytes of a scale: 4 of fp32, else 1.
std::size_t scale_bytes(const BlockFormat& format);

/// A matrix cut into blocks.
struct BlockGrid {
  std::size_t rows;        ///< of blocks
  std::size_t cols;        ///< of blocks
  std::size_t block_rows;  ///< of elements
  std::size_t block_cols;  ///< of elements
  std::size_t count() const { return rows * cols; }
};
/// Blocks that a thread takes at a time where the model works.
inline std::size_t blocks_at_a_time(const BlockGrid& grid) {
  constexpr std::size_t kElements = 512;
  return std::max<std::size_t>(kElements / (grid.block_rows * grid.block_cols), 1);
}
/// Errors as quantized_sizes.
BlockGrid block_grid(const Shape& shape, const BlockFormat& format);

}  // namespace mx::kernels
