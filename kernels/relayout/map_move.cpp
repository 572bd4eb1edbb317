// Moves of layouts that are not made of digits: along their address map, neighbours together.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kernels/relayout/move.hpp"
#include "model/error.hpp"
#include "model/layout/grains.hpp"

namespace mx::kernels::relayout {
namespace {

using layout::AddressMap;
using layout::Layout;

/// Addresses that are looked at together: whole bytes for every width of grains.
constexpr std::int64_t kChunk = 4096;
using Entries = std::array<std::int64_t, kChunk>;

std::span<std::int64_t> read_chunk(const AddressMap& map, std::int64_t first, Entries& entries) {
  const auto chunk = std::span(entries).first(static_cast<std::size_t>(std::min(kChunk, map.size() - first)));
  map.read(first, chunk);
  return chunk;
}

/// How many entries from `at` on count up one by one.
std::size_t run_at(std::span<const std::int64_t> entries, std::size_t at) {
  std::size_t length = 1;
  while (at + length < entries.size() && entries[at + length] == entries[at] + static_cast<std::int64_t>(length)) ++length;
  return length;
}

class MapMove : public Move {
 public:
  explicit MapMove(const Layout& layout) : map_(layout), bits_(layout.grain_bits()), grains_(layout.cosize()) {}
  std::string_view kind() const override { return "address map"; }
  std::string_view kernel() const override { return "portable"; }
  std::size_t memory() const override { return sizeof(*this); }

 protected:
  AddressMap map_;
  int bits_;
  std::int64_t grains_;
};

class IntoLayout final : public MapMove {
 public:
  using MapMove::MapMove;

  void run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const override {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t first = 0; first < grains_; first += kChunk) {
      Entries entries;
      const std::span<std::int64_t> chunk = read_chunk(map_, first, entries);
      for (std::size_t i = 0; i < chunk.size();) {
        const auto address = first + static_cast<std::int64_t>(i);
        const std::size_t length = chunk[i] < 0 ? 1 : run_at(chunk, i);
        if (chunk[i] < 0) {
          layout::set_grain(target, address, bits_, layout::pad_grain(chunk[i], address, bits_, 0));
        } else {
          layout::copy_grains(source, chunk[i], target, address, static_cast<std::int64_t>(length), bits_);
        }
        i += length;
      }
    }
  }
};

class OutOfLayout final : public MapMove {
 public:
  explicit OutOfLayout(const Layout& layout) : MapMove(layout), repeats_(layout.repeats()), size_(layout.size()) {}

  /// Neighbours in memory may be parts of one byte of the tensor: one thread writes them all.
  void run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int) const override {
    if (repeats_) check_copies(source);
    std::ranges::fill(target, std::uint8_t{0});
    Entries entries;
    for (std::int64_t first = 0; first < grains_; first += kChunk) {
      const std::span<std::int64_t> chunk = read_chunk(map_, first, entries);
      for (std::size_t i = 0; i < chunk.size();) {
        const std::size_t length = chunk[i] < 0 ? 1 : run_at(chunk, i);
        if (chunk[i] >= 0)
          layout::copy_grains(source, first + static_cast<std::int64_t>(i), target, chunk[i], static_cast<std::int64_t>(length), bits_);
        i += length;
      }
    }
  }

 private:
  void check_copies(std::span<const std::uint8_t> source) const {
    std::vector<std::int64_t> firsts(static_cast<std::size_t>(size_), -1);
    Entries entries;
    for (std::int64_t first = 0; first < grains_; first += kChunk) {
      const std::span<std::int64_t> chunk = read_chunk(map_, first, entries);
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        if (chunk[i] < 0) continue;
        const auto address = first + static_cast<std::int64_t>(i);
        std::int64_t& known = firsts[static_cast<std::size_t>(chunk[i])];
        if (known < 0) known = address;
        if (layout::get_grain(source, known, bits_) == layout::get_grain(source, address, bits_)) continue;
        throw Error(ErrorCode::input, "the copies of element " + std::to_string(chunk[i]) + " differ: see address " + std::to_string(address));
      }
    }
  }

  bool repeats_;
  std::int64_t size_;
};

}  // namespace

std::unique_ptr<Move> map_move(const Layout& to) { return std::make_unique<IntoLayout>(to); }
std::unique_ptr<Move> map_move_back(const Layout& from) { return std::make_unique<OutOfLayout>(from); }

}  // namespace mx::kernels::relayout
