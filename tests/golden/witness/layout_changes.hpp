#pragma once
// One recorded layout entry with its files, changed in one way, and what running it must say.

#include <functional>
#include <span>
#include <string>

#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"

namespace mx::tests::witness {

/// The recorded entry alone in a set, its files copied into `directory`.
inline Json single_layout(const std::string& id, const std::filesystem::path& directory) {
  Json manifest = read_json(recorded("layouts") / "manifest.json");
  Json chosen;
  for (const Json& entry : manifest["entries"]) {
    if (entry["id"] == id) chosen = entry;
  }
  REQUIRE(!chosen.is_null());
  const auto copy = [&](const std::string& file) { std::filesystem::copy(recorded("layouts") / file, directory / file); };
  if (chosen.contains("files")) copy(chosen["files"]["perm"].text());
  for (const char* group : {"inputs", "outputs"}) {
    if (!chosen.contains(group)) continue;
    for (const auto& [name, tensor] : chosen[group].items()) copy(tensor["file"].text());
  }
  manifest["entries"] = Json::array({chosen});
  return manifest;
}

/// Lets a unit of the recorded permutation come from elsewhere.
inline void set_unit(const std::filesystem::path& directory, const Json& entry, std::size_t unit, std::int32_t source) {
  const std::filesystem::path file = directory / entry["files"]["perm"].get<std::string>();
  std::vector<std::uint8_t> bytes = read_bytes(file);
  for (std::size_t b = 0; b < 4; ++b) bytes[4 * unit + b] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(source) >> (8 * b));
  write_bytes(file, bytes);
}

struct LayoutChange {
  std::string name;
  std::string id;
  std::function<void(Json&, const std::filesystem::path&)> change;  ///< of the entry
  int exit;
  std::string text;
};

inline void check_changes(std::span<const LayoutChange> changes) {
  for (const LayoutChange& row : changes) {
    INFO(row.name << ": " << row.id);
    const Scratch scratch("layouts");
    Json manifest = single_layout(row.id, scratch.path());
    row.change(manifest["entries"][0], scratch.path());
    write_text(scratch.path() / "manifest.json", manifest.dump());
    const Outcome outcome = run(scratch.path());
    INFO(outcome.text);
    CHECK(outcome.exit == row.exit);
    CHECK(outcome.text.find(row.text) != std::string::npos);
  }
}

}  // namespace mx::tests::witness
