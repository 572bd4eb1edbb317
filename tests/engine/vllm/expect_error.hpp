#pragma once
// What a call says when it fails.

#include <string>
#include <utility>

#include "model/error.hpp"

namespace mx::tests {

/// The message of the Error that the call throws with this code; "no error" or the wrong code's name otherwise.
template <typename Call>
std::string message_of(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == code ? error.what() : "wrong code " + std::to_string(static_cast<int>(error.code())) + ": " + error.what();
  }
  return "no error";
}

inline bool says(const std::string& message, const std::string& part) { return message.find(part) != std::string::npos; }

}  // namespace mx::tests
