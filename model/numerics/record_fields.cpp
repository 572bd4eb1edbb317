#include "model/numerics/record_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>

#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx::record {
namespace {

using rows::Word;

/// What a record has where nothing is said.
constexpr ContractRow kEmpty{.operands = "as the record says",
                             .accumulation = "as the record says",
                             .bias = "as the record says",
                             .evidence = Evidence::own_record,
                             .source = "a record that its user wrote"};

constexpr std::array kSteps{Word<Step>{Step::exact, "exact"}, Word<Step>{Step::fused, "fused"}, Word<Step>{Step::aligned, "aligned"},
                            Word<Step>{Step::pairwise, "pairwise"}};
constexpr std::array kScaleEntries{Word<ScaleEntry>{ScaleEntry::operand, "operand"},
                                   Word<ScaleEntry>{ScaleEntry::term, "term"},
                                   Word<ScaleEntry>{ScaleEntry::chain_product, "chain"},
                                   Word<ScaleEntry>{ScaleEntry::chain_one_by_one, "chain-one-by-one"},
                                   Word<ScaleEntry>{ScaleEntry::chain_b_first, "chain-b-first"},
                                   Word<ScaleEntry>{ScaleEntry::total_product, "total"},
                                   Word<ScaleEntry>{ScaleEntry::total_product_plus_zero, "total-plus-zero"},
                                   Word<ScaleEntry>{ScaleEntry::total_one_by_one, "total-a-b"},
                                   Word<ScaleEntry>{ScaleEntry::total_b_first, "total-b-a"}};
constexpr std::array kReferences{Word<Reference>{Reference::product, "product"}, Word<Reference>{Reference::scale, "scale"}};
constexpr std::array kLosses{Word<Loss>{Loss::toward_zero, "zero"}, Word<Loss>{Loss::floor, "floor"}, Word<Loss>{Loss::nearest_even, "nearest"},
                             Word<Loss>{Loss::odd, "odd"}};
constexpr std::array kPlaces{Word<AddendPlace>{AddendPlace::term, "term"}, Word<AddendPlace>{AddendPlace::joined, "joined"},
                             Word<AddendPlace>{AddendPlace::last, "last"}};
constexpr std::array kZeroSigns{Word<SumZero>{SumZero::ieee, "ieee"}, Word<SumZero>{SumZero::plus, "plus"},
                                Word<SumZero>{SumZero::rounded_only, "rounded"}};
constexpr std::array kOverflows{Word<bool>{false, "inf"}, Word<bool>{true, "largest"}};
constexpr std::array kCasts{Word<bool>{false, "nearest"}, Word<bool>{true, "zero"}};
constexpr std::array kBiases{Word<bool>{false, "after"}, Word<bool>{true, "term"}};
int number_in(const Draft& draft, std::string_view key, std::string_view text, int low, int high) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < low || number > high)
    refuse(draft.text, std::string(key) + "=" + std::string(text) + ": a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return number;
}

template <typename Enum>
Enum word_in(const Draft& draft, std::string_view key, std::string_view text, std::span<const Word<Enum>> words) {
  std::vector<std::string_view> known;
  for (const Word<Enum>& word : words) {
    if (same_name(word.name, text)) return word.value;
    known.push_back(word.name);
  }
  refuse(draft.text, unknown_name(key, text, known));
}

const Format* format_in(const Draft& draft, std::string_view key, std::string_view text) {
  if (text == "none") return nullptr;
  try {
    return &factor_format_named(text);
  } catch (const Error& error) {
    refuse(draft.text, std::string(key) + ": " + error.what());
  }
}

std::string format_text(const Format* format) { return format == nullptr ? "none" : std::string(format->name); }

std::string formats_text(std::span<const Format* const> formats) {
  std::string text;
  for (const Format* format : formats) text += (text.empty() ? "" : "+") + std::string(format->name);
  return text.empty() ? "any" : text;
}

std::vector<const Format*> formats_in(const Draft& draft, std::string_view key, std::string_view text) {
  std::vector<const Format*> formats;
  if (text == "any") return formats;
  for (const std::string_view part : parts_of(text, '+')) {
    const Format* format = format_in(draft, key, part);
    if (format == nullptr) refuse(draft.text, std::string(key) + "=" + std::string(text) + ": formats, or any");
    formats.push_back(format);
  }
  return formats;
}

std::string order_text(std::span<const std::uint8_t> order) {
  std::string text;
  for (const std::uint8_t k : order) text += (text.empty() ? "" : ".") + std::to_string(k);
  return text;
}

