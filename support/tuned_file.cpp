#include "support/tuned_file.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"
#include "support/file.hpp"
#include "support/json.hpp"

namespace mx::support {
namespace {

using families::LaunchKey;
using families::TunedTile;

constexpr std::uint64_t kMostBytes = 1 << 20;
constexpr JsonLimits kLimits{.bytes = kMostBytes, .depth = 3};

/// A member of a tile that decides on bits: the number of a launch under the engine's name.
struct Member {
  std::string_view name;
  LaunchKey key;
  std::int64_t TunedTile::*number;
};
constexpr Member kMembers[] = {{"BLOCK_SIZE_M", LaunchKey::block_m, &TunedTile::block_m},
                               {"BLOCK_SIZE_N", LaunchKey::block_n, &TunedTile::block_n},
                               {"BLOCK_SIZE_K", LaunchKey::step_k, &TunedTile::step_k}};

[[noreturn]] void refuse(const std::string& text, const std::string& where) { throw Error(ErrorCode::input, text, where); }

const families::LaunchKeyRow& row_of(LaunchKey key) { return *std::ranges::find(families::launch_keys(), key, &families::LaunchKeyRow::key); }

void require_in(std::int64_t value, LaunchKey key, const std::string& where) {
  const families::LaunchKeyRow& row = row_of(key);
  if (value < row.least || value > row.most)
    refuse("is " + std::to_string(value) + ", must be a number from " + std::to_string(row.least) + " to " + std::to_string(row.most), where);
}

std::int64_t tokens_of(const std::string& key, const std::string& where) {
  std::int64_t tokens = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), tokens);
  if (error != std::errc() || end != key.data() + key.size()) refuse("'" + printable(key) + "' is no number of tokens", where);
  require_in(tokens, LaunchKey::tokens, where + ": " + key);
  return tokens;
}

TunedTile tile_of(std::int64_t tokens, const Json& json, const std::string& where) {
  if (!json.is_object()) refuse(std::string("is ") + json.type_name() + ", a tile is an object", where);
  for (const JsonMember& member : json.items()) {
    if (!member.value.is_int64()) refuse("is no integer", where + ": " + printable(member.key));
  }
  TunedTile tile{tokens, 0, 0, 0};
  for (const Member& member : kMembers) {
    const Json* const value = json.find(member.name);
    if (value == nullptr) refuse("has no " + std::string(member.name), where);
    tile.*member.number = value->integer();
    require_in(value->integer(), member.key, where + ": " + std::string(member.name));
  }
  return tile;
}

}  // namespace

families::TunedTiles tuned_tiles(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, kLimits, where);
  if (!json.is_object()) refuse(std::string("is ") + json.type_name() + ", a tuned file is an object of tiles by numbers of tokens", where);
  families::TunedTiles tuned{std::filesystem::path(where).filename().string(), {}};
  for (const JsonMember& member : json.items()) {
    if (member.value.is_string()) continue;
    const std::int64_t tokens = tokens_of(member.key, where);
    if (std::ranges::find(tuned.tiles, tokens, &TunedTile::tokens) != tuned.tiles.end()) refuse("has " + member.key + " twice", where);
    tuned.tiles.push_back(tile_of(tokens, member.value, where + ": " + member.key));
  }
  if (tuned.tiles.empty()) refuse("has no tile", where);
  return tuned;
}

families::TunedTiles read_tuned_file(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = read_file(path, kMostBytes);
  return tuned_tiles({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

families::LaunchChoice launch_of(std::string_view text) {
  std::string others;
  std::optional<families::TunedTiles> tuned;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find(','));
    text.remove_prefix(std::min(field.size() + 1, text.size()));
    if (!field.starts_with(kTunedField)) {
      others += (others.empty() ? "" : ",") + std::string(field);
      continue;
    }
    if (tuned) throw Error(ErrorCode::usage, "is given twice", "launch: tuned");
    if (field == kTunedField) throw Error(ErrorCode::usage, "'tuned=' is followed by the name of a file", "launch: tuned");
    tuned = read_tuned_file(field.substr(kTunedField.size()));
  }
  families::LaunchChoice choice = families::read_launch(others);
  choice.tuned = std::move(tuned);
  return choice;
}

}  // namespace mx::support
