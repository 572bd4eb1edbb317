#include "model/error.hpp"

#include <utility>

namespace mx {
namespace {

/// Control characters as \xNN: whatever an input holds that is named, the message is one line.
std::string one_line(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      line += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    else
      line += c;
  }
  return line;
}

}  // namespace

Error::Error(ErrorCode code, const std::string& message, std::string where)
    : std::runtime_error(one_line(where.empty() ? message : where + ": " + message)), code_(code), where_(std::move(where)) {}

const std::string& Error::where() const noexcept { return where_; }

}  // namespace mx
