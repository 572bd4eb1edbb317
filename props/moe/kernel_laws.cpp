// The kernels of products and of the fused layer against the model: the same bits, whatever the shape, the scales and the activations.

#include <rapidcheck.h>

#include <bit>
#include <random>
#include <string_view>

#include "kernels/moe/layer.hpp"
#include "kernels/moe/routing.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"
#include "props/layout/generators.hpp"
#include "props/moe/generators.hpp"
#include "props/moe/laws.hpp"

namespace mx::props {
namespace {

using namespace kernels::moe;
using Draws = std::mt19937;

/// One product: a matrix of one half, and rows of both kinds of activations.
struct Product {
  PanelShape shape;
  std::size_t rows;
  std::vector<std::uint8_t> codes, scales, x_scales;
  std::vector<float> bias;
  std::vector<std::uint16_t> bf16;
  std::vector<std::int8_t> int8;
};

/// Usual bytes, or those at the ends of the range.
std::uint8_t scale_byte(Draws& draws, bool ends) {
  const auto draw = static_cast<std::uint32_t>(draws());
  if (!ends) return static_cast<std::uint8_t>(120 + draw % 8);
  return static_cast<std::uint8_t>(draw % 2 == 0 ? draw / 2 % 4 : 252 + draw / 2 % 4);
}

/// Numbers around 1, or around the smallest.
std::uint16_t bf16_code(Draws& draws, bool tiny) {
  const auto draw = static_cast<std::uint32_t>(draws());
  return static_cast<std::uint16_t>((draw & 0x807FU) | ((tiny ? 0 : 120) + (draw >> 16 & 7U)) << 7);
}

Product any_product() {
  const auto size = [](std::int64_t least, std::int64_t most) { return static_cast<std::size_t>(pick(least, most)); };
  Product p{.shape = {1, 1, size(1, 40), 32 * size(1, 3)},
            .rows = size(1, 14),
            .codes = {},
            .scales = {},
            .x_scales = {},
            .bias = {},
            .bf16 = {},
            .int8 = {}};
  const bool ends = pick(0, 1) == 1;
  const bool tiny = pick(0, 1) == 1;
  Draws draws(static_cast<std::uint32_t>(pick(0, 1 << 30)));
  for (std::size_t i = 0; i < p.shape.columns * p.shape.k / 2; ++i) p.codes.push_back(static_cast<std::uint8_t>(draws()));
  for (std::size_t i = 0; i < p.shape.columns * p.shape.blocks(); ++i) p.scales.push_back(scale_byte(draws, ends));
  for (std::size_t i = 0; i < p.shape.columns; ++i) p.bias.push_back(static_cast<float>(1 + draws() % 7));
  for (std::size_t i = 0; i < p.rows * p.shape.k; ++i) p.bf16.push_back(bf16_code(draws, tiny));
  for (std::size_t i = 0; i < p.rows * p.shape.k; ++i) p.int8.push_back(static_cast<std::int8_t>(draws()));
  for (std::size_t i = 0; i < p.rows * p.shape.blocks(); ++i) p.x_scales.push_back(scale_byte(draws, ends));
  return p;
}

std::vector<float> by_kernel(Contract contract, const Product& p) {
  const PanelMatrix panels = pack(p.shape, panel_format_of(layout::WeightFormat::mxfp4), layout::SourceOrder::standard,
                                  {.codes = p.codes, .scales = p.scales, .expert_scales = {}, .bias = p.bias});
  const GemmKernel& kernel = gemm_kernel_in_use(contract, *panels.format);
  std::vector<float> out(p.rows * p.shape.columns);
  if (contract == Contract::int8_block) {
    gemm(kernel, panels, 0, Int8Rows{p.int8, p.x_scales}, out, 1);
  } else {
    gemm(kernel, panels, 0, Bf16Rows{p.bf16}, out, 1);
  }
  return out;
}

std::vector<Value> scale_values(std::span<const std::uint8_t> bytes) {
  std::vector<Value> values;
  for (const std::uint8_t byte : bytes) values.push_back(decode(kE8m0, byte));
  return values;
}

PreparedOperand activation_row(const ContractRow& row, const Product& p, std::size_t m) {
  const bool int8 = row.contract == Contract::int8_block;
  std::vector<Value> elements;
  for (std::size_t k = m * p.shape.k; k < (m + 1) * p.shape.k; ++k) {
    elements.push_back(int8 ? decode(kMxint8, static_cast<std::uint8_t>(p.int8[k])) : decode(kBf16, p.bf16[k]));
  }
  const std::vector<Value> scales = int8 ? scale_values(std::span(p.x_scales).subspan(m * p.shape.blocks(), p.shape.blocks())) : std::vector<Value>{};
  return prepare(row, Side::a, {.elements = elements, .format = int8 ? &kMxint8 : &kBf16, .scales = scales, .block = int8 ? 32 : 0});
}

PreparedOperand weight_row(const ContractRow& row, const Product& p, std::size_t n) {
  std::vector<Value> elements;
  for (std::size_t k = n * p.shape.k; k < (n + 1) * p.shape.k; ++k) {
    const std::uint32_t byte = p.codes[k / 2];
    elements.push_back(decode(kE2m1, k % 2 == 0 ? byte & 15U : byte >> 4));
  }
  const std::vector<Value> scales = scale_values(std::span(p.scales).subspan(n * p.shape.blocks(), p.shape.blocks()));
  return prepare(row, Side::b, {.elements = elements, .format = &kE2m1, .scales = scales, .block = 32});
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace

Outcome law_product_kernel(const Law& law) {
  const ContractRow& row = row_of(contract_named(law.id.substr(std::string_view("N7/moe-").size())));
  return check_property(
      law,
      [&] {
        const Product p = any_product();
        const std::vector<float> out = by_kernel(row.contract, p);
        for (std::size_t n = 0; n < p.shape.columns; ++n) {
          const PreparedOperand weights = weight_row(row, p, n);
          for (std::size_t m = 0; m < p.rows; ++m) {
            RC_ASSERT(bits(out[m * p.shape.columns + n]) == dot(row, activation_row(row, p, m), weights, {.c = {}, .bias = bits(p.bias[n])}));
          }
        }
      },
      30);
}

Outcome law_format_kernels(const Law& law) {
  return check_property(
      law,
      [] {
        const ContractRow& row = row_of(Contract::bf16_block);
        const auto blocks = static_cast<std::size_t>(pick(2, 5));
        const PanelShape shape{1, 1, static_cast<std::size_t>(pick(1, 40)), 32 * blocks};
        Draws draws(static_cast<std::uint32_t>(pick(0, 1 << 30)));
        // Numbers of one size and sign, so that no two orders or scales give the same sums by chance.
        std::vector<std::uint8_t> codes(shape.columns * shape.k);
        for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(48 + draws() % 32);
        std::vector<std::uint8_t> scales;
        for (std::size_t i = 0; i < shape.columns; ++i) scales.insert(scales.end(), {0, 0, 0x80, 0x3F});  // fp32 of 1
        std::vector<std::uint16_t> x;
        for (std::size_t k = 0; k < shape.k; ++k) x.push_back(bf16_code(draws, false) & 0x7FFFU);
        std::vector<float> x_scales;
        for (std::size_t b = 0; b < blocks; ++b) x_scales.push_back(static_cast<float>(1 + b));
        const PanelMatrix panels = pack(shape, panel_format_of(layout::WeightFormat::fp8_channel), layout::SourceOrder::standard,
                                        {.codes = codes, .scales = scales, .expert_scales = {}, .bias = {}});
        std::vector<float> out(shape.columns);
        gemm(gemm_kernel_in_use(row.contract, *panels.format), panels, 0, ScaledRows{x, x_scales, 32}, out, 1);
        std::vector<Value> elements, factors;
        for (const std::uint16_t code : x) elements.push_back(decode(kBf16, code));
        for (const float scale : x_scales) factors.push_back(decode(kF32, bits(scale)));
        const PreparedOperand a = prepare(row, Side::a, {.elements = elements, .format = &kBf16, .scales = factors, .block = 32});
        for (std::size_t n = 0; n < shape.columns; ++n) {
          std::vector<Value> column;
          for (std::size_t k = 0; k < shape.k; ++k) column.push_back(decode(kE4m3fn, codes[n * shape.k + k]));
          const std::vector<Value> one{decode(kF32, f32::kOne)};
          const ::mx::Operand b{.elements = column, .format = &kE4m3fn, .scales = one, .block = static_cast<int>(shape.k)};
          RC_ASSERT(bits(out[n]) == dot(row, a, prepare(row, Side::b, b), {.c = {}, .bias = {}}));
        }
      },
      30);
}

Outcome law_router_kernel(const Law& law) {
  return check_property(
      law,
      [] {
        for (const moe::RouterRecipe& recipe : moe::all_routers()) {
          const RouterInput input = random_router_input(*restated_router(recipe.name));
          const moe::RouterSizes sizes{
              .top_k = input.top_k, .groups = input.groups, .topk_groups = input.topk_groups, .factor = decode(kF32, bits(input.factor))};
          std::vector<std::uint32_t> logits, bias;
          for (const float logit : input.logits) logits.push_back(bits(logit));
          for (const float number : input.bias) bias.push_back(bits(number));
          std::vector<std::int32_t> experts(static_cast<std::size_t>(input.top_k));
          std::vector<float> weights(experts.size());
          route(recipe, sizes, input.logits, input.logits.size(), input.bias, {experts, weights}, kernels::isa_tier(), 1);
          const auto expected = moe::route_logits<moe::F32Arithmetic>(recipe, sizes, logits, bias);
          for (std::size_t i = 0; i < experts.size(); ++i) {
            RC_ASSERT(experts[i] == expected[i].expert);
            RC_ASSERT(bits(weights[i]) == expected[i].weight);
          }
        }
      },
      30);
}

Outcome law_layer_kernel(const Law& law) {
  return check_property(
      law,
      [] {
        constexpr std::int64_t kSize = 32;
        const std::int64_t experts = pick(1, 4);
        const std::int64_t tokens = pick(1, 4);
        const std::int64_t top_k = pick(1, experts);
        const layout::CanonicalLayer layer = random_moe_layer({experts, kSize, kSize});
        const std::vector<std::uint32_t> x = random_tokens(tokens * kSize);
        const auto slots = random_slots(tokens, experts, top_k);
        const moe::Activation& row = moe::activation_named("swiglu_oai");
        const moe::ScaledChoices choices{.contract = Contract::bf16_block, .activation = &row, .constants = row.constants};
        const std::vector<std::uint16_t> codes(x.begin(), x.end());
        std::vector<std::int32_t> chosen;
        std::vector<float> weights;
        for (const auto& token : slots) {
          for (const moe::Slot& slot : token) {
            chosen.push_back(static_cast<std::int32_t>(slot.expert));
            weights.push_back(std::bit_cast<float>(slot.weight));
          }
        }
        std::vector<float> out(x.size());
        const PanelLayer panels = pack(layer);
        FusedLayer(panels, choices)
            .run({.x = codes, .experts = chosen, .weights = weights, .top_k = static_cast<std::size_t>(top_k), .expert_map = {}}, out, 2);
        const std::vector<std::uint32_t> expected = moe::run_scaled_layer(layer, choices, x, slots, {});
        for (std::size_t i = 0; i < out.size(); ++i) RC_ASSERT(bits(out[i]) == expected[i]);
      },
      40);
}

}  // namespace mx::props
