#pragma once
// What the operations of an arithmetic unit share as vectors: the formats behind a name, the rounding, numbers worth trying.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"
#include "golden/vectors/options.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/ieee_flags.hpp"
#include "model/numerics/operation.hpp"

namespace mx::golden::unit {

using Formats = std::vector<const Format*>;

inline std::uint32_t lane_mask(int bits) { return bits == 32 ? 0xFFFFFFFFU : (1U << bits) - 1U; }
inline std::uint32_t sign_bit(const Format& format) { return format.has_sign ? 1U << (format.width - 1) : 0U; }

/// Formats with a sign and a mantissa have arithmetic.
bool has_arithmetic(const Format& format);
/// The format of that name. Throws Error(usage) for one without arithmetic.
const Format& format_with_arithmetic(std::string_view name);

/// Formats of operands as a name has them: "e4m3fn" of all, or "bf16_bf16_f32" one for each. Throws Error(usage) for another number.
Formats formats_in(std::string_view text, std::string_view operation, int operands);
/// One name where all are the same, else all of them.
std::string text_of(std::span<const Format* const> formats);

/// The rounding that --profile asks for.
struct Rule {
  Conversion how;
  std::string profile;
};
/// Throws Error(usage) for a profile that does more than round, or refuses NaNs where `with_nan`.
Rule rule_for(const OpOptions& options, const Format& to, bool with_nan);

/// Whether the flags of IEEE 754 are asked for. Throws Error(usage) for other words.
bool wants_flags(const OpOptions& options);

/// Codes at which classes begin and end, and numbers around 1, of both signs; fewer of them for many operands.
std::vector<std::uint32_t> landmarks(const Format& format, bool few);
/// Magnitudes of a result: all of a narrow format, of a wide one some of each binade.
std::vector<std::uint32_t> magnitudes(const Format& to);

using Add = std::function<void(const std::vector<std::uint32_t>&)>;
/// Operands whose exact result lies at the middle above a magnitude of the target, or as near to it as the sources' numbers come, on both sides.
void add_decision(Operation operation, std::span<const Format* const> from, const Format& to, std::uint32_t target, const Add& add);

}  // namespace mx::golden::unit
