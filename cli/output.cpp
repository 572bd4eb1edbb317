#include "cli/output.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "build_info.hpp"
#include "cli/command_line.hpp"

namespace mx::cli {

Json json_head(std::string_view verb) {
  Json json;
  json["schema"] = fmt::format("mxact-{}/1", verb);
  json["mxact"] = {{"version", MXACT_VERSION}, {"commit", MXACT_COMMIT}, {"command", command_line()}};
  return json;
}

// Invalid UTF-8 (a file name, say) is replaced rather than refused: the report must come out.
void print_json(const Json& json) { fmt::print("{}\n", json.dump(2, Json::BadText::replaced)); }

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

ProgressLine::ProgressLine() : enabled_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void ProgressLine::show(const std::string& text, double fraction) {
  if (!enabled_) return;
  fmt::print(stderr, "\r\033[K{:3.0f} %  {:.100}", fraction * 100, text);
  static_cast<void>(std::fflush(stderr));
  drawn_ = true;
}

}  // namespace mx::cli
