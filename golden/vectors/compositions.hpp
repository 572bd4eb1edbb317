#pragma once
// Conversions that differ from the one under test in one choice, or in two: what `ver` tries on wrong answers before it says which rules fit.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "golden/vectors/op.hpp"
#include "model/numerics/convert.hpp"

namespace mx::golden {

/// An operation that ends with a conversion.
struct Composed {
  std::string name;    ///< of the operation up to its target: "f32", "add_e4m3fn"
  const Format* from;  ///< of a conversion, whose operand may be a NaN; null: of another operation, whose result may be one
  const Format* to;
  Conversion how;
  bool ieee_flags;  ///< beside the code
};

/// What the operation answers under a conversion.
using AnswerUnder = std::function<void(const Conversion& how, Lanes operands, MutableLanes answer)>;

/// The operation with one choice other than `how`, then with two, each once. Choices: rounding, overflow, infinities, NaN (codes of the wrong answers
/// beside what rules name), sign of zero, flushing, what a format without a sign or a zero makes of them; of flags tininess and overflow. A
/// stochastic rounding stays. A conversion that `to` cannot have is none of them.
std::vector<Composition> compositions_of(const Composed& operation, std::span<const WrongAnswer> wrong, const AnswerUnder& answer);

}  // namespace mx::golden