std::vector<std::uint8_t> order_in(const Draft& draft, std::string_view field, std::string_view text) {
  constexpr int kLongest = 255;
  std::vector<std::uint8_t> order;
  for (const std::string_view part : parts_of(text, '.')) order.push_back(static_cast<std::uint8_t>(number_in(draft, field, part, 0, kLongest)));
  std::vector<std::uint8_t> places = order;
  std::ranges::sort(places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != i) refuse(draft.text, "order=" + std::string(text) + ": each k of a period once, as 1.0 for pairs exchanged");
  }
  return order;
}

template <auto Member, const auto& kWords>
constexpr Field word_field(std::string_view key, std::string_view meaning, std::string_view values) {
  using Enum = std::remove_cvref_t<decltype(kEmpty.*Member)>;
  return {{key, meaning, values},
          [](const ContractRow& row) { return std::string(rows::word_of<Enum>(kWords, row.*Member)); },
          [](Draft& draft, std::string_view field, std::string_view text) { draft.row.*Member = word_in<Enum>(draft, field, text, kWords); }};
}

template <auto Member, int kLow, int kHigh>
constexpr Field number_field(std::string_view key, std::string_view meaning, std::string_view values) {
  return {{key, meaning, values},
          [](const ContractRow& row) { return std::to_string(row.*Member); },
          [](Draft& draft, std::string_view field, std::string_view text) { draft.row.*Member = number_in(draft, field, text, kLow, kHigh); }};
}

/// A number that may be absent.
template <auto Member, int kLow, int kHigh, int kNone>
constexpr Field bound_field(std::string_view key, std::string_view meaning, std::string_view values) {
  return {{key, meaning, values},
          [](const ContractRow& row) { return row.*Member == kNone ? std::string("none") : std::to_string(row.*Member); },
          [](Draft& draft, std::string_view field, std::string_view text) {
            draft.row.*Member = text == "none" ? kNone : number_in(draft, field, text, kLow, kHigh);
          }};
}

template <auto Member>
constexpr Field format_field(std::string_view key, std::string_view meaning, std::string_view values) {
  return {{key, meaning, values},
          [](const ContractRow& row) { return format_text(row.*Member); },
          [](Draft& draft, std::string_view field, std::string_view text) { draft.row.*Member = format_in(draft, field, text); }};
}

std::string flush_text(const ContractRow& row) { return row.flush_to_plus ? "plus" : row.flush ? "signed" : "none"; }
void read_flush(Draft& draft, std::string_view field, std::string_view text) {
  constexpr std::array kWords{Word<int>{0, "none"}, Word<int>{1, "signed"}, Word<int>{2, "plus"}};
  const int word = word_in<int>(draft, field, text, kWords);
  draft.row.flush = word > 0;
  draft.row.flush_to_plus = word > 1;
}

std::string restart_text(const ContractRow& row) {
  return row.restart == 0 ? "never" : row.restart == kScaleBlock ? "scales" : std::to_string(row.restart);
}
void read_restart(Draft& draft, std::string_view field, std::string_view text) {
  constexpr int kLongest = 1 << 20;
  draft.row.restart = text == "never" ? 0 : text == "scales" ? kScaleBlock : number_in(draft, field, text, 1, kLongest);
}

std::string join_text(const ContractRow& row) {
  const Join& join = row.join;
  const std::string reach = join.addend_reach == 0 ? "any" : std::to_string(join.addend_reach);
  return std::to_string(join.sum_bits) + "." + std::to_string(join.addend_bits) + "." + reach + "." + std::to_string(join.normal_bits);
}
void read_join(Draft& draft, std::string_view field, std::string_view text) {
  const std::vector<std::string_view> parts = parts_of(text, '.');
  constexpr int kMost = 48;
  if (parts.size() != 4) refuse(draft.text, std::string(field) + "=" + std::string(text) + ": four numbers as 32.24.any.31");
  const auto bits = [&](std::size_t part) { return number_in(draft, field, parts[part], 0, kMost); };
  draft.row.join = {bits(0), bits(1), parts[2] == "any" ? 0 : number_in(draft, field, parts[2], 1, kMost), bits(3)};
}

std::string nan_text(const ContractRow& row) { return f32::text(row.nan); }
void read_nan(Draft& draft, std::string_view field, std::string_view text) {
  std::uint32_t bits = 0;
  const bool hex = text.size() == 10 && text.starts_with("0x");
  if (!hex || std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16).ptr != text.data() + text.size() || !f32::is_nan(bits))
    refuse(draft.text, std::string(field) + "=" + std::string(text) + ": the 8 hexadecimal digits of an fp32 NaN, as 0x7fc00000");
  draft.row.nan = bits;
}

constexpr int kMostBits = 48;
constexpr int kMostGroup = 1024;
constexpr int kMostExponent = 512;

