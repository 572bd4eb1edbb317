// Specializations as text, as the document writes them.

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/p3109.hpp"
#include "model/numerics/rows.hpp"

namespace mx::p3109 {
namespace {

constexpr std::array<std::string_view, 9> kRoundingNames{
    "NearestTiesToEven", "NearestTiesToAway", "TowardPositive", "TowardNegative", "TowardZero", "ToOdd", "StochasticA", "StochasticB", "StochasticC"};
constexpr std::array kRoundings{Rounding::nearest_even,     Rounding::nearest_away,   Rounding::toward_positive,
                                Rounding::toward_negative,  Rounding::toward_zero,    Rounding::to_odd,
                                Rounding::stochastic_floor, Rounding::stochastic_odd, Rounding::stochastic_nearest};
constexpr std::array<std::string_view, 3> kSaturationNames{"SatFinite", "SatPropagate", "SatNone"};

struct External {
  std::string_view name;
  const Format* format;
};
constexpr std::array kExternal{External{"binary32", &kF32}, External{"binary16", &kFp16}, External{"BFloat16", &kBf16}};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw Error(ErrorCode::usage, "P3109 specialization '" + printable(text) + "': " + why);
}

/// What a signature has behind its name.
struct Signature {
  bool block;
  std::size_t formats;
  std::size_t projections;
};
Signature signature_of(const Operation& operation) {
  const auto arity = static_cast<std::size_t>(operation.arity);
  switch (operation.kind) {
    case Kind::scalar: return {false, arity + 1, 1};
    case Kind::comparison: return {false, 2, 0};
    case Kind::predicate:
    case Kind::neighbour:
    case Kind::fact:
    case Kind::number_of_format: return {false, 1, 0};
    case Kind::block: return {true, 2 * arity + 2, 1};
    case Kind::scaled: return {false, 2 * arity + 1, 1};
    case Kind::from_block:
    case Kind::to_block:
    case Kind::reduction: return {true, 3, 1};
    case Kind::to_block_by_largest: return {true, 3, 2};
    case Kind::dot: break;
  }
  return {true, 5, 1};
}

std::string shape_of(const Signature& signature) {
  return std::string(signature.block ? "a block size, " : "") + std::to_string(signature.formats) + " formats" +
         (signature.projections == 0 ? "" : " and " + std::to_string(signature.projections) + " (rounding, saturation)");
}

/// Words between commas, brackets among them left out: which belong together follows from the signature.
std::vector<std::string_view> words_of(std::string_view text, std::string_view inside) {
  std::vector<std::string_view> words;
  while (!inside.empty()) {
    const std::size_t end = std::min(inside.find(','), inside.size());
    std::string_view word = inside.substr(0, end);
    const auto strips = [](char c) { return c == ' ' || c == '(' || c == ')'; };
    while (!word.empty() && strips(word.front())) word.remove_prefix(1);
    while (!word.empty() && strips(word.back())) word.remove_suffix(1);
    if (word.empty()) refuse(text, "an empty parameter");
    words.push_back(word);
    inside.remove_prefix(std::min(end + 1, inside.size()));
  }
  return words;
}

std::optional<int> number_in(std::string_view word) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

bool names_format(std::string_view word) {
  constexpr std::size_t kBinary = 6;
  return same_name(word.substr(0, kBinary), "binary") || same_name(word, "BFloat16");
}

const Format& format_in(std::string_view text, std::string_view word) {
  const auto external = std::ranges::find_if(kExternal, [&](const External& row) { return same_name(row.name, word); });
  if (external != kExternal.end()) return *external->format;
  constexpr int kLeastBits = 3;
  const Format* format = word.find_first_of("=,") == std::string_view::npos ? &any_format_named(word) : nullptr;
  if (format == nullptr || format->width < kLeastBits)
    refuse(text, printable(word) + " is no format of P3109: it has 3 bits or more, as Binary8p4se");
  return *format;
}

Projection projection_in(std::string_view text, std::string_view rounding, std::string_view saturation) {
  Projection how{};
  const std::size_t digits = rounding.find_first_of("0123456789");
  const auto name = std::ranges::find_if(kRoundingNames, [&](std::string_view n) { return same_name(n, rounding.substr(0, digits)); });
  if (name == kRoundingNames.end()) refuse(text, unknown_name("rounding", rounding, kRoundingNames));
  how.rounding = kRoundings[static_cast<std::size_t>(name - kRoundingNames.begin())];
  constexpr int kMostRandom = 32;
  if (is_stochastic(how.rounding) || digits != std::string_view::npos) {
    const auto bits = digits == std::string_view::npos ? std::nullopt : number_in(rounding.substr(digits));
    if (!bits || *bits < 1 || *bits > kMostRandom || !is_stochastic(how.rounding))
      refuse(text, printable(rounding) + ": stochastic roundings, and they alone, have their random bits behind their name, 1 to 32: StochasticA8");
    how.random_bits = *bits;
  }
  const auto ends = std::ranges::find_if(kSaturationNames, [&](std::string_view n) { return same_name(n, saturation); });
  if (ends == kSaturationNames.end()) refuse(text, unknown_name("saturation", saturation, kSaturationNames));
  how.saturation = static_cast<Saturation>(ends - kSaturationNames.begin());
  return how;
}

const Operation& operation_in(std::string_view text, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Operation& row : all_operations()) {
    if (same_name(row.name, name)) return row;
    known.emplace_back(row.name);
  }
  refuse(text, unknown_name("operation", name, known));
}

