#pragma once
// The program without its process: words in, what to do out.

#include <string>
#include <vector>

#include "cli/verbs.hpp"

namespace mx::cli {

/// What a command line asks for, not done yet; `words` without the program's name. Help and the version are printed at once, and the action is empty
/// then. Throws Error(usage) when the words are none that the program takes, Error(resource) when stdout cannot be written.
Action action_for(const std::vector<std::string>& words);

}  // namespace mx::cli
