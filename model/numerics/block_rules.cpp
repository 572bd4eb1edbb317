#include "model/numerics/block_rules.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>

#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/block_rule_words.hpp"
#include "model/numerics/kept_texts.hpp"
#include "model/numerics/rules.hpp"

namespace mx {
namespace {

using rules::BlockDraft;
using rules::BlockWord;
using rules::refuse;

constexpr std::string_view kOwn = "block rules";  // Profile::implementation
constexpr std::string_view kOwnSource = "rules that their user wrote";
constexpr std::string_view kBlock = "block", kElement = "element", kScale = "scale", kRule = "rule";
constexpr int kMostElements = 1 << 20;

/// The words of a text with its blanks and brackets gone: each has a value.
std::vector<BlockWord> words_of(std::string_view text) {
  std::vector<BlockWord> words;
  for (const std::string_view part : rules::parts_of(text)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) refuse(text, printable(part) + ": a word of block rules has a value, as rule=floor");
    std::string_view value = part.substr(equals + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    if (value.starts_with('(') && value.ends_with(')')) value = value.substr(1, value.size() - 2);
    const BlockWord word{part.substr(0, equals), value};
    if (std::ranges::any_of(words, [&](const BlockWord& other) { return same_name(other.key, word.key); }))
      refuse(text, printable(word.key) + " is said twice");
    words.push_back(word);
  }
  return words;
}

/// Takes a word out of the list; empty where it is not said.
std::optional<std::string_view> taken(std::vector<BlockWord>& words, std::string_view key) {
  const auto found = std::ranges::find_if(words, [&](const BlockWord& word) { return same_name(word.key, key); });
  if (found == words.end()) return std::nullopt;
  const std::string_view value = found->value;
  words.erase(found);
  return value;
}

std::string_view required(std::string_view text, std::vector<BlockWord>& words, std::string_view key, std::string_view meant) {
  const auto value = taken(words, key);
  if (!value) refuse(text, "it does not say " + std::string(key) + ", " + std::string(meant));
  return *value;
}

/// A format with the rules of its conversion, where the words say any.
struct Side {
  const Format* format;
  std::optional<Conversion> how;
};
Side read_side(std::string_view words) {
  const Format& said = format_of_text(words);
  const Profile* within = rules_within(said);
  if (within == nullptr) return {&said, std::nullopt};
  return {&format_of_text(text_of(said)), conversion_by_rules(*within, said)};
}

/// "32", "128x128" (rows and columns), "row": whatever is handed over.
void read_block(std::string_view text, std::string_view value, BlockFormat& format) {
  if (same_name(value, "row")) return;
  const std::size_t by = value.find('x');
  if (by == std::string_view::npos) {
    format.block = rules::number_in(text, kBlock, value, 1, kMostElements);
    return;
  }
  constexpr int kMostRows = 1024;
  format.block_rows = rules::number_in(text, kBlock, value.substr(0, by), 1, kMostRows);
  format.block = format.block_rows * rules::number_in(text, kBlock, value.substr(by + 1), 1, kMostRows);
}

/// What no recipe holds, and the words that say so.
struct Refusal {
  bool broken;
  std::string_view words;
};

void check_format(std::string_view text, const BlockFormat& format) {
  constexpr int kByte = 8;
  const Format &element = *format.element, &scale = *format.scale;
  const Refusal refusals[] = {
      {element.width > kByte || element.encoding == Encoding::exponent_only, "elements have up to 8 bits, and a zero"},
      {!element.has_sign, "elements have a sign"},
      {element.width == 4 && (format.block == 0 || format.block / format.block_rows % 2 != 0),
       "two codes of 4 bits share a byte: their blocks have an even number of columns"},
      {scale != kF32 && scale.width > kByte, "a scale is a code of up to 8 bits, or f32"},
      {scale.encoding == Encoding::fixed_point, "a scale is a floating-point number or a power of two"},
  };
  for (const Refusal& one : refusals) {
    if (one.broken) refuse(text, std::string(one.words));
  }
}

bool is_float_scale(const Format& scale) { return scale.encoding == Encoding::floating && scale != kF32; }

void check(std::string_view text, const BlockFormat& format, const MxRecipe& how) {
  const MxScale& scale = how.scale;
  constexpr std::uint32_t kByte = 0xFF;
  const bool bytes = *format.scale == kE8m0;
  const Refusal refusals[] = {
      {!bytes && *format.scale != kF32, "this rule gives powers of two: scale=e8m0, or f32"},
      {scale.quotient == AmaxQuotient::exponent_field && scale.rule == ScaleRule::rceil, "rceil divides: quotient=division or reciprocal"},
      {std::max({scale.nan_code, scale.infinite_code, scale.overflow_code, scale.zero_code, scale.lost_code.value_or(0)}) > kByte,
       "the scale of a special block is a byte"},
      {how.elements && how.elements->nan_block_code && *how.elements->nan_block_code >> format.element->width != 0,
       "nan-block is a code of an element"},
  };
  for (const Refusal& one : refusals) {
    if (one.broken) refuse(text, std::string(one.words));
  }
}

void check(std::string_view text, const BlockFormat& format, const GroupRecipe&) {
  if (*format.scale != kF32) refuse(text, "this rule gives scale=f32");
}

void check(std::string_view text, const BlockFormat& format, const Fp8Recipe& how) {
  if (*format.scale != kF32) refuse(text, "this rule gives scale=f32");
  if (how.rule == Fp8Scale::max_over_amax && how.scaling == Fp8Scaling::divide) refuse(text, "max-div-amax multiplies: operation=reciprocal");
}

void check(std::string_view text, const BlockFormat& format, const Nvfp4Recipe& how) {
  const bool decodes = how.rule == Nvfp4Scale::per_tensor || how.rule == Nvfp4Scale::six_decodes;
  const bool encodes = how.rule == Nvfp4Scale::global || (how.rule == Nvfp4Scale::quotient && !how.encode_may_be_missing);
  const bool by_decode = how.multiplier == Nvfp4Multiplier::reciprocal_over_scale || how.multiplier == Nvfp4Multiplier::divided_by_product;
  const Refusal refusals[] = {
      {*format.element != kE2m1, "this rule is of elements e2m1"},
      {!is_float_scale(*format.scale), "this rule is of scales that are floating-point numbers: scale=(e4m3fn,...)"},
      {by_decode && !decodes, "this multiplier takes the tensor's decode scale: rule=nvfp4-per-tensor or nvfp4-six-decodes"},
      {how.multiplier == Nvfp4Multiplier::reciprocal_of_product && !decodes && !encodes && !how.approximate_reciprocal,
       "this multiplier takes a scale of the tensor, which the rule has not"},
      {how.encode_may_be_missing && how.rule != Nvfp4Scale::quotient, "encode-may-be-missing is of rule=nvfp4-quotient"},
      {how.zero_scale_code >> format.scale->width != 0, "zero-scale is a code of the scale"},
  };
  for (const Refusal& one : refusals) {
    if (one.broken) refuse(text, std::string(one.words));
  }
}

void check(std::string_view text, const BlockFormat& format, const BlockComposition& how) {
  const bool powers = how.scale_step == ScaleStep::floor_log2_wrapping || how.scale_step == ScaleStep::nearest_log2;
  const bool candidates = how.scale_step == ScaleStep::two_candidates, ggml = how.scale_step == ScaleStep::ggml_ue4m3;
  const Conversion& element = how.encode;
  const Refusal refusals[] = {
      {powers && *format.scale != kE8m0, "this rule gives powers of two: scale=e8m0"},
      {!powers && *format.element != kE2m1, "this rule is of elements e2m1"},
      {!powers && !is_float_scale(*format.scale), "this rule is of scales that are floating-point numbers: scale=e4m3fn"},
      {ggml && *format.scale != kUe4m3, "this rule gives scale=ue4m3"},
      {how.factor == FactorStep::reciprocal && !powers, "factor=reciprocal is of powers of two: quotient, which divides g"},
      {how.factor == FactorStep::none && (element.rounding != Rounding::nearest_toward_zero || element.overflow != Overflow::saturate ||
                                          element.fine.zero_sign != SignOfZero::positive),
       "factor=none searches: elements with round=rnz, overflow=saturate, zero-sign=positive"},
      {powers && (how.takes_encode || how.tensor_amax), "powers of two take no scale of the tensor"},
      {candidates && how.factor == FactorStep::none, "candidates differ in their factor"},
      {how.tensor_amax && *how.tensor_amax >= 0x7F800000U, "tensor-amax is a finite number without sign"},
      {how.largest_scale == 0 || how.largest_scale >= 0x7F800000U, "largest-scale is a positive number"},
  };
  for (const Refusal& one : refusals) {
    if (one.broken) refuse(text, std::string(one.words));
  }
}

struct OwnBlock {
  std::string name;
  std::vector<Recipe> recipes;
  Profile profile;
};

struct OwnShape {
  std::string name;
  BlockFormat format;
};

const BlockFormat* named_shape(const BlockFormat& format) {
  const auto same = [&](const BlockFormat& row) {
    return *row.element == *format.element && *row.scale == *format.scale && row.block == format.block && row.block_rows == format.block_rows;
  };
  const auto found = std::ranges::find_if(all_block_formats(), same);
  return found == all_block_formats().end() ? nullptr : &*found;
}

class Own {
 public:
  const BlockFormat& shape(const BlockFormat& said) {
    if (const BlockFormat* named = named_shape(said)) return *named;
    const std::scoped_lock lock(mutex_);
    std::string name = text_of(said);
    if (const OwnShape* found = shapes_.find(name)) return found->format;
    OwnShape& kept = shapes_.add({std::move(name), said});
    kept.format.name = kept.name;
    kept.format.source = "a shape that its user wrote";
    return kept.format;
  }

