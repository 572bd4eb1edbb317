// N7 for the vector kernels: quantizers, dequantizers and elementary functions give the model's bits on every tier that runs here.

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "kernels/codec/codec.hpp"
#include "kernels/dot/tile.hpp"
#include "kernels/functions/functions.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kLowBits = 0x0000FFFFU;

std::vector<const kernels::IsaTier*> tiers_here() {
  std::vector<const kernels::IsaTier*> out;
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    if (kernels::runs_here(tier)) out.push_back(&tier);
  }
  return out;
}

/// A mantissa of fp32: any, of a few bits, so that ties are met, or just below a power of two.
std::uint32_t drawn_mantissa() {
  constexpr std::uint32_t kAll = 0x7FFFFF;
  const std::uint32_t any = pick_uniform(0, kAll);
  switch (pick_uniform(0, 7)) {
    case 0: return kAll - pick_uniform(0, 1);
    case 1:
    case 2: return any;
    default: return any & ~0x7FFFFU;
  }
}

/// fp32 patterns whose exponents lie within a few of one that may be anywhere.
std::vector<std::uint32_t> drawn_patterns(std::size_t count) {
  const std::uint32_t top = pick_uniform(1, 255);
  std::vector<std::uint32_t> out(count);
  for (std::uint32_t& f32 : out) {
    const std::uint32_t below = pick_uniform(0, 6);
    f32 = pick_uniform(0, 1) << 31 | (top > below ? top - below : 0U) << 23 | drawn_mantissa();
  }
  return out;
}

/// The same as a source has them, of fp16 around an exponent of its own.
std::vector<std::uint32_t> drawn_elements(std::size_t count, const Format& source) {
  constexpr std::uint32_t kTopOfFp16 = 31;
  std::vector<std::uint32_t> out = drawn_patterns(count);
  const std::uint32_t top = pick_uniform(1, kTopOfFp16);
  for (std::uint32_t& bits : out) {
    if (source == kBf16) bits >>= 16;
    if (source != kFp16) continue;
    const std::uint32_t below = pick_uniform(0, 6);
    bits = bits >> 31 << 15 | (top > below ? top - below : 0U) << 10 | (bits & 0x7FFFFFU) >> 13;
  }
  return out;
}

/// The model's codes, packed as the kernels pack them, and scales, little endian.
struct Packed {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  friend bool operator==(const Packed&, const Packed&) = default;
};

Packed by_model(const std::vector<std::uint32_t>& x, const Format& source, const Recipe& recipe, const TensorScale& tensor) {
  const auto length = static_cast<std::size_t>(recipe.format->block);
  const bool shares = recipe.format->element->width == 4;
  Packed out{std::vector<std::uint8_t>(shares ? x.size() / 2 : x.size()), {}};
  for (std::size_t first = 0; first < x.size(); first += length) {
    const QuantizedBlock block = quantize_block(std::span(x).subspan(first, length), source, recipe, tensor);
    for (std::size_t j = 0; j < length; ++j) {
      const std::size_t i = first + j;
      std::uint8_t& byte = out.codes[shares ? i / 2 : i];
      byte = static_cast<std::uint8_t>(byte | block.codes[j] << (shares && i % 2 == 1 ? 4 : 0));
    }
    for (int shift = 0; shift < recipe.format->scale->width; shift += 8) out.scales.push_back(static_cast<std::uint8_t>(block.scale >> shift));
  }
  return out;
}

Packed by_kernels(const std::vector<std::uint32_t>& x, const Format& source, const Recipe& how, const TensorScale& tensor,
                  const kernels::Workers& workers) {
  const kernels::Shape shape{1, x.size()};
  const kernels::QuantizedSizes sizes = kernels::quantized_sizes(shape, *how.format, kernels::ScaleLayout::rows);
  Packed out{std::vector<std::uint8_t>(sizes.codes), std::vector<std::uint8_t>(sizes.scales)};
  const auto run = [&](const kernels::ElementBits& bits) {
    kernels::quantize(bits, shape, how, tensor, kernels::ScaleLayout::rows, {out.codes, out.scales}, workers);
  };
  if (source == kF32) {
    run(kernels::f32_bits(x));
  } else {
    const std::vector<std::uint16_t> words(x.begin(), x.end());
    run(source == kBf16 ? kernels::bf16_bits(words) : kernels::fp16_bits(words));
  }
  return out;
}

