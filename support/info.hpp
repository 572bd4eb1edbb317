#pragma once
// Our own configuration files: Boost property_tree INFO through one strict reader. A key that nobody asked for is an error.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mx::support {

class Json;

/// Bounds of a configuration file.
inline constexpr std::uint64_t kLargestInfoFile = 1 << 20;  ///< bytes
inline constexpr int kDeepestInfoBlock = 8;

/// One node of a parsed file. A smaller language than INFO: keys are plain names and unique within their block, `#include` and continued lines are
/// refused, a block has no value of its own. Every read marks the key as known; `finish` rejects the keys that nobody read.
/// All errors are Error(input) naming file, line, the dotted key, the value and the rule; a misspelt key names the nearest known one.
class InfoNode {
 public:
  /// Throws Error(input) as read_file does, and for what INFO or the rules above forbid.
  static InfoNode load(const std::filesystem::path& path);
  static InfoNode parse(std::string_view text, const std::string& where);
  /// The same of a nested object: a member is a block, text, a number or a flag. Rules and errors are those of a file; what has no line is placed in
  /// `where` alone.
  static InfoNode of(const Json& object, const std::string& where);

  /// The block of that name.
  std::optional<InfoNode> child(std::string_view key) const;
  /// All keys of this node with their blocks, in the order of the file, marked as read (for open sets whose keys are data).
  std::vector<std::pair<std::string, InfoNode>> blocks() const;
  bool has(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::string text_or(std::string_view key, std::string_view fallback) const;
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high) const;
  std::int64_t integer_or(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  /// One of the given names, case, '-' and '_' ignored; returns the known spelling.
  std::string choice_or(std::string_view key, std::string_view fallback, std::span<const std::string_view> known) const;
  /// All keys of this node with their values, marked as read (for open sets such as env).
  std::vector<std::pair<std::string, std::string>> entries() const;

  /// "file.info:12"; of a key that is not there, the place of this block.
  std::string where() const;
  std::string where(std::string_view key) const;
  /// Throws when this node or any node below it has a key that was never read.
  void finish() const;

 private:
  struct Impl;
  explicit InfoNode(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace mx::support
