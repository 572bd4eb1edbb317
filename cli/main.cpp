// The `mxact` program: picks the verb, runs it, turns every failure into one line and an exit status.

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cctype>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "build_info.hpp"
#include "cli/build.hpp"
#include "cli/command_line.hpp"
#include "cli/numbers.hpp"
#include "cli/verb.hpp"
#include "cli/verb_help.hpp"
#include "cli/verb_units.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::cli {
namespace {

constexpr int kUsage = 2;
constexpr int kResource = 6;
constexpr int kInternal = 70;

constexpr const char* kFooter =
    "exit status: 0 passed; 1 a check failed; 2 usage; 3 bad input file; 4 unsupported here;\n"
    "             5 nothing ran or mistrusted; 6 resource; 130 interrupted\n"
    "every verb takes --json and --help";

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

/// The verb as typed, checked before CLI11 does, which would call a misspelt verb an unexpected argument.
void check_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  std::vector<std::string_view> known(names.begin(), names.end());
  for (std::string_view name : known) {
    if (name == argv[1]) return;
  }
  throw Error(ErrorCode::usage, unknown_name("verb", argv[1], known));
}

/// Arguments as CLI11 wants them: last first. It would take the value "-inf" for an option -i, but not with a space before it.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = argc - 1; i > 0; --i)
    words.push_back(looks_like_a_value(argv[i]) && std::isdigit(argv[i][1]) == 0 ? std::string(" ") + argv[i] : argv[i]);
  return words;
}

int run(int argc, char** argv) {
  remember_command_line(argc, argv);
  CLI::App app("mxact: the bit-exact authority for microscaled MoE inference", "mxact");
  app.footer(kFooter);
  app.set_version_flag("--version", [] {
    return fmt::format("mxact {} ({})\ncompiler: {}\nflags: {}\ntiers: {}", MXACT_VERSION, MXACT_COMMIT, MXACT_COMPILER, MXACT_FLAGS, tiers_text());
  });
  app.require_subcommand(1);
  Action action;
  const Verb verbs(&app);
  add_verify(verbs, action);
  add_select(verbs, action);
  add_matrix(verbs, action);
  add_audit(verbs, action);
  add_layout(verbs, action);
  add_convert(verbs, action);
  add_restore(verbs, action);
  add_plan(verbs, action);
  add_run(verbs, action);
  add_merge(verbs, action);
  add_witness(verbs, action);
  add_sim(verbs, action);
  add_study(verbs, action);
  add_formats(verbs, action);
  add_encode(verbs, action);
  add_decode(verbs, action);
  add_quantize(verbs, action);
  add_compare(verbs, action);
  add_sweep(verbs, action);
  add_gen(verbs, action);
  add_ver(verbs, action);
  add_report(verbs, action);
  add_vectors(verbs, action);
  add_faults(verbs, action);
  add_doctor(verbs, action);
  add_help(verbs, action);
  try {
    check_verb(app, argc, argv);
    app.parse(arguments(argc, argv));
  } catch (const CLI::Success& help) {
    app.exit(help);
    return std::cout.flush() ? 0 : fail(kResource, "stdout cannot be written");
  } catch (const CLI::ParseError& error) {
    const std::string verb = app.get_subcommands().empty() ? "" : app.get_subcommands()[0]->get_name() + " ";
    return fail(kUsage, fmt::format("{} (mxact {}--help lists what it takes)", error.what(), verb));
  }
  const int status = action();
  if (std::fflush(stdout) != 0) return fail(kResource, "stdout cannot be written");
  return status;
}

}  // namespace
}  // namespace mx::cli

int main(int argc, char** argv) {
  try {
    return mx::cli::run(argc, argv);
  } catch (const mx::Error& error) {
    return mx::cli::fail(static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return mx::cli::fail(mx::cli::kResource, "out of memory");
  } catch (const std::system_error& error) {
    return mx::cli::fail(mx::cli::kResource, error.what());
  } catch (const std::exception& error) {
    return mx::cli::fail(mx::cli::kInternal, std::string("internal: ") + error.what());
  }
}