  const Profile& profile(std::string name, std::vector<Recipe> recipes, std::string_view source) {
    const std::scoped_lock lock(mutex_);
    if (const OwnBlock* found = profiles_.find(name)) return found->profile;
    for (Recipe& recipe : recipes) recipe.source = source;
    OwnBlock& kept = profiles_.add({std::move(name), std::move(recipes), {}});
    kept.profile = {kept.name, kOwn, "as it says", "any", "any", source, {}, kept.recipes, {}, {}};
    return kept.profile;
  }

  std::optional<std::int32_t> number(const Profile& profile) const {
    const std::scoped_lock lock(mutex_);
    return profiles_.number(profile.name);
  }
  std::optional<std::int32_t> number(const BlockFormat& format) const {
    const std::scoped_lock lock(mutex_);
    return shapes_.number(format.name);
  }
  const BlockFormat* shape(std::int32_t number) const {
    const std::scoped_lock lock(mutex_);
    const OwnShape* const row = shapes_.at(number);
    return row == nullptr ? nullptr : &row->format;
  }
  const Profile* profile(std::int32_t number) const {
    const std::scoped_lock lock(mutex_);
    const OwnBlock* const row = profiles_.at(number);
    return row == nullptr ? nullptr : &row->profile;
  }

 private:
  mutable std::mutex mutex_;
  rules::KeptTexts<OwnBlock> profiles_{"texts of block rules"};
  rules::KeptTexts<OwnShape> shapes_{"texts of block formats"};
};

Own& own() {
  static Own kept;
  return kept;
}

/// The block format that the words say, which are taken out of the list.
struct ReadShape {
  const BlockFormat* format;
  std::optional<Conversion> element, scale;
};
ReadShape read_shape(std::string_view text, std::vector<BlockWord>& words) {
  BlockFormat format{};
  read_block(text, required(text, words, kBlock, "how many elements share a scale: block=32"), format);
  const Side element = read_side(required(text, words, kElement, "the format of elements and its rules: element=(e2m1,round=rne,overflow=saturate)"));
  const Side scale = read_side(required(text, words, kScale, "the format of scales: scale=e8m0"));
  format.element = element.format;
  format.scale = scale.format;
  check_format(text, format);
  return {&own().shape(format), element.how, scale.how};
}

/// The rules of that name which begin with a block.
std::vector<const NamedRules*> named_blocks(std::string_view name) {
  std::vector<const NamedRules*> rows;
  for (const NamedRules& row : named_rules()) {
    if (row.text.starts_with("block=") && same_name(row.name, name)) rows.push_back(&row);
  }
  return rows;
}

std::string_view first_part(std::string_view text) {
  std::string_view first = text.substr(0, text.find(','));
  while (first.ends_with(' ')) first.remove_suffix(1);
  while (first.starts_with(' ')) first.remove_prefix(1);
  return first;
}

/// The words of a text, or those of the rules that it names with what it says in their place.
std::vector<BlockWord> all_words(std::string_view text) {
  const auto named = named_blocks(first_part(text));
  if (named.empty()) return words_of(text);
  if (named.size() > 1)
    refuse(text, std::string(named.front()->name) + " are rules of several block formats: what they say stands in mxact formats --rules");
  const std::size_t comma = text.find(',');
  std::vector<BlockWord> words = words_of(named.front()->text);
  if (comma == std::string_view::npos) return words;
  for (const BlockWord& said : words_of(text.substr(comma + 1))) {
    taken(words, said.key);
    words.push_back(said);
  }
  return words;
}

std::string side_text(const Format& format, const std::optional<Conversion>& how) {
  if (how) return "(" + text_of(format, *how) + ")";
  const Format* named = rules::same_format(format);
  return named == nullptr ? "(" + text_of(format) + ")" : std::string(named->name);
}

std::string block_word(const BlockFormat& format) {
  if (format.block_rows > 1) return std::to_string(format.block_rows) + "x" + std::to_string(format.block / format.block_rows);
  return format.block == 0 ? "row" : std::to_string(format.block);
}

std::string shape_text(const BlockFormat& format, const std::optional<Conversion>& element, const std::optional<Conversion>& scale) {
  return "block=" + block_word(format) + ",element=" + side_text(*format.element, element) + ",scale=" + side_text(*format.scale, scale);
}

Recipe read_recipe(std::string_view text) {
  std::vector<BlockWord> words = all_words(text);
  const ReadShape shape = read_shape(text, words);
  const std::string_view rule = required(text, words, kRule, "how the largest magnitude becomes the scale: rule=floor");
  const BlockDraft draft{text, shape.format, shape.element, shape.scale};
  Recipe recipe{shape.format, rules::read_fields(draft, rule, words), kOwn};
  const bool nvfp4 = std::holds_alternative<Nvfp4Recipe>(recipe.how);
  if (!shape.element && !std::holds_alternative<MxRecipe>(recipe.how))
    refuse(text,
           "element does not say how elements are rounded: element=(" + std::string(shape.format->element->name) + ",round=rne,overflow=saturate)");
  if (shape.scale.has_value() != nvfp4)
    refuse(text, nvfp4 ? "scale does not say how scales are rounded: scale=(e4m3fn,round=rne,overflow=saturate)"
                       : "this rule says itself how scales are rounded: scale=" + side_text(*shape.format->scale, std::nullopt));
  for (const auto& side : {shape.element, shape.scale}) {
    if (side && side->random_bits > 0) refuse(text, "a block has no random bits: no stochastic rounding");
  }
  std::visit([&](const auto& how) { check(text, *shape.format, how); }, recipe.how);
  return recipe;
}

}  // namespace

std::vector<BlockRuleWord> block_rule_words() {
  std::vector<BlockRuleWord> words{
      {"", kBlock, "elements that share a scale", "a number; rows x columns, as 128x128; row: whatever is handed over"},
      {"", kElement, "format of the elements, with the rules of their conversion in brackets", "(e2m1,round=rne,overflow=saturate)"},
      {"", kScale, "format of the scales; of nvfp4 rules with the rules of its conversion", "e8m0, f32, e4m3fn, ue5m3, ..."}};
  for (BlockRuleWord& word : rules::field_words()) words.push_back(std::move(word));
  return words;
}

bool is_block_rules(std::string_view text) {
  const std::string_view first = first_part(text);
  return same_name(first.substr(0, first.find('=')), kBlock) ||
         (first.size() < text.size() && first.find('=') == std::string_view::npos && !named_blocks(first).empty());
}

bool is_whole_block_rules(std::string_view text) {
  if (!is_block_rules(text)) return false;
  const std::vector<BlockWord> words = all_words(text);
  return std::ranges::any_of(words, [](const BlockWord& word) { return same_name(word.key, kRule); });
}

std::string rule_family(const Recipe& recipe) { return rules::family_word(recipe.how); }

Recipe with_rule_word(const Recipe& recipe, std::string_view key, std::string_view value) {
  const std::string text = text_of(recipe);
  std::string changed;
  bool is_said = key.empty();
  const auto add = [&](std::string_view word, std::string_view said) {
    changed += (changed.empty() ? "" : ",") + std::string(word) + "=" + std::string(said);
  };
  for (const std::string_view part : rules::parts_of(text)) {
    const std::string_view word = part.substr(0, part.find('='));
    const bool is_this = !key.empty() && same_name(word, key);
    add(word, is_this ? value : part.substr(word.size() + 1));
    is_said = is_said || is_this;
  }
  if (!is_said) add(key, value);
  return read_recipe(changed);
}

std::string text_of(const BlockFormat& format) { return shape_text(format, std::nullopt, std::nullopt); }

std::string text_of(const Recipe& recipe) {
  std::optional<Conversion> element, scale;
  if (gives_codes(recipe)) element = element_conversion(recipe);
  if (const auto* nvfp4 = std::get_if<Nvfp4Recipe>(&recipe.how)) scale = nvfp4->scale;
  return shape_text(*recipe.format, element, scale) + ",rule=" + rules::rule_word(recipe.how) + rules::text_of_fields(recipe.how);
}

const BlockFormat& block_format_of_text(std::string_view text) {
  std::vector<BlockWord> words = all_words(text);
  const ReadShape shape = read_shape(text, words);
  if (shape.element || shape.scale || !words.empty())
    refuse(text, "a block format is block, element and scale, as " + text_of(*shape.format) + "; its rules are a profile's");
  return *shape.format;
}

const Profile& block_profile_of_text(std::string_view text) {
  const Recipe recipe = read_recipe(text);
  return own().profile(text_of(recipe), {recipe}, kOwnSource);
}

const Profile* find_named_block_rules(std::string_view name) {
  std::vector<Recipe> recipes;
  const auto rows = named_blocks(name);
  for (const NamedRules* row : rows) recipes.push_back(read_recipe(row->text));
  return rows.empty() ? nullptr : &own().profile(std::string(rows.front()->name), std::move(recipes), rows.front()->source);
}

std::optional<std::int32_t> number_of_own_blocks(const Profile& profile) {
  return profile.implementation == kOwn ? own().number(profile) : std::nullopt;
}
std::optional<std::int32_t> number_of_own(const BlockFormat& format) { return own().number(format); }
const BlockFormat* own_block_format(std::int32_t number) { return own().shape(number); }
const Profile* own_block_profile(std::int32_t number) { return own().profile(number); }

}  // namespace mx
