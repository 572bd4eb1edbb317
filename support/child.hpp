#pragma once
// A program that is asked something: words in, what it prints out.

#include <string>
#include <vector>

#include "support/stop.hpp"

namespace mx::support {

struct ChildAnswer {
  std::string output;  ///< its standard output
  int status;          ///< exit status; 128 and the signal's number where a signal ended it
};

/// Runs the program that the first word names, as a shell finds it, until it ends; its standard input and standard error are this program's. Once
/// `stop` says yes it is asked to end (SIGTERM), and ended (SIGKILL) half a second later; then Stopped is thrown, and nothing is left of it. Throws
/// Error(unsupported) for a program that cannot be started, Error(resource) for one that prints more than `most` bytes.
ChildAnswer ask_child(const std::vector<std::string>& words, std::size_t most, const Stop& stop);

}  // namespace mx::support
