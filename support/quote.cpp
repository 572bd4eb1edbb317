#include "support/quote.hpp"

#include <fmt/format.h>

namespace mx::support {
namespace {

std::string escaped(std::string_view text, std::string_view also) {
  constexpr std::size_t kLongest = 120;
  std::string result;
  for (const char c : text.substr(0, kLongest)) {
    const bool plain = c >= 0x20 && c < 0x7F && also.find(c) == std::string_view::npos;
    result += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + (text.size() > kLongest ? "..." : "");
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, {}); }
std::string in_quotes(std::string_view text) { return "'" + escaped(text, "'\\") + "'"; }

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+./=,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace mx::support
