#pragma once
// The form mxact-witness/1: tensors described by name, type and shape, and entries that say how outputs are held against a model.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/fields.hpp"
#include "golden/witness/relation.hpp"
#include "golden/witness/tensor.hpp"

namespace mx::golden {

/// Who ran: a model picks its dialect by these.
struct RunProfile {
  std::string implementation;
  std::string device;
  std::string build;
  std::string version = {};
};

/// One entry, its form checked. `unmodelled` is not empty when it says something that this reader does not know; the rest may then be incomplete.
struct Entry {
  std::string id;
  std::string op;
  std::string level = "must";
  std::string where;  ///< "directory/manifest.json, entry ID"
  std::string unmodelled;
  Json params;
  RunProfile profile;
  std::map<std::string, TensorSpec> inputs;
  std::map<std::string, TensorSpec> outputs;
  std::map<std::string, Relation> relations;  ///< one for every output
  std::map<std::string, SkipRule> skips;      ///< for some outputs
};

struct Manifest {
  std::filesystem::path directory;
  std::string set;
  std::string split;
  std::string unmodelled;              ///< what the manifest itself says that this reader does not know
  std::vector<std::string> row_names;  ///< line r describes row r of the inputs; may be empty
  std::vector<Entry> entries;
};

/// Parses the JSON of `directory`/manifest.json and checks every file it names: plain names, exact sizes, deltas inside. Throws Error(input).
Manifest read_manifest(const std::filesystem::path& directory, const Json& json);

/// Reads a manifest file of any form, within bounds. Throws Error(input).
Json load_json(const std::filesystem::path& file);

}  // namespace mx::golden
