// The scales of blocks that DeepGEMM reads are powers of two because the engine quantizes the blocks anew. Said a second time in the host's own
// arithmetic, number by number. Source: spec layouts 4.1.

#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/families/convert.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/packed.hpp"
#include "props/families/memory_formula.hpp"
#include "props/layout/laws.hpp"

namespace mx::props {
namespace {

using layout::CanonicalLayer;
using layout::Role;

constexpr layout::Form kForm{layout::WeightFormat::fp8_block, layout::SourceOrder::standard};
constexpr std::int64_t kBlock = 128;
constexpr std::int64_t kElements = kBlock * kBlock;

/// The code next to a number, of two the even one.
std::uint8_t nearest_e4m3(float number) {
  const double magnitude = std::fabs(static_cast<double>(number));
  std::uint8_t best = 0;
  for (std::uint8_t code = 1; code < 0x7F; ++code) {
    const double here = std::fabs(e4m3_number(code) - magnitude);
    const double there = std::fabs(e4m3_number(best) - magnitude);
    if (here < there || (here == there && code % 2 == 0)) best = code;
  }
  return static_cast<std::uint8_t>(best | (std::signbit(number) ? 0x80 : 0));
}

float largest_of(const std::uint8_t* codes, float scale) {
  float largest = 1e-4F;
  for (std::int64_t i = 0; i < kElements; ++i) largest = std::max(largest, std::fabs(static_cast<float>(e4m3_number(codes[i])) * scale));
  return largest;
}

/// A layer of 128 x 128 blocks, three of them, every one with its own scale and its own largest code.
CanonicalLayer layer_of_blocks(std::vector<float>& scales) {
  CanonicalLayer layer{{.experts = 1, .intermediate = kBlock, .hidden = kBlock, .group = 1}, kForm, {}};
  for (int block = 0; block < 3; ++block) {
    const auto largest = *rc::gen::inRange<int>(0, 0x7F);
    std::vector<std::uint8_t>& codes = layer[block < 2 ? Role::w13_weight : Role::w2_weight];
    // Every code up to the largest, of both signs.
    for (std::int64_t i = 0; i < kElements; ++i) codes.push_back(static_cast<std::uint8_t>((i % (largest + 1)) | (i / 256 % 2 << 7)));
    const auto exponent = *rc::gen::inRange<std::uint32_t>(100, 150);
    const auto mantissa =
        *rc::gen::oneOf(rc::gen::just<std::uint32_t>(0), rc::gen::just<std::uint32_t>(1), rc::gen::inRange<std::uint32_t>(0, 1U << 23U));
    std::vector<std::uint8_t>& of_role = layer[block < 2 ? Role::w13_weight_scale : Role::w2_weight_scale];
    of_role.resize(of_role.size() + 4);
    layout::set_grain(of_role, static_cast<std::int64_t>(of_role.size()) / 4 - 1, 32, exponent << 23U | mantissa);
    scales.push_back(std::bit_cast<float>(exponent << 23U | mantissa));
  }
  return layer;
}

}  // namespace

Outcome law_powers_of_two(const Law& law) {
  return check_property(law, [] {
    std::vector<float> scales;
    const CanonicalLayer layer = layer_of_blocks(scales);
    families::Setting setting{.sizes = layer.sizes, .padded = layer.sizes, .form = kForm, .engine = deployment::kVllm2026_05};
    setting.arch = families::Arch::sm90;
    const families::BackendLayout& row = families::backend_layout_named("DEEPGEMM", kForm.format, setting.engine);
    const families::PackedLayer packed = families::convert(layer, row, setting);
    setting.arch = families::Arch::sm100;
    const families::PackedLayer words = families::convert(layer, row, setting);
    for (std::size_t block = 0; block < 3; ++block) {
      const Role role = block < 2 ? Role::w13_weight : Role::w2_weight;
      const Role scale_role = block < 2 ? Role::w13_weight_scale : Role::w2_weight_scale;
      const std::size_t at = block % 2;
      const std::uint8_t* before = layer[role].data() + at * kElements;
      const std::uint8_t* after = packed.find(role)->bytes.data() + at * kElements;
      const auto exponent =
          static_cast<int>(std::ceil(static_cast<float>(std::log2(static_cast<double>(largest_of(before, scales[block]) / 448.0F)))));
      const float made = std::ldexp(1.0F, exponent);
      RC_ASSERT(layout::get_grain(packed.find(scale_role)->bytes, static_cast<std::int64_t>(at), 32) == std::bit_cast<std::uint32_t>(made));
      std::array<std::uint8_t, 256> expected{};
      for (std::size_t code = 0; code < 256; ++code) {
        if ((code & 0x7FU) != 0x7F) expected[code] = nearest_e4m3(static_cast<float>(e4m3_number(code)) * scales[block] * (1.0F / made));
      }
      for (std::int64_t i = 0; i < kElements; ++i) RC_ASSERT(int{after[i]} == int{expected[before[i]]});
      // The kernel of sm100 reads the exponents alone, one for each of the block's rows, in words of four.
      RC_ASSERT(int{words.find(scale_role)->bytes[at * kBlock * 4]} == exponent + 127);
      RC_ASSERT(words.find(role)->bytes == packed.find(role)->bytes);
    }
  });
}

}  // namespace mx::props
