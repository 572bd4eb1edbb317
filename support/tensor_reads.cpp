#include "support/tensor_reads.hpp"

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "support/rescue.hpp"

namespace mx::support {
namespace {

/// Between two questions whether to go on.
constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;

/// Part of a tensor.
struct Piece {
  const TensorRead* tensor;
  std::uint64_t begin;
};

}  // namespace

void read_tensors(std::span<const TensorRead> tensors, const StopPoint& stop) {
  std::vector<Piece> pieces;
  for (const TensorRead& tensor : tensors) {
    for (std::uint64_t begin = 0; begin < tensor.to.size(); begin += kPiece) pieces.push_back({&tensor, begin});
  }
  Rescue rescue;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (rescue.has_one()) continue;
    rescue.run([&] {
      stop.check();
      const auto& [tensor, begin] = pieces[i];
      const std::uint64_t size = std::min<std::uint64_t>(kPiece, tensor->to.size() - begin);
      tensor->from.file->read(*tensor->from.view, begin, tensor->to.subspan(begin, size));
    });
  }
  rescue.rethrow();
}

void ReadAhead::start(std::vector<TensorPlace> tensors) {
  stop();
  stopped_ = false;
  try {
    thread_ = std::thread([this, held = std::move(tensors)] {
      for (const TensorPlace& tensor : held) {
        for (std::uint64_t begin = 0; begin < tensor.view->bytes.size(); begin += kPiece) {
          if (stopped_) return;
          tensor.file->expect(*tensor.view, begin, std::min<std::uint64_t>(kPiece, tensor.view->bytes.size() - begin));
        }
      }
    });
  } catch (const std::system_error&) {
    // No thread to be had: everything is read when its turn comes.
  }
}

void ReadAhead::stop() {
  stopped_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace mx::support
