#pragma once
// How far an answer lies from the exact result: for people.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "golden/vectors/op.hpp"
#include "model/numerics/operation.hpp"

namespace mx::golden {

/// The result of an operation of numbers before it is rounded, to 64 significant bits; none of any other operation.
std::optional<Value> exact_result(Operation operation, Lanes codes, std::span<const Format* const> from);

/// "0.0009765625", "about 0.3333333333333333" where no double is that number, "-inf", "nan".
std::string exact_text(const Value& value);

/// "0.5 ulp", "about 0.2 ulp": between a code's number and the exact one, in units of the last place of the format there: of its smallest binade at
/// least, of its largest at most. None where either is no number.
std::optional<std::string> distance_text(std::uint32_t code, const Value& exact, const Format& format);

}  // namespace mx::golden
