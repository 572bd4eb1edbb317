#include "kernels/codec/arguments.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "kernels/codec/scale_tiles.hpp"
#include "kernels/threads.hpp"
#include "model/error.hpp"

namespace mx::kernels {
namespace {

std::string text(const Shape& shape) { return std::to_string(shape.rows) + "x" + std::to_string(shape.cols); }

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::usage, message); }

}  // namespace

void require_size(const Buffer& buffer, std::size_t bytes, const Shape& shape) {
  if (buffer.bytes.size() == bytes) return;
  refuse("the " + std::string(buffer.name) + " of a " + text(shape) + " matrix take " + std::to_string(bytes) + " bytes, not " +
         std::to_string(buffer.bytes.size()));
}

void require_separate(std::span<const Buffer> buffers) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& a = buffers[i];
    const auto begin = reinterpret_cast<std::uintptr_t>(a.bytes.data());
    if (begin % a.alignment != 0) {
      refuse("the " + std::string(a.name) + " begin at an address that is not a multiple of " + std::to_string(a.alignment) + ": " +
             std::to_string(begin % a.alignment) + " beyond one");
    }
    for (const Buffer& b : buffers.first(i)) {
      const auto other = reinterpret_cast<std::uintptr_t>(b.bytes.data());
      const bool apart = begin + a.bytes.size() <= other || other + b.bytes.size() <= begin;
      if (!apart && !a.bytes.empty() && !b.bytes.empty()) refuse("the " + std::string(b.name) + " and the " + std::string(a.name) + " overlap");
    }
  }
}

void require_workers(const Workers& workers) {
  require_threads(workers.threads);
  require_runs_here(*workers.tier);
}

void refuse_code(const Format& format, std::uint32_t word, std::size_t element) {
  refuse("element " + std::to_string(element) + " is " + std::to_string(word) + ", but codes of " + std::string(format.name) + " have " +
         std::to_string(format.width) + " bits");
}

std::size_t word_bytes(const Format& format) {
  if (format == kF32) return 4;
  if (format == kBf16 || format == kFp16) return 2;
  refuse("elements are f32, bf16 or fp16, not " + std::string(format.name));
}

std::size_t scale_bytes(const BlockFormat& format) { return *format.scale == kF32 ? 4 : 1; }

BlockGrid block_grid(const Shape& shape, const BlockFormat& format) {
  const auto block_rows = static_cast<std::size_t>(format.block_rows);
  const std::size_t block_cols = format.block == 0 ? shape.cols : static_cast<std::size_t>(format.block) / block_rows;
  if (shape.rows == 0 || shape.cols == 0) refuse("a " + text(shape) + " matrix has no blocks");
  if (shape.cols > std::numeric_limits<std::size_t>::max() / 4 / shape.rows) refuse("a " + text(shape) + " matrix has more bytes than memory");
  if (shape.cols % block_cols != 0 || shape.rows % block_rows != 0) {
    refuse("a " + text(shape) + " matrix is not made of " + std::to_string(block_rows) + "x" + std::to_string(block_cols) + " blocks of " +
           std::string(format.name));
  }
  return {shape.rows / block_rows, shape.cols / block_cols, block_rows, block_cols};
}

QuantizedSizes quantized_sizes(const Shape& shape, const BlockFormat& format, ScaleLayout layout) {
  const BlockGrid grid = block_grid(shape, format);
  const bool shares_bytes = format.element->width == 4;
  if (shares_bytes && shape.cols % 2 != 0) refuse("rows of " + std::to_string(shape.cols) + " codes of 4 bits end within a byte");
  if (layout != ScaleLayout::rows && scale_bytes(format) != 1) {
    refuse("scales of " + std::string(format.name) + " have 4 bytes each: tiles are for scales of one byte");
  }
  const std::size_t elements = shape.rows * shape.cols;
  return {shares_bytes ? elements / 2 : elements, ScaleTiles(grid.rows, grid.cols, layout).size() * scale_bytes(format)};
}

}  // namespace mx::kernels
