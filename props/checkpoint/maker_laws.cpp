// Laws of who made a checkpoint: what a rule gives is attributed to that rule, and what was changed behind it is found.

#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/maker/made_by.hpp"
#include "model/numerics/device.hpp"
#include "model/numerics/profile.hpp"
#include "props/checkpoint/laws.hpp"
#include "props/layout/generators.hpp"
#include "support/random.hpp"

namespace mx::props {
namespace {

using checkpoint::CodedMatrix;
using checkpoint::CodedRows;
using checkpoint::MadeBy;
using Random = support::SplitMix64;

constexpr int kCases = 60;
constexpr std::int64_t kSeeds = 1'000'000'000;

struct Rule {
  const Profile* profile;
  const Recipe* recipe;
};
/// Rules that give codes of 4, 6 and 8 bits.
const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> found;
    for (const Profile& profile : all_profiles()) {
      for (const Recipe& recipe : profile.recipes) {
        const int width = recipe.format->element->width;
        // One scale that is given is the file's own number: there any rule of that kind is right.
        const bool is_given = recipe.format->block == 0 && tensor_needs(recipe).decode;
        if (gives_codes(recipe) && (width == 4 || width == 6 || width == 8) && !is_given) found.push_back({&profile, &recipe});
      }
    }
    return found;
  }();
  return all;
}

/// A matrix that a rule made, with the words of its base.
struct Made {
  CodedMatrix matrix;
  std::vector<std::uint32_t> base;
  std::vector<std::uint32_t> codes;   ///< one each
  std::vector<std::uint32_t> scales;  ///< of blocks in order
  std::string from;                   ///< as a maker says it

  std::size_t across() const { return static_cast<std::size_t>(matrix.columns / std::max<std::int64_t>(matrix.block_columns, 1)); }
};

/// Numbers of many sizes, none of them 0: sign, exponent and mantissa each at random.
std::uint32_t draw_word(Random& random, const Format& format) {
  const std::uint64_t bits = random.next();
  const std::uint32_t f32 = static_cast<std::uint32_t>(bits & 0x80000000U) | static_cast<std::uint32_t>(116 + (bits >> 32U) % 8) << 23U |
                            static_cast<std::uint32_t>(bits & 0x7FFFFFU);
  if (&format == &kF32) return f32;
  return &format == &kBf16 ? f32 >> 16U : convert(f32, kF32, format, conversion(profile_named(kOcp), kF32, format));
}

/// What a rule of two levels is given, and what of it the file has.
struct Given {
  TensorScale tensor;
  std::optional<checkpoint::StoredNumber> number;
};
Given given(const Recipe& recipe, Random& random) {
  const TensorNeeds needs = tensor_needs(recipe);
  // Between 8 and 1024, as a number that block scales are multiplied by.
  const auto encode = static_cast<std::uint32_t>(0x41000000U + random.next() % (7U << 23U));
  if (needs.encode)
    return {{encode, needs.decode ? std::optional(device::rcp_approx(encode)) : std::nullopt}, checkpoint::StoredNumber{encode, true}};
  if (!needs.decode) return {{}, std::nullopt};
  const auto decode = std::bit_cast<std::uint32_t>(1.0F / std::bit_cast<float>(encode));
  return {{{}, decode}, checkpoint::StoredNumber{decode, false}};
}

CodedRows rows_of(const Made& made, std::int64_t first, std::int64_t count) {
  const CodedMatrix& matrix = made.matrix;
  CodedRows rows;
  const auto begin = static_cast<std::size_t>(first * matrix.columns), end = static_cast<std::size_t>((first + count) * matrix.columns);
  const std::size_t word = checkpoint::bytes_of(*matrix.source), wide = checkpoint::bytes_of(*matrix.scale);
  const bool four = matrix.element->width == 4;
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t byte = 0; byte < word; ++byte) rows.base.push_back(static_cast<std::byte>(made.base[i] >> 8 * byte));
    if (!four) rows.codes.push_back(static_cast<std::uint8_t>(made.codes[i]));
    if (four && i % 2 == 0) rows.codes.push_back(static_cast<std::uint8_t>(made.codes[i] | made.codes[i + 1] << 4U));
  }
  if (matrix.is_one_block()) return rows;
  const auto of_row = static_cast<std::size_t>(first / matrix.block_rows) * made.across(),
             to = static_cast<std::size_t>((first + count + matrix.block_rows - 1) / matrix.block_rows) * made.across();
  for (std::size_t i = of_row; i < to; ++i) {
    for (std::size_t byte = 0; byte < wide; ++byte) rows.scales.push_back(static_cast<std::uint8_t>(made.scales[i] >> 8 * byte));
  }
  return rows;
}

