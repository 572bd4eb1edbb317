#pragma once
// A law: a property with a name, run by RapidCheck or as a plain exhaustive loop. A failure ends with one line that replays it.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace mx::props {

/// Outcome of one law.
struct Outcome {
  bool held;
  std::uint64_t cases;  ///< how many were tried
  std::string message;  ///< counterexample and replay line when it did not hold
};

/// One law of the catalogue. `id` is unique and begins with the catalogue's number: "N1/e4m3fn".
struct Law {
  std::string_view id;
  std::string_view statement;
  Outcome (*run)(const Law& law);
};

std::span<const Law> numeric_laws();
std::span<const Law> layout_laws();
std::span<const Law> oracle_laws();

/// Runs a RapidCheck testable under the law's id, with the configuration of RC_PARAMS. The message of a failure holds the line
/// RC_PARAMS="reproduce=..." that replays it.
Outcome check_property(const Law& law, const std::function<void()>& property);

/// For exhaustive laws: fails with the message of the first counterexample, counts the cases. A run of no cases does not hold.
class Exhaustive {
 public:
  explicit Exhaustive(const Law& law) : law_(law) {}
  /// One case; `describe` is called for the first failure only.
  void expect(bool holds, const std::function<std::string()>& describe);
  Outcome outcome() const;

 private:
  const Law& law_;
  std::uint64_t cases_ = 0;
  std::uint64_t failures_ = 0;
  std::string first_;
};

}  // namespace mx::props
