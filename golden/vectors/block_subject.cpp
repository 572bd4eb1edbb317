#include "golden/vectors/block_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/words.hpp"
#include "model/error.hpp"
#include "model/numerics/block_rules.hpp"

namespace mx::golden {
namespace {

constexpr std::array kScaleRules{ScaleRule::floor,      ScaleRule::ceil,       ScaleRule::rceil,      ScaleRule::even,
                                 ScaleRule::floor_log2, ScaleRule::rceil_log2, ScaleRule::ceil_exact, ScaleRule::floor_log2_quotient};
constexpr std::array kRoundings{Rounding::nearest_even, Rounding::nearest_away, Rounding::nearest_toward_zero, Rounding::toward_zero};

/// The conversion of a recipe's elements, to be changed.
struct ElementOf {
  Conversion* operator()(MxRecipe& how) const { return how.elements ? &how.elements->step.encode : nullptr; }
  Conversion* operator()(GroupRecipe& how) const { return &how.step.encode; }
  Conversion* operator()(Nvfp4Recipe& how) const { return &how.element; }
  Conversion* operator()(Fp8Recipe& how) const { return &how.element; }
  Conversion* operator()(BlockComposition& how) const { return &how.encode; }
};

/// How the rule divides: what it needs beside its name.
MxScale with_rule(const MxScale& scale, ScaleRule rule) {
  MxScale other = scale;
  other.rule = rule;
  if (rule == ScaleRule::rceil) other.quotient = AmaxQuotient::division;
  if (rule != ScaleRule::rceil && scale.rule != rule) other.quotient = AmaxQuotient::exponent_field;
  return other;
}

void add_scale_rules(const BlockSubject& subject, std::vector<OtherRecipe>& others) {
  const auto* mx = std::get_if<MxRecipe>(&subject.recipe.how);
  if (mx == nullptr) return;
  for (ScaleRule rule : kScaleRules) {
    if (rule == mx->scale.rule) continue;
    Recipe recipe = subject.recipe;
    std::get<MxRecipe>(recipe.how).scale = with_rule(mx->scale, rule);
    others.push_back({FaultClass::scale, fmt::format("scale rule {}", mx::name_of(rule)), recipe});
  }
  const auto add = [&](FaultClass cls, std::string name, const auto& change) {
    Recipe recipe = subject.recipe;
    MxScale& scale = std::get<MxRecipe>(recipe.how).scale;
    change(scale);
    if (scale != mx->scale) others.push_back({cls, std::move(name), recipe});
  };
  add(FaultClass::nan, "a NaN does not count for the scale", [](MxScale& scale) { scale.amax_nan = AmaxNan::ignored; });
  add(FaultClass::nan, "the scale of a block with a NaN is the largest power", [](MxScale& scale) { scale.nan_code = 0xFE; });
  add(FaultClass::nan, "the scale of a block with a NaN is zero", [](MxScale& scale) { scale.nan_code = 0x00; });
  add(FaultClass::saturation, "the scale of a block with an infinity is the largest power", [](MxScale& scale) { scale.infinite_code = 0xFE; });
  add(FaultClass::saturation, "the scale of a block with an infinity is NaN", [](MxScale& scale) { scale.infinite_code = 0xFF; });
  add(FaultClass::subnormal, "a subnormal largest value counts as zero", [](MxScale& scale) { scale.flush_subnormals = true; });
  add(FaultClass::subnormal, "any subnormal quotient raises the scale", [](MxScale& scale) { scale.bump = SubnormalBump::any; });
}

void add_element_roundings(const BlockSubject& subject, std::vector<OtherRecipe>& others) {
  if (!gives_codes(subject.recipe)) return;
  for (Rounding rounding : kRoundings) {
    Recipe recipe = subject.recipe;
    Conversion& element = *std::visit(ElementOf{}, recipe.how);
    if (element.rounding == rounding) continue;
    element.rounding = rounding;
    others.push_back({FaultClass::rounding, fmt::format("elements rounded {}", mx::name_of(rounding)), recipe});
  }
  Recipe recipe = subject.recipe;
  std::visit(ElementOf{}, recipe.how)->flush = Flush::target;
  others.push_back({FaultClass::subnormal, "subnormal elements become zero", recipe});
}

void add_profiles(const BlockSubject& subject, std::vector<OtherRecipe>& others) {
  for (const Profile& profile : all_profiles()) {
    const Recipe* recipe = find_recipe(profile, *subject.format);
    if (recipe == nullptr || profile.name == subject.profile || !takes_source(*recipe, *subject.source)) continue;
    const TensorNeeds needs = tensor_needs(*recipe);
    if (needs.encode != subject.needs.encode || needs.decode != subject.needs.decode) continue;
    others.push_back({FaultClass::dialect, fmt::format("profile {}", profile.name), *recipe});
  }
}

}  // namespace

int block_size(const BlockFormat& format) { return format.block == 0 ? kOpenBlock : format.block; }

Conversion* element_of(Recipe& recipe) { return std::visit(ElementOf{}, recipe.how); }

std::string_view name_of(const BlockSubject& subject) { return subject.says_rules ? std::string_view(subject.profile) : subject.format->name; }

BlockSubject block_subject(std::string_view text, const OpOptions& options) {
  const bool says_rules = is_whole_block_rules(text);
  if (says_rules && options.get("profile")) throw Error(ErrorCode::usage, fmt::format("'{}' says its own rules: leave --profile out", text));
  const Profile& profile = says_rules ? profile_named(text) : profile_named(options.get_or("profile", kOcp));
  const BlockFormat& format = says_rules ? *profile.recipes.front().format : block_format_named(text);
  const Format& source = format_named(options.get_or("from", kF32.name));
  const Recipe& how = recipe(profile, format, source);
  return {&format,
          &source,
          std::string(profile.name),
          how,
          block_size(format),
          tensor_needs(how),
          says_rules,
          yes_or_no("nan", options.get_or("nan", "exact"), "free", "exact"),
          options.edition()};
}

std::vector<OpSetting> block_settings(const BlockSubject& subject) {
  return {{"profile", subject.profile},
          {"from", std::string(subject.source->name)},
          {"scale-rule", std::string(scale_rule_name(subject.recipe))},
          {"block", std::to_string(subject.block)},
          {"nan-compare", subject.nan_is_free ? "free" : "exact"}};
}

std::vector<Column> tensor_columns(const TensorNeeds& needs) {
  std::vector<Column> columns;
  if (needs.encode) columns.push_back({"g", 1, 32, &kF32});
  if (needs.decode) columns.push_back({"d", 1, 32, &kF32});
  return columns;
}

TensorScale tensor_of(const TensorNeeds& needs, Lanes operands, std::size_t first) {
  TensorScale tensor;
  if (needs.encode) tensor.encode = operands[first++];
  if (needs.decode) tensor.decode = operands[first];
  return tensor;
}

std::vector<std::vector<std::uint32_t>> tensor_choices(const TensorNeeds& needs) {
  // g = 1, 336, 2^20 and 2^-20, with the fp32 numbers nearest to their reciprocals.
  constexpr std::array<std::array<std::uint32_t, 2>, 4> kPairs{
      {{0x3F800000, 0x3F800000}, {0x43A80000, 0x3B430C31}, {0x49800000, 0x35800000}, {0x35800000, 0x49800000}}};
  std::vector<std::vector<std::uint32_t>> choices;
  for (const auto& [g, d] : kPairs) {
    std::vector<std::uint32_t> lanes;
    if (needs.encode) lanes.push_back(g);
    if (needs.decode) lanes.push_back(d);
    choices.push_back(lanes);
    if (lanes.empty()) break;
  }
  return choices;
}

std::vector<OtherRecipe> other_recipes(const BlockSubject& subject) {
  std::vector<OtherRecipe> others;
  add_scale_rules(subject, others);
  add_element_roundings(subject, others);
  add_profiles(subject, others);
  return others;
}

}  // namespace mx::golden
