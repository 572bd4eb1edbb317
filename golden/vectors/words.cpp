#include "golden/vectors/words.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"
#include "support/quote.hpp"

namespace mx::golden {
namespace {

struct FlushWord {
  Flush flush;
  std::string_view word;
};
constexpr std::array<FlushWord, 4> kFlushes{{{Flush::none, "none"}, {Flush::source, "source"}, {Flush::target, "target"}, {Flush::both, "both"}}};

struct NanWord {
  NanRule rule;
  std::string_view word;
};
constexpr std::array<NanWord, 4> kNanRules{
    {{NanRule::fixed, "fixed"}, {NanRule::keep_payload, "keep_payload"}, {NanRule::quiet_payload, "quiet_payload"}, {NanRule::refused, "refused"}}};

}  // namespace

std::string_view flush_word(Flush flush) { return kFlushes[static_cast<std::size_t>(flush)].word; }

Flush flush_named(std::string_view name) {
  std::vector<std::string_view> known;
  for (const FlushWord& row : kFlushes) {
    if (same_name(row.word, name)) return row.flush;
    known.push_back(row.word);
  }
  throw Error(ErrorCode::usage, unknown_name("flush", name, known));
}

std::string nan_words(const Conversion& how, const Format& to) {
  if (how.nan_rule != NanRule::fixed) return std::string(kNanRules[static_cast<std::size_t>(how.nan_rule)].word);
  const int digits = (to.width + 3) / 4;
  return fmt::format("0x{:0{}x},0x{:0{}x}", how.nan_positive, digits, how.nan_negative, digits);
}

bool yes_or_no(std::string_view key, std::string_view word, std::string_view yes, std::string_view no) {
  if (word == yes) return true;
  if (word == no) return false;
  throw Error(ErrorCode::usage, fmt::format("--{}: {} is neither {} nor {}", key, support::in_quotes(word), yes, no));
}

std::string fields_text(std::uint32_t code, const Format& format) {
  std::string text;
  for (int bit = format.width - 1; bit >= 0; --bit) {
    const bool after_sign = format.has_sign && format.encoding == Encoding::floating && bit == format.width - 2;
    const bool before_mantissa = format.encoding == Encoding::floating && bit == format.mantissa_bits - 1;
    if ((after_sign || before_mantissa) && !text.empty()) text += ' ';
    text += ((code >> bit) & 1U) != 0 ? '1' : '0';
  }
  return text;
}

std::string value_text(std::uint32_t code, const Format& format) {
  const Value value = decode(format, code);
  const std::string sign = value.negative ? "-" : "";
  switch (value.cls) {
    case ValueClass::zero: return sign + "0";
    case ValueClass::infinity: return sign + "inf";
    case ValueClass::nan: return sign + "nan";
    case ValueClass::finite: break;
  }
  return fmt::format("{}{}", sign, std::ldexp(static_cast<double>(value.significand), value.exponent));
}

std::string lane_text(std::uint32_t lane, const Column& column) {
  const std::string bits = fmt::format("0x{:0{}x}", lane, (column.bits + 3) / 4);
  if (column.format == nullptr) return fmt::format("{} = {}", bits, lane);
  return fmt::format("{} = {} = {}", bits, fields_text(lane, *column.format), value_text(lane, *column.format));
}

}  // namespace mx::golden
