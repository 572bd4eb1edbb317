#pragma once
// Integers of few bits that share a scale and a zero point: x is about (code - zero) * scale. As text "block=128,element=u4,zero=u4,scale=f32,
// range=with-zero,rule=span,round=rne,operation=divide", or a name, after which words may follow in the place of its own: "awq,block=32".

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/convert.hpp"
#include "model/numerics/integer.hpp"

namespace mx {

/// The numbers between which codes are spread, lo and hi.
enum class AffineRange {
  symmetric,              ///< the largest magnitude, on both sides
  symmetric_if_negative,  ///< the same where a number is negative, else 0 and the largest
  with_zero,              ///< the least and the largest number, and 0
  as_is,                  ///< the least and the largest number
};

/// How they become a scale, in fp32. Codes go from qmin to qmax.
enum class AffineScale {
  span,          ///< (hi - lo) / (qmax - qmin)
  half_span,     ///< max(-lo, hi) / ((qmax - qmin) / 2)
  farther_side,  ///< the larger of lo / qmin and hi / qmax
  largest,       ///< max(-lo, hi) / qmax
};

enum class AffineZero {
  rounded,  ///< qmin less lo / scale, which is rounded as elements are; within the zero point's format
  middle,   ///< 0 of codes with a sign, half of their number without
};

/// One fp32 operation, then the rounding to a whole number and the zero point; what is out of the codes' range saturates.
enum class AffineOperation {
  divide,    ///< x / scale
  multiply,  ///< x * (1 / scale)
};

struct AffineRules {
  int block = 0;  ///< elements that share a scale; 0: whatever is handed over
  Integer element{4, 0, true};
  std::optional<Integer> zero;    ///< none: no zero point is kept, it is the middle
  const Format* scale = nullptr;  ///< f32, bf16 or fp16: the scale is rounded to nearest even, elements meet what became of it
  AffineRange range{};
  AffineScale rule{};
  Rounding round{};
  AffineOperation operation{};
  AffineZero point = AffineZero::rounded;
  bool sums_in_f32 = false;       ///< the zero point is added to the quotient, and lo / scale taken from qmin, in fp32 before they are rounded
  bool narrow = false;            ///< the least code is not used
  std::uint32_t least_range = 0;  ///< fp32 bits: lower bound of hi - lo
  std::uint32_t least_scale = 0;  ///< fp32 bits: lower bound of the scale
  std::uint32_t zero_scale = 0;   ///< fp32 bits: what stands in for a scale of 0
  bool zeros_span_unit = false;   ///< zeros alone have the range -1 to 1

  friend bool operator==(const AffineRules&, const AffineRules&) = default;
};

struct AffineBlock {
  std::uint32_t scale;  ///< code of the scale's format
  std::int64_t zero;    ///< the number
  std::vector<std::int32_t> codes;
};

/// A row of rules that have a name.
struct AffineRow {
  std::string_view name;
  std::string_view text;
  std::string_view source;
};
std::span<const AffineRow> named_affine_rules();

/// A word of such a text, for people.
struct AffineWord {
  std::string_view key;
  std::string_view meaning;
  std::string values;
};
std::vector<AffineWord> affine_words();

/// Whether a text is one of these: a name, with or without words, or a text that begins with "block=" and says zero=.
bool is_affine(std::string_view text);
/// Throws Error(usage) with the word and what may stand there.
AffineRules affine_rules(std::string_view text);
/// Every choice. Read again, it is the same.
std::string text_of(const AffineRules& rules);

/// "span", "half-span".
std::string_view name_of(AffineScale rule);

/// The least and the largest code.
std::int32_t least_code(const AffineRules& rules);
std::int32_t most_code(const AffineRules& rules);
/// The zero point where none is kept.
std::int32_t middle_code(const AffineRules& rules);

/// fp32 numbers into codes. Under a scale of 0 every code is the zero point's. Throws Error(usage) for another length, and for a NaN or Inf.
AffineBlock quantize(std::span<const std::uint32_t> x, const AffineRules& rules);

/// (code - zero) * scale into `target`, f32 or the scale's own format, rounded once to nearest even; a NaN is the target's quiet one. Throws
/// Error(usage) for another target.
std::uint32_t dequantize(std::int64_t code, std::int64_t zero, std::uint32_t scale, const AffineRules& rules, const Format& target);

}  // namespace mx
