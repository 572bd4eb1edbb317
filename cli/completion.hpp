#pragma once
// Completion of command lines by shells.

#include <string>

#include "cli/option_table.hpp"

namespace mx::cli {

/// To be sourced by bash, or put into a directory of bash-completion as "mxact".
std::string bash_completion(const VerbEntry& program);
/// To be put into a directory of zsh's fpath as "_mxact".
std::string zsh_completion(const VerbEntry& program);

}  // namespace mx::cli