/// One of the sources that a recipe takes.
const Format& drawn_source(const Recipe& recipe) {
  const Format* const all[] = {&kF32, &kBf16, &kFp16};
  const Format* source = all[pick_uniform(0, 2)];
  while (!takes_source(recipe, *source)) source = all[pick_uniform(0, 2)];
  return *source;
}

/// What the recipe takes of the tensor: 1, or a number with a full mantissa.
TensorScale drawn_tensor(const Recipe& recipe) {
  const std::uint32_t number = pick_uniform(0, 3) == 0 ? 0x3F800000U : 0x3DABCDEFU + (pick_uniform(0, 8) << 23);
  const TensorNeeds needs = tensor_needs(recipe);
  const auto* const two_level = std::get_if<Nvfp4Recipe>(&recipe.how);
  TensorScale out;
  if (needs.encode || (two_level != nullptr && two_level->encode_may_be_missing)) out.encode = number;
  if (needs.decode) out.decode = number;
  return out;
}

/// What every tier makes of the bits that `want` has; the first tier that differs.
template <class Run>
std::string first_difference(const Run& run) {
  for (const kernels::IsaTier* tier : tiers_here()) {
    if (!run(kernels::Workers{tier, 1})) return "the tier " + std::string(tier->name) + " differs";
  }
  return {};
}

struct QuantizerRow {
  std::string_view profile;
  const BlockFormat* format;
};
constexpr QuantizerRow kQuantizers[] = {{"ocp", &kMxfp4},
                                        {"ocp", &kMxfp8E4m3},
                                        {"ocp", &kMxfp8E5m2},
                                        {"ocp", &kMxfp6E2m3},
                                        {"torchao-rceil@36027d8", &kMxfp4},
                                        {"torchao-even@36027d8", &kMxfp8E4m3},
                                        {"deepgemm-ue8m0", &kFp8Group128},
                                        {"deepgemm", &kFp4Group32},
                                        {"vllm-group", &kFp8Group128},
                                        {"vllm-group-ue8m0", &kFp8Group32},
                                        {"ocp", &kMxint8Block},
                                        {"microxcaling-even", &kMxfp4},
                                        {"microxcaling-floor", &kMxfp8E4m3},
                                        {"microxcaling-nearest", &kMxint8Block}};
/// Recipes whose scales the kernels look up.
constexpr QuantizerRow kLookedUp[] = {{"torchao-rceil@0.18", &kMxfp6E3m2},
                                      {"compressed-tensors-mx", &kMxfp4},
                                      {"modelopt-mx", &kMxfp4},
                                      {"mlx-cpu-mx", &kMxfp8E4m3},
                                      {"gguf-mxfp4", &kMxfp4},
                                      {"quark-mx-floor", &kFp4Group32},
                                      {"flashinfer-reference-nvfp4", &kNvfp4},
                                      {"mlx-cpu-nvfp4", &kNvfp4}};

struct DequantizerRow {
  std::string_view profile;
  const BlockFormat* format;
  const Format* target;  ///< of 16 bits
};
constexpr DequantizerRow kDequantizers[] = {{"ocp", &kMxfp4, &kBf16},
                                            {"ocp", &kMxfp8E4m3, &kBf16},
                                            {"ocp", &kMxfp8E5m2, &kBf16},
                                            {"ocp", &kMxfp6E3m2, &kBf16},
                                            {"ocp", &kMxint8Block, &kBf16},
                                            {"ocp", &kMxfp8E5m2, &kFp16},
                                            {"triton-kernels-dequantize", &kMxfp4, &kFp16},
                                            {"triton-kernels-gpu-dequantize", &kMxfp8E4m3, &kFp16},
                                            {"torchao-nvfp4-single", &kNvfp4, &kBf16}};

/// Magnitudes of a source between which a rule's scale changes, next to each other, in a binade that is drawn; the last two where it does not change.
struct Step {
  std::uint32_t below, above;
};
Step drawn_step(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  const std::uint32_t field = 1U << source.mantissa_bits;
  const std::uint32_t last_field = (1U << source.exponent_bits) - 2U;
  const auto scaling = [&](std::uint32_t word) { return block_scaling(to_f32(word, source), source, recipe, tensor); };
  // Of fp32 and bf16 the binades around 1, where all rules have steps.
  const std::uint32_t binade = source == kFp16 ? pick_uniform(1, last_field) : pick_uniform(107, 147);
  Step step{binade * field, binade * field + field - 1U};
  const BlockScaling first = scaling(step.below);
  while (step.above - step.below > 1) {
    const std::uint32_t middle = step.below + (step.above - step.below) / 2;
    (scaling(middle) == first ? step.below : step.above) = middle;
  }
  return step;
}