std::string text_of(const Projection& how) {
  const auto row = std::ranges::find(kRoundings, how.rounding) - kRoundings.begin();
  return "(" + std::string(kRoundingNames[static_cast<std::size_t>(row)]) + (how.random_bits == 0 ? "" : std::to_string(how.random_bits)) + ", " +
         std::string(kSaturationNames[static_cast<std::size_t>(how.saturation)]) + ")";
}

}  // namespace

std::span<const std::string_view> rounding_names() { return kRoundingNames; }
std::span<const std::string_view> saturation_names() { return kSaturationNames; }

std::string name_of(const Format& format) {
  const auto external = std::ranges::find_if(kExternal, [&](const External& row) { return *row.format == format; });
  if (external != kExternal.end()) return std::string(external->name);
  return "Binary" + std::to_string(format.width) + "p" + std::to_string(format.mantissa_bits + 1) + (format.has_sign ? "s" : "u") +
         (has_inf(format) ? "e" : "f");
}

Specialization specialization_of(std::string_view text) {
  const std::size_t open = text.find('<');
  if (open == std::string_view::npos || !text.ends_with('>')) refuse(text, "is no Operation<parameters>, as Add<Binary8p4se, Binary8p4se, ...>");
  const Operation& operation = operation_in(text, text.substr(0, open));
  const Signature signature = signature_of(operation);
  std::vector<std::string_view> words = words_of(text, text.substr(open + 1, text.size() - open - 2));
  Specialization read{&operation, 1, {}, {}};
  if (signature.block) {
    constexpr int kMostElements = 1 << 16;
    const auto size = words.empty() ? std::nullopt : number_in(words.front());
    if (!size || *size < 1 || *size > kMostElements) refuse(text, operation.name + " has a block size first, 1 to 65536");
    read.block = *size;
    words.erase(words.begin());
  }
  std::size_t i = 0;
  for (; i < words.size() && names_format(words[i]); ++i) read.formats.push_back(&format_in(text, words[i]));
  for (; i + 1 < words.size(); i += 2) read.projections.push_back(projection_in(text, words[i], words[i + 1]));
  if (i != words.size() || read.formats.size() != signature.formats || read.projections.size() != signature.projections)
    refuse(text, operation.name + " has " + shape_of(signature));
  const bool external = std::ranges::any_of(kExternal, [&](const External& row) { return *row.format == *read.formats.front(); });
  if (operation.kind == Kind::neighbour && external) refuse(text, operation.name + " is of formats of P3109, no external ones");
  return read;
}

std::string text_of(const Specialization& s) {
  const Kind kind = s.operation->kind;
  const bool pairs = kind == Kind::block || kind == Kind::scaled;
  const std::size_t paired = pairs ? 2 * static_cast<std::size_t>(s.operation->arity) : 0;
  std::string text = s.operation->name + "<";
  if (signature_of(*s.operation).block) text += std::to_string(s.block) + ", ";
  for (std::size_t i = 0; i < s.formats.size(); ++i) {
    const bool opens = i < paired && i % 2 == 0, closes = i < paired && i % 2 == 1;
    text += (i == 0 ? "" : ", ") + std::string(opens ? "(" : "") + name_of(*s.formats[i]) + (closes ? ")" : "");
  }
  for (const Projection& how : s.projections) text += ", " + text_of(how);
  return text + ">";
}

}  // namespace mx::p3109
