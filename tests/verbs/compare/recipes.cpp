// Comparing block recipes: counts over all bf16 inputs against what the rules say about them.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/counts.hpp"
#include "verbs/compare/compare.hpp"

namespace {

using mx::verbs::BlockExample;
using mx::verbs::compare_recipes;
using mx::verbs::RecipeComparison;

using Counts = std::map<std::string, std::uint64_t>;

Counts counts_of(const RecipeComparison& result) {
  Counts counts;
  std::uint64_t sum = 0;
  for (const auto& row : result.classes) {
    if (row.blocks != 0) counts[std::string(row.difference.name)] = row.blocks;
    CHECK(row.example.has_value() == (row.blocks != 0));
    sum += row.blocks;
  }
  CHECK(sum == result.differing);
  return counts;
}

mx::Recipe with_element(const mx::Recipe& recipe, const mx::Conversion& element) {
  mx::Recipe changed = recipe;
  std::get<mx::MxRecipe>(changed.how).elements->step.encode = element;
  return changed;
}

/// What a recipe needs of the tensor, some usual number for each.
mx::verbs::RecipeSide side_of(const mx::Recipe& recipe) {
  mx::verbs::RecipeSide side{&recipe, {}};
  const mx::TensorNeeds needs = mx::tensor_needs(recipe);
  if (needs.encode) side.tensor.encode = 0x43A80000U;  // 336
  if (needs.decode) side.tensor.decode = 0x3C23D70AU;  // 0.01
  return side;
}

/// Blocks of two, each quantized on its own.
std::uint64_t differing_one_by_one(const mx::verbs::RecipeSide& first, const mx::verbs::RecipeSide& second, std::uint32_t rest, bool scales_alone) {
  mx::BlockFormat format = *first.recipe->format;
  format.block = 2;
  const auto made = [&](const mx::verbs::RecipeSide& side, std::uint32_t x) {
    const mx::Recipe pair{&format, side.recipe->how, side.recipe->source};
    const std::array<std::uint32_t, 2> block{x, rest};
    if (scales_alone) return mx::QuantizedBlock{mx::block_scale(block, mx::kBf16, pair, side.tensor), {}, {}};
    return mx::quantize_block(block, mx::kBf16, pair, side.tensor);
  };
  std::uint64_t differing = 0;
  for (std::uint32_t x = 0; x < 65536; ++x) {
    const mx::QuantizedBlock a = made(first, x), b = made(second, x);
    differing += a.scale != b.scale || a.codes != b.codes ? 1U : 0U;
  }
  return differing;
}

}  // namespace

TEST_CASE("a recipe compared with itself differs nowhere") {
  const mx::Recipe& floor = mx::recipe(mx::profile_named("ocp"), mx::kMxfp4);
  const RecipeComparison result = compare_recipes({&floor, {}}, {&floor, {}}, mx::kBf16, {});
  CHECK(result.blocks == 65536);
  CHECK(result.differing == 0);
  CHECK(counts_of(result).empty());
}

TEST_CASE("element codes of NaN blocks and of truncated elements are counted apart") {
  const mx::Recipe& floor = mx::recipe(mx::profile_named("ocp"), mx::kMxfp4);
  mx::Conversion element = mx::element_conversion(floor);
  element.nan_positive = 0;
  const mx::Recipe other_nan = with_element(floor, element);
  // 127 NaNs of each sign; an infinite amax gives the NaN scale as well.
  const RecipeComparison nan = compare_recipes({&floor, {}}, {&other_nan, {}}, mx::kBf16, {});
  CHECK(counts_of(nan)["NaN block"] == 254);
  CHECK(nan.scales == 0);

  element = mx::element_conversion(floor);
  element.rounding = mx::Rounding::toward_zero;
  const mx::Recipe truncated = with_element(floor, element);
  const RecipeComparison result = compare_recipes({&floor, {}}, {&truncated, {}}, mx::kBf16, {});
  CHECK(result.scales == 0);
  CHECK(result.differing == result.codes);
  // Alone in its block, a normal x becomes 4 * 1.mantissa: codes 6 and 7 for 4 and 6. Of the 128 mantissas those in (1.25, 1.5) round up to 6; the
  // tie 1.25 goes to the even code 6, and what is above 1.5 is 6 either way: 31 of each binade whose scale is not at its end, so of biased exponents
  // 2 to 254, and those of exponent 1 and below, whose scale is 2^-127.
  const std::uint64_t normal_binades = 254 - 2;
  CHECK(counts_of(result)["element one step apart"] >= 2 * 31 * normal_binades);
}

