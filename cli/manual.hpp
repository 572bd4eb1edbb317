#pragma once
// The manual page.

#include <string>

#include "cli/option_table.hpp"

namespace mx::cli {

/// mxact(1) in the macros of man(7): every verb with its options, the help topics, the exit statuses.
std::string manual_page(const VerbEntry& program);

}  // namespace mx::cli
