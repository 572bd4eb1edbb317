#include "kernels/moe/stage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "kernels/codec/codec.hpp"
#include "kernels/little_endian.hpp"
#include "kernels/moe/bf16_product.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"

namespace mx::kernels::moe {
namespace {

constexpr std::size_t kBlock = kQuantizedBlock;
constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;

constexpr std::array kQuantizeKernels {
  KernelRow<QuantizeFunction>{"quantize portable", 0, quantize_portable},
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
      KernelRow<QuantizeFunction>{"quantize avx2", kAvx2, quantize_avx2},
      KernelRow<QuantizeFunction>{"quantize avx512", kAvx2 | kAvx512, quantize_avx512},
#endif
};

constexpr std::array kDequantizeKernels {
  KernelRow<DequantizeFunction>{"dequantize portable", 0, dequantize_portable},
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
      KernelRow<DequantizeFunction>{"dequantize avx2", kAvx2, dequantize_avx2},
      KernelRow<DequantizeFunction>{"dequantize avx512", kAvx2 | kAvx512, dequantize_avx512},
#endif
};

std::array<std::uint32_t, kBlock> bits_of(const float* x) {
  std::array<std::uint32_t, kBlock> bits;
  for (std::size_t i = 0; i < kBlock; ++i) bits[i] = std::bit_cast<std::uint32_t>(x[i]);
  return bits;
}

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::unsupported, text, "layer"); }

/// True for the recipe that the quantize kernels compute.
bool is_quick(const Recipe* recipe) { return recipe != nullptr && recipe == find_recipe(profile_named(kOcp), kMxint8Block); }

}  // namespace

std::uint16_t to_bf16(std::uint32_t f32) {
  if ((f32 & kMagnitude) > 0x7F800000U) return 0x7FC0;
  return static_cast<std::uint16_t>((f32 + 0x7FFFU + (f32 >> 16 & 1U)) >> 16);
}

std::span<const KernelRow<DequantizeFunction>> dequantize_kernels() { return kDequantizeKernels; }

RowStage::RowStage(Contract contract, const Recipe* recipe, const IsaTier& tier)
    : recipe_(recipe),
      tier_(tier),
      way_(contract == Contract::int8_block   ? Way::int8
           : recipe == nullptr                ? Way::bf16
           : contract == Contract::bf16_block ? Way::scaled
                                              : Way::dequantized),
      quick_(is_quick(recipe) ? kernel_for(kQuantizeKernels, tier).run : nullptr),
      dequantize_(kernel_for(kDequantizeKernels, tier).run),
      elements_{},
      scales_{} {
  if (int8() && (recipe == nullptr || *recipe->format->element != kMxint8 || *recipe->format->scale != kE8m0)) {
    refuse(std::string(name_of(contract)) + " takes activations quantized to mxint8, not " +
           (recipe == nullptr ? "bf16" : std::string(recipe->format->name)));
  }
  require_runs_here(tier, "layer");
  if (recipe == nullptr) return;
  if (!gives_codes(*recipe)) refuse("the recipe for " + std::string(recipe->format->name) + " gives scales alone");
  if (!takes_source(*recipe, kF32)) refuse("the recipe for " + std::string(recipe->format->name) + " takes no fp32 numbers, which activations are");
  const TensorNeeds needs = tensor_needs(*recipe);
  if (needs.encode || needs.decode) refuse(std::string(recipe->format->name) + " by this recipe needs a number of the whole tensor");
  if (!int8()) read_tables();
}

void RowStage::read_tables() {
  const BlockFormat& format = *recipe_->format;
  if (format.block_rows != 1) refuse("activations come in blocks along their rows, not as " + std::string(format.name));
  for (std::uint32_t code = 0; code < 1U << format.element->width; ++code) {
    const std::uint32_t f32 = to_f32(decode(*format.element, code));
    if ((f32 & 0xFFFFU) != 0) refuse("bf16 does not hold the elements of " + std::string(format.name));
    elements_[code] = static_cast<std::uint16_t>(f32 >> 16);
  }
  for (std::uint32_t code = 0; format.scale->width == 8 && code < 256; ++code) {
    scales_[code] = std::bit_cast<float>(to_f32(decode(*format.scale, code)));
  }
}

std::size_t RowStage::block_of(std::size_t length) const {
  return recipe_->format->block == 0 ? length : static_cast<std::size_t>(recipe_->format->block);
}

