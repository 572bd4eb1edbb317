#pragma once
// What a call threw, for tests that hold the text and the code of an error.

#include <functional>
#include <optional>
#include <string>

#include "model/error.hpp"

namespace mx::tests {

struct Thrown {
  ErrorCode code;
  std::string text;
};

/// The mx::Error of a call, or none.
inline std::optional<Thrown> thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return Thrown{error.code(), error.what()};
  }
  return std::nullopt;
}

/// True when the call throws Error(code) whose text holds `part`.
inline bool refuses(ErrorCode code, const std::string& part, const std::function<void()>& call) {
  const std::optional<Thrown> thrown = thrown_by(call);
  return thrown.has_value() && thrown->code == code && thrown->text.find(part) != std::string::npos;
}

}  // namespace mx::tests
