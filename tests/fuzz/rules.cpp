// Formats and rules as they are typed: what is read has one text, which is read back the same, and converts.

#include "model/numerics/rules.hpp"

#include <string>

#include "model/numerics/ieee_flags.hpp"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view typed = mx::tests::text_of(data, size);
  mx::tests::expect_answer(typed, [&] {
    const mx::Profile& profile = mx::profile_of_text(typed);
    mx::tests::require(&mx::profile_of_text(profile.name) == &profile, "rules are read back the same");
    if (const mx::Conversion* how = mx::find_conversion(profile, mx::kF32, mx::kE4m3fn)) convert_some(mx::kE4m3fn, *how);
  });
  mx::tests::expect_answer(typed, [&] {
    const mx::Format& format = mx::format_of_text(typed);
    mx::tests::require(mx::is_rules(format.name) ? &mx::format_of_text(format.name) == &format : true, "a format is read back the same");
    mx::tests::require(mx::format_of_text(mx::text_of(format)).width == format.width, "a format's text is read");
    if (mx::rules_within(format) != nullptr) convert_some(format, mx::conversion(mx::profile_named(mx::kOcp), mx::kF32, format));
  });
  return 0;
}