/// Blocks whose largest magnitudes lie at a step or beside it; the others have any mantissa below, of a few binades.
std::vector<std::uint32_t> drawn_around(const Step& step, std::size_t blocks, std::size_t length, const Format& source) {
  const std::uint32_t field = 1U << source.mantissa_bits;
  const std::uint32_t sign = 1U << (source.width - 1);
  std::vector<std::uint32_t> out;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint32_t amax = step.below + pick_uniform(0, 2);
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint32_t down = pick_uniform(0, 8) * field + (drawn_mantissa() >> (kF32.mantissa_bits - source.mantissa_bits));
      out.push_back((i == b % length ? amax : amax > down ? amax - down : 0U) | (pick_uniform(0, 1) == 0 ? 0U : sign));
    }
  }
  return out;
}

}  // namespace

Outcome kernels_quantize_looked_up(const Law& law) {
  return check_property(law, [] {
    const QuantizerRow& row = kLookedUp[pick_uniform(0, std::size(kLookedUp) - 1)];
    const Recipe& how = recipe(profile_named(row.profile), *row.format);
    const Format& source = drawn_source(how);
    const TensorScale tensor = drawn_tensor(how);
    const Step step = drawn_step(how, source, tensor);
    const std::vector<std::uint32_t> x = drawn_around(step, pick_uniform(16, 32), static_cast<std::size_t>(row.format->block), source);
    const Packed want = by_model(x, source, how, tensor);
    const std::string difference =
        first_difference([&](const kernels::Workers& workers) { return by_kernels(x, source, how, tensor, workers) == want; });
    RC_LOG(std::string(row.profile) + " " + std::string(row.format->name) + " from " + std::string(source.name) + ": " + difference);
    RC_ASSERT(difference.empty());
  });
}

Outcome kernels_quantize(const Law& law) {
  return check_property(law, [] {
    const QuantizerRow& row = kQuantizers[pick_uniform(0, std::size(kQuantizers) - 1)];
    const Recipe& how = recipe(profile_named(row.profile), *row.format);
    const Format& source = drawn_source(how);
    const TensorScale tensor = drawn_tensor(how);
    const std::size_t blocks = pick_uniform(1, 9);
    const std::vector<std::uint32_t> x = drawn_elements(blocks * static_cast<std::size_t>(row.format->block), source);
    const Packed want = by_model(x, source, how, tensor);
    const std::string difference =
        first_difference([&](const kernels::Workers& workers) { return by_kernels(x, source, how, tensor, workers) == want; });
    RC_LOG(std::string(row.profile) + " " + std::string(row.format->name) + " from " + std::string(source.name) + ": " + difference);
    RC_ASSERT(difference.empty());
  });
}

Outcome kernels_dequantize(const Law& law) {
  return check_property(law, [] {
    constexpr std::size_t kCodes = 256;
    const DequantizerRow& row = kDequantizers[pick_uniform(0, std::size(kDequantizers) - 1)];
    const BlockFormat& format = *row.format;
    const Dequantizer& how = dequantizer(profile_named(row.profile), format, *row.target);
    // Scales near both ends: there a number leaves the range that has an exponent to move.
    const std::uint32_t scale = pick_uniform(0, 1) == 0 ? pick_uniform(0, 24) : pick_uniform(232, 255);
    const auto block = static_cast<std::uint32_t>(format.block);
    const auto scale_of = [&](std::uint32_t i) { return std::min(scale + i / block, 255U); };
    const std::uint32_t first = pick_uniform(0, 255);
    const bool shares = format.element->width == 4;
    std::vector<std::uint8_t> codes;
    std::vector<std::uint16_t> want;
    for (std::uint32_t i = 0; i < kCodes; ++i) {
      const std::uint32_t code = (first + i * 7) % (1U << format.element->width);
      want.push_back(static_cast<std::uint16_t>(dequantize(code, scale_of(i), how)));
      if (!shares || i % 2 == 0) codes.push_back(static_cast<std::uint8_t>(code));
      if (shares && i % 2 == 1) codes.back() = static_cast<std::uint8_t>(codes.back() | code << 4);
    }
    const std::string difference = first_difference([&](const kernels::Workers& workers) {
      std::vector<std::uint8_t> scales;
      for (std::uint32_t i = 0; i < kCodes; i += block) scales.push_back(static_cast<std::uint8_t>(scale_of(i)));
      std::vector<std::uint16_t> got(kCodes);
      const kernels::ElementRoom room = *row.target == kBf16 ? kernels::bf16_room(got) : kernels::fp16_room(got);
      kernels::dequantize({codes, scales}, {1, kCodes}, how, {}, kernels::ScaleLayout::rows, room, workers);
      return got == want;
    });
    RC_LOG(std::string(row.profile) + " " + std::string(format.name) + " under scales from " + std::to_string(scale) + " on: " + difference);
    RC_ASSERT(difference.empty());
  });
}

