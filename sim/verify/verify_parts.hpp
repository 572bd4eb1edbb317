#pragma once
// A run of `verify` in shares that different processes do: what each leaves behind, and what all of them together are.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/verify/verify.hpp"
#include "support/json.hpp"

namespace mx::sim {

/// What a run was asked, in the words of its command line.
struct VerifyRequest {
  std::optional<std::string> checkpoint;  ///< none: one that is generated from the seed
  std::vector<std::string> platforms;
  std::vector<std::string> backends;
  std::string engine;                           ///< of engine_named
  std::string deployment_file = {};             ///< INFO file that says platform, sizes and all else of the placement; empty: none
  std::string deployment = {};                  ///< its text
  std::map<std::string, std::string> env = {};  ///< the engine's variables that are set
  std::vector<std::string> libraries = {};      ///< for families::choose_libraries
  std::vector<int> tp;                          ///< empty: 1 and 2, where they are possible
  int dp = 1;                                   ///< as of VerifyOptions
  bool expert_parallel = false;                 ///< likewise
  std::vector<std::string> contracts;
  std::string launch = {};   ///< for support::launch_of
  int layers = 0;            ///< 0: all
  std::int64_t experts = 0;  ///< 0: all
  int layer_group = 0;       ///< of the checkpoint, from 1; 0: the first
  std::int64_t tokens = 4;
  std::int64_t seed = 1;
  bool no_execute = false;
  bool fail_on_warning = false;
  bool reference = false;
};

/// Words of the legend, and places with "where" and "source", as every document has them.
support::Json grounds_json(const std::vector<Grounds>& grounds);
support::Json places_json(const std::vector<KnownPlace>& places);

/// The options that a request stands for. Throws Error(usage) on an unknown engine or contract.
VerifyOptions options_of(const VerifyRequest& request);

/// One share that was done.
struct VerifyPart {
  std::string program;  ///< name and version of who did it
  VerifyRequest request;
  VerifyShare share;
  std::string run;      ///< digest of what all parts of the run have in common: program, request, weight files' headers, conversions
  VerifyReport report;  ///< of what is read back: results alone, without cells
};

/// The share of a run that `report` is of.
VerifyPart part_of(const checkpoint::Checkpoint& checkpoint, const VerifyRequest& request, VerifyShare share, const std::string& program,
                   VerifyReport report);

/// As JSON text, and back. Reading throws Error(input): no part, another version, a value that cannot be, or a part that was changed by hand.
std::string text_of(const VerifyPart& part);
VerifyPart read_verify_part(const std::filesystem::path& path);

/// A part and where it was read.
struct ReadVerifyPart {
  std::filesystem::path path;
  VerifyPart part;
};

/// The report of the whole run, as one process would have made it but for the time. Throws Error(input) naming the file: a share that is missing or
/// there twice, a part of another run, a checkpoint that is not the one that was verified; Error(usage) for a part that another program made.
VerifyReport merged_report(const checkpoint::Checkpoint& checkpoint, const std::vector<ReadVerifyPart>& parts, const std::string& program);

}  // namespace mx::sim
