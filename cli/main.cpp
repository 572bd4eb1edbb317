// The `mxact` program: runs what was asked for, turns every failure into one line and an exit status.

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/interrupt.hpp"
#include "cli/program.hpp"
#include "model/error.hpp"
#include "model/ordinary_mode.hpp"
#include "verbs/doctor/doctor_document.hpp"

namespace mx::cli {
namespace {

constexpr int kResource = 6;
constexpr int kInternal = 70;

/// Control characters as \xNN: whatever was typed, an error is one line and does not colour the terminal.
std::string one_line(const std::string& message) {
  std::string line;
  for (char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7F ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return line;
}

int fail(int status, const std::string& message) {
  fmt::print(stderr, "mxact: error: {}\n", one_line(message));
  return status;
}

int run(int argc, char** argv) {
  remember_command_line(argc, argv);
  quit_on_signals();
  const Action action = action_for({argv + 1, argv + argc});
  const int status = action ? action() : 0;
  if (std::fflush(stdout) != 0) return fail(kResource, fmt::format("stdout cannot be written: {}", std::strerror(errno)));
  return status;
}

}  // namespace
}  // namespace mx::cli

int main(int argc, char** argv) {
  const mx::OrdinaryMode mode;
  mx::verbs::remember_host_mode(mode.was());
  try {
    return mx::cli::run(argc, argv);
  } catch (const mx::Error& error) {
    return mx::cli::fail(static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return mx::cli::fail(mx::cli::kResource, "out of memory");
  } catch (const std::system_error& error) {
    // fmt's words name no file.
    const bool is_stdout = std::ferror(stdout) != 0;
    return mx::cli::fail(mx::cli::kResource, is_stdout ? "stdout cannot be written: " + error.code().message() : error.what());
  } catch (const std::exception& error) {
    return mx::cli::fail(mx::cli::kInternal, std::string("internal: ") + error.what());
  }
}
