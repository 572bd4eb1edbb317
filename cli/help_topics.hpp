#pragma once
// What `mxact help TOPIC` explains besides verbs: words that several verbs share.

#include <span>
#include <string_view>

namespace mx::cli {

struct HelpTopic {
  std::string_view name;
  std::string_view meaning;  ///< one line
  std::string_view text;     ///< lines of at most 100 characters; indented ones are examples, as they are
};
std::span<const HelpTopic> help_topics();

}  // namespace mx::cli
