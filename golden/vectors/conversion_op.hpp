#pragma once
// Conversions between formats as operations: "f32_to_e4m3fn", "e2m1_to_bf16". One line of code and, for stochastic roundings, one of random bits.

#include <array>
#include <optional>

#include "golden/vectors/op.hpp"
#include "golden/vectors/options.hpp"
#include "model/numerics/ieee_flags.hpp"
#include "model/numerics/profile.hpp"

namespace mx::golden {

/// Flags that a device gives beside a code.
enum class FlagSet {
  none,
  own,   ///< as flag_bits(Flags) has them
  ieee,  ///< the five of IEEE 754, as flag_bits(IeeeFlags) has them; other bits are not compared
};

/// Every choice of a conversion under test.
struct ConversionSubject {
  const Format* from;
  const Format* to;
  Conversion how;
  std::string profile;
  bool nan_is_free;  ///< sign and payload of NaN answers are not compared
  FlagSet flags;     ///< what the device gives besides
  Edition edition = kLatestEdition;
};

/// Flags as the column of that name holds them: bits 0 to 4 as TestFloat's manual has them, 5 saturated, 6 the input was a NaN, 7 flushed.
std::uint32_t flag_bits(const Flags& flags);

/// A code with its flags; 0 for FlagSet::none.
struct Answered {
  std::uint32_t code;
  std::uint32_t flags;
};
Answered converted(std::uint32_t code, const Format& from, const Format& to, const Conversion& how, FlagSet set, Random draw = {});
Answered encoded(const Value& value, const Format& to, const Conversion& how, FlagSet set, Random draw = {});

/// Where a finite nonzero value lies against the target's grid.
struct GridPlace {
  std::uint64_t floor;  ///< magnitude in units of the grid around it, cut off
  int unit;             ///< exponent of that unit
  std::uint8_t below;   ///< what was cut off: half a unit (4), a quarter (2), anything less (1)
};
GridPlace place_on_grid(const Value& value, const Format& to);

/// What rounding did.
enum class Outcome : std::uint8_t { normal, subnormal, carry, overflow };

/// Bins of the axis "rounding": all that decides one rounding.
struct RoundingCell {
  bool negative;
  std::uint8_t below;  ///< of GridPlace
  bool odd;            ///< last bit of the magnitude before it is rounded
  Outcome outcome;

  std::size_t index() const { return ((std::size_t{negative} * 8 + below) * 2 + std::size_t{odd}) * 4 + static_cast<std::size_t>(outcome); }
  static RoundingCell at(std::size_t index);
  static constexpr std::size_t kCount = 128;
  std::string name() const;  ///< "+ GRS=100 odd carry"
};

/// Bins of the axis "input".
enum class InputKind : std::uint8_t { zero, infinity, quiet_nan, signalling_nan, beyond, below, in_range };
inline constexpr std::size_t kInputKinds = 7;

/// Bins of the axis "point": single values at which devices fail.
struct Point {
  std::string name;
  std::optional<std::uint32_t> code;  ///< in the source format; none: it has no such value
};
std::vector<Point> points_of(const Format& from, const Format& to);

/// The code of exactly that value, if the format has one.
std::optional<std::uint32_t> exact_code(const Value& value, const Format& format);

/// Codes worth trying, each once: both sides of every rounding decision, the points and all special values.
std::vector<std::uint32_t> directed_codes(const Format& from, const Format& to);

/// Edition v1.1, codes to add: the source's own neighbours of every decision (into wide targets: of three in each binade), some decisions at every
/// depth, and drawn codes between them. Each code once.
std::vector<std::uint32_t> deciding_codes(const Format& from, const Format& to, Rounding rounding);

/// Why the cell is never met; empty when only the source's own grid or range can be the reason.
std::string why_no_cell(const RoundingCell& cell, const ConversionSubject& subject);

/// Wrong rules for a conversion: other directions, overflow and NaN rules, flushing, roundings in two steps, profiles.
std::vector<WrongRule> conversion_wrong_rules(const ConversionSubject& subject, const std::vector<Column>& results);

/// Canonical names: every pair of formats that a profile converts.
std::vector<std::string> conversion_names();
/// Null when the name is not two formats with "_to_" between them. Throws Error(usage) for choices that do not fit together.
std::unique_ptr<VectorOp> make_conversion(std::string_view name, const OpOptions& options);

}  // namespace mx::golden
