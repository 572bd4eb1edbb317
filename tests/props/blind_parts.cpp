// Outputs of parts, where a fault's place is no part of the layers: blocks through every recipe and back, casts, dequantizers, functions, dot
// products, routers, activations. Normal numbers, and where rules part ways at the ends numbers from there.

#include <array>
#include <bit>
#include <functional>
#include <string>

#include "model/moe/activation.hpp"
#include "model/moe/arithmetic.hpp"
#include "model/moe/routing.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/wide.hpp"
#include "model/numerics/wide_source.hpp"
#include "tests/props/blind_outputs.hpp"
#include "tests/props/normal.hpp"

namespace mx::tests {
namespace {

float number(std::uint32_t f32) { return std::bit_cast<float>(f32); }

/// Takes the outputs of one row of a table.
using Emit = std::function<void(std::string_view row, std::vector<float> values)>;

/// One element in so many is a special one: NaN, Inf, zero, subnormal; none where it is 0.
std::vector<std::uint32_t> block_of(int length, double deviation, int special_every, Normal& normal) {
  constexpr std::array<std::uint32_t, 6> kSpecial{0x7FC00000U, 0xFFC00000U, 0x7F800000U, 0x80000000U, 0x00010000U, 0x807F0000U};
  std::vector<std::uint32_t> block;
  for (int i = 0; i < length; ++i) {
    const bool special = special_every > 0 && normal.word() % static_cast<std::uint64_t>(special_every) == 0;
    block.push_back(special ? kSpecial[normal.word() % kSpecial.size()] : normal.f32(deviation) & 0xFFFF0000U);
  }
  return block;
}

void add_blocks(std::vector<float>& out, const Recipe& recipe, std::span<const std::uint32_t> f32) {
  const Format& source = takes_source(recipe, kF32) ? kF32 : kBf16;
  std::vector<std::uint32_t> bits;
  for (const std::uint32_t x : f32) bits.push_back(source == kF32 ? x : x >> 16U);
  const TensorNeeds needs = tensor_needs(recipe);
  TensorScale tensor;
  if (needs.encode) tensor.encode = 0x42000000U;  // 32
  if (needs.decode) tensor.decode = 0x3D000000U;  // 1/32
  if (!gives_codes(recipe)) {
    out.push_back(number(dequantize(1, block_scale(bits, source, recipe, tensor), *recipe.format)));
    return;
  }
  const QuantizedBlock block = quantize_block(bits, source, recipe, tensor);
  for (const std::uint32_t code : block.codes) out.push_back(number(dequantize(code, block.scale, *recipe.format)));
}

void recipes(double deviation, int special_every, const Emit& emit) {
  Normal normal(3);
  for (const Profile& profile : all_profiles()) {
    std::vector<float> out;
    for (const Recipe& recipe : profile.recipes) {
      if (recipe.format->block > 1024) continue;
      for (int i = 0; i < 6; ++i)
        add_blocks(out, recipe, block_of(recipe.format->block == 0 ? 32 : recipe.format->block, deviation, special_every, normal));
    }
    emit(profile.name, std::move(out));
  }
}

void casts(double deviation, const Emit& emit) {
  Normal normal(4);
  for (const Profile& profile : all_profiles()) {
    std::vector<float> out;
    for (const ConversionRow& row : profile.conversions) {
      const Format& from = row.from == nullptr ? kF32 : *row.from;
      if (is_wide_source(from)) continue;
      for (int i = 0; i < 40; ++i) {
        const std::uint32_t x = normal.f32(deviation);
        constexpr Conversion kPlain{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC0U, 0x7FC0U, 0, false};
        const std::uint32_t code = from == kF32 ? x : from == kBf16 || from == kFp16 ? convert(x, kF32, from, kPlain) : x & ((1U << from.width) - 1U);
        Flags flags;
        Random random;
        if (is_stochastic(row.how.rounding)) random = static_cast<std::uint32_t>(normal.word()) & ((1U << row.how.random_bits) - 1U);
        out.push_back(number(to_f32(convert(code, from, *row.to, row.how, flags, random), *row.to)));
      }
    }
    emit(profile.name, std::move(out));
  }
}

void dequantizers(std::uint32_t lowest_byte, const Emit& emit) {
  Normal normal(5);
  for (const Profile& profile : all_profiles()) {
    std::vector<float> out;
    for (const Dequantizer& row : profile.dequantizers) {
      TensorScale tensor;
      if (row.tensor == TensorUse::divides_scale) tensor.encode = 0x42000000U;
      if (row.tensor == TensorUse::multiplies_scale) tensor.decode = 0x3D000000U;
      for (int i = 0; i < 64; ++i) {
        const std::uint32_t code = static_cast<std::uint32_t>(normal.word()) & ((1U << row.format->element->width) - 1U);
        const auto byte = lowest_byte + static_cast<std::uint32_t>(normal.word() % 12);
        const std::uint32_t scale = *row.format->scale == kF32 ? byte << 23U : *row.format->scale == kE8m0 ? byte : byte % 0x78U;
        out.push_back(number(to_f32(dequantize(code, scale, row, tensor), *row.target)));
      }
    }
    emit(profile.name, std::move(out));
  }
}

void functions(const Emit& emit) {
  using Function = std::pair<std::string_view, std::uint32_t (*)(std::uint32_t)>;
  constexpr std::array<Function, 7> kFunctions{{{"exp", f32::exp},
                                                {"exp2", f32::exp2},
                                                {"log2", f32::log2},
                                                {"log1p", f32::log1p},
                                                {"tanh", f32::tanh},
                                                {"erf", f32::erf},
                                                {"sqrt", f32::sqrt}}};
  Normal normal(6);
  for (const auto& [name, function] : kFunctions) {
    std::vector<float> out;
    for (int i = 0; i < 3000; ++i) out.push_back(number(function(normal.f32(2))));
    emit(name, std::move(out));
  }
  using Operation = std::pair<std::string_view, Value (*)(const Value&, const Value&)>;
  constexpr std::array<Operation, 3> kOperations{{{"wide add", wide::add}, {"wide mul", wide::mul}, {"wide div", wide::div}}};
  for (const auto& [name, operation] : kOperations) {
    std::vector<float> out;
    for (int i = 0; i < 2000; ++i) {
      const Value a = decode(kF32, normal.f32(1));
      const Value b = decode(kF32, normal.f32(1));
      out.push_back(static_cast<float>(std::bit_cast<double>(wide::to_f64(operation(operation(a, b), b)))));
    }
    emit(name, std::move(out));
  }
}

void sums(const Emit& emit) {
  Normal normal(8);
  for (const ContractRow& row : all_contracts()) {
    std::vector<float> out;
    const Format& a_format = row.a_formats.empty() ? kBf16 : *row.a_formats.front();
    const Format& b_format = row.b_formats.empty() ? kBf16 : *row.b_formats.front();
    const auto value = [&](const Format& format) {
      Flags flags;
      const std::uint32_t nan = 0;
      return decode(format, encode(decode(kF32, normal.f32(1)), format,
                                   {Rounding::nearest_even, Overflow::saturate, NanRule::fixed, nan, nan, 0, false}, flags));
    };
    for (int i = 0; i < 60; ++i) {
      constexpr int kLength = 256;
      std::vector<Value> a;
      std::vector<Value> b;
      for (int k = 0; k < kLength; ++k) {
        a.push_back(value(a_format));
        b.push_back(value(b_format));
      }
      const int block = row.restart == kScaleBlock ? 32 : row.restart > 0 ? row.restart : kLength;
      std::vector<Value> scales;
      for (int k = 0; k < kLength; k += block) scales.push_back(decode(kE8m0, 124 + static_cast<std::uint32_t>(normal.word() % 6)));
      out.push_back(number(dot(row, {a, &a_format, scales, block}, {b, &b_format, scales, block}, {.c = normal.f32(1), .bias = normal.f32(1)})));
    }
    emit(row.name, std::move(out));
  }
}

/// The weight of every expert for every token.
void routers(const Emit& emit) {
  Normal normal(9);
  constexpr std::int64_t kExperts = 16;
  for (const moe::RouterRecipe& router : moe::all_routers()) {
    std::vector<float> out;
    const bool grouped = router.group_score != moe::GroupScore::none;
    const moe::RouterSizes sizes{4, grouped ? 4 : 1, grouped ? 2 : 1, decode(kF32, 0x40200000U)};
    for (int token = 0; token < 64; ++token) {
      std::vector<std::uint32_t> logits;
      std::vector<std::uint32_t> bias;
      for (std::int64_t e = 0; e < kExperts; ++e) {
        // A shift that makes all of some tokens' logits negative; few bits, so that some are the same.
        logits.push_back(f32::sub(normal.f32(1), token % 2 == 0 ? 0x40400000U : 0U) & 0xFFF80000U);
        bias.push_back(normal.f32(0.1));
      }
      if (router.choice != moe::Choice::score_plus_bias) bias.clear();
      std::vector<float> weights(kExperts);
      for (const moe::Slot& slot : moe::route_logits<moe::F32Arithmetic>(router, sizes, logits, bias))
        weights[static_cast<std::size_t>(slot.expert)] = number(slot.weight);
      out.insert(out.end(), weights.begin(), weights.end());
    }
    emit(router.name, std::move(out));
  }
}

void activations(const Emit& emit) {
  Normal normal(10);
  for (const moe::Activation& row : moe::all_activations()) {
    std::vector<float> out;
    for (int i = 0; i < 400; ++i) out.push_back(number(moe::activate(row, kBf16, normal.bf16(4) << 16U, normal.bf16(4) << 16U, row.constants)));
    emit(row.name, std::move(out));
  }
}

struct Part {
  std::string_view name;
  std::string_view data;
  void (*outputs)(const Emit& emit);
};
constexpr std::array kParts{
    Part{"recipes", "N(0, 1)", [](const Emit& emit) { recipes(1, 0, emit); }},
    Part{"recipes", "N(0, 1), one in 64 special", [](const Emit& emit) { recipes(1, 64, emit); }},
    Part{"recipes", "N(0, 1e-38)", [](const Emit& emit) { recipes(1e-38, 0, emit); }},
    Part{"recipes", "N(0, 1e37)", [](const Emit& emit) { recipes(1e37, 0, emit); }},
    Part{"casts", "N(0, 1)", [](const Emit& emit) { casts(1, emit); }},
    Part{"casts", "N(0, 1000)", [](const Emit& emit) { casts(1000, emit); }},
    Part{"casts", "N(0, 1e-6)", [](const Emit& emit) { casts(1e-6, emit); }},
    Part{"dequantizers", "scale bytes 120 to 131", [](const Emit& emit) { dequantizers(120, emit); }},
    Part{"dequantizers", "scale bytes 103 to 114", [](const Emit& emit) { dequantizers(103, emit); }},
    Part{"dequantizers", "scale bytes 0 to 11", [](const Emit& emit) { dequantizers(0, emit); }},
    Part{"dequantizers", "scale bytes 243 to 254", [](const Emit& emit) { dequantizers(243, emit); }},
    Part{"functions", "N(0, 2)", functions},
    Part{"sums", "N(0, 1)", sums},
    Part{"routers", "N(0, 1), N(-3, 1)", routers},
    Part{"activations", "N(0, 4)", activations},
};

}  // namespace

std::vector<Outputs> part_outputs() {
  std::vector<Outputs> all;
  for (const Part& part : kParts) {
    const auto emit = [&](std::string_view row, std::vector<float> values) {
      if (!values.empty()) all.push_back({std::string(part.name) + " " + std::string(row), std::string(part.data), std::move(values)});
    };
    try {
      part.outputs(emit);
    } catch (const std::exception&) {
      continue;  // what throws nobody overlooks
    }
  }
  return all;
}

}  // namespace mx::tests
