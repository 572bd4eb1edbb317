#pragma once
// A conversion written down, so that many processes on many machines do its units, and what each unit leaves behind.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/conversion_job.hpp"

namespace mx::checkpoint {

/// A weight file as it was when the plan was made.
struct PlannedFile {
  std::string name;
  std::uint64_t size;
  std::string header;  ///< digest of names, dtypes, shapes and places
  friend bool operator==(const PlannedFile&, const PlannedFile&) = default;
};

/// The weight files of a checkpoint as they are now.
std::vector<PlannedFile> files_of(const Checkpoint& checkpoint);

struct PlannedUnit {
  int unit;
  std::string what;     ///< "layer 3"
  std::string file;     ///< that it writes
  std::uint64_t bytes;  ///< that it reads
};

/// A family that is converted.
struct PlannedFamily {
  int family;  ///< of the checkpoint, from 0
  std::string backend;
  families::Setting setting;  ///< sizes and form of the checkpoint included
};

struct UnitPlan {
  std::string id;  ///< digest of all the rest
  std::string program;
  std::filesystem::path checkpoint;
  std::filesystem::path output;
  std::optional<std::filesystem::path> base;  ///< directory of the plan, from which it writes both paths; none: it writes them whole
  int rank;
  std::vector<PlannedFamily> families;  ///< at least one
  std::vector<PlannedFile> files;
  std::vector<PlannedUnit> units;
};

/// The options that the plan stands for.
ConvertOptions options_of(const UnitPlan& plan);

/// Plans the units of a conversion; paths become absolute, or are written as seen from `base`. Throws as ConversionJob does.
UnitPlan make_plan(const std::filesystem::path& checkpoint, const std::filesystem::path& output, const ConvertOptions& options,
                   const std::optional<std::filesystem::path>& base = {});

/// As JSON text, and back. Reading throws Error(input): no plan, another version, a value that cannot be, or a plan that was changed by hand (its id
/// is no longer that of its contents).
std::string text_of(const UnitPlan& plan);
UnitPlan read_plan(const std::filesystem::path& path);

/// Throws Error(input) naming the file when the weights are not those of the plan, Error(usage) when another program made it.
void check_plan(const UnitPlan& plan, const ConversionJob& job, const std::string& program);

/// What a finished unit says of itself, beside its file.
struct UnitRecord {
  std::string plan;  ///< id
  int unit;
  UnitResult result;
};
std::string record_name(int unit);  ///< "unit-00003.json"
bool is_record_name(const std::string& name);
std::string text_of(const UnitRecord& record);
/// Throws Error(input) as read_plan does.
UnitRecord read_record(const std::filesystem::path& path);

}  // namespace mx::checkpoint
