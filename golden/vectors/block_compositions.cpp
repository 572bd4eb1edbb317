// Quantizers of blocks that differ from the one under test in one choice, or in two: of the rules' words, of how elements are rounded and of how
// scales are.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include "golden/vectors/block_subject.hpp"
#include "model/error.hpp"
#include "model/numerics/block_rules.hpp"

namespace mx::golden {
namespace {

/// The recipe with one choice made otherwise; none where there is no such recipe.
using Change = std::function<std::optional<Recipe>(const Recipe&)>;
/// All that one choice can be.
using Changes = std::vector<Change>;

constexpr std::array kRoundings{Rounding::nearest_even, Rounding::nearest_away,    Rounding::nearest_toward_zero, Rounding::toward_zero,
                                Rounding::away,         Rounding::toward_positive, Rounding::toward_negative,     Rounding::to_odd};
constexpr std::array kOverflows{Overflow::saturate, Overflow::ieee, Overflow::nan, Overflow::wrap};
constexpr std::array kZeroSigns{SignOfZero::keep, SignOfZero::positive, SignOfZero::positive_if_zero};
constexpr std::array kFlushes{Flush::none, Flush::target};

/// Values of words whose values are no list: scales of special blocks as bytes, factors as fp32 bits, the largest scale.
struct Bits {
  std::string_view key;
  std::array<std::string_view, 4> values;
};
constexpr std::array<std::string_view, 4> kCodes{"00", "7f", "fe", "ff"}, kFactors{"00000000", "3f800000", "7f7fffff", "7f800000"};
constexpr std::array kBits{Bits{"nan-scale", kCodes},        Bits{"infinite-scale", kCodes},
                           Bits{"overflow-scale", kCodes},   Bits{"zero-scale", kCodes},
                           Bits{"factor-at-0", kFactors},    Bits{"factor-at-254", kFactors},
                           Bits{"factor-at-255", kFactors},  Bits{"factor-of-zero", kFactors},
                           Bits{"largest-factor", kFactors}, Bits{"largest-scale", {"43800000", "43e00000"}}};

std::optional<Recipe> with_word(const Recipe& recipe, std::string_view key, std::string_view value) {
  try {
    return with_rule_word(recipe, key, value);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> listed(std::string_view values) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < values.size();) {
    const std::size_t end = std::min(values.find(", ", begin), values.size());
    all.emplace_back(values.substr(begin, end - begin));
    begin = end + 2;
  }
  return all;
}

std::vector<std::string> values_of(const BlockRuleWord& word) {
  const auto bits = std::ranges::find(kBits, word.key, &Bits::key);
  if (bits != kBits.end()) return {bits->values.begin(), bits->values.end()};
  return word.values.starts_with("hexadecimal") || word.values.starts_with("0 to") ? std::vector<std::string>() : listed(word.values);
}

/// A choice of a conversion within the recipe.
template <typename Values, typename Put>
Changes changes_of(const Values& values, Conversion* (*within)(Recipe&), Put put) {
  Changes changes;
  for (const auto& value : values) {
    changes.push_back([value, within, put](const Recipe& recipe) -> std::optional<Recipe> {
      Recipe other = recipe;
      put(*within(other), value);
      return with_word(other, "", "");
    });
  }
  return changes;
}

Conversion* scale_of(Recipe& recipe) {
  auto* const nvfp4 = std::get_if<Nvfp4Recipe>(&recipe.how);
  return nvfp4 == nullptr ? nullptr : &nvfp4->scale;
}

std::vector<Changes> axes_of(const Recipe& recipe) {
  std::vector<Changes> axes;
  // A type of elements that is taken or not changes no code; the numbers of the tensor are operands.
  constexpr std::array<std::string_view, 4> kNoChoices{"sources", "takes-encode", "tensor-amax", "encode-may-be-missing"};
  const std::string family = rule_family(recipe);
  for (const BlockRuleWord& word : block_rule_words()) {
    if (word.family != family || std::ranges::find(kNoChoices, word.key) != kNoChoices.end()) continue;
    axes.emplace_back();
    for (const std::string& value : values_of(word))
      axes.back().push_back([key = std::string(word.key), value](const Recipe& other) { return with_word(other, key, value); });
  }
  const auto put_rounding = [](Conversion& how, Rounding value) { how.rounding = value; };
  axes.push_back(changes_of(kRoundings, element_of, put_rounding));
  axes.push_back(changes_of(kOverflows, element_of, [](Conversion& how, Overflow value) { how.overflow = value; }));
  axes.push_back(changes_of(kZeroSigns, element_of, [](Conversion& how, SignOfZero value) { how.fine.zero_sign = value; }));
  axes.push_back(changes_of(kFlushes, element_of, [](Conversion& how, Flush value) { how.flush = value; }));
  Recipe own = recipe;
  if (scale_of(own) != nullptr) axes.push_back(changes_of(kRoundings, scale_of, put_rounding));
  return axes;
}

}  // namespace

std::vector<OtherBlock> other_blocks(const BlockSubject& subject) {
  std::vector<OtherBlock> found;
  if (!gives_codes(subject.recipe)) return found;
  std::set<std::string> texts{text_of(subject.recipe)};
  const auto add = [&](int choices, const Recipe& other) {
    std::string text = text_of(other);
    const TensorNeeds needs = tensor_needs(other);
    const bool asks = needs.encode == subject.needs.encode && needs.decode == subject.needs.decode;
    if (!asks || !takes_source(other, *subject.source) || !texts.insert(text).second) return;
    found.push_back({choices, std::move(text), other});
  };
  std::vector<std::vector<std::pair<Change, Recipe>>> axes;  // of each what is not as under test
  for (const Changes& axis : axes_of(subject.recipe)) {
    axes.emplace_back();
    for (const Change& change : axis) {
      std::optional<Recipe> other = change(subject.recipe);
      if (!other || other->how == subject.recipe.how) continue;
      add(1, *other);
      axes.back().emplace_back(change, std::move(*other));
    }
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = i + 1; j < axes.size(); ++j) {
      for (const auto& [first, made] : axes[i]) {
        for (const auto& [second, alone] : axes[j]) {
          if (const std::optional<Recipe> other = second(made)) add(2, *other);
        }
      }
    }
  }
  return found;
}

}  // namespace mx::golden
