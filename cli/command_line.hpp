#pragma once
// What was typed and when, so that every document says how to get it again.

#include <chrono>
#include <string>

namespace mx::cli {

/// To be called once, before any verb runs.
void remember_command_line(int argc, char** argv);
/// "mxact verify --tokens 8 'my model'": the words as a shell takes them.
const std::string& command_line();
/// When it was remembered.
std::chrono::system_clock::time_point start_of_program();

}  // namespace mx::cli
