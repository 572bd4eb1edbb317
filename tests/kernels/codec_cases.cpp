#include "tests/kernels/codec_cases.hpp"

#include <algorithm>
#include <array>

namespace mx::tests {
namespace {

using kernels::Shape;

std::size_t block_length(const BlockFormat& format, const Shape& shape) {
  return format.block == 0 ? shape.cols : static_cast<std::size_t>(format.block);
}

/// Indices of the elements of block b, row by row.
std::vector<std::size_t> indices_of(std::size_t b, const BlockFormat& format, const Shape& shape) {
  const auto rows = static_cast<std::size_t>(format.block_rows);
  const std::size_t cols = block_length(format, shape) / rows;
  const std::size_t across = shape.cols / cols;
  std::vector<std::size_t> out;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) out.push_back((b / across * rows + r) * shape.cols + b % across * cols + c);
  }
  return out;
}

template <class Word>
std::vector<Word> narrowed(const std::vector<std::uint32_t>& words) {
  return {words.begin(), words.end()};
}

std::uint32_t any_of(Words& random, std::initializer_list<std::uint32_t> values) { return values.begin()[random() % values.size()]; }

/// A mantissa of `bits` bits: random, or a few leading bits with zeros, ones or a single one below.
std::uint32_t drawn_mantissa(std::uint32_t bits, Words& random) {
  const std::uint32_t all = (1U << bits) - 1U;
  if (random() % 3 == 0) return random() & all;
  const std::uint32_t kept = 1U + random() % 5U;
  const std::uint32_t low = bits > kept ? (1U << (bits - kept)) - 1U : 0U;
  return (random() & all & ~low) | any_of(random, {0U, low, low & 1U, low >> 1U});
}

enum class Kind { around_exponent, wide, zeros, subnormals, one_value, at_top, at_bottom, with_special };

}  // namespace

std::string RecipeCase::name() const {
  return std::string(profile->name) + " " + std::string(recipe->format->name) + " from " + std::string(source->name);
}

std::string DequantizerCase::name() const {
  return std::string(profile->name) + " " + std::string(how->format->name) + " to " + std::string(how->target->name);
}

std::vector<RecipeCase> recipe_cases() {
  std::vector<RecipeCase> out;
  for (const Profile& profile : all_profiles()) {
    for (const Recipe& recipe : profile.recipes) {
      for (const Format* source : {&kF32, &kBf16, &kFp16}) {
        if (gives_codes(recipe) && takes_source(recipe, *source)) out.push_back({&profile, &recipe, source});
      }
    }
  }
  return out;
}

std::vector<DequantizerCase> dequantizer_cases() {
  std::vector<DequantizerCase> out;
  for (const Profile& profile : all_profiles()) {
    for (const Dequantizer& how : profile.dequantizers) out.push_back({&profile, &how});
  }
  return out;
}

TensorScale tensor_scale_for(const TensorNeeds& needs, std::uint32_t draw) {
  // 1, 0.0123, 336 and a number with a full mantissa.
  constexpr std::array kScales{0x3F800000U, 0x3C4985F0U, 0x43A80000U, 0x41FFFFFFU};
  TensorScale out;
  if (needs.encode) out.encode = kScales[draw % kScales.size()];
  if (needs.decode) out.decode = kScales[(draw + 1) % kScales.size()];
  return out;
}

TensorNeeds needs_of(const Dequantizer& how) { return {how.tensor == TensorUse::divides_scale, how.tensor == TensorUse::multiplies_scale}; }

std::vector<std::uint32_t> drawn_elements(std::size_t count, std::size_t block, const Format& source, Words& random) {
  const auto mantissa_bits = static_cast<std::uint32_t>(source.mantissa_bits);
  const std::uint32_t top = (1U << source.exponent_bits) - 2U;
  const std::uint32_t sign = 1U << (source.width - 1);
  std::vector<std::uint32_t> out(count);
  for (std::size_t first = 0; first < count; first += block) {
    const auto kind = static_cast<Kind>(random() % 8U);
    const std::uint32_t center = kind == Kind::at_top ? top : kind == Kind::at_bottom ? 1U + random() % 40U : 1U + random() % top;
    const std::uint32_t spread = any_of(random, {1U, 4U, 12U, 40U});
    const std::uint32_t one = std::min(center, top) << mantissa_bits | drawn_mantissa(mantissa_bits, random);
    const std::size_t last = std::min(first + block, count);
    for (std::size_t i = first; i < last; ++i) {
      const std::uint32_t below = random() % spread;
      std::uint32_t exponent = center > below ? center - below : 0U;
      if (kind == Kind::wide) exponent = random() % (top + 1U);
      if (kind == Kind::subnormals) exponent = 0;
      out[i] = exponent << mantissa_bits | drawn_mantissa(mantissa_bits, random);
      if (kind == Kind::one_value) out[i] = random() % 4 == 0 ? 0U : one;
      if (kind == Kind::zeros) out[i] = 0;
      if (random() % 2 == 0) out[i] |= sign;
    }
    if (kind == Kind::with_special) {
      const std::uint32_t infinity = (top + 1U) << mantissa_bits;
      const std::size_t which = first + random() % (last - first);
      out[which] = any_of(random, {infinity, infinity | sign, infinity | 1U, infinity | sign | 1U << (mantissa_bits - 1U)});
      if (random() % 8 == 0) std::fill(out.begin() + static_cast<std::ptrdiff_t>(first), out.begin() + static_cast<std::ptrdiff_t>(last), out[which]);
    }
  }
  return out;
}

