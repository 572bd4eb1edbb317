#include "verbs/sweep/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "golden/witness/manifest.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "support/file.hpp"

namespace mx::verbs {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kSweepBytes = std::size_t{sim::kSweepChunks} * kWordBytes;
constexpr const char* kManifest = "manifest.json";

std::uint64_t word_at(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  std::uint64_t word = 0;
  for (std::size_t byte = 0; byte < kWordBytes; ++byte) word |= std::uint64_t{bytes[index * kWordBytes + byte]} << (8 * byte);
  return word;
}

RecordedSweep from_bytes(const std::string& name, const std::vector<std::uint8_t>& bytes) {
  if (bytes.size() != kSweepBytes) {
    throw Error(ErrorCode::input, fmt::format("{} bytes are not the {} digests of 8 bytes of a sweep", bytes.size(), sim::kSweepChunks), name);
  }
  RecordedSweep recorded{name, {}};
  for (std::size_t i = 0; i < recorded.digests.size(); ++i) recorded.digests[i] = word_at(bytes, i);
  return recorded;
}

void require_param(const golden::Entry& entry, const char* key, const support::Json& wanted) {
  const support::Json* const found = entry.params.find(key);
  if ((found == nullptr ? support::Json() : *found) == wanted) return;
  throw Error(ErrorCode::usage, fmt::format("the entry has {} {}, the sweep {}", key, found == nullptr ? "null" : found->dump(), wanted.dump()),
              entry.where);
}

RecordedSweep from_entry(const std::filesystem::path& folder, const std::string& id, const Format& to) {
  const golden::Manifest manifest = golden::read_manifest(folder, golden::load_json(folder / kManifest));
  std::vector<std::string_view> known;
  for (const golden::Entry& entry : manifest.entries) {
    if (entry.op == "sweep_digest") known.push_back(entry.id);
  }
  const auto entry = std::ranges::find_if(manifest.entries, [&](const golden::Entry& e) { return e.op == "sweep_digest" && e.id == id; });
  if (entry == manifest.entries.end()) {
    throw Error(ErrorCode::input, unknown_name("sweep_digest entry", id, known), (folder / kManifest).string());
  }
  if (!entry->unmodelled.empty()) throw Error(ErrorCode::unsupported, entry->unmodelled, entry->where);
  require_param(*entry, "source", "f32");
  require_param(*entry, "format", to.name);
  require_param(*entry, "digest", "mix64_sum");
  require_param(*entry, "chunk_inputs", sim::kSweepChunkInputs);
  return from_bytes(entry->where, golden::load(entry->outputs.at("digests"), folder, entry->where).bytes);
}

}  // namespace

RecordedSweep recorded_sweep(const std::filesystem::path& path, const Format& to) {
  if (std::filesystem::is_regular_file(path) && path.filename() != kManifest) {
    return from_bytes(path.string(), support::read_file(path, kSweepBytes));
  }
  const std::filesystem::path parent = path.parent_path();
  const std::filesystem::path folder = parent.filename() == kManifest ? parent.parent_path() : parent;
  if (!support::is_there(path) && support::is_there(folder / kManifest)) return from_entry(folder, path.filename().string(), to);
  throw Error(ErrorCode::input, fmt::format("no recorded sweep is here: give SET/ENTRY of a folder with a {}, or a file of 256 digests", kManifest),
              path.string());
}

void write_sweep(const std::filesystem::path& path, const sim::Digests& digests, bool force) {
  std::vector<std::uint8_t> bytes;
  for (const std::optional<std::uint64_t>& digest : digests) {
    for (unsigned byte = 0; byte < kWordBytes; ++byte) bytes.push_back(static_cast<std::uint8_t>(digest.value() >> (8 * byte)));
  }
  support::write_file(path, bytes, force);
}

std::vector<int> differing_chunks(const sim::Digests& digests, const RecordedSweep& recorded) {
  std::vector<int> differing;
  for (int chunk = 0; chunk < sim::kSweepChunks; ++chunk) {
    const auto i = static_cast<std::size_t>(chunk);
    if (digests[i] && *digests[i] != recorded.digests[i]) differing.push_back(chunk);
  }
  return differing;
}

}  // namespace mx::verbs
