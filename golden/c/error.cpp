// The sentence of a thread's last refusal.

#include <array>
#include <cstring>

#include "golden/c/calls.hpp"

namespace mx::golden::c_api {
namespace {

thread_local std::array<char, 2048> sentence{};

}  // namespace

void keep_error(const char* text) noexcept {
  std::strncpy(sentence.data(), text, sentence.size() - 1);
  // A letter of UTF-8 is not cut in two.
  if (std::strlen(text) >= sentence.size()) {
    std::size_t end = sentence.size() - 1;
    while (end > 0 && (static_cast<unsigned char>(sentence[end - 1]) & 0xC0U) == 0x80U) --end;
    if (end > 0 && (static_cast<unsigned char>(sentence[end - 1]) & 0x80U) != 0) --end;
    sentence[end] = 0;
  }
}

}  // namespace mx::golden::c_api

extern "C" const char* mxact_last_error(void) { return mx::golden::c_api::sentence.data(); }