Packed quantized_by_model(const std::vector<std::uint32_t>& elements, const Shape& shape, const RecipeCase& the, const TensorScale& tensor) {
  const BlockFormat& format = *the.recipe->format;
  const bool nibbles = format.element->width == 4;
  const std::size_t scale_bytes = *format.scale == kF32 ? 4 : 1;
  Packed out;
  out.codes.resize(nibbles ? elements.size() / 2 : elements.size());
  for (std::size_t b = 0; b < elements.size() / block_length(format, shape); ++b) {
    const std::vector<std::size_t> indices = indices_of(b, format, shape);
    std::vector<std::uint32_t> x;
    for (std::size_t i : indices) x.push_back(elements[i]);
    const QuantizedBlock block = quantize_block(x, *the.source, *the.recipe, tensor);
    for (std::size_t j = 0; j < indices.size(); ++j) {
      const std::size_t i = indices[j];
      std::uint8_t& byte = out.codes[nibbles ? i / 2 : i];
      byte = static_cast<std::uint8_t>(byte | block.codes[j] << (nibbles && i % 2 == 1 ? 4 : 0));
    }
    for (std::size_t i = 0; i < scale_bytes; ++i) out.scales.push_back(static_cast<std::uint8_t>(block.scale >> (8 * i)));
  }
  return out;
}

Packed quantized_by_kernel(const std::vector<std::uint32_t>& elements, const Shape& shape, const RecipeCase& the, const TensorScale& tensor,
                           const kernels::Workers& workers, kernels::ScaleLayout layout) {
  const kernels::QuantizedSizes sizes = kernels::quantized_sizes(shape, *the.recipe->format, layout);
  Packed out{std::vector<std::uint8_t>(sizes.codes, 0xA5), std::vector<std::uint8_t>(sizes.scales, 0x5A)};
  const auto run = [&](const kernels::ElementBits& bits) {
    kernels::quantize(bits, shape, *the.recipe, tensor, layout, {out.codes, out.scales}, workers);
  };
  if (*the.source == kF32) {
    run(kernels::f32_bits(elements));
  } else {
    const auto words = narrowed<std::uint16_t>(elements);
    run(*the.source == kBf16 ? kernels::bf16_bits(words) : kernels::fp16_bits(words));
  }
  return out;
}

Packed drawn_blocks(const Shape& shape, const BlockFormat& format, Words& random) {
  const kernels::QuantizedSizes sizes = kernels::quantized_sizes(shape, format, kernels::ScaleLayout::rows);
  Packed out{std::vector<std::uint8_t>(sizes.codes), std::vector<std::uint8_t>(sizes.scales)};
  const std::uint32_t code_mask = format.element->width == 6 ? 0x3FU : 0xFFU;
  for (std::uint8_t& code : out.codes) code = static_cast<std::uint8_t>(random() & code_mask);
  for (std::size_t i = 0; i < out.scales.size(); ++i) out.scales[i] = static_cast<std::uint8_t>(*format.scale == kF32 ? random() : i % 256);
  return out;
}

std::vector<std::uint32_t> dequantized_by_model(const Packed& blocks, const Shape& shape, const Dequantizer& how, const TensorScale& tensor) {
  const BlockFormat& format = *how.format;
  const bool nibbles = format.element->width == 4;
  const std::size_t length = block_length(format, shape);
  std::vector<std::uint32_t> out(shape.rows * shape.cols);
  for (std::size_t b = 0; b < out.size() / length; ++b) {
    std::uint32_t scale = 0;
    const std::size_t scale_bytes = *format.scale == kF32 ? 4 : 1;
    for (std::size_t i = 0; i < scale_bytes; ++i) scale |= std::uint32_t{blocks.scales[b * scale_bytes + i]} << (8 * i);
    for (std::size_t i : indices_of(b, format, shape)) {
      const std::uint32_t code = nibbles ? std::uint32_t{blocks.codes[i / 2]} >> (i % 2 * 4) & 0xFU : blocks.codes[i];
      out[i] = dequantize(code, scale, how, tensor);
    }
  }
  return out;
}

std::vector<std::uint32_t> dequantized_by_kernel(const Packed& blocks, const Shape& shape, const Dequantizer& how, const TensorScale& tensor,
                                                 const kernels::Workers& workers) {
  const kernels::QuantizedBits bits{blocks.codes, blocks.scales};
  std::vector<std::uint32_t> words(shape.rows * shape.cols);
  if (*how.target == kF32) {
    kernels::dequantize(bits, shape, how, tensor, kernels::ScaleLayout::rows, kernels::f32_room(words), workers);
    return words;
  }
  std::vector<std::uint16_t> halves(words.size());
  kernels::dequantize(bits, shape, how, tensor, kernels::ScaleLayout::rows,
                      *how.target == kBf16 ? kernels::bf16_room(halves) : kernels::fp16_room(halves), workers);
  return {halves.begin(), halves.end()};
}

std::vector<const kernels::IsaTier*> tiers_here() {
  std::vector<const kernels::IsaTier*> out;
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    if (kernels::runs_here(tier)) out.push_back(&tier);
  }
  return out;
}

}  // namespace mx::tests
