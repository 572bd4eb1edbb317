#pragma once
// What the command line takes, as data: the manual page, the completions and their tests read it.

#include <string>
#include <vector>

#include "cli/verb.hpp"

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
  std::vector<OptionEntry> options;
  std::vector<VerbEntry> verbs;
};

/// In the order of declaration, which is that of --help.
VerbEntry option_table(Verb program);

/// "[OPTIONS] PLAN [DIRECTORY...]": what follows the path in a synopsis.
std::string synopsis(const VerbEntry& verb);

/// The entry itself, then those of its verbs, each before its own.
std::vector<const VerbEntry*> all_verbs(const VerbEntry& program);

}  // namespace mx::cli
