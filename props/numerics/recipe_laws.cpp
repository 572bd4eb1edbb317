// Laws about the recipes of implementations: N5 for their scales, N6 for their blocks.

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "model/numerics/profile.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"
#include "props/numerics/recipe_facts.hpp"
#include "props/numerics/scale_facts.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kNan = 0x7FC00000U;

/// fp32 patterns as the recipe takes them: as they are, or cut to bf16.
struct Source {
  const Format* format;
  std::uint32_t cut(std::uint32_t f32) const { return *format == kF32 ? f32 : f32 & 0xFFFF0000U; }
  std::uint32_t step() const { return *format == kF32 ? 1U : 0x10000U; }
  std::vector<std::uint32_t> patterns(const std::vector<std::uint32_t>& f32) const {
    std::vector<std::uint32_t> bits;
    for (std::uint32_t value : f32) bits.push_back(*format == kF32 ? value : value >> 16U);
    return bits;
  }
};

Source source_of(const Recipe& recipe) {
  const Sources taken = std::visit(
      [](const auto& how) {
        if constexpr (requires { how.sources; }) return how.sources;
        return kAnySource;
      },
      recipe.how);
  return {taken.f32 ? &kF32 : &kBf16};
}

std::uint32_t length_of(const Recipe& recipe) { return static_cast<std::uint32_t>(recipe.format->block); }

/// Scale of a block that holds `amax` once and `rest`, the model's word.
std::uint32_t model_scale(std::uint32_t amax, const Recipe& recipe, std::uint32_t rest = 0) {
  const Source source = source_of(recipe);
  std::vector<std::uint32_t> block(length_of(recipe), rest);
  block[block.size() / 2] = amax;
  const std::vector<std::uint32_t> bits = source.patterns(block);
  if (const auto* how = std::get_if<MxRecipe>(&recipe.how)) return block_scale(bits, *source.format, *recipe.format, *how);
  return quantize_block(bits, *source.format, recipe).scale;
}

/// The restated scale of a block whose other elements are numbers; `with_nan` when one of them is NaN.
std::uint32_t expected_scale(std::uint32_t amax, bool with_nan, const Recipe& recipe, std::string_view profile) {
  const ElementFacts& element = facts_of(*recipe.format->element);
  if (const GroupFacts* group = group_facts_of(profile)) return restated_group_scale(with_nan && !group->ignores_nan ? kNan : amax, *group, element);
  const ScaleFacts& facts = *scale_facts_of(profile);
  return restated_scale(with_nan && !facts.ignores_nan ? kNan : amax, facts, element);
}

/// The restated scale of a block of NaNs.
std::uint32_t scale_of_nans(const Recipe& recipe, std::string_view profile) {
  const ElementFacts& element = facts_of(*recipe.format->element);
  if (const GroupFacts* group = group_facts_of(profile)) return restated_group_scale(group->ignores_nan ? 0 : kNan, *group, element);
  return restated_scale(kNan, *scale_facts_of(profile), element);
}

/// Patterns around which the scale of the recipe changes.
std::vector<std::uint32_t> thresholds(const Recipe& recipe, std::string_view profile) {
  const ElementFacts& element = facts_of(*recipe.format->element);
  std::vector<std::uint32_t> found{0, 1, 0x00400000U, 0x00800000U, 0x7F7F0000U, 0x7F7FFFFFU};
  if (const GroupFacts* group = group_facts_of(profile)) {
    found.push_back(group->amax_floor);
    for (int exponent = -140; exponent < 120; ++exponent) found.push_back(f32_bits(element.top, element.top_exponent + exponent));
    return found;
  }
  for (std::uint32_t byte = 1; byte < 256; ++byte) found.push_back(first_reaching(byte, *scale_facts_of(profile), element));
  return found;
}

/// The profile's recipes but for squares, which are groups of another length.
std::vector<Recipe> rows_of(const Profile& profile) {
  std::vector<Recipe> rows(profile.recipes.begin(), profile.recipes.end());
  std::erase_if(rows, [](const Recipe& row) { return row.format->name == kFp8E4m3Square.name; });
  return rows;
}

Recipe pick_recipe(const Profile& profile) {
  const std::vector<Recipe> rows = rows_of(profile);
  return rows[pick_uniform(0, static_cast<std::uint32_t>(rows.size()) - 1)];
}

/// A block around a common exponent, for which every quotient is a normal fp32 number or zero; at times with an Inf or a NaN in it.
std::vector<std::uint32_t> pick_block(const Grid& grid, const Recipe& recipe) {
  const Source source = source_of(recipe);
  const std::uint32_t down = pick_uniform(0, 60);
  std::vector<std::uint32_t> block;
  for (std::uint32_t i = 0; i < length_of(recipe); ++i) {
    const std::uint32_t f32 = pick_boundary(grid);
    const std::uint32_t exponent = (f32 & ~kSign) >> 23;
    block.push_back(source.cut(exponent < 97 || exponent > 157 ? f32 & kSign : f32 - (down << 23)));
  }
  return block;
}

