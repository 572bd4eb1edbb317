#pragma once
// Every reader of files from outside, with a good file and the rules that break it.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/corrupt/rules.hpp"

namespace mx::tests {

struct Reader {
  std::string name;
  std::string file;                                                  ///< that is broken, in the folder
  std::function<void(const std::filesystem::path& folder)> prepare;  ///< writes the good files
  std::function<bool(const std::filesystem::path& folder)> read;     ///< reads them; false: a verdict that is no pass. Throws mx::Error
  std::vector<BadFile> (*rules)(const std::string& good);
  bool sealed = false;  ///< the file says its own digest, so that no change of what it says is taken
  /// A command of the program that reads it, "{}" being the folder; empty: none does by itself.
  std::string command = {};
};

std::vector<Reader> all_readers();

}  // namespace mx::tests