/// Codes and scales by the model, a block at a time.
Made draw_made(const Rule& rule, Random& random) {
  const BlockFormat& format = *rule.recipe->format;
  const bool one = format.block == 0;
  const std::int64_t height = one ? 0 : format.block_rows, width = one ? 0 : format.block / format.block_rows;
  const bool large = random.next() % 4 == 0;  // more than the rows that are tried first
  const std::int64_t columns = std::max<std::int64_t>(128, width);
  const bool takes = takes_source(*rule.recipe, kBf16), narrow = !one && random.next() % 3 == 0 && takes;
  // Rounding to bf16 first changes a few codes in a thousand: so many rows that some of them change.
  const std::int64_t few = narrow ? 64 : 12;
  const std::int64_t rows = height > 1 ? height * (large ? 6 : 1) : large ? 520 : few;
  const Format& source = narrow ? kF32 : kBf16;
  const Format& taken = takes ? kBf16 : kF32;
  const Given tensor = given(*rule.recipe, random);
  Made made{{rows, columns, &source, format.element, one ? &kF32 : format.scale, height, width, tensor.number, {}}, {}, {}, {}, {}};
  made.from = narrow ? "of this base, rounded to bf16 first" : takes ? "of this base" : "of this base, widened to f32";
  for (std::int64_t i = 0; i < rows * columns; ++i) made.base.push_back(draw_word(random, source));
  made.codes.resize(made.base.size());
  const std::int64_t high = one ? rows : height, wide = one ? columns : width;
  for (std::int64_t row = 0; row < rows; row += high) {
    for (std::int64_t column = 0; column < columns; column += wide) {
      std::vector<std::uint32_t> block;
      for (std::int64_t i = 0; i < high * wide; ++i) {
        const std::uint32_t word = made.base[static_cast<std::size_t>((row + i / wide) * columns + column + i % wide)];
        block.push_back(&source == &taken ? word : convert(word, source, taken, conversion(profile_named(kOcp), source, taken)));
      }
      const QuantizedBlock quantized = quantize_block(block, taken, *rule.recipe, tensor.tensor);
      made.scales.push_back(quantized.scale);
      for (std::int64_t i = 0; i < high * wide; ++i)
        made.codes[static_cast<std::size_t>((row + i / wide) * columns + column + i % wide)] = quantized.codes[static_cast<std::size_t>(i)];
    }
  }
  if (one) made.matrix.number = checkpoint::StoredNumber{to_f32(made.scales.front(), *format.scale), false};
  return made;
}

MadeBy asked(Made& made) {
  made.matrix.read = [&made](std::int64_t first, std::int64_t count) { return rows_of(made, first, count); };
  return checkpoint::made_by(made.matrix, {});
}
bool names(const MadeBy& answer, const Rule& rule, std::string_view from) {
  return std::ranges::any_of(answer.exact, [&](const checkpoint::Maker& one) { return one.profile == rule.profile->name && one.made_from == from; });
}

}  // namespace

Outcome law_makers(const Law& law) {
  return check_property(
      law,
      [] {
        const Rule& rule = rules()[static_cast<std::size_t>(pick(0, std::ssize(rules()) - 1))];
        Random random(static_cast<std::uint64_t>(pick(0, kSeeds)));
        Made made = draw_made(rule, random);
        RC_LOG() << rule.profile->name << ", " << rule.recipe->format->name << ", " << made.from << ", " << made.matrix.rows << " rows\n";
        RC_ASSERT(names(asked(made), rule, made.from));
        // One code becomes its neighbour, or one scale.
        const bool is_scale = !made.matrix.is_one_block() && random.next() % 2 == 0;
        const std::size_t at = random.next() % (is_scale ? made.scales : made.codes).size();
        (is_scale ? made.scales : made.codes)[at] ^= 1U;
        const MadeBy changed = asked(made);
        RC_LOG() << (is_scale ? "scale " : "code ") << at << ": " << changed.nearest.profile << ", " << changed.counts.differing << " blocks\n";
        RC_ASSERT(!names(changed, rule, made.from));
        if (changed.nearest.profile != rule.profile->name || changed.nearest.made_from != made.from || changed.is_exact()) return;
        RC_ASSERT(changed.counts.differing == 1);
        const std::int64_t row = changed.counts.first_row, column = changed.counts.first_column;
        if (!is_scale) {
          RC_ASSERT(row * made.matrix.columns + column == static_cast<std::int64_t>(at));
        } else {
          const auto across = static_cast<std::int64_t>(made.across());
          RC_ASSERT(row / made.matrix.block_rows * across + column / made.matrix.block_columns == static_cast<std::int64_t>(at));
        }
      },
      kCases);
}

}  // namespace mx::props
