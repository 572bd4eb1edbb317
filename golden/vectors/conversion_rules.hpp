#pragma once
// The parts of conversion_wrong_rules(): what a device does to a value before it rounds it, how it reads codes, and which flags it raises.

#include <optional>
#include <string>
#include <vector>

#include "golden/vectors/conversion_op.hpp"

namespace mx::golden {

/// What a device makes of an input before it converts it; none where it takes it as it is.
using ValueChange = std::function<std::optional<Value>(std::uint32_t code, const Value& value)>;

/// The rule of a device that converts changed values, rightly.
WrongRule changed_value(FaultClass cls, std::string name, const ConversionSubject& subject, ValueChange change);

/// Values that are cut or rounded on the way: to fewer bits, to another format, by a shift count that wraps.
void add_steps(const ConversionSubject& subject, std::vector<WrongRule>& rules);
/// A way to read the codes of a format that is not its own.
struct OtherReading {
  bool of_infinities;  ///< what an infinity is said to give: of a conversion add_infinities() says it by the answer
  FaultClass cls;
  std::string name;    ///< "the exponent is read without its bias"
  ValueChange change;  ///< none where it reads a code rightly
};
std::vector<OtherReading> other_readings(const Format& from);
/// The rules of a device that reads codes so.
void add_readings(const ConversionSubject& subject, std::vector<WrongRule>& rules);
/// Flags that are raised, or not, for one class of inputs.
void add_flags(const ConversionSubject& subject, std::vector<WrongRule>& rules);

}  // namespace mx::golden
