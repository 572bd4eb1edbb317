#pragma once
// -o FILE.svg of the verbs that show a run as a picture.

#include <string>

#include "cli/output.hpp"

namespace mx::cli {

/// Throws Error(usage) unless the name ends in .svg, and what sim::require_writable throws: before the work begins.
void require_svg(const std::string& path, bool force);
/// Writes the picture that reports show of a run with this JSON. Throws as golden::picture_of and sim::write_file do.
void write_picture(const std::string& path, const Json& json, bool force);

}  // namespace mx::cli
