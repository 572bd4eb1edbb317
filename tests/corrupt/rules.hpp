#pragma once
// Rules that make bad files out of good ones: each says how the bytes change, and whether what comes out may still be a good file.

#include <string>
#include <string_view>
#include <vector>

namespace mx::tests {

/// What a changed file may be.
enum class Fate {
  refused,  ///< no reader of such files may take it
  either,   ///< another good file, perhaps; what is refused must be refused well
};

struct BadFile {
  std::string rule;  ///< "number 3 is NaN"
  std::string bytes;
  Fate fate;
};

/// A JSON document: cut at every border of a token, every number, string, key and object broken in its own way, and the whole of it.
std::vector<BadFile> bad_json(const std::string& good);
/// As bad_json, of what support/python_json.hpp reads: an Infinity may stand where nothing computes with it.
std::vector<BadFile> bad_python_json(const std::string& good);
/// A file with a JSON document a line: the rules of bad_json on its first line, and those of lines.
std::vector<BadFile> bad_json_lines(const std::string& good);
/// What lines of words may lack or have more.
struct LineRules {
  Fate torn;      ///< the beginning of a line at the end, which a killed writer leaves
  Fate headless;  ///< no head
  Fate blanks;    ///< tabs for blanks, empty lines, and ends of lines as on Windows
};
/// Lines of words: a head, then two lines or more.
std::vector<BadFile> bad_lines(const std::string& good, const LineRules& rules);
/// A Boost INFO file.
std::vector<BadFile> bad_info(const std::string& good);
/// A safetensors container: its length, its header by the rules of bad_json, its data.
std::vector<BadFile> bad_container(const std::string& good);
/// Bytes of a fixed number.
std::vector<BadFile> bad_size(const std::string& good);

/// The container whose header is `header`, with the length that belongs to it and the data of `good`.
std::string with_header(const std::string& good, std::string header);
std::string_view header_of(const std::string& container);

}  // namespace mx::tests
