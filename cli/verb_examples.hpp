#pragma once
// One command for each verb with which somebody who never used it can begin: the end of its --help.

#include <span>
#include <string_view>

namespace mx::cli {

struct VerbExample {
  std::string_view verb;     ///< its path: "layout where"
  std::string_view command;  ///< runs in the root of the repository; what stands in capitals is the reader's own
};
std::span<const VerbExample> verb_examples();

}  // namespace mx::cli
