#include "kernels/moe/stage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

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

std::span<const KernelRow<QuantizeFunction>> quantize_kernels() { return kQuantizeKernels; }

RowStage::RowStage(Contract contract, const Recipe* recipe, const IsaTier& tier)
    : recipe_(recipe),
      int8_(contract == Contract::int8_block),
      quick_(is_quick(recipe) ? kernel_for<QuantizeFunction>(kQuantizeKernels, tier).run : nullptr) {
  const std::string name(name_of(contract));
  if (int8_ && (recipe == nullptr || *recipe->format->element != kMxint8 || *recipe->format->scale != kE8m0)) {
    refuse(name + " takes activations quantized to mxint8, not " + (recipe == nullptr ? "bf16" : std::string(recipe->format->name)));
  }
  if (contract == Contract::bf16_block && recipe != nullptr) {
    refuse("the kernels of bf16-block take bf16 activations, not " + std::string(recipe->format->name));
  }
  if (recipe != nullptr && (recipe->format->block != static_cast<int>(kBlock) || *recipe->format->scale != kE8m0)) {
    refuse("activations come in blocks of 32 with E8M0 scales, not as " + std::string(recipe->format->name));
  }
}

void RowStage::check_length(std::size_t length) const {
  if (recipe_ == nullptr || length % kBlock == 0) return;
  throw Error(ErrorCode::usage, "a row of " + std::to_string(length) + " is not whole blocks of 32", "layer");
}

void RowStage::make_room(StagedRows& staged, std::size_t rows, std::size_t length) const {
  staged.length = length;
  staged.bf16.resize(int8_ ? 0 : rows * length);
  staged.int8.resize(int8_ ? rows * length : 0);
  staged.scales.resize(staged.int8.size() / kBlock);
}

void RowStage::put(StagedRows& staged, std::size_t index, std::span<const float> row) const {
  const std::size_t first = index * staged.length;
  if (int8_) {
    into_int8(row, staged.int8.data() + first, staged.scales.data() + first / kBlock);
  } else {
    into_bf16(row, staged.bf16.data() + first);
  }
}

void RowStage::into_bf16(std::span<const float> row, std::uint16_t* codes) const {
  if (recipe_ == nullptr) {
    for (std::size_t i = 0; i < row.size(); ++i) codes[i] = to_bf16(std::bit_cast<std::uint32_t>(row[i]));
    return;
  }
  for (std::size_t first = 0; first < row.size(); first += kBlock) {
    const QuantizedBlock block = quantize_block(bits_of(row.data() + first), kF32, *recipe_);
    for (std::size_t i = 0; i < kBlock; ++i) codes[first + i] = to_bf16(dequantize(block.codes[i], block.scale, *recipe_->format));
  }
}

void RowStage::into_int8(std::span<const float> row, std::int8_t* codes, std::uint8_t* scales) const {
  for (std::size_t first = 0; first < row.size(); first += kBlock) {
    std::uint8_t* const scale = scales + first / kBlock;
    if (quick_ != nullptr && quick_(row.data() + first, codes + first, scale)) continue;
    const QuantizedBlock block = quantize_block(bits_of(row.data() + first), kF32, *recipe_);
    for (std::size_t i = 0; i < kBlock; ++i) codes[first + i] = static_cast<std::int8_t>(block.codes[i]);
    *scale = static_cast<std::uint8_t>(block.scale);
  }
}

}  // namespace mx::kernels::moe
