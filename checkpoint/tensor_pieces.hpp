#pragma once
// A tensor's bytes, a piece of them at a time, and numbers that are counted in it.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/expert_tensors.hpp"

namespace mx::checkpoint {

/// Reads not through the mapping: another program may shorten the file.
class TensorPieces {
 public:
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;

  explicit TensorPieces(const FoundTensor& tensor) : file_(*tensor.at->file), view_(*tensor.at->view) {}

  std::uint64_t size() const { return view_.bytes.size(); }
  /// At most kPiece of them, until the next call. Throws as SafetensorsFile::read does.
  std::span<const std::uint8_t> at(std::uint64_t first, std::uint64_t count);
  /// All of them in order: `look(bytes, first)`.
  template <typename Look>
  void each(const Look& look) {
    for (std::uint64_t first = 0; first < size(); first += kPiece) look(at(first, std::min(kPiece, size() - first)), first);
  }
  /// Whether one of so many bytes has a bit of the mask.
  bool any(std::uint64_t first, std::uint64_t count, std::uint8_t mask);

 private:
  const support::SafetensorsFile& file_;
  const support::TensorView& view_;
  std::vector<std::uint8_t> held_;
  std::uint64_t begin_ = 0;
};

/// Numbers of one kind in a tensor.
struct Tally {
  std::int64_t count = 0;
  std::int64_t first = 0;
  void add(std::int64_t at) {
    if (count++ == 0) first = at;
  }
};

/// "[9, 0]": number `index` of a tensor of that shape; empty where it holds one.
std::string place_in(const std::vector<std::int64_t>& shape, std::int64_t index);

/// Whether a tensor holds one number.
bool holds_one(const FoundTensor& tensor);

}  // namespace mx::checkpoint
