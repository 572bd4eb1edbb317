#pragma once
// Digests of contents: XXH3 of 64 bits, as `xxhsum -H3` prints them.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mx::support {

/// "xxh3:0123456789abcdef"
std::string digest_of(std::span<const std::uint8_t> bytes);
std::string digest_of(std::string_view text);
/// Of a whole file, piece by piece. Throws Error(input) as MappedFile does.
std::string digest_of_file(const std::filesystem::path& path);

/// The digest of bytes that come one after the other.
class DigestStream {
 public:
  DigestStream();
  ~DigestStream();
  DigestStream(DigestStream&&) noexcept;
  DigestStream& operator=(DigestStream&&) noexcept;
  void add(std::span<const std::uint8_t> bytes);
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mx::support
