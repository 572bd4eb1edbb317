#pragma once
// Foreign text inside a one-line message: control bytes escaped, shortened.

#include <string>
#include <string_view>

namespace mx::support {

/// Control bytes and bytes beyond ASCII as \xNN, at most 120 bytes of the text, then "...".
std::string printable(std::string_view text);

/// The same in single quotes, quotes and backslashes escaped too.
std::string in_quotes(std::string_view text);

/// A word as a shell reads it back: in quotes where it would read it otherwise.
std::string shell_word(std::string_view word);

}  // namespace mx::support
