#pragma once
// What every call of the C libraries over C++ ones does: an exception becomes a status, and its sentence is kept for the thread.

#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "model/error.hpp"
#include "model/ordinary_mode.hpp"

namespace mx::golden::c_api {

/// Of the thread's last refusal.
inline thread_local std::string sentence;

inline void keep_sentence(const char* text) noexcept {
  try {
    sentence = text;
  } catch (...) {
    sentence.clear();
  }
}

/// 0, or the exit code that the program has for what was thrown. In the ordinary floating-point mode, whatever the caller's is.
template <typename Body>
std::int32_t with_sentence(const Body& body) noexcept {
  constexpr std::int32_t kResource = 6, kInternal = 70;
  const OrdinaryMode mode;
  try {
    body();
    return 0;
  } catch (const Error& error) {
    keep_sentence(error.what());
    return static_cast<std::int32_t>(error.code());
  } catch (const std::bad_alloc&) {
    keep_sentence("out of memory");
    return kResource;
  } catch (const std::exception& error) {
    keep_sentence(error.what());
    return kInternal;
  } catch (...) {
    keep_sentence("an unknown exception");
    return kInternal;
  }
}

}  // namespace mx::golden::c_api
