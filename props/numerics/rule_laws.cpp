// N16: the text of a format with its rules says all of it, whoever wrote it: rows of profiles, and texts that are drawn word by word.

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernels/sweep/encode.hpp"
#include "model/error.hpp"
#include "model/numerics/block_rules.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/rules.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

/// A refused NaN has no code.
Conversion without_codes_of_refused(Conversion how) {
  if (how.nan_rule == NanRule::refused) how.nan_positive = how.nan_negative = 0;
  return how;
}

bool same_fields(const Format& a, const Format& b) {
  return a.encoding == b.encoding && a.width == b.width && a.exponent_bits == b.exponent_bits && a.mantissa_bits == b.mantissa_bits &&
         a.bias == b.bias && a.specials == b.specials && a.has_sign == b.has_sign;
}

/// What is wrong with the text of a row, read again.
std::string wrong_row(const Format& to, const Conversion& how) {
  const std::string text = text_of(to, how);
  const Format& again = format_of_text(text);
  if (!same_fields(again, to)) return text + " is read as " + text_of(again);
  const Conversion& read = conversion(profile_named(kOcp), kF32, again);
  if (without_codes_of_refused(read) != without_codes_of_refused(how)) return text + " is read as " + text_of(again, read);
  return again.name == text ? "" : text + " is printed as " + std::string(again.name);
}

template <typename Value>
struct Choice {
  std::string_view word;
  Value value;
};

constexpr std::array kRoundings{Choice<Rounding>{"rne", Rounding::nearest_even},
                                Choice<Rounding>{"nearest_even", Rounding::nearest_even},
                                Choice<Rounding>{"rna", Rounding::nearest_away},
                                Choice<Rounding>{"RTZ", Rounding::toward_zero},
                                Choice<Rounding>{"toward-positive", Rounding::toward_positive},
                                Choice<Rounding>{"rdn", Rounding::toward_negative},
                                Choice<Rounding>{"odd", Rounding::to_odd},
                                Choice<Rounding>{"away", Rounding::away},
                                Choice<Rounding>{"stochastic-floor", Rounding::stochastic_floor}};
/// The last one needs a NaN.
constexpr std::array kOverflows{Choice<Overflow>{"ieee", Overflow::ieee}, Choice<Overflow>{"Saturate", Overflow::saturate},
                                Choice<Overflow>{"wrap", Overflow::wrap}, Choice<Overflow>{"nan", Overflow::nan}};
constexpr std::array kInfinities{Choice<InfinityRule>{"as-overflow", InfinityRule::as_overflow},
                                 Choice<InfinityRule>{"largest", InfinityRule::largest}, Choice<InfinityRule>{"zero", InfinityRule::zero}};
constexpr std::array kZeroSigns{Choice<SignOfZero>{"keep", SignOfZero::keep}, Choice<SignOfZero>{"positive", SignOfZero::positive},
                                Choice<SignOfZero>{"positive_if_zero", SignOfZero::positive_if_zero}};
/// The last two need a NaN.
constexpr std::array kNegatives{Choice<NegativeRule>{"magnitude", NegativeRule::as_said}, Choice<NegativeRule>{"zero", NegativeRule::zero},
                                Choice<NegativeRule>{"least", NegativeRule::least}, Choice<NegativeRule>{"nan", NegativeRule::as_said},
                                Choice<NegativeRule>{"directed", NegativeRule::directed}};
constexpr std::array kFlushes{Choice<Flush>{"none", Flush::none}, Choice<Flush>{"source", Flush::source}, Choice<Flush>{"target", Flush::target},
                              Choice<Flush>{"both", Flush::both}};
constexpr std::array kTininess{Choice<Tininess>{"before", Tininess::before}, Choice<Tininess>{"after", Tininess::after},
                               Choice<Tininess>{"result", Tininess::result}};
constexpr std::array kSpecials{Choice<Specials>{"ieee", Specials::ieee}, Choice<Specials>{"fn", Specials::nan_all_ones},
                               Choice<Specials>{"fnuz", Specials::nan_negative_zero}, Choice<Specials>{"inf-top", Specials::inf_top},
                               Choice<Specials>{"finite", Specials::none}};

template <typename Table>
const auto& pick(const Table& table) {
  return table[pick_uniform(0, static_cast<std::uint32_t>(table.size()) - 1)];
}

/// A format and rules with the words that say them.
struct Drawn {
  Format format;
  Conversion how;
  std::string text;
};

Format drawn_format(std::string& text) {
  const auto exponent = static_cast<int>(pick_uniform(2, 5)), mantissa = static_cast<int>(pick_uniform(1, 6));
  const bool has_sign = pick_uniform(0, 3) != 0;
  const auto& specials = pick(kSpecials);
  const bool is_fnuz = specials.value == Specials::nan_negative_zero;
  const auto& said = is_fnuz && !has_sign ? kSpecials[1] : specials;
  const auto bias = static_cast<int>(pick_uniform(0, 60)) - 30;
  text = (has_sign ? "s" : "u") + std::string("e") + std::to_string(exponent) + "m" + std::to_string(mantissa) + ", bias=" + std::to_string(bias) +
         " ," + std::string(said.word);
  return {"", Encoding::floating, (has_sign ? 1 : 0) + exponent + mantissa, exponent, mantissa, bias, said.value, has_sign, ""};
}

