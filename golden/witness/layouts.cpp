#include "golden/witness/layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "golden/witness/layout_kinds.hpp"
#include "golden/witness/tensor.hpp"
#include "support/stopwatch.hpp"

namespace mx::golden {

namespace {

struct Kind {
  std::string_view word;
  void (*run)(const LayoutEntry&, const std::filesystem::path&, LayoutFindings&);
};
constexpr Kind kKinds[] = {
    {"perm", run_perm},
    {"hash", [](const LayoutEntry& entry, const std::filesystem::path&, LayoutFindings& findings) { run_hash(entry, findings); }},
    {"error", [](const LayoutEntry& entry, const std::filesystem::path&, LayoutFindings& findings) { run_error(entry, findings); }},
    {"io", run_io},
};

struct Word {
  std::string_view word;
};
constexpr Word kLevels[] = {{"must"}, {"info"}};
constexpr Word kStages[] = {{"full"}, {"before_swizzle"}, {"stage-level"}};

/// Keys that an entry may have beside those read here: facts for people, derived counts, and what its kind reads.
constexpr const char* kOtherKeys[] = {
    "backends",
    "source",
    "end_to_end",
    "note",
    "output",
    "unit",
    "unit_bits",
    "src_units",
    "dst_units",
    "bijective",
    "injective_cover",
    "pad_units",
    "pad_values",
    "unwritten_units",
    "dropped_src_units",
    "duplicate_units",
    "files",
    "value_map",
    "check_random_seed",
    "check_output_fnv1a64",
    "output_strides",
    "storage_order",
    "precondition",
    "condition",
    "error_type",
    "error_message",
    "observed",
    "inputs",
    "outputs",
    "ulp_tolerance",
};

constexpr LayoutDtype kLayoutDtypes[] = {{"uint8", 1, -1},    {"int32", 4, -1},   {"float8_e4m3fn", 1, 7}, {"float8_e8m0fnu", 1, -1},
                                         {"bfloat16", 2, 15}, {"float16", 2, 15}, {"float32", 4, 31},      {"float64", 8, 63}};

std::string text_of(const Json& entry, const char* key, const std::string& where) {
  const auto found = entry.find(key);
  if (found == nullptr || !found->is_string()) broken(fmt::format("'{}' must be a text", key), where);
  return found->get<std::string>();
}

// Files and generated shapes are checked whether or not there is a model: a set that breaks its own form is no witness.
void check_files(const Json& json, const std::filesystem::path& directory, const std::string& where) {
  if (const auto files = json.find("files"); files != nullptr) {
    if (!files->is_object()) broken("files must be an object", where);
    for (const auto& [name, file] : files->items()) {
      if (!file.is_string()) broken("file '" + name + "' must be a name", where);
      const auto units = json.find("dst_units");
      if (units == nullptr || !units->is_number_unsigned() || units->get<std::uint64_t>() > (std::uint64_t{1} << 40))
        broken("'dst_units' must be a count", where);
      require_size(data_file(directory, file.get<std::string>(), where), 4 * units->get<std::int64_t>(), where);
    }
  }
  for (const char* group : {"inputs", "outputs"}) {
    const auto tensors = json.find(group);
    if (tensors == nullptr) continue;
    if (!tensors->is_object()) broken(fmt::format("{} must be an object", group), where);
    for (const auto& [name, tensor] : tensors->items()) {
      const ArrayShape shape = read_array(tensor, name, where);
      require_size(data_file(directory, text_of(tensor, "file", where), where), shape.bytes(), where);
    }
  }
}

LayoutEntry read_entry(const Json& json, const std::string& file, std::size_t position) {
  if (!json.is_object()) broken(fmt::format("entry {} must be an object", position), file);
  LayoutEntry entry;
  entry.json = &json;
  entry.id = text_of(json, "id", fmt::format("{}, entry number {}", file, position));
  entry.where = file + ", entry " + entry.id;
  entry.kind = text_of(json, "kind", entry.where);
  entry.level = text_of(json, "level", entry.where);
  entry.layout = text_of(json, "layout", entry.where);
  entry.stage = text_of(json, "stage", entry.where);
  entry.version = text_of(json, "converter_version", entry.where);
  entry.role = text_of(json, "role", entry.where);
  const auto params = json.find("params");
  if (params == nullptr) broken("entry has no 'params'", entry.where);
  entry.params = &*params;
  if (json.contains("arch")) entry.arch = text_of(json, "arch", entry.where);
  return entry;
}

void check_words(LayoutEntry& entry) {
  Fields fields(*entry.json, "entry", entry.where);
  for (const char* key : {"id", "kind", "level", "layout", "stage", "converter_version", "role", "params", "arch"}) fields.find(key);
  for (const char* key : kOtherKeys) fields.find(key);
  if (const Json* input = fields.find("input")) entry.input = read_array(*input, "input", entry.where);
  row_named(kLevels, "level", entry.level);
  row_named(kStages, "stage", entry.stage);
  fields.finish();
}

EntryResult run_one(LayoutEntry& entry, const std::filesystem::path& directory, const WitnessOptions& options) {
  EntryResult result;
  result.id = entry.id;
  result.level = entry.level;
  result.what = entry.layout + " " + entry.kind;
  LayoutFindings findings(result, options);
  const auto unmodelled = [&result](const std::string& reason) {
    result.status = EntryStatus::unmodelled;
    result.reason = reason;
    result.compared = result.differing = result.skipped = 0;
    result.differences.clear();
  };
  try {
    check_files(*entry.json, directory, entry.where);
    check_words(entry);
    const Kind& kind = row_named(kKinds, "kind", entry.kind);
    kind.run(entry, directory, findings);
    result.status = result.differing > 0 ? EntryStatus::differs : result.compared > 0 ? EntryStatus::equal : EntryStatus::nothing_compared;
    if (result.status == EntryStatus::nothing_compared) result.reason = "no position is written";
  } catch (const Unmodelled& unknown) {
    unmodelled(unknown.what());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage && error.code() != ErrorCode::unsupported) throw;
    // The recorded converter did what the model refuses.
    findings.compared();
    findings.differs([&error] { return std::string("the model refuses this conversion: ") + error.what(); });
    result.status = EntryStatus::differs;
  }
  return result;
}

}  // namespace

