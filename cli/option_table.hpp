#pragma once
// What a command line takes, as data: the manual page, the completions and the messages about misuse are made of it.

#include <string>
#include <string_view>
#include <vector>

namespace mx::cli {

/// An option, a flag or a word by its place.
struct OptionEntry {
  std::vector<std::string> names;  ///< "-o", "--output"; of a word by its place its one name: "CHECKPOINT"
  std::string meaning;
  bool positional;
  bool takes_value;  ///< false: a flag
  bool required;
  bool repeats;  ///< takes several values
};

/// A verb with its options and its own verbs. The program itself has an empty path.
struct VerbEntry {
  std::string path;  ///< as typed after the program's name: "layout where"
  std::string meaning;
  bool needs_verb;                   ///< one of its verbs has to be typed
  std::vector<OptionEntry> options;  ///< in the order of declaration, which is that of --help
  std::vector<VerbEntry> verbs;      ///< likewise
};

/// The last word of its path: "where".
std::string_view name_of(const VerbEntry& verb);

/// "[OPTIONS] PLAN [DIRECTORY...]": what follows the path in a synopsis.
std::string synopsis(const VerbEntry& verb);

/// The entry itself, then those of its verbs, each before its own.
std::vector<const VerbEntry*> all_verbs(const VerbEntry& program);

}  // namespace mx::cli
