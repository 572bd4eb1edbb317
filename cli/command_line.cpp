#include "cli/command_line.hpp"

#include <string_view>

namespace mx::cli {
namespace {

std::string& remembered() {
  static std::string line;
  return line;
}

/// In quotes where a shell would read it otherwise.
std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+./=,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

void remember_command_line(int argc, char** argv) {
  remembered() = "mxact";
  for (int i = 1; i < argc; ++i) remembered() += " " + shell_word(argv[i]);
}

const std::string& command_line() { return remembered(); }

}  // namespace mx::cli