using Row = ContractRow;
constexpr std::array kFields{
    word_field<&Row::step, kSteps>("step", "what one step of the sum is", "exact, fused, aligned, pairwise"),
    Field{{"a", "formats of the first operand", "any, or formats joined by +"},
          [](const Row& row) { return formats_text(row.a_formats); },
          [](Draft& draft, std::string_view field, std::string_view text) { draft.a_formats = formats_in(draft, field, text); }},
    Field{{"b", "formats of the second operand", "likewise"},
          [](const Row& row) { return formats_text(row.b_formats); },
          [](Draft& draft, std::string_view field, std::string_view text) { draft.b_formats = formats_in(draft, field, text); }},
    format_field<&Row::cast>("cast", "both operands become this format", "none, or a format"),
    word_field<&Row::cast_cuts, kCasts>("cast-rounding", "how they become it", "nearest, zero"),
    Field{{"flush", "subnormal operands and sums become zeros", "none; signed; plus: operands and sums before +0, also for -0"},
          flush_text,
          read_flush},
    format_field<&Row::product>("product", "each product is rounded to this format, nearest even", "none: exact; or a format"),
    Field{{"order", "the k taken first, second, ... of each period", "0; or as 1.0: pairs exchanged"},
          [](const Row& row) { return order_text(row.order); },
          [](Draft& draft, std::string_view field, std::string_view text) { draft.order = order_in(draft, field, text); }},
    number_field<&Row::group, 0, kMostGroup>("group", "products in a group", "0 to 1024; 0 with step=exact: all of a chain"),
    number_field<&Row::presum, 1, kMostGroup>("presum", "neighbouring products summed exactly to one aligned term", "1 to 1024"),
    number_field<&Row::lanes, 1, 16>("lanes", "k mod this are aligned apart, or chains apart", "1 to 16"),
    word_field<&Row::reference, kReferences>("reference", "exponent of an aligned term", "product, scale"),
    bound_field<&Row::zero_exponent, -kMostExponent, kMostExponent, kAnyExponent>("zero-term", "exponent of a term that is zero",
                                                                                  "none, or a number"),
    bound_field<&Row::least_exponent, -kMostExponent, kMostExponent, kAnyExponent>("least", "lower bound of the largest exponent",
                                                                                   "none, or a number"),
    number_field<&Row::alignment_bits, 0, kMostBits>("align", "bits kept below the largest exponent", "0 to 48"),
    word_field<&Row::alignment_loss, kLosses>("align-rounding", "what becomes of bits below", "zero, floor, nearest, odd"),
    bound_field<&Row::product_limit, 1, kMostExponent, 0>("product-limit", "a product of 2^this and more is Inf", "none, or a number"),
    number_field<&Row::kept_bits, 0, 24>("keep", "significant bits of a group's sum", "2 to 24"),
    word_field<&Row::result_loss, kLosses>("round", "how it is rounded to them", "zero, floor, nearest, odd"),
    word_field<&Row::overflow_is_largest, kOverflows>("overflow", "a sum beyond its format", "inf, largest"),
    word_field<&Row::addend_place, kPlaces>("c", "where C and sums before enter", "term, joined, last"),
    Field{{"join", "bits of the products' sum, of C, reach of C, bits of the normalized sum", "as 32.24.any.31"}, join_text, read_join},
    format_field<&Row::addend>("addend", "format of C", "f32, fp16"),
    format_field<&Row::result>("result", "format of sums and of the result", "f32, fp16"),
    Field{{"restart", "products in a chain from +0", "never, scales, or a number"}, restart_text, read_restart},
    number_field<&Row::split, 1, kMostGroup>("split", "parts of k, each a sum from +0, added in order", "1 to 1024"),
    number_field<&Row::split_tile, 0, 1 << 20>("split-tile", "a part is whole runs of so many k", "a number"),
    word_field<&Row::scales, kScaleEntries>("scales", "where scales enter",
                                            "operand, term, chain, chain-one-by-one, chain-b-first, total, total-plus-zero, total-a-b, total-b-a"),
    format_field<&Row::scale_format>("scale", "format of the scales of terms", "none, or a format"),
    number_field<&Row::scale_block, 0, kMostGroup>("block", "elements that share one", "a number"),
    word_field<&Row::bias_in_sum, kBiases>("bias", "where the bias enters", "after, term"),
    word_field<&Row::zero_sign, kZeroSigns>("zero", "which zeros are -0", "ieee; plus: none; rounded: what rounds to zero"),
    Field{{"nan", "fp32 bits of every NaN", "as 0x7fc00000"}, nan_text, read_nan},
};

}  // namespace

const ContractRow& empty() { return kEmpty; }

std::span<const Field> fields() { return kFields; }

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(separator, first), text.size());
    parts.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  return parts;
}

void refuse(std::string_view record, const std::string& text) { throw Error(ErrorCode::usage, "contract '" + std::string(record) + "': " + text); }

}  // namespace mx::record