ArrayShape read_array(const Json& json, const std::string& what, const std::string& where) {
  Fields fields(json, what, where);
  ArrayShape array;
  // A single value has no extents.
  const Json& shape = fields.at("shape");
  array.elements = shape.is_array() && shape.empty() ? 1 : read_shape(shape, array.extents, what, where);
  array.dtype = &row_named(kLayoutDtypes, "dtype", fields.text("dtype"));
  return array;
}

SetResult run_layout_set(const std::filesystem::path& directory, const Json& manifest, const WitnessOptions& options) {
  const std::string file = (directory / "manifest.json").string();
  SetResult set{directory, text_of(manifest, "set", file), text_of(manifest, "format", file), {}};
  Fields fields(manifest, "manifest", file);
  for (const char* key : {"format", "set", "converter_versions"}) fields.at(key);
  const Json& entries = fields.at("entries");
  if (!entries.is_array()) broken("entries must be an array, not " + shown(entries), file);
  try {
    fields.finish();
  } catch (const Unmodelled& unknown) {
    EntryResult result;
    result.id = "(manifest)";
    result.what = "manifest";
    result.status = EntryStatus::unmodelled;
    result.reason = unknown.what();
    set.entries.push_back(result);
  }
  std::set<std::string> ids;
  for (const Json& json : entries) {
    LayoutEntry entry = read_entry(json, file, ids.size() + 1);
    if (!ids.insert(entry.id).second) broken("two entries have the id '" + entry.id + "'", file);
    if (options.progress) options.progress({set.name, entry.id, static_cast<std::int64_t>(ids.size()), static_cast<std::int64_t>(entries.size())});
    const support::Stopwatch watch;
    set.entries.push_back(run_one(entry, directory, options));
    set.entries.back().seconds = watch.seconds();
  }
  return set;
}

}  // namespace mx::golden
