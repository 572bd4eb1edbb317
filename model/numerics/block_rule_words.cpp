// Choices of a block quantizer as words: what each family says, and how it is read.

#include "model/numerics/block_rule_words.hpp"

#include <algorithm>
#include <utility>

#include "model/fault.hpp"
#include "model/numerics/block_rule_fields.hpp"

namespace mx::rules {
namespace {

using fault::Fault;
using fault::planted;

using How = decltype(Recipe::how);

constexpr std::uint32_t kInf = 0x7F800000;

// What nothing said means, of each family: the rule of the documents, nothing bounded, nothing replaced.

template <typename Family>
struct Kind;

template <>
struct Kind<MxRecipe> {
  using Rule = ScaleRule;
  static constexpr int kRules = 15;
  static constexpr Text kName = "powers of two";
  static MxRecipe plain(Rule rule, const BlockDraft& draft) {
    MxRecipe how{plain_scale(rule), std::nullopt, kAnySource};
    if (draft.element) how.elements = MxElements{plain_step(*draft.element), kPlainFactor, std::nullopt};
    return how;
  }
  static Rule rule(const MxRecipe& how) { return how.scale.rule; }
  template <typename Each>
  static void each(const MxRecipe& how, const Each& each) {
    for (const auto& one : kMxScale) each(one);
    if (how.elements) {
      for (const auto& one : kMxElements) each(one);
    }
  }
};

template <>
struct Kind<GroupRecipe> {
  using Rule = GroupRule;
  static constexpr int kRules = 3;
  static constexpr Text kName = "groups";
  static GroupRecipe plain(Rule rule, const BlockDraft& draft) {
    return {rule, true, AmaxNan::propagates, 0, plain_step(draft.element.value_or(Conversion{})), kAnySource, 0, false};
  }
  static Rule rule(const GroupRecipe& how) { return how.rule; }
  template <typename Each>
  static void each(const GroupRecipe&, const Each& each) {
    for (const auto& one : kGroup) each(one);
  }
};

template <>
struct Kind<Nvfp4Recipe> {
  using Rule = Nvfp4Scale;
  static constexpr int kRules = 6;
  static constexpr Text kName = "nvfp4";
  static Nvfp4Recipe plain(Rule rule, const BlockDraft& draft) {
    Nvfp4Recipe how{};
    how.rule = rule;
    how.scale = draft.scale.value_or(Conversion{});
    how.element = draft.element.value_or(Conversion{});
    how.largest_multiplier = kInf;
    how.sources = kAnySource;
    return how;
  }
  static Rule rule(const Nvfp4Recipe& how) { return how.rule; }
  template <typename Each>
  static void each(const Nvfp4Recipe&, const Each& each) {
    for (const auto& one : kNvfp4) each(one);
  }
};

template <>
struct Kind<Fp8Recipe> {
  using Rule = Fp8Scale;
  static constexpr int kRules = 4;
  static constexpr Text kName = "fp8";
  static Fp8Recipe plain(Rule rule, const BlockDraft& draft) {
    Fp8Recipe how{};
    how.rule = rule;
    how.element = draft.element.value_or(Conversion{});
    how.largest_factor = kInf;
    how.sources = kAnySource;
    return how;
  }
  static Rule rule(const Fp8Recipe& how) { return how.rule; }
  template <typename Each>
  static void each(const Fp8Recipe&, const Each& each) {
    for (const auto& one : kFp8) each(one);
  }
};

template <>
struct Kind<BlockComposition> {
  using Rule = ScaleStep;
  static constexpr int kRules = 6;
  static constexpr Text kName = "steps";
  static BlockComposition plain(Rule rule, const BlockDraft& draft) {
    return {.scale_step = rule, .factor = FactorStep::reciprocal, .encode = draft.element.value_or(Conversion{})};
  }
  static Rule rule(const BlockComposition& how) { return how.scale_step; }
  template <typename Each>
  static void each(const BlockComposition&, const Each& each) {
    for (const auto& one : kSteps) each(one);
  }
};

/// A name as a word: "nvfp4 per tensor" has blanks.
std::string dashed(Text name) {
  std::string word(name);
  std::ranges::replace(word, ' ', '-');
  std::ranges::replace(word, '_', '-');
  return word;
}

template <typename Family>
std::string fields_text(const Family& how) {
  BlockDraft draft;
  if constexpr (std::is_same_v<Family, MxRecipe>) {
    if (how.elements) draft.element = how.elements->step.encode;
  }
  const Family plain = Kind<Family>::plain(Kind<Family>::rule(how), draft);
  std::string text;
  bool loses = planted(Fault::block_rules_lose_word);
  Kind<Family>::each(how, [&](const auto& field) {
    const std::string value = field.print(how);
    const bool is_unusual = value != field.print(plain) && !std::exchange(loses, false);
    if (!value.empty() && (field.said == Said::always || is_unusual)) text += "," + std::string(field.key) + "=" + value;
  });
  return text;
}

template <typename Family>
Family read_family(const BlockDraft& draft, typename Kind<Family>::Rule rule, const std::vector<BlockWord>& words) {
  Family how = Kind<Family>::plain(rule, draft);
  std::vector<Text> known;
  Kind<Family>::each(how, [&](const auto& field) {
    known.push_back(field.key);
    const auto said = std::ranges::find_if(words, [&](const BlockWord& word) { return same_name(word.key, field.key); });
    if (said != words.end()) return field.read(how, draft.text, field.key, said->value);
    if (field.said == Said::always)
      refuse(draft.text, "it does not say " + std::string(field.key) + ", " + std::string(field.meaning) + ": " + field.values());
  });
  for (const BlockWord& word : words) {
    if (std::ranges::none_of(known, [&](Text key) { return same_name(key, word.key); }))
      refuse_word(draft.text, "word of rule " + dashed(name_of(rule)), word.key, known);
  }
  return how;
}

/// Calls with each family, as a null pointer of it.
template <typename Each>
void each_family(const Each& each) {
  each(static_cast<MxRecipe*>(nullptr));
  each(static_cast<GroupRecipe*>(nullptr));
  each(static_cast<Nvfp4Recipe*>(nullptr));
  each(static_cast<Fp8Recipe*>(nullptr));
  each(static_cast<BlockComposition*>(nullptr));
}

}  // namespace

std::string text_of_fields(const How& how) {
  return std::visit([](const auto& family) { return fields_text(family); }, how);
}

std::string family_word(const How& how) {
  return std::visit([](const auto& family) { return std::string(Kind<std::remove_cvref_t<decltype(family)>>::kName); }, how);
}

std::string rule_word(const How& how) {
  return std::visit([](const auto& family) { return dashed(name_of(Kind<std::remove_cvref_t<decltype(family)>>::rule(family))); }, how);
}

How read_fields(const BlockDraft& draft, std::string_view rule, const std::vector<BlockWord>& words) {
  std::optional<How> read;
  std::vector<std::string> known;
  each_family([&]<typename Family>(Family*) {
    for (int i = 0; i < Kind<Family>::kRules; ++i) {
      const auto one = static_cast<typename Kind<Family>::Rule>(i);
      known.push_back(dashed(name_of(one)));
      if (same_name(known.back(), rule)) read = read_family<Family>(draft, one, words);
    }
  });
  if (!read) refuse_word(draft.text, "rule", rule, std::vector<Text>(known.begin(), known.end()));
  return *read;
}

std::vector<BlockRuleWord> field_words() {
  std::vector<BlockRuleWord> words;
  each_family([&]<typename Family>(Family*) {
    std::string names;
    for (int i = 0; i < Kind<Family>::kRules; ++i)
      names += (names.empty() ? "" : ", ") + dashed(name_of(static_cast<typename Kind<Family>::Rule>(i)));
    words.push_back({std::string(Kind<Family>::kName), "rule", "how the largest magnitude becomes the scale", names});
    BlockDraft draft;
    draft.element = Conversion{};
    Kind<Family>::each(Kind<Family>::plain({}, draft), [&](const auto& field) {
      words.push_back({std::string(Kind<Family>::kName), field.key, field.meaning, field.values()});
    });
  });
  return words;
}

}  // namespace mx::rules
