#pragma once
// What the adapters share.

#include <exception>
#include <string>

namespace mx::props {

/// What `ask` finds wrong, "" for nothing; an exception of the subject's is wrong too.
template <typename Ask>
std::string told(const Ask& ask) {
  try {
    return ask();
  } catch (const std::exception& error) {
    return std::string("it throws: ") + error.what();
  }
}

}  // namespace mx::props
