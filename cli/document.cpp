#include "cli/document.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "build_info.hpp"
#include "cli/command_line.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "verbs/report/report.hpp"

namespace mx::cli {
namespace {

/// "Intel(R) Xeon(R) ..."; where the system does not say, its word for the instruction set.
std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  constexpr std::string_view kKey = "model name";
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(kKey) && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

verbs::Head head() {
  using std::chrono::system_clock;
  const std::time_t started = system_clock::to_time_t(start_of_program());
  std::tm utc{};
  gmtime_r(&started, &utc);
  return {MXACT_VERSION,
          MXACT_COMMIT,
          command_line(),
          processor(),
          fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec),
          static_cast<double>(std::chrono::round<std::chrono::milliseconds>(system_clock::now() - start_of_program()).count()) / 1000};
}

/// Columns of the terminal that stdout is; 0 where it is none.
std::size_t terminal_width() {
  winsize size{};
  return isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void write(const std::string& path, const std::string& text, bool force) {
  if (!path.empty()) support::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, force);
}

}  // namespace

Option add_json_option(Verb verb, DocumentOptions& options, const std::string& meaning) { return verb.add_flag("--json", options.json, meaning); }

Option add_check_options(Verb verb, DocumentOptions& options) {
  verb.add_option("--junit", options.junit, "writes every check as JUnit's XML too, FILE.xml");
  verb.add_option("--markdown", options.markdown, "writes a summary in Markdown too, FILE.md");
  verb.add_flag("--force", options.force, "overwrite files");
  return add_json_option(verb, options);
}

Option add_picture_option(Verb verb, DocumentOptions& options, const std::string& meaning, bool alone) {
  options.picture_alone = alone;
  return verb.add_option("-o,--output", options.picture, meaning);
}

void require_outputs(const DocumentOptions& options) {
  if (!options.picture.empty() && std::filesystem::path(options.picture).extension() != ".svg")
    throw Error(ErrorCode::usage, fmt::format("-o takes a file that ends in .svg, not '{}'", options.picture));
  for (const std::string* path : {&options.picture, &options.junit, &options.markdown}) {
    if (!path->empty()) support::require_writable(*path, options.force);
  }
}

int show(const verbs::Document& document, const DocumentOptions& options, bool text) {
  const verbs::Head by = head();
  // Invalid UTF-8 (a file name, say) is replaced rather than refused: the report must come out.
  if (options.json) {
    fmt::print("{}", verbs::to_json(document, by).dump(2, support::Json::BadText::replaced) + "\n");
  } else if (text && (options.picture.empty() || !options.picture_alone)) {
    fmt::print("{}", verbs::to_text(document, terminal_width()));
  }
  if (!options.picture.empty())
    write(options.picture, verbs::as_file(verbs::picture_of(verbs::run_of(options.picture, verbs::to_json(document, by)))), options.force);
  if (!options.junit.empty()) write(options.junit, verbs::to_junit(document, by), options.force);
  if (!options.markdown.empty()) write(options.markdown, verbs::to_markdown(document, by), options.force);
  return document.exit_code;
}

}  // namespace mx::cli