TEST_CASE("FLOOR and RCEIL part where the mantissa of the largest magnitude is above that of the element format's largest number") {
  // e4m3fn's largest number is 1.75 * 2^8: of bf16's 128 mantissas 31 are above 1.75 (0x61 to 0x7F). Both rules clamp at scale byte 0 below biased
  // exponent 8 (emax), where FLOOR stays 0; there RCEIL gives 1 only at exponent 8. So biased exponents 8 to 254, both signs.
  const mx::Recipe& floor = mx::recipe(mx::profile_named("torchao-floor@36027d8"), mx::kMxfp8E4m3);
  const mx::Recipe& rceil = mx::recipe(mx::profile_named("torchao-rceil@36027d8"), mx::kMxfp8E4m3);
  const RecipeComparison result = compare_recipes({&floor, {}}, {&rceil, {}}, mx::kBf16, {});
  CHECK(result.scales == 2 * 31 * (254 - 8 + 1));
  CHECK(counts_of(result) == Counts{{"scale at the end of its range", 2 * 31}, {"scale one step apart", 2 * 31 * (254 - 8)}});
}

TEST_CASE("recipes of scales alone are compared by their scales") {
  // docs/disagreements.md, "What agrees": FLOOR of torchao and of aiter, whose recorded NaN and Inf blocks have byte 0xFF too.
  const mx::Recipe& torchao = mx::recipe(mx::profile_named("torchao-floor@36027d8"), mx::kMxfp4);
  const mx::Recipe& aiter = mx::recipe(mx::profile_named("aiter-floor"), mx::kMxfp4);
  const RecipeComparison result = compare_recipes({&torchao, {}}, {&aiter, {}}, mx::kBf16, {});
  CHECK(result.scales_alone);
  CHECK(result.codes == 0);
  CHECK(result.differing == 0);
}

TEST_CASE("what stands for the rest of a block gets the code that the rest gets") {
  const mx::Recipe& floor = mx::recipe(mx::profile_named("ocp"), mx::kMxfp8E4m3);
  mx::Conversion element = mx::element_conversion(floor);
  element.rounding = mx::Rounding::toward_zero;
  const mx::Recipe truncated = with_element(floor, element);
  const std::uint32_t rest = 0x3FAB;  // 1.3359375
  const RecipeComparison result = compare_recipes({&floor, {}}, {&truncated, {}}, mx::kBf16, {rest});
  int examples = 0;
  for (const auto& row : result.classes) {
    if (!row.example) continue;
    ++examples;
    for (const auto& [recipe, side] : {std::pair(&floor, row.example->first), std::pair(&truncated, row.example->second)}) {
      std::vector<std::uint32_t> block(32, rest);
      block[0] = row.example->input;
      const mx::QuantizedBlock whole = mx::quantize_block(block, mx::kBf16, *recipe);
      CHECK(BlockExample::Side{whole.scale, whole.codes[0], whole.codes[1]} == side);
      CHECK(std::count(whole.codes.begin() + 1, whole.codes.end(), side.rest_code) == 31);
    }
  }
  CHECK(examples > 0);
}

TEST_CASE("recipes of different block formats cannot be compared") {
  const mx::Profile& ocp = mx::profile_named("ocp");
  CHECK_THROWS_AS(compare_recipes({&mx::recipe(ocp, mx::kMxfp4), {}}, {&mx::recipe(ocp, mx::kMxfp8E4m3), {}}, mx::kBf16, {}), mx::Error);
}

TEST_CASE("runs of neighbours: every pair of recipes differs on as many blocks as one by one") {
  // Every bf16 pattern, alone in its block and beside another number.
  int pairs = 0;
  mx::tests::EveryNth picked(5);
  for (const mx::BlockFormat& format : mx::all_block_formats()) {
    std::vector<mx::verbs::RecipeSide> sides;
    for (const mx::Profile& profile : mx::all_profiles()) {
      const mx::Recipe* const recipe = mx::find_recipe(profile, format);
      if (recipe != nullptr && mx::takes_source(*recipe, mx::kBf16)) sides.push_back(side_of(*recipe));
    }
    for (std::size_t i = 1; i < sides.size(); ++i) {
      if (!picked()) continue;
      for (const std::uint32_t rest : {0U, 0x3FABU}) {
        INFO(format.name << " " << i << " beside " << rest);
        const RecipeComparison result = compare_recipes(sides[i - 1], sides[i], mx::kBf16, {rest});
        CHECK(result.differing == differing_one_by_one(sides[i - 1], sides[i], rest, result.scales_alone));
        ++pairs;
      }
    }
  }
  CHECK(pairs > 0);
}
