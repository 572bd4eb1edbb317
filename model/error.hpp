#pragma once
// The one error type of the library, and the exit codes of the program that follow from it.

#include <stdexcept>
#include <string>
#include <string_view>

#include "model/fast_math.hpp"

namespace mx {

/// Why a call failed. The value is also the exit status of the program.
enum class ErrorCode {
  usage = 2,        ///< the caller asked for something that does not exist or does not fit together
  input = 3,        ///< a file from outside breaks its format or contradicts itself
  unsupported = 4,  ///< known, but not possible in this build or on this machine
  resource = 6,     ///< memory, disk, or the operating system refused
};

/// One failure: what() is one line that names the offending value and the rule; where() is the file and the offset, line,
/// tensor or option that it concerns (may be empty).
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, std::string where = {});

  ErrorCode code() const noexcept { return code_; }
  const std::string& where() const noexcept;

 private:
  ErrorCode code_;
  std::string where_;
};

}  // namespace mx
