#pragma once
// Blocks that tell quantizers apart, and the model's answer for whole matrices.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/codec/codec.hpp"

namespace mx::tests {

/// Random words of 32 bits, the same for the same seed (SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
class Words {
 public:
  explicit Words(std::uint64_t seed) : state_(seed) {}
  std::uint32_t operator()() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return static_cast<std::uint32_t>((z ^ z >> 31) >> 32);
  }

 private:
  std::uint64_t state_;
};

/// A recipe of a profile from one source format.
struct RecipeCase {
  const Profile* profile;
  const Recipe* recipe;
  const Format* source;
  std::string name() const;
};
/// Every recipe that gives codes, from every source that it takes.
std::vector<RecipeCase> recipe_cases();

/// A dequantizer of a profile.
struct DequantizerCase {
  const Profile* profile;
  const Dequantizer* how;
  std::string name() const;
};
std::vector<DequantizerCase> dequantizer_cases();

/// Scales of the tensor with which the recipe or dequantizer works, different ones for different draws.
TensorScale tensor_scale_for(const TensorNeeds& needs, std::uint32_t draw);
TensorNeeds needs_of(const Dequantizer& how);

/// Bit patterns of `count` elements of a source format, in blocks of `block`. Each block is of a kind drawn for it: exponents around one that may be
/// anywhere, at both ends too; mantissas of a few bits with ones or zeros below, which are ties and their neighbours; zeros of both signs;
/// subnormals; now and then an Inf or a NaN.
std::vector<std::uint32_t> drawn_elements(std::size_t count, std::size_t block, const Format& source, Words& random);

/// Packed bytes as the kernels write them.
struct Packed {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  friend bool operator==(const Packed&, const Packed&) = default;
};

/// The model's answer, scales row-major.
Packed quantized_by_model(const std::vector<std::uint32_t>& elements, const kernels::Shape& shape, const RecipeCase& the, const TensorScale& tensor);
Packed quantized_by_kernel(const std::vector<std::uint32_t>& elements, const kernels::Shape& shape, const RecipeCase& the, const TensorScale& tensor,
                           const kernels::Workers& workers, kernels::ScaleLayout layout = kernels::ScaleLayout::rows);

/// Random codes and scales of a block format; every scale byte has its share.
Packed drawn_blocks(const kernels::Shape& shape, const BlockFormat& format, Words& random);
std::vector<std::uint32_t> dequantized_by_model(const Packed& blocks, const kernels::Shape& shape, const Dequantizer& how, const TensorScale& tensor);
std::vector<std::uint32_t> dequantized_by_kernel(const Packed& blocks, const kernels::Shape& shape, const Dequantizer& how, const TensorScale& tensor,
                                                 const kernels::Workers& workers);

/// The tiers that run here.
std::vector<const kernels::IsaTier*> tiers_here();

}  // namespace mx::tests
