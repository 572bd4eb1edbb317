// Comparisons: those of fp32 are held to the processor's, result and flag; of narrow formats, alone and mixed, to fp64 for every pair. What the
// tables of IEEE 754 say of each predicate stands here in words.

#include "model/numerics/comparison.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <string_view>

#include "model/error.hpp"
#include "model/numerics/further_formats.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;

/// What a predicate's name without its first word asks (IEEE 754-2019 tables 5.1 to 5.3).
bool holds(std::string_view words, double a, double b) {
  const bool less = std::isless(a, b), greater = std::isgreater(a, b), unordered = std::isunordered(a, b), equal = !less && !greater && !unordered;
  if (words == "equal") return equal;
  if (words == "not-equal") return !equal;
  if (words == "less") return less;
  if (words == "less-equal") return less || equal;
  if (words == "greater") return greater;
  if (words == "greater-equal") return greater || equal;
  if (words == "not-less") return !less;
  if (words == "greater-unordered") return greater || unordered;
  if (words == "not-greater") return !greater;
  if (words == "less-unordered") return less || unordered;
  if (words == "unordered") return unordered;
  REQUIRE(words == "ordered");
  return !unordered;
}

constexpr std::string_view kQuiet = "quiet-", kSignalling = "signalling-";
std::string_view words_of(const Predicate& predicate) {
  return predicate.name.substr(predicate.name.starts_with(kQuiet) ? kQuiet.size() : kSignalling.size());
}

constexpr std::array<std::uint32_t, 14> kCodes{0,          0x80000000, 1,          0x80000001, 0x3F800000, 0xBF800000, 0x3F800001,
                                               0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0xFFBFFFFF};

// clang's operators raise flags where they are asked for alone; g++'s always do, and it does not know the pragma.
#ifdef __clang__
#pragma STDC FENV_ACCESS ON
#endif
/// Whether the processor's comparison raises invalid: C's operators do so for every NaN, its functions for signalling ones.
template <typename Compare>
std::pair<bool, bool> of_processor(std::uint32_t a, std::uint32_t b, const Compare& asked) {
  volatile float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  std::fenv_t before;
  std::feholdexcept(&before);
  volatile bool result = asked(x, y);
  const bool invalid = std::fetestexcept(FE_INVALID) != 0;
  std::fesetenv(&before);
  return {result, invalid};
}

std::pair<bool, bool> compared(std::string_view name, std::uint32_t a, std::uint32_t b) {
  IeeeFlags flags;
  const bool result = compare(predicate_named(name), a, kF32, b, kF32, flags);
  return {result, flags.invalid};
}

}  // namespace

TEST_CASE("comparisons of fp32 are the processor's, with their flag") {
  for (const std::uint32_t a : kCodes) {
    for (const std::uint32_t b : kCodes) {
      INFO(std::hex << a << " " << b);
      CHECK(compared("quiet-equal", a, b) == of_processor(a, b, [](float x, float y) { return x == y; }));
      CHECK(compared("quiet-not-equal", a, b) == of_processor(a, b, [](float x, float y) { return x != y; }));
      CHECK(compared("signalling-less", a, b) == of_processor(a, b, [](float x, float y) { return x < y; }));
      CHECK(compared("signalling-less-equal", a, b) == of_processor(a, b, [](float x, float y) { return x <= y; }));
      CHECK(compared("signalling-greater", a, b) == of_processor(a, b, [](float x, float y) { return x > y; }));
      CHECK(compared("signalling-greater-equal", a, b) == of_processor(a, b, [](float x, float y) { return x >= y; }));
      CHECK(compared("quiet-less", a, b) == of_processor(a, b, [](float x, float y) { return std::isless(x, y); }));
      CHECK(compared("quiet-greater-equal", a, b) == of_processor(a, b, [](float x, float y) { return std::isgreaterequal(x, y); }));
      CHECK(compared("quiet-unordered", a, b) == of_processor(a, b, [](float x, float y) { return std::isunordered(x, y); }));
    }
  }
}

TEST_CASE("every predicate of every pair of narrow codes, of two formats too, is that of their numbers") {
  CHECK(all_predicates().size() == 22);
  CHECK(std::ranges::count_if(all_predicates(), &Predicate::signals) == 10);
  const std::array<std::array<const Format*, 2>, 4> pairs{
      {{&kE5m2, &kE5m2}, {&kE4m3fn, &kE5m2}, {&kE2m1, &kE4m3fnuz}, {&kE4m3Ieee, &format_named("s1f5")}}};
  for (const auto& [first, second] : pairs) {
    for (const Predicate& predicate : all_predicates()) {
      int wrong = 0;
      for (std::uint32_t a = 0; a >> first->width == 0; ++a) {
        for (std::uint32_t b = 0; b >> second->width == 0; ++b) {
          const float x = std::bit_cast<float>(to_f32(a, *first)), y = std::bit_cast<float>(to_f32(b, *second));
          IeeeFlags flags;
          const bool result = compare(predicate, a, *first, b, *second, flags);
          // A NaN of an IEEE format signals where its top mantissa bit is 0 (section 6.2.1).
          const auto signals = [](std::uint32_t code, const Format& format, float value) {
            return std::isnan(value) && format.specials == Specials::ieee && (code >> (format.mantissa_bits - 1) & 1U) == 0;
          };
          const bool nan = std::isunordered(x, y);
          const bool invalid = predicate.name.starts_with(kSignalling) ? nan : signals(a, *first, x) || signals(b, *second, y);
          const IeeeFlags expected{.invalid = invalid};
          wrong += result != holds(words_of(predicate), x, y) || flags != expected ? 1 : 0;
        }
      }
      INFO(predicate.name << " of " << first->name << " and " << second->name);
      CHECK(wrong == 0);
    }
  }
  CHECK_THROWS_AS(predicate_named("less"), Error);
}
