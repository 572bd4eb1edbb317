#include "sim/execute/sample_layer.hpp"

#include <algorithm>
#include <array>

#include "model/layout/grains.hpp"
#include "model/moe/arithmetic.hpp"
#include "support/random.hpp"

namespace mx::sim {
namespace {

using layout::Role;
using layout::WeightFormat;

/// bf16 code: sign, one of `exponents` binades from `lowest` on, random mantissa.
std::uint32_t random_bf16(std::uint64_t word, std::uint32_t lowest, std::uint32_t exponents) {
  const auto exponent = lowest + static_cast<std::uint32_t>((word >> 8U) % exponents);
  return static_cast<std::uint32_t>((word & 1U) << 15U) | exponent << 7U | static_cast<std::uint32_t>(word >> 1U & 0x7FU);
}

/// A unit of a tensor from a random word.
using Make = std::uint64_t (*)(std::uint64_t word);

std::uint64_t any_nibble(std::uint64_t word) { return word & 0xFU; }
/// e4m3 numbers of magnitude 2^-4 to 4, either sign.
std::uint64_t small_e4m3(std::uint64_t word) { return (word & 0x80U) | (0x18U + (word >> 8U) % 0x30U); }
std::uint64_t e8m0_near(std::uint64_t word) { return 118 + word % 5; }
/// Positive e4m3 scales of 2^-2 to 8.
std::uint64_t e4m3_scale(std::uint64_t word) { return 0x28U + word % 0x28U; }
/// Positive fp32 numbers of 2^-9 to 2^-7 with random mantissas.
std::uint64_t f32_scale(std::uint64_t word) { return (std::uint64_t{118} + word % 2) << 23U | (word >> 8U & 0x7FFFFFU); }
std::uint64_t f32_global(std::uint64_t word) { return (std::uint64_t{115} + word % 2) << 23U | (word >> 8U & 0x7FFFFFU); }
std::uint64_t bf16_group_scale(std::uint64_t word) { return (std::uint64_t{117} + word % 3) << 7U | (word >> 8U & 0x7FU); }
std::uint64_t bf16_bias(std::uint64_t word) { return random_bf16(word, 120, 6); }

struct FormatSample {
  WeightFormat format;
  Make weight;
  Make scale;
};
constexpr std::array kSamples{
    FormatSample{WeightFormat::mxfp4, any_nibble, e8m0_near},       FormatSample{WeightFormat::nvfp4, any_nibble, e4m3_scale},
    FormatSample{WeightFormat::mxfp8, small_e4m3, e8m0_near},       FormatSample{WeightFormat::fp8_tensor, small_e4m3, f32_scale},
    FormatSample{WeightFormat::fp8_channel, small_e4m3, f32_scale}, FormatSample{WeightFormat::fp8_block, small_e4m3, f32_scale},
    FormatSample{WeightFormat::int4, any_nibble, bf16_group_scale}, FormatSample{WeightFormat::fp8_block_e8m0, small_e4m3, e8m0_near},
    FormatSample{WeightFormat::fp8_pair, small_e4m3, f32_scale},
};

Make maker(const FormatSample& sample, Role role) {
  if (layout::is_bias(role)) return bf16_bias;
  if (layout::is_weight(role)) return sample.weight;
  return layout::is_scale(role) ? sample.scale : f32_global;
}

}  // namespace

layout::CanonicalLayer sample_layer(const layout::Sizes& sizes, const layout::Form& form, bool with_bias, std::uint64_t seed) {
  const FormatSample& sample = *std::ranges::find(kSamples, form.format, &FormatSample::format);
  layout::CanonicalLayer layer{sizes, form, {}};
  for (Role role : layout::kAllRoles) {
    if (!layout::has_role(form.format, role) || (layout::is_bias(role) && !with_bias)) continue;
    const layout::Layout memory = layout::canonical(role, sizes, form);
    support::SplitMix64 random(seed * layout::kRoleCount + static_cast<std::uint64_t>(role));
    layer[role].resize(static_cast<std::size_t>(memory.bytes()));
    const Make make = maker(sample, role);
    for (std::int64_t i = 0; i < memory.cosize(); ++i) layout::set_grain(layer[role], i, memory.grain_bits(), make(random.next()));
  }
  return layer;
}

SampleTokens sample_tokens(std::int64_t tokens, std::int64_t hidden, std::int64_t experts, std::int64_t top_k, std::uint64_t seed) {
  SampleTokens sample;
  support::SplitMix64 random(seed ^ 0x746F6B656E73ULL);  // "tokens": another stream than the weights of the same seed
  for (std::int64_t i = 0; i < tokens * hidden; ++i) sample.x.push_back(random_bf16(random.next(), 123, 6));
  for (std::int64_t token = 0; token < tokens; ++token) {
    std::vector<std::uint32_t> logits;
    for (std::int64_t expert = 0; expert < experts; ++expert) logits.push_back(random_bf16(random.next(), 124, 4) << 16U);
    sample.slots.push_back(moe::route_logits<moe::F32Arithmetic>(moe::router_named("gpt-oss"), {.top_k = top_k}, logits, {}));
  }
  return sample;
}

}  // namespace mx::sim
