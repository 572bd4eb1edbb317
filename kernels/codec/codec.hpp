#pragma once
// Tensors of bits to block codes and back, as the model's recipes and dequantizers say, bit for bit, at memory speed.
//
// What a kernel's fast way cannot do (a NaN or an Inf in a block, a scale at an end of its range) goes through the model, block by block; a recipe
// that no kernel knows goes through the model as a whole. The bits are the same on every tier, with any number of threads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "kernels/isa.hpp"
#include "model/numerics/profile.hpp"

namespace mx::kernels {

/// A matrix, row-major without gaps; blocks lie along the rows. A tensor with one scale is a matrix of one row.
struct Shape {
  std::size_t rows;
  std::size_t cols;
};

/// Bit patterns of elements: fp32 in words of 32 bits, bf16 and fp16 in words of 16.
struct ElementBits {
  const Format* format;
  std::span<const std::byte> bytes;
};
ElementBits f32_bits(std::span<const std::uint32_t> words);
ElementBits bf16_bits(std::span<const std::uint16_t> words);
ElementBits fp16_bits(std::span<const std::uint16_t> words);

/// Room for such patterns.
struct ElementRoom {
  const Format* format;
  std::span<std::byte> bytes;
};
ElementRoom f32_room(std::span<std::uint32_t> words);
ElementRoom bf16_room(std::span<std::uint16_t> words);
ElementRoom fp16_room(std::span<std::uint16_t> words);

/// Where the scale of block (row r, column c of the matrix of blocks) lies.
enum class ScaleLayout {
  rows,     ///< row-major
  sf128x4,  ///< tiles of 128 rows and 4 columns, padded with zero bytes (model/layout stage sf_128x4)
  sf8x4,    ///< tiles of 8 rows and 4 columns, padded with zero bytes (model/layout stage sf_8x4)
};

/// Bytes of a quantized matrix. Codes of 4 bits share a byte, the element of the even column in the low nibble; wider codes have a byte each.
/// A scale is one byte (E8M0, E4M3) or four (fp32, little endian).
struct QuantizedSizes {
  std::size_t codes;
  std::size_t scales;
};
/// Throws Error(usage) where blocks do not fill the rows (a multiple of the block's columns; of block_rows for tiles), where codes of 4 bits do not
/// fill the last byte of a row, and for a tiled layout of scales that are not bytes.
QuantizedSizes quantized_sizes(const Shape& shape, const BlockFormat& format, ScaleLayout layout);

struct QuantizedRoom {
  std::span<std::uint8_t> codes;
  std::span<std::uint8_t> scales;
};
struct QuantizedBits {
  std::span<const std::uint8_t> codes;
  std::span<const std::uint8_t> scales;
};

/// Who works: the kernels of this tier, on so many threads.
struct Workers {
  const IsaTier* tier;
  int threads;
};

/// Quantizes a matrix: the codes and scales of mx::quantize_block for each of its blocks. Formats without a block length take a row as a block.
/// Before anything is written, Error(usage) for sizes that do not fit, a buffer that is not aligned to its words (2 or 4 bytes; fp32 scales: 4),
/// buffers that overlap, threads not in 1 to kMostThreads, and what quantize_block refuses; Error(unsupported) for a tier that this processor cannot
/// run.
void quantize(const ElementBits& elements, const Shape& shape, const Recipe& recipe, const TensorScale& tensor, ScaleLayout layout,
              const QuantizedRoom& out, const Workers& workers);

/// The reverse: mx::dequantize of each code with its block's scale. Same errors; also for an output of another format than the dequantizer's target.
void dequantize(const QuantizedBits& blocks, const Shape& shape, const Dequantizer& how, const TensorScale& tensor, ScaleLayout layout,
                const ElementRoom& out, const Workers& workers);

/// A recipe for elements of one format under the numbers of one tensor, worked out once: for callers of many small matrices.
class Quantizing {
 public:
  /// Throws what quantize_block refuses. The recipe and the format are rows of the model.
  Quantizing(const Recipe& recipe, const Format& source, const TensorScale& tensor);

  struct Way;
  const Way& way() const { return *way_; }

 private:
  std::shared_ptr<const Way> way_;
};

/// Quantizes with what was worked out once; scales lie row by row. Same errors as quantize.
void quantize(std::span<const std::byte> elements, const Shape& shape, const Quantizing& how, const QuantizedRoom& out, const Workers& workers);

/// The same of a dequantizer.
class Dequantizing {
 public:
  /// Throws what mx::dequantize refuses of the tensor's numbers.
  Dequantizing(const Dequantizer& how, const TensorScale& tensor);

  struct Way;
  const Way& way() const { return *way_; }

 private:
  std::shared_ptr<const Way> way_;
};

/// How ordinary blocks are worked on; what is left goes through the model.
enum class CodecWay {
  kernel,      ///< the kernel has the rule's own steps
  thresholds,  ///< the kernel looks the scale up in a table of the amax at which the model's rule changes its answer
  model,       ///< every block goes through the model
};
/// "kernel", "thresholds", "model".
std::string_view name_of(CodecWay way);

/// The way of a recipe from that source, with these numbers of the tensor: `model` too where it lacks one, and for a recipe of scales alone.
CodecWay quantize_way(const Recipe& recipe, const Format& source, const TensorScale& tensor);
/// The same with the number 1 for each that the recipe needs.
CodecWay quantize_way(const Recipe& recipe, const Format& source);
CodecWay dequantize_way(const Dequantizer& how);

}  // namespace mx::kernels
