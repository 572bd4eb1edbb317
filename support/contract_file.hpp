#pragma once
// A contract's record in a file, for whoever would not type it.

#include <string>
#include <string_view>

namespace mx::support {

/// What a contract is called by: of "@FILE" the record in that file, all else the word itself. A file has fields as contract_named reads them,
/// several in a line between ':' or one a line; '#' begins a comment; a name that a record changes stands first. At most 64 KiB. Returns a record's
/// text (text_of), so that what is printed with it needs no file. Throws Error(input) naming the file: as read_file does, for a file without a field,
/// and for what contract_named refuses.
std::string contract_word(std::string_view word);

/// The fields of all lines as one word; empty where there are none.
std::string record_of_lines(std::string_view text);

}  // namespace mx::support
