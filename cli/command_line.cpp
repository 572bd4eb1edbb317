#include "cli/command_line.hpp"

#include "support/quote.hpp"

namespace mx::cli {
namespace {

std::string& remembered() {
  static std::string line;
  return line;
}

std::chrono::system_clock::time_point& started() {
  static std::chrono::system_clock::time_point time;
  return time;
}

}  // namespace

void remember_command_line(int argc, char** argv) {
  started() = std::chrono::system_clock::now();
  remembered() = "mxact";
  for (int i = 1; i < argc; ++i) remembered() += " " + support::shell_word(argv[i]);
}

const std::string& command_line() { return remembered(); }

std::chrono::system_clock::time_point start_of_program() { return started(); }

}  // namespace mx::cli