Drawn drawn_rules() {
  Drawn drawn{};
  drawn.format = drawn_format(drawn.text);
  std::vector<std::string> words;
  const auto say = [&](std::string_view key, std::string_view value) { words.push_back(std::string(key) + "=" + std::string(value)); };
  const auto& rounding = pick(kRoundings);
  say("round", rounding.word);
  const bool draws = rounding.value == Rounding::stochastic_floor;
  const auto bits = static_cast<int>(pick_uniform(1, 32));
  if (draws) say("Random", std::to_string(bits));
  const bool has_nan = drawn.format.specials != Specials::none;
  const auto& above = kOverflows[pick_uniform(0, has_nan ? 3 : 2)];
  const Overflow overflow = above.value;
  say("overflow", above.word);
  const std::uint32_t nan = pick_uniform(0, (1U << drawn.format.width) - 1), other = pick_uniform(0, (1U << drawn.format.width) - 1);
  const bool two = pick_uniform(0, 1) == 0;
  say("nan", two ? hex(nan).substr(2) + "/" + hex(other) : hex(nan));
  const auto& flush = pick(kFlushes);
  say("flush", flush.word);
  drawn.how = {rounding.value, overflow, NanRule::fixed, nan, two ? other : nan, 0, false, draws ? bits : 0, flush.value};
  const auto& infinity = pick(kInfinities);
  const auto& zero = pick(kZeroSigns);
  const auto& tininess = pick(kTininess);
  say("infinity", infinity.word);
  say("zero_sign", zero.word);
  say("tininess", tininess.word);
  drawn.how.fine = {.infinity = infinity.value, .zero_sign = zero.value, .tininess = tininess.value};
  if (!drawn.format.has_sign) {
    const auto& negative = kNegatives[pick_uniform(0, has_nan ? kNegatives.size() - 1 : kNegatives.size() - 3)];
    say("negative", negative.word);
    drawn.how.negative_is_nan = negative.word == "nan";
    drawn.how.fine.negative = negative.value;
  }
  // In any order.
  for (std::size_t i = words.size(); i > 1; --i) std::swap(words[i - 1], words[pick_uniform(0, static_cast<std::uint32_t>(i) - 1)]);
  for (const std::string& word : words) drawn.text += (pick_uniform(0, 1) == 0 ? "," : " , ") + word;
  return drawn;
}

/// The number of a code of a floating-point format, from its fields; none for Inf and NaN.
std::optional<double> number_of(const Format& format, std::uint32_t code) {
  const std::uint32_t magnitude = code & ((1U << (format.width - (format.has_sign ? 1 : 0))) - 1U);
  const bool negative = magnitude != code;
  const std::uint32_t last = (1U << (format.exponent_bits + format.mantissa_bits)) - 1U;
  const std::uint32_t field = magnitude >> format.mantissa_bits, fraction = magnitude & ((1U << format.mantissa_bits) - 1U);
  if (format.specials == Specials::ieee && field == (1U << format.exponent_bits) - 1U) return std::nullopt;
  if (format.specials == Specials::nan_all_ones && magnitude == last) return std::nullopt;
  if (format.specials == Specials::nan_negative_zero && negative && magnitude == 0) return std::nullopt;
  // P3109, extended: Inf at the end, NaN for -0; without a sign NaN at the end and Inf below it.
  if (format.specials == Specials::inf_top && format.has_sign && (magnitude == last || (negative && magnitude == 0))) return std::nullopt;
  if (format.specials == Specials::inf_top && !format.has_sign && magnitude + 1U >= last) return std::nullopt;
  const double units = field == 0 ? fraction : fraction + (1U << format.mantissa_bits);
  const double number = std::ldexp(units, static_cast<int>(std::max(field, 1U)) - format.bias - format.mantissa_bits);
  return negative ? -number : number;
}

void require_codes(const Format& read) {
  for (int i = 0; i < kPatternsPerCase; ++i) {
    const std::uint32_t code = pick_code(read.width);
    const Value value = decode(read, code);
    const std::optional<double> number = number_of(read, code);
    const bool finite = value.cls == ValueClass::finite || value.cls == ValueClass::zero;
    RC_ASSERT(finite == number.has_value());
    if (!number) continue;
    const double decoded = std::ldexp(static_cast<double>(value.significand), value.exponent) * (value.negative ? -1 : 1);
    RC_ASSERT(decoded == *number && std::signbit(decoded) == std::signbit(*number));
  }
}