Outcome kernels_evaluate(const Law& law) {
  return check_property(law, [] {
    const auto functions = kernels::elementary_functions();
    const kernels::ElementaryFunction& function = functions[pick_uniform(0, static_cast<std::uint32_t>(functions.size()) - 1)];
    std::vector<std::uint32_t> x(pick_uniform(1, 40));
    for (std::uint32_t& f32 : x) f32 = pick_uniform(0, 0xFFFF) << 16 | pick_uniform(0, kLowBits);
    std::vector<std::uint32_t> want;
    for (std::uint32_t f32 : x) want.push_back(function.model(f32));
    const std::string difference = first_difference([&](const kernels::Workers& workers) {
      std::vector<std::uint32_t> got(x.size());
      kernels::apply(function, x, got, *workers.tier);
      return got == want;
    });
    RC_LOG(std::string(function.name) + ": " + difference);
    RC_ASSERT(difference.empty());
  });
}

Outcome kernels_multiply(const Law& law) {
  return check_property(law, [] {
    constexpr std::string_view kContracts[] = {"hopper-bf16", "hopper-fp8", "hopper-mma-fp8", "ada-fp8-f16",
                                               "ampere-tf32", "turing-f16", "blackwell-nvf4"};
    const ContractRow& row = row_of(contract_named(kContracts[pick_uniform(0, 6)]));
    RC_LOG(std::string(row.name));
    const Format& format = row.a_formats.empty() ? kFp16 : *row.a_formats[0];
    Tile tile{.m = pick_uniform(1, 3), .n = pick_uniform(1, 20), .k = pick_uniform(1, 80), .a = {}, .b = {}};
    // Numbers near 1, so that sums show what is cut off; some have exponents that the kernels leave.
    const auto codes = [&](std::size_t count) {
      std::vector<std::uint8_t> bytes;
      for (std::size_t i = 0; i < count * tile_word_bytes(format); ++i)
        bytes.push_back(static_cast<std::uint8_t>(pick_uniform(0, format.width == 4 ? 15 : 255)));
      for (std::size_t i = 1; format.width == 16 && i < bytes.size(); i += 2) bytes[i] = static_cast<std::uint8_t>((bytes[i] & 0x87U) | 0x30U);
      return bytes;
    };
    const std::vector<std::uint8_t> a = codes(tile.m * tile.k);
    const std::vector<std::uint8_t> b = codes(tile.n * tile.k);
    const auto scales = [&](std::size_t rows) {
      std::vector<std::uint8_t> bytes;
      for (std::size_t i = 0; row.scale_format != nullptr && i < rows * ((tile.k + 15) / 16); ++i)
        bytes.push_back(static_cast<std::uint8_t>(pick_uniform(0x28, 0x48)));
      return bytes;
    };
    const std::vector<std::uint8_t> scales_a = scales(tile.m);
    const std::vector<std::uint8_t> scales_b = scales(tile.n);
    tile.a = {&format, a, row.scale_format, scales_a, static_cast<std::size_t>(row.scale_block)};
    tile.b = {&format, b, row.scale_format, scales_b, static_cast<std::size_t>(row.scale_block)};
    std::vector<std::uint32_t> c;
    for (std::size_t i = 0; i < tile.m * tile.n; ++i) c.push_back(to_f32((pick_uniform(0, 1) << 15U) | pick_uniform(0x2000, 0x5000), kFp16));
    tile.c = c;
    std::vector<std::uint32_t> expected(c.size());
    mx::multiply(row, tile, expected);
    for (const kernels::IsaTier* tier : tiers_here()) {
      std::vector<std::uint32_t> got(c.size());
      kernels::dot::multiply(row, tile, got, kernels::Workers{tier, 2});
      RC_ASSERT(got == expected);
    }
  });
}

}  // namespace mx::props::numerics
