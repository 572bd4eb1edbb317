#pragma once
// Reading the JSON of an entry: what breaks the form is an error, what this reader does not know makes the entry unmodelled. Nothing is skipped.

#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/error.hpp"
#include "support/json.hpp"

namespace mx::golden {

using support::Json;

/// The entry says something that the model or this reader does not know: reported as unmodelled with this reason.
class Unmodelled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The file contradicts its form. `where` is "directory/manifest.json, entry ID".
[[noreturn]] void broken(const std::string& message, const std::string& where);

/// A JSON value as one short line for messages.
std::string shown(const Json& value);

/// An input that a recorded case does not have, Error(input): the case cannot be held against the model, those beside it can.
class LacksInput : public Error {
 public:
  using Error::Error;
};

/// What a key that is not there means: the form of the file is broken, which ends the run; a case lacks an input; or one entry cannot be held against
/// the model.
enum class Missing { breaks_form, lacks_input, unmodelled };

/// A JSON object whose keys are read one by one. A missing key is Error(input) or Unmodelled; a value of another type than expected is Unmodelled;
/// and so is, when `finish` is called, a key that nobody read.
class Fields {
 public:
  /// Throws Error(input) unless `object` is a JSON object. `what` names it in messages ("params"). The object must outlive the reader.
  Fields(const Json& object, std::string what, std::string where, Missing missing = Missing::breaks_form);

  bool has(std::string_view key) const;
  const Json& at(std::string_view key);
  const Json* find(std::string_view key);

  std::string text(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t low = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t high = std::numeric_limits<std::int64_t>::max());
  bool boolean(std::string_view key);
  /// "0x" and exactly `digits` hexadecimal digits.
  std::uint64_t hex(std::string_view key, int digits);

  /// Throws Unmodelled when a key was not read.
  void finish() const;

  const std::string& where() const { return where_; }

 private:
  const Json* object_;
  std::string what_;
  std::string where_;
  Missing missing_;
  std::set<std::string, std::less<>> read_;
};

/// A word that stands for one value of an enumeration.
template <typename Enum>
struct EnumWord {
  std::string_view word;
  Enum value;
};

/// The row of a table of words that the text names; rows have a member `word`. Throws Unmodelled for an unknown word.
template <typename Row, std::size_t N>
const Row& row_named(const Row (&rows)[N], std::string_view what, std::string_view text) {
  for (const Row& row : rows) {
    if (row.word == text) return row;
  }
  throw Unmodelled("unknown " + std::string(what) + " '" + std::string(text) + "'");
}

}  // namespace mx::golden