void RowStage::check_length(std::size_t length) const {
  if (recipe_ == nullptr || length % block_of(length) == 0) return;
  throw Error(ErrorCode::usage, "a row of " + std::to_string(length) + " is not whole blocks of " + std::to_string(block_of(length)), "layer");
}

void RowStage::make_room(StagedRows& staged, std::size_t rows, std::size_t length) const {
  staged.length = length;
  staged.scales_per_row = scaled() ? length / block_of(length) : 0;
  staged.bf16.resize(int8() ? 0 : rows * length);
  staged.int8.resize(int8() ? rows * length : 0);
  staged.scales.resize(staged.int8.size() / kBlock);
  staged.f32_scales.resize(rows * staged.scales_per_row);
}

void RowStage::put(StagedRows& staged, std::size_t index, std::span<const float> rows) const {
  const std::size_t first = index * staged.length;
  switch (way_) {
    case Way::bf16: return round(rows, staged.bf16.data() + first);
    case Way::dequantized: return dequantize_all(rows, staged.length, staged.bf16.data() + first);
    case Way::scaled:
      return quantize_scaled(rows, staged.length, staged.bf16.data() + first, staged.f32_scales.data() + index * staged.scales_per_row);
    case Way::int8: return into_int8(rows, staged.int8.data() + first, staged.scales.data() + first / kBlock);
  }
}

void RowStage::round(std::span<const float> rows, std::uint16_t* codes) const {
  for (std::size_t i = 0; i < rows.size(); ++i) codes[i] = to_bf16(std::bit_cast<std::uint32_t>(rows[i]));
}

void RowStage::dequantize_all(std::span<const float> rows, std::size_t length, std::uint16_t* codes) const {
  const std::size_t block = block_of(length);
  std::vector<float> scales(rows.size() / block);
  quantize_scaled(rows, length, codes, scales.data());
  for (std::size_t b = 0; b < scales.size(); ++b) {
    std::uint16_t* const of_block = codes + b * block;
    if (scales[b] >= kLeastDequantizable) {
      dequantize_(of_block, block, scales[b]);
      continue;
    }
    for (std::size_t i = 0; i < block; ++i) {
      const float element = std::bit_cast<float>(static_cast<std::uint32_t>(of_block[i]) << 16);
      of_block[i] = to_bf16(std::bit_cast<std::uint32_t>(bf16_product(element, scales[b])));
    }
  }
}

void RowStage::quantize_scaled(std::span<const float> rows, std::size_t length, std::uint16_t* codes, float* scales) const {
  const BlockFormat& format = *recipe_->format;
  const Shape shape{rows.size() / length, length};
  const QuantizedSizes sizes = quantized_sizes(shape, format, ScaleLayout::rows);
  std::vector<std::uint8_t> code_bytes(sizes.codes);
  // Words, since scales may be fp32.
  std::vector<std::uint32_t> scale_words((sizes.scales + 3) / 4);
  const std::span<std::uint8_t> scale_bytes(reinterpret_cast<std::uint8_t*>(scale_words.data()), sizes.scales);
  quantize({&kF32, std::as_bytes(rows)}, shape, *recipe_, {}, ScaleLayout::rows, {code_bytes, scale_bytes}, {&tier_, 1});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint8_t byte = format.element->width == 4 ? code_bytes[i / 2] : code_bytes[i];
    codes[i] = elements_[format.element->width != 4 ? byte : i % 2 == 0 ? byte & 15U : byte >> 4];
  }
  const std::size_t count = rows.size() / block_of(length);
  for (std::size_t i = 0; i < count; ++i) {
    scales[i] = format.scale->width == 8 ? scales_[scale_bytes[i]] : std::bit_cast<float>(little_endian(scale_words[i]));
  }
}

void RowStage::into_int8(std::span<const float> rows, std::int8_t* codes, std::uint8_t* scales) const {
  for (std::size_t first = 0; first < rows.size(); first += kBlock) {
    std::uint8_t* const scale = scales + first / kBlock;
    if (quick_ != nullptr && quick_(rows.data() + first, codes + first, scale)) continue;
    const QuantizedBlock block = quantize_block(bits_of(rows.data() + first), kF32, *recipe_);
    for (std::size_t i = 0; i < kBlock; ++i) codes[first + i] = static_cast<std::int8_t>(block.codes[i]);
    *scale = static_cast<std::uint8_t>(block.scale);
  }
}

}  // namespace mx::kernels::moe
