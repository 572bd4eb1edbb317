#pragma once
// The running program: told apart from every other build.

#include <string>

namespace mx::cli {

/// "build=0123456789abcdef commit=COMMIT": a digest over the program's own bytes, and the commit. Throws Error as support::read_file does.
std::string build_name();

}  // namespace mx::cli
