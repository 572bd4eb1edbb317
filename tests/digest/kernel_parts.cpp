#include <array>
#include <bit>
#include <random>

#include "kernels/functions/functions.hpp"
#include "kernels/moe/routing.hpp"
#include "kernels/relayout/plan.hpp"
#include "kernels/relayout/tensor.hpp"
#include "kernels/sweep/encode.hpp"
#include "tests/digest/digest.hpp"
#include "tests/kernels/codec_cases.hpp"
#include "tests/kernels/moe_cases.hpp"
#include "tests/kernels/relayout_cases.hpp"

namespace mx::tests {
namespace {

using kernels::IsaTier;
using kernels::Shape;

/// Small matrices, their number of blocks no multiple of what vectors take; now and then one that several threads share.
Shape shape_for(const BlockFormat& format, std::size_t turn) {
  const std::size_t blocks = turn % 32 == 0 ? 4500 : 21 + turn % 8;
  if (format.block == 0) return {3, 70 + 2 * (turn % 30)};
  if (format.block_rows != 1) return {128, 256};
  return {1, blocks * static_cast<std::size_t>(format.block)};
}

void quantize_tensors(Digest& digest, const IsaTier& tier, int threads) {
  Words random(11);
  std::size_t turn = 0;
  for (const RecipeCase& the : recipe_cases()) {
    const Shape shape = shape_for(*the.recipe->format, turn++);
    const auto elements = drawn_elements(shape.rows * shape.cols, 32, *the.source, random);
    const Packed packed = quantized_by_kernel(elements, shape, the, tensor_scale_for(tensor_needs(*the.recipe), random()), {&tier, threads});
    digest.add_all<std::uint8_t>(packed.codes);
    digest.add_all<std::uint8_t>(packed.scales);
  }
}

void dequantize_tensors(Digest& digest, const IsaTier& tier, int threads) {
  Words random(12);
  std::size_t turn = 0;
  for (const DequantizerCase& the : dequantizer_cases()) {
    const Shape shape = shape_for(*the.how->format, turn++);
    const Packed packed = drawn_blocks(shape, *the.how->format, random);
    const TensorScale tensor = tensor_scale_for(needs_of(*the.how), random());
    digest.add_all<std::uint32_t>(dequantized_by_kernel(packed, shape, *the.how, tensor, {&tier, threads}));
  }
}

void encode_scalars(Digest& digest, const IsaTier& tier, int) {
  Words random(13);
  const std::vector<std::uint32_t> f32 = drawn_elements(2000, 16, kF32, random);
  std::vector<std::uint32_t> codes(f32.size());
  for (const Profile& profile : all_profiles()) {
    for (const ConversionRow& row : profile.conversions) {
      if (!kernels::has_encode(*row.to, row.how)) continue;
      kernels::encode(f32, *row.to, row.how, codes, tier);
      digest.add_all<std::uint32_t>(codes);
    }
  }
}

void evaluate_functions(Digest& digest, const IsaTier& tier, int) {
  Words random(14);
  std::vector<std::uint32_t> x = drawn_elements(1000, 8, kF32, random);
  for (std::uint32_t upper = 0x3300; upper < 0x4400; upper += 3) x.push_back(upper << 16 | (random() & 0xFFFFU));
  std::vector<std::uint32_t> y(x.size());
  for (const kernels::ElementaryFunction& function : kernels::elementary_functions()) {
    kernels::apply(function, x, y, tier);
    digest.add_all<std::uint32_t>(y);
  }
}

/// Moves to try: some of all, found once, since looking for them takes longer than the moves.
struct Moves {
  std::vector<RelayoutCase> stay;  ///< values
  std::vector<ValueCase> change;
};

Moves some_moves() {
  constexpr std::int64_t kMostBytes = 1 << 15;
  Moves moves;
  std::size_t cases = 0;
  const auto is_wanted = [&](const layout::Layout& from, std::size_t every) { return ++cases % every == 0 && from.bytes() <= kMostBytes; };
  for_each_block_case([&](const RelayoutCase& c) {
    if (is_wanted(c.from, 9)) moves.stay.push_back(c);
  });
  for_each_backend_case([&](const RelayoutCase& c) {
    if (is_wanted(c.from, 29)) moves.stay.push_back(c);
  });
  for_each_value_case([&](const ValueCase& c) {
    if (is_wanted(c.from, 7)) moves.change.push_back(c);
  });
  return moves;
}

void move_tensors(Digest& digest, const IsaTier& tier, int threads) {
  static const Moves kMoves = some_moves();
  std::uint32_t seed = 0;
  const auto move = [&](const auto& plan, std::int64_t source_bytes, std::int64_t target_bytes, const auto& run) {
    std::vector<std::uint8_t> target(static_cast<std::size_t>(target_bytes));
    run(plan, random_bytes(source_bytes, ++seed), target);
    digest.add_all<std::uint8_t>(target);
  };
  for (const RelayoutCase& c : kMoves.stay) {
    const kernels::relayout::Plan plan(c.from, c.to, tier);
    move(plan, plan.from_bytes(), plan.to_bytes(),
         [&](const auto& by, const auto& source, auto& target) { kernels::relayout::apply(by, source, target, threads); });
  }
  for (const ValueCase& c : kMoves.change) {
    const auto plan = kernels::relayout::TensorMove::place(c.from, c.to, tier);
    move(plan, plan.source_bytes(), plan.target_bytes(), [&](const auto& by, const auto& source, auto& target) { by.run(source, target, threads); });
  }
}

void run_layers(Digest& digest, const IsaTier& tier, int threads) {
  std::mt19937 random(15);
  for (const WeightFormat format : kFormats) {
    for (const bool extreme : {false, true}) {
      const Case c = any_case(random, extreme, format);
      const kernels::moe::PanelLayer panels = kernels::moe::pack(c.layer);
      for (const Contract contract : kContracts) {
        if (takes(contract, format)) digest.add_all<std::uint32_t>(run(panels, c, any_choices(random, contract, c), tier, threads));
      }
    }
  }
}

void route_tokens(Digest& digest, const IsaTier& tier, int threads) {
  constexpr std::size_t kTokens = 19;
  constexpr std::size_t kExperts = 16;
  constexpr std::int64_t kTopK = 3;
  Words random(16);
  for (const moe::RouterRecipe& recipe : moe::all_routers()) {
    const bool grouped = recipe.group_score != moe::GroupScore::none;
    const moe::RouterSizes sizes{.top_k = kTopK, .groups = grouped ? 4 : 1, .topk_groups = grouped ? 2 : 1};
    std::vector<float> logits;
    std::vector<float> bias;
    for (const std::uint32_t bits : drawn_elements(kTokens * kExperts, kExperts, kFp16, random))
      logits.push_back(std::bit_cast<float>(to_f32(bits, kFp16)));
    for (std::size_t i = 0; recipe.choice == moe::Choice::score_plus_bias && i < kExperts; ++i) bias.push_back(static_cast<float>(random() % 9) / 8);
    std::vector<std::int32_t> experts(kTokens * kTopK);
    std::vector<float> weights(experts.size());
    kernels::moe::route(recipe, sizes, logits, kExperts, bias, {experts, weights}, tier, threads);
    for (const std::int32_t expert : experts) digest.add(static_cast<std::uint32_t>(expert));
    digest.add_all<std::uint32_t>(bits_of(weights));
  }
}

constexpr std::array kParts{
    KernelPart{"quantize", quantize_tensors},    KernelPart{"dequantize", dequantize_tensors}, KernelPart{"encode", encode_scalars},
    KernelPart{"functions", evaluate_functions}, KernelPart{"relayout", move_tensors},         KernelPart{"layers", run_layers},
    KernelPart{"routing", route_tokens},
};

}  // namespace

std::span<const KernelPart> kernel_parts() { return kParts; }

}  // namespace mx::tests
