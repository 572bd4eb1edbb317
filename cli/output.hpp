#pragma once
// What every verb prints with: results on stdout, progress on stderr, JSON with a schema id.

#include <string>
#include <string_view>
#include <vector>

#include "support/json.hpp"

namespace mx::cli {

using sim::Json;

/// An object that begins with "schema": "mxact-VERB/1", then "mxact": version, commit and the command.
Json json_head(std::string_view verb);
/// Pretty-printed, with a final newline.
void print_json(const Json& json);

/// Columns padded to their widest entry, two spaces apart; the first row is the head.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// A line on stderr that is redrawn in place; silent unless stderr is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text, double fraction);

 private:
  bool enabled_;
  bool drawn_ = false;
};

}  // namespace mx::cli
