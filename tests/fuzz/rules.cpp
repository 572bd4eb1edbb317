// Formats, integers and rules as they are typed: what is read has one text, which is read back the same, and converts.

#include "model/numerics/rules.hpp"

#include <string>
#include <vector>

#include "model/numerics/affine.hpp"
#include "model/numerics/block_rules.hpp"
#include "model/numerics/ieee_flags.hpp"
#include "model/numerics/integer.hpp"
#include "tests/fuzz/target.hpp"

namespace {

void convert_some(const mx::Format& to, const mx::Conversion& how) {
  const mx::Random random = how.random_bits > 0 ? mx::Random(1) : mx::Random();
  for (const std::uint32_t f32 : {0U, 0x80000001U, 0x3F880001U, 0xC77FE000U, 0xFF800000U, 0x7F800001U}) {
    if (how.nan_rule == mx::NanRule::refused && f32 == 0x7F800001U) continue;
    mx::IeeeFlags flags;
    const std::uint32_t code = mx::convert_ieee(f32, mx::kF32, to, how, flags, random);
    mx::tests::require(to.width == 32 || code >> to.width == 0, "a code has the bits of its format");
  }
}

/// A block with numbers of all kinds, where its elements are few; of those whose NaN is refused without one.
void quantize_some(const mx::Recipe& recipe) {
  constexpr std::size_t kMost = 64;
  const std::size_t count = recipe.format->block == 0 ? kMost : static_cast<std::size_t>(recipe.format->block);
  if (count > kMost || !mx::takes_source(recipe, mx::kF32) || !mx::gives_codes(recipe)) return;
  const bool refuses = mx::element_conversion(recipe).nan_rule == mx::NanRule::refused;
  constexpr std::uint32_t kSome[] = {0x3F880001, 0x80000001, 0, 0x7F7FFFFF, 0xC0C00000, 0xFF800000, 0x7FC00000};
  std::vector<std::uint32_t> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = kSome[i % (refuses ? 5 : 7)];
  const mx::TensorNeeds needs = mx::tensor_needs(recipe);
  mx::TensorScale tensor;
  if (needs.encode) tensor.encode = 0x3F000000;
  if (needs.decode) tensor.decode = 0x40000000;
  try {
    for (const std::uint32_t code : mx::quantize_block(x, mx::kF32, recipe, tensor).codes)
      mx::tests::require(code >> recipe.format->element->width == 0, "a code has the bits of its format");
  } catch (const mx::Error& error) {
    mx::tests::require(error.code() == mx::ErrorCode::usage, "what a block cannot be made with is told");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view typed = mx::tests::text_of(data, size);
  mx::tests::expect_answer(typed, [&] {
    const mx::Profile& profile = mx::profile_of_text(typed);
    mx::tests::require(&mx::profile_of_text(profile.name) == &profile, "rules are read back the same");
    if (const mx::Conversion* how = mx::find_conversion(profile, mx::kF32, mx::kE4m3fn)) convert_some(mx::kE4m3fn, *how);
  });
  mx::tests::expect_answer(typed, [&] {
    const mx::Profile& profile = mx::block_profile_of_text(typed);
    mx::tests::require(&mx::profile_named(profile.name) == &profile, "rules of blocks are read back the same");
    const mx::BlockFormat& format = *profile.recipes.front().format;
    mx::tests::require(&mx::block_format_named(mx::text_of(format)) == &format, "a block format is read back the same");
    quantize_some(profile.recipes.front());
  });
  mx::tests::expect_answer(typed, [&] {
    const mx::Format& format = mx::format_of_text(typed);
    mx::tests::require(mx::is_rules(format.name) ? &mx::format_of_text(format.name) == &format : true, "a format is read back the same");
    mx::tests::require(mx::format_of_text(mx::text_of(format)).width == format.width, "a format's text is read");
    if (mx::rules_within(format) != nullptr) convert_some(format, mx::conversion(mx::profile_named(mx::kOcp), mx::kF32, format));
  });
  mx::tests::expect_answer(typed, [&] {
    const mx::IntegerTarget target = mx::integer_target(typed);
    mx::tests::require(mx::is_integer(typed) && mx::integer_target(mx::text_of(target)) == target, "an integer is read back the same");
    for (const std::uint32_t f32 : {0U, 0x80000001U, 0x3FC00000U, 0xC77FE000U, 0xFF800000U, 0x7F800001U}) {
      mx::IeeeFlags flags;
      const std::uint64_t bits = mx::to_integer(f32, mx::kF32, target, flags);
      mx::tests::require(target.integer.width == 64 || bits >> target.integer.width == 0, "an integer has its bits");
    }
  });
  mx::tests::expect_answer(typed, [&] {
    mx::AffineRules rules = mx::affine_rules(typed);
    mx::tests::require(mx::affine_rules(mx::text_of(rules)) == rules, "rules of integers with a zero point are read back the same");
    rules.block = 4;
    const mx::AffineBlock made = mx::quantize(std::vector<std::uint32_t>{0x3F880001, 0x80000001, 0, 0xFF7FFFFF}, rules);
    for (const std::int32_t code : made.codes)
      mx::tests::require(code >= mx::least_code(rules) && code <= mx::most_code(rules), "an integer is within its range");
  });
  mx::tests::expect_answer(typed, [&] {
    const mx::Integer integer = mx::integer_named(typed);
    mx::tests::require(mx::integer_named(mx::text_of(integer)) == integer, "an integer's name is read back the same");
  });
  return 0;
}
