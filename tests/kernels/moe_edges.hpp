#pragma once
// One column of weights by one row of activations where products, sums and scales come to the ends of fp32: kernels take a quick way away from them
// and a careful one near them.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/moe/gemm.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/format.hpp"

namespace mx::tests::edges {

inline constexpr std::size_t kRowBlock = 32;

struct WeightFacts {
  layout::WeightFormat format;
  const Format* element;
  const Format* scale;
  std::size_t block;
  int unit;                     ///< of a code, as a power of two
  std::size_t k;                ///< of its products here: some blocks
  std::uint32_t moderate, nan;  ///< scales, 2^-7 or 1 and no number
};
inline constexpr WeightFacts kFormats[] = {{layout::WeightFormat::mxfp4, &kE2m1, &kE8m0, 32, -1, 64, 120, 0xFF},
                                           {layout::WeightFormat::mxfp8, &kE4m3fn, &kE8m0, 32, -9, 64, 120, 0xFF},
                                           {layout::WeightFormat::nvfp4, &kE2m1, &kE4m3fn, 16, -1, 64, 0x38, 0x7F},
                                           {layout::WeightFormat::fp8_block, &kE4m3fn, &kF32, 128, -9, 256, 0x3C000000, 0x7FC00000}};

inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
inline bool is_zero(std::uint32_t bits) { return (bits & 0x7FFFFFFFU) == 0; }
inline bool is_infinite(std::uint32_t bits) { return (bits & 0x7FFFFFFFU) == 0x7F800000U; }

struct EdgeCase {
  std::vector<std::uint32_t> codes, scales, x;
  float expert;
  std::vector<float> row_scales;  ///< for kRowBlock of K; empty: none

  std::uint32_t modelled(Contract contract, const WeightFacts& format) const;
  /// The same in every row of the product.
  std::vector<float> multiplied(const kernels::moe::GemmKernel& kernel, const WeightFacts& format, std::size_t rows) const;
};

/// Two terms of K that leave one unit of both, and nothing else: x 1 + 2^-7 and -1 times the smallest code.
EdgeCase one_unit(const WeightFacts& format, int exponent);
/// Codes, signs and significands at random, exponents of activations at one place, so that sums cancel.
EdgeCase cancelling(const WeightFacts& format, int exponent, std::mt19937& random);

/// Every kernel of the contract in one tile of rows and in several; returns the model's answer.
std::uint32_t held(Contract contract, const EdgeCase& one, const WeightFacts& format, const std::string& what);
/// The same under bf16-block; returns whether the answer is subnormal.
bool hold(const EdgeCase& one, const WeightFacts& format, const std::string& what);

}  // namespace mx::tests::edges
