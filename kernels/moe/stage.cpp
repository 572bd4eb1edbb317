#include "kernels/moe/stage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"

namespace mx::kernels::moe {
namespace {

constexpr std::size_t kBlock = 32;
constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;

/// MX 1.0 section 6.3 on a block whose largest magnitude has an exponent field in 16..240: scale 2^floor(log2(amax)), elements to nearest even in
/// units of 2^-6 of it, at most 127 units. Returns false for other blocks, of which nothing is written.
bool quick_block(const float* x, std::int8_t* codes, std::uint8_t* scale) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < kBlock; ++i) largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & kMagnitude);
  const std::uint32_t field = largest >> 23;
  if (field < 16 || field > 240) return false;
  *scale = static_cast<std::uint8_t>(field);
  const float units = std::bit_cast<float>((127 + 6 + 127 - field) << 23);
  // Adding it leaves the nearest integer in the low bits.
  constexpr float kRounder = 0x1.8p+23F;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float rounded = x[i] * units + kRounder;
    const std::int32_t integer = std::bit_cast<std::int32_t>(rounded) - std::bit_cast<std::int32_t>(kRounder);
    codes[i] = static_cast<std::int8_t>(std::min(std::max(integer, -127), 127));
  }
  return true;
}

std::array<std::uint32_t, kBlock> bits_of(const float* x) {
  std::array<std::uint32_t, kBlock> bits;
  for (std::size_t i = 0; i < kBlock; ++i) bits[i] = std::bit_cast<std::uint32_t>(x[i]);
  return bits;
}

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::unsupported, text, "layer"); }

/// True for the recipe that quick_block computes.
bool is_quick(const Recipe* recipe) { return recipe != nullptr && recipe == find_recipe(profile_named(kOcp), kMxint8Block); }

}  // namespace

std::uint16_t to_bf16(std::uint32_t f32) {
  if ((f32 & kMagnitude) > 0x7F800000U) return 0x7FC0;
  return static_cast<std::uint16_t>((f32 + 0x7FFFU + (f32 >> 16 & 1U)) >> 16);
}

RowStage::RowStage(Contract contract, const Recipe* recipe) : recipe_(recipe), int8_(contract == Contract::int8_block), quick_(is_quick(recipe)) {
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
    if (quick_ && quick_block(row.data() + first, codes + first, scale)) continue;
    const QuantizedBlock block = quantize_block(bits_of(row.data() + first), kF32, *recipe_);
    for (std::size_t i = 0; i < kBlock; ++i) codes[first + i] = static_cast<std::int8_t>(block.codes[i]);
    *scale = static_cast<std::uint8_t>(block.scale);
  }
}

}  // namespace mx::kernels::moe