std::string listed(const std::vector<std::uint32_t>& block) {
  std::string text = "block";
  for (std::uint32_t f32 : block) text += " " + hex(f32);
  return text;
}

void check_block(const std::vector<std::uint32_t>& block, const Recipe& recipe, const Law& law) {
  RC_LOG(std::string(recipe.format->name) + " " + listed(block));
  const Grid& grid = grid_of(recipe.format->element->name);
  const Source source = source_of(recipe);
  const QuantizedBlock quantized = quantize_block(source.patterns(block), *source.format, recipe);
  RC_ASSERT(quantized.codes.size() == block.size());
  std::uint32_t amax = 0;
  for (std::uint32_t f32 : block) amax = std::max(amax, f32 & ~kSign);
  RC_ASSERT(quantized.scale == expected_scale(amax, false, recipe, subject_of(law)));
  const ElementRule& rule = element_rule_of(subject_of(law));
  for (std::size_t i = 0; i < block.size(); ++i) RC_ASSERT(quantized.codes[i] == restated_code(block[i], quantized.scale, grid, rule));
}

void check_special(const SpecialBlock& special, const Profile& profile, Exhaustive& exhaustive) {
  const Recipe& row = recipe(profile, block_format_named(special.format));
  const Source source = source_of(row);
  std::vector<std::uint32_t> block(length_of(row), special.rest);
  block[0] = special.first;
  block[block.size() - 1] = special.last;
  const QuantizedBlock got = quantize_block(source.patterns(block), *source.format, row);
  const auto expect = [&](std::string_view what, std::uint32_t value, std::uint32_t expected) {
    exhaustive.expect(value == expected, [&] {
      return std::string(profile.name) + " " + std::string(special.format) + " block of " + hex(special.first) + ", " + hex(special.rest) + " ... " +
             hex(special.last) + ": " + std::string(what) + " " + hex(value) + ", not " + hex(expected);
    });
  };
  expect("scale", got.scale, special.scale);
  expect("first code", got.codes.front(), special.first_code);
  expect("inner code", got.codes[1], special.rest_code);
  expect("last code", got.codes.back(), special.last_code);
}

}  // namespace

Outcome recipe_scales_follow_amax(const Law& law) {
  const Profile& profile = profile_named(subject_of(law));
  const auto property = [&] {
    const Recipe row = pick_recipe(profile);
    const Source source = source_of(row);
    const std::uint32_t amax = source.cut(pick_uniform(0, kInfinity));
    RC_ASSERT(model_scale(amax, row) == expected_scale(amax, false, row, profile.name));
    RC_ASSERT(model_scale(amax | kSign, row) == model_scale(amax, row));
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    for (const Recipe& row : rows_of(profile)) {
      const Source source = source_of(row);
      const auto expect = [&](std::uint32_t amax, std::uint32_t expected) {
        const std::uint32_t scale = model_scale(amax, row);
        exhaustive.expect(scale == expected, [&] {
          return std::string(row.format->name) + " amax " + hex(amax) + " gives scale " + hex(scale) + ", not " + hex(expected);
        });
      };
      for (std::uint32_t threshold : thresholds(row, profile.name)) {
        const std::uint32_t lowest = source.cut(threshold) - std::min(source.cut(threshold), 3U * source.step());
        for (std::uint32_t i = 0; i < 7; ++i) {
          const std::uint32_t amax = std::min(lowest + i * source.step(), kInfinity);
          expect(amax, expected_scale(amax, false, row, profile.name));
        }
      }
      expect(kNan, expected_scale(0, true, row, profile.name));
      // Of NaNs alone even a max that ignores them is NaN, which a later max with a number may still ignore.
      const std::uint32_t nans = model_scale(kNan, row, kNan);
      const std::uint32_t expected = scale_of_nans(row, profile.name);
      exhaustive.expect(nans == expected, [&] { return "a block of NaNs gives scale " + hex(nans) + ", not " + hex(expected); });
    }
  };
  return run_both(law, property, all_cases);
}

Outcome recipe_blocks_round_once(const Law& law) {
  const Profile& profile = profile_named(subject_of(law));
  const auto property = [&] {
    const Recipe row = pick_recipe(profile);
    check_block(pick_block(grid_of(row.format->element->name), row), row, law);
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    for (const SpecialBlock& special : special_blocks()) {
      if (special.profile == profile.name) check_special(special, profile, exhaustive);
    }
  };
  return run_both(law, property, all_cases);
}

}  // namespace mx::props::numerics
