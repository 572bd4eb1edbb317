#include "checkpoint/tensor_pieces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mx::checkpoint {

std::span<const std::uint8_t> TensorPieces::at(std::uint64_t first, std::uint64_t count) {
  if (first < begin_ || first + count > begin_ + held_.size()) {
    begin_ = first;
    held_.resize(static_cast<std::size_t>(std::min(kPiece, size() - first)));
    file_.read(view_, first, held_);
  }
  return std::span<const std::uint8_t>(held_).subspan(static_cast<std::size_t>(first - begin_), static_cast<std::size_t>(count));
}

bool TensorPieces::any(std::uint64_t first, std::uint64_t count, std::uint8_t mask) {
  for (const std::uint64_t end = first + count; first < end; first += kPiece) {
    const std::span<const std::uint8_t> bytes = at(first, std::min(kPiece, end - first));
    if (std::ranges::any_of(bytes, [&](std::uint8_t byte) { return (byte & mask) != 0; })) return true;
  }
  return false;
}

std::string place_in(const std::vector<std::int64_t>& shape, std::int64_t index) {
  if (std::ranges::all_of(shape, [](std::int64_t extent) { return extent == 1; })) return {};
  std::vector<std::int64_t> at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    at[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(at, ", "));
}

bool holds_one(const FoundTensor& tensor) {
  return std::ranges::all_of(tensor.at->view->shape, [](std::int64_t extent) { return extent == 1; });
}

}  // namespace mx::checkpoint
