#include "support/digest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "support/file.hpp"

// The functions as part of this file: there is no library to link.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mx::support {
namespace {

std::string text_of(XXH64_hash_t hash) { return fmt::format("xxh3:{:016x}", hash); }

}  // namespace

struct DigestStream::State {
  alignas(64) XXH3_state_t xxh3;
};

DigestStream::DigestStream() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }
DigestStream::~DigestStream() = default;
DigestStream::DigestStream(DigestStream&&) noexcept = default;
DigestStream& DigestStream::operator=(DigestStream&&) noexcept = default;
void DigestStream::add(std::span<const std::uint8_t> bytes) { XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size()); }
std::string DigestStream::text() const { return text_of(XXH3_64bits_digest(&state_->xxh3)); }

std::string digest_of(std::span<const std::uint8_t> bytes) { return text_of(XXH3_64bits(bytes.data(), bytes.size())); }
std::string digest_of(std::string_view text) { return text_of(XXH3_64bits(text.data(), text.size())); }

std::string digest_of_file(const std::filesystem::path& path) {
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  const MappedFile file(path);
  DigestStream digest;
  std::vector<std::uint8_t> piece(std::min(kPiece, file.bytes().size()));
  for (std::size_t done = 0; done < file.bytes().size(); done += piece.size()) {
    piece.resize(std::min(kPiece, file.bytes().size() - done));
    file.read(done, piece);
    digest.add(piece);
  }
  return digest.text();
}

}  // namespace mx::support
