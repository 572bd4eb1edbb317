#pragma once
// What `study` shows without data: where scale rules part, and the error of formats along the real line.

#include <string>
#include <vector>

#include "cli/output.hpp"

namespace mx::cli {

/// Schema mxact-scale-rules/1, of block formats with E8M0 scales. Throws as sim::scale_steps does.
Json scale_rules_json(const std::vector<std::string>& formats);
void print_scale_rules(const Json& json);

/// Schema mxact-error-line/1, of element formats. Throws as sim::error_lines does.
Json error_line_json(const std::vector<std::string>& formats);
/// The largest error of each power of two.
void print_error_line(const Json& json);

}  // namespace mx::cli
