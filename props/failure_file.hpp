#pragma once
// A failure of a law as a small JSON file: which law, what was found, what another verb can be asked about it, and the line that repeats it. Files of
// failures that have been repaired are regressions: they are replayed before anything is drawn.

#include <filesystem>
#include <string>
#include <vector>

#include "props/law.hpp"

namespace mx::props {

struct FailureFile {
  std::string law;                          ///< its id
  std::string program;                      ///< that knows the law
  std::vector<std::string> counterexample;  ///< lines: the smallest case as the law tells it
  std::vector<std::string> deployment;      ///< lines of a file that `mxact select` reads, for a law of oracles; else none
  std::string command;                      ///< "mxact encode e4m3fn 0x41": the case for another verb; empty where none takes it
  std::string reproduce;                    ///< what RC_PARAMS has to be; empty for a law that tries all its cases
  std::string replay;                       ///< one line for a shell
};

/// What a failed outcome tells.
FailureFile failure_of(const Law& law, const Outcome& outcome);

/// Writes DIRECTORY/N2-e4m3fn.json over what is there, a deployment as DIRECTORY/O3-order.info beside it; the directory is made where it is missing.
/// Returns the path. Throws Error(resource) when it cannot.
std::filesystem::path write_failure(const std::filesystem::path& directory, const FailureFile& failure);

/// Throws Error(input) with the file's name for what is no such file.
FailureFile read_failure(const std::filesystem::path& path);

/// The files of a directory, by name. Throws Error(input) where there is none.
std::vector<std::filesystem::path> failure_files(const std::filesystem::path& directory);

/// What laws put into their messages: a line that gives the case to another verb, of which the last counts; a deployment.
std::string try_line(const std::string& command);
std::string deployment_lines(const std::string& info);

}  // namespace mx::props
