#include "golden/witness/manifest.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "support/file.hpp"
#include "support/json.hpp"

namespace mx::golden {

namespace {

constexpr std::uint64_t kManifestBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kRowNamesBytes = std::uint64_t{16} << 20;
constexpr int kManifestDepth = 12;

struct Word {
  std::string_view word;
};
constexpr Word kLevels[] = {{"must"}, {"info"}};
constexpr Word kGrounds[] = {{"hardware"}, {"library"}, {"own-reference"}};
constexpr Word kFilePurposes[] = {{"row_names"}};

std::map<std::string, TensorSpec> read_tensors(const Json& json, const std::string& what, const std::filesystem::path& directory,
                                               const std::string& where) {
  if (!json.is_object()) broken(what + " must be an object, not " + shown(json), where);
  std::map<std::string, TensorSpec> tensors;
  for (const auto& [name, description] : json.items()) tensors.emplace(name, read_tensor_spec(description, name, directory, where));
  return tensors;
}

RunProfile read_profile(const Json& json, const std::string& where) {
  Fields fields(json, "profile", where);
  RunProfile profile{fields.text("implementation"), fields.text("device"), fields.text("build"), fields.text("version")};
  fields.finish();
  return profile;
}

void read_relations(const Json& json, Entry& entry) {
  if (!json.is_object()) broken("relation must be an object, not " + shown(json), entry.where);
  for (const auto& [name, relation] : json.items()) {
    if (!entry.outputs.contains(name)) broken("relation for '" + name + "', which is no output", entry.where);
    entry.relations.emplace(name, read_relation(relation, name, entry.where));
  }
  for (const auto& [name, output] : entry.outputs) {
    if (!entry.relations.contains(name)) broken("no relation for output '" + name + "'", entry.where);
  }
}

void read_skips(const Json& json, const std::filesystem::path& directory, Entry& entry) {
  if (!json.is_object()) broken("skip must be an object, not " + shown(json), entry.where);
  for (const auto& [name, rule] : json.items()) {
    if (!entry.outputs.contains(name)) broken("skip rule for '" + name + "', which is no output", entry.where);
    entry.skips.emplace(name, read_skip_rule(rule, name, directory, entry.where));
  }
}

std::string required_text(const Json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == nullptr || !found->is_string() || found->get<std::string>().empty()) broken(fmt::format("'{}' must be a text", key), where);
  return found->get<std::string>();
}

Entry read_entry(const Json& json, const std::filesystem::path& directory, std::size_t position) {
  const std::string file = (directory / "manifest.json").string();
  if (!json.is_object()) broken(fmt::format("entry {} must be an object", position), file);
  Entry entry;
  entry.id = required_text(json, "id", fmt::format("{}, entry number {}", file, position));
  entry.where = file + ", entry " + entry.id;
  try {
    Fields fields(json, "entry", entry.where);
    fields.at("id");
    entry.level = fields.text("level");
    row_named(kLevels, "level", entry.level);
    entry.op = fields.text("op");
    entry.params = fields.at("params");
    entry.inputs = read_tensors(fields.at("inputs"), "inputs", directory, entry.where);
    entry.outputs = read_tensors(fields.at("outputs"), "outputs", directory, entry.where);
    if (entry.outputs.empty()) broken("outputs is empty", entry.where);
    read_relations(fields.at("relation"), entry);
    if (const Json* skip = fields.find("skip")) read_skips(*skip, directory, entry);
    entry.profile = read_profile(fields.at("profile"), entry.where);
    row_named(kGrounds, "grounds", fields.text("grounds"));
    if (fields.has("note")) fields.text("note");
    fields.finish();
  } catch (const Unmodelled& unknown) {
    entry.unmodelled = unknown.what();
  }
  return entry;
}

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> bytes = support::read_file(file, kRowNamesBytes);
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

void read_other_files(const Json& json, const std::string& where, Manifest& manifest) {
  if (!json.is_object()) broken("other_files must be an object, not " + shown(json), where);
  for (const auto& [name, purpose] : json.items()) {
    const std::filesystem::path file = data_file(manifest.directory, name, where);
    std::error_code failure;
    if (!std::filesystem::is_regular_file(file, failure)) broken("no file '" + name + "'", where);
    row_named(kFilePurposes, "purpose of a file", purpose.is_string() ? purpose.get<std::string>() : shown(purpose));
    manifest.row_names = read_lines(file);
  }
}

}  // namespace

Json load_json(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> bytes = support::read_file(file, kManifestBytes);
  return support::parse_json(bytes, {kManifestBytes, kManifestDepth}, file.string());
}

Manifest read_manifest(const std::filesystem::path& directory, const Json& json) {
  const std::string where = (directory / "manifest.json").string();
  Manifest manifest;
  manifest.directory = directory;
  Fields fields(json, "manifest", where);
  fields.at("format");
  manifest.set = required_text(json, "set", where);
  fields.at("set");
  manifest.split = required_text(json, "split", where);
  fields.at("split");
  const Json& entries = fields.at("entries");
  if (!entries.is_array()) broken("entries must be an array, not " + shown(entries), where);
  try {
    if (const Json* others = fields.find("other_files")) read_other_files(*others, where, manifest);
    fields.finish();
  } catch (const Unmodelled& unknown) {
    manifest.unmodelled = unknown.what();
  }
  std::set<std::string> ids;
  for (const Json& entry : entries) {
    manifest.entries.push_back(read_entry(entry, directory, manifest.entries.size() + 1));
    if (!ids.insert(manifest.entries.back().id).second) broken("two entries have the id '" + manifest.entries.back().id + "'", where);
  }
  return manifest;
}

}  // namespace mx::golden
