#include "kernels/codec/whole_bytes.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/codec/arguments.hpp"
#include "kernels/codec/dequantize_job.hpp"
#include "kernels/codec/quantize_job.hpp"
#include "kernels/pieces.hpp"

namespace mx::kernels {
namespace {

/// Elements that a thread takes at a time: their packed codes stay in a cache.
constexpr std::size_t kBandElements = std::size_t{1} << 16;

/// Codes of 4 bits in blocks along the rows: two in a byte for the kernels. Every other format has a byte for each code there too.
bool is_packed(const BlockFormat& format) { return format.element->width == 4; }

void unpack(std::span<const std::uint8_t> packed, std::uint8_t* codes) {
  for (std::size_t i = 0; i < packed.size(); ++i) {
    codes[2 * i] = packed[i] & 0xFU;
    codes[2 * i + 1] = packed[i] >> 4U;
  }
}

/// Returns what the bytes have together above a code.
unsigned pack(std::span<const std::uint8_t> codes, std::uint8_t* packed) {
  unsigned above = 0;
  for (std::size_t i = 0; i < codes.size() / 2; ++i) {
    const unsigned low = codes[2 * i];
    const unsigned high = codes[2 * i + 1];
    above |= low | high;
    packed[i] = static_cast<std::uint8_t>(low | high << 4U);
  }
  return above >> 4U;
}

void require_codes(std::span<const std::uint8_t> codes, const Format& format, std::size_t first) {
  if (format.width >= 8) return;
  const auto wide = std::ranges::find_if(codes, [&](unsigned code) { return code >> format.width != 0; });
  if (wide == codes.end()) return;
  refuse_code(format, *wide, first + static_cast<std::size_t>(wide - codes.begin()));
}

/// A matrix cut into runs of whole blocks, each a row of its own: what is packed has its blocks along the rows.
struct Bands {
  std::size_t elements;  ///< of all
  std::size_t band;      ///< of one, the last may have fewer
  std::size_t block;
  std::size_t count() const { return (elements + band - 1) / band; }
  std::size_t first(std::size_t i) const { return i * band; }
  std::size_t size(std::size_t i) const { return std::min(band, elements - first(i)); }
};
Bands bands_of(const Shape& shape, const BlockGrid& grid) {
  const std::size_t block = grid.block_cols;
  return {shape.rows * shape.cols, std::max(kBandElements / block, std::size_t{1}) * block, block};
}

template <class Work>
void for_each_band(const Bands& bands, int threads, const Work& work) {
  for_each_piece(bands.count(), threads, [&](std::size_t i) { work(bands.first(i), bands.size(i)); });
}

/// The checks of what is handed over whole, before the bands.
BlockGrid require_whole(const Shape& shape, const BlockFormat& format, std::span<const Buffer> buffers, std::size_t words, const Workers& workers) {
  require_workers(workers);
  const BlockGrid grid = block_grid(shape, format);
  require_size(buffers[0], shape.rows * shape.cols * words, shape);
  require_size(buffers[1], shape.rows * shape.cols, shape);
  require_size(buffers[2], grid.count() * scale_bytes(format), shape);
  require_separate(buffers);
  return grid;
}

}  // namespace

QuantizedSizes whole_byte_sizes(const Shape& shape, const BlockFormat& format) {
  return {shape.rows * shape.cols, block_grid(shape, format).count() * scale_bytes(format)};
}

void quantize_whole_bytes(std::span<const std::byte> elements, const Shape& shape, const Quantizing& how, const QuantizedRoom& out,
                          const Workers& workers) {
  const Quantizing::Way& way = how.way();
  const BlockFormat& format = *way.recipe.format;
  const std::size_t words = word_bytes(*way.source);
  const std::size_t scale = scale_bytes(format);
  const BlockGrid grid = require_whole(
      shape, format,
      std::array<Buffer, 3>{{{"elements", elements, words}, {"codes", std::as_bytes(out.codes), 1}, {"scales", std::as_bytes(out.scales), scale}}},
      words, workers);
  if (!is_packed(format)) return quantize_checked(elements, shape, grid, way, ScaleLayout::rows, out, workers);
  if (format.block_rows > 1) {  // a tile is no run of elements
    std::vector<std::uint8_t> packed(out.codes.size() / 2);
    quantize_checked(elements, shape, grid, way, ScaleLayout::rows, {packed, out.scales}, workers);
    return unpack(packed, out.codes.data());
  }
  const Bands bands = bands_of(shape, grid);
  for_each_band(bands, workers.threads, [&](std::size_t first, std::size_t count) {
    std::vector<std::uint8_t> packed(count / 2);
    const std::size_t blocks = count / bands.block;
    const QuantizedRoom room{packed, out.scales.subspan(first / bands.block * scale, blocks * scale)};
    quantize_checked(elements.subspan(first * words, count * words), {1, count}, {1, blocks, 1, bands.block}, way, ScaleLayout::rows, room,
                     {workers.tier, 1});
    unpack(packed, out.codes.data() + first);
  });
}

void quantize_whole_bytes(const ElementBits& elements, const Shape& shape, const Recipe& recipe, const TensorScale& tensor, const QuantizedRoom& out,
                          const Workers& workers) {
  quantize_whole_bytes(elements.bytes, shape, Quantizing(recipe, *elements.format, tensor), out, workers);
}

void dequantize_whole_bytes(const QuantizedBits& blocks, const Shape& shape, const Dequantizing& how, std::span<std::byte> out,
                            const Workers& workers) {
  const Dequantizing::Way& way = how.way();
  const BlockFormat& format = *way.how.format;
  const std::size_t words = word_bytes(*way.how.target);
  const std::size_t scale = scale_bytes(format);
  const BlockGrid grid = require_whole(
      shape, format,
      std::array<Buffer, 3>{{{"elements", out, words}, {"codes", std::as_bytes(blocks.codes), 1}, {"scales", std::as_bytes(blocks.scales), scale}}},
      words, workers);
  if (!is_packed(format)) {
    require_codes(blocks.codes, *format.element, 0);
    return dequantize_checked(blocks, shape, grid, way, ScaleLayout::rows, out, workers);
  }
  if (format.block_rows > 1) {
    std::vector<std::uint8_t> packed(blocks.codes.size() / 2);
    if (pack(blocks.codes, packed.data()) != 0) require_codes(blocks.codes, *format.element, 0);
    return dequantize_checked({packed, blocks.scales}, shape, grid, way, ScaleLayout::rows, out, workers);
  }
  const Bands bands = bands_of(shape, grid);
  for_each_band(bands, workers.threads, [&](std::size_t first, std::size_t count) {
    std::vector<std::uint8_t> packed(count / 2);
    const std::size_t some = count / bands.block;
    const auto codes = blocks.codes.subspan(first, count);
    if (pack(codes, packed.data()) != 0) require_codes(codes, *format.element, first);
    dequantize_checked({packed, blocks.scales.subspan(first / bands.block * scale, some * scale)}, {1, count}, {1, some, 1, bands.block}, way,
                       ScaleLayout::rows, out.subspan(first * words, count * words), {workers.tier, 1});
  });
}

void dequantize_whole_bytes(const QuantizedBits& blocks, const Shape& shape, const Dequantizer& how, const TensorScale& tensor,
                            const ElementRoom& out, const Workers& workers) {
  require_target(how, *out.format);
  dequantize_whole_bytes(blocks, shape, Dequantizing(how, tensor), out.bytes, workers);
}

}  // namespace mx::kernels