/// The parts of a text between commas outside brackets.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// What a text of block rules says whole: codes of NaNs that are refused are not in it.
decltype(Recipe::how) told(decltype(Recipe::how) how) {
  const auto forget = [](Conversion& element) { element = without_codes_of_refused(element); };
  if (auto* mx = std::get_if<MxRecipe>(&how); mx != nullptr && mx->elements) forget(mx->elements->step.encode);
  if (auto* group = std::get_if<GroupRecipe>(&how)) forget(group->step.encode);
  if (auto* two = std::get_if<Nvfp4Recipe>(&how)) forget(two->element);
  if (auto* fp8 = std::get_if<Fp8Recipe>(&how)) forget(fp8->element);
  if (auto* steps = std::get_if<BlockComposition>(&how)) forget(steps->encode);
  return how;
}

/// The recipes of all profiles, and of rules that have a name.
std::vector<const Recipe*> all_recipes() {
  std::vector<const Recipe*> recipes;
  const auto add = [&](const Profile& profile) {
    for (const Recipe& recipe : profile.recipes) recipes.push_back(&recipe);
  };
  for (const Profile& profile : all_profiles()) add(profile);
  for (const NamedRules& rules : named_rules()) add(profile_named(rules.name));
  return recipes;
}

/// What is wrong with a recipe whose words are read from this text.
std::string wrong_blocks(const Recipe& recipe, const std::string& text) try {
  const Recipe& read = block_profile_of_text(text).recipes.front();
  if (read.format->name != recipe.format->name || told(read.how) != told(recipe.how)) return text + " is read as " + text_of(read);
  return text_of(read) == text_of(recipe) ? "" : text + " is printed as " + text_of(read);
} catch (const Error& error) {
  return text + " is refused: " + error.what();
}

/// The kernels, where they know the conversion, and the model.
void require_same_twin(const Format& to, const Conversion& how) {
  if (!kernels::has_encode(to, how)) return;
  std::vector<std::uint32_t> inputs(static_cast<std::size_t>(kPatternsPerCase)), codes(inputs.size());
  for (std::uint32_t& f32 : inputs) {
    // Most of them where the target has numbers.
    const std::uint32_t exponent = pick_uniform(0, 3) == 0 ? pick_uniform(0, 255) : 127U + pick_uniform(0, 120) - 60U;
    f32 = pick_uniform(0, 1) << 31 | exponent << 23 | pick_uniform(0, 63) << 17 | pick_uniform(0, 1);
  }
  kernels::encode(inputs, to, how, codes);
  for (std::size_t i = 0; i < inputs.size(); ++i) RC_ASSERT(codes[i] == convert(inputs[i], kF32, to, how));
}

}  // namespace

Outcome rules_return(const Law& law) {
  const auto property = [&] {
    const Drawn drawn = drawn_rules();
    RC_LOG(drawn.text);
    const Format& read = format_of_text(drawn.text);
    RC_ASSERT(same_fields(read, drawn.format));
    const Conversion& how = conversion(profile_named(kOcp), kF32, read);
    RC_ASSERT(how == drawn.how);
    RC_ASSERT(&format_of_text(read.name) == &read);
    RC_ASSERT(&profile_named(read.name) == rules_within(read));
    require_codes(read);
    require_same_twin(read, how);
  };
  return run_both(law, property, [&](Exhaustive& all) {
    const auto expect = [&](const Format& to, const Conversion& how) {
      const std::string wrong = wrong_row(to, how);
      all.expect(wrong.empty(), [&] { return wrong; });
    };
    for (const Profile& profile : all_profiles()) {
      for (const ConversionRow& row : profile.conversions) expect(*row.to, row.how);
    }
    for (const NamedRules& rules : named_rules()) {
      for (const std::span<const Format> formats : {all_formats(), further_formats()}) {
        for (const Format& to : formats) {
          if (const Conversion* how = find_conversion(profile_named(rules.name), kF32, to)) expect(to, *how);
        }
      }
    }
  });
}

Outcome block_rules_return(const Law& law) {
  static const std::vector<const Recipe*> kRecipes = all_recipes();
  const auto property = [&] {
    const Recipe& recipe = *pick(kRecipes);
    std::vector<std::string> words = parts_of(text_of(recipe));
    // The block comes first, the others in any order.
    for (std::size_t i = words.size() - 1; i > 1; --i) std::swap(words[i], words[pick_uniform(1, static_cast<std::uint32_t>(i))]);
    std::string text = words.front();
    for (const std::string& word : std::span(words).subspan(1)) text += (pick_uniform(0, 1) == 0 ? "," : " , ") + word;
    RC_LOG(text);
    RC_ASSERT(wrong_blocks(recipe, text).empty());
  };
  return run_both(law, property, [&](Exhaustive& all) {
    for (const Recipe* recipe : kRecipes) {
      const std::string wrong = wrong_blocks(*recipe, text_of(*recipe));
      all.expect(wrong.empty(), [&] { return wrong; });
    }
  });
}

}  // namespace mx::props::numerics
