#pragma once
// What was typed, so that every JSON says how to get it again.

#include <string>

namespace mx::cli {

/// To be called once, before any verb runs.
void remember_command_line(int argc, char** argv);
/// "mxact verify --tokens 8 'my model'": the words as a shell takes them.
const std::string& command_line();

}  // namespace mx::cli
