#pragma once
// Memory of the threads of a move, in whole lines.

#include <cstdint>
#include <vector>

namespace mx::kernels::relayout {

class ThreadMemory {
 public:
  /// `bytes` for each of `threads`.
  ThreadMemory(std::size_t bytes, int threads) : bytes_(bytes), memory_(bytes * static_cast<std::size_t>(threads) + kLine) {}

  /// Bytes that hold so many and what kernels may store beyond: up to a register.
  static std::size_t lines(std::size_t bytes) { return (bytes + kSpare + kLine - 1) / kLine * kLine; }

  std::uint8_t* of(int thread) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (kLine - address % kLine) % kLine + static_cast<std::size_t>(thread) * bytes_;
  }

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kSpare = 64;

  std::size_t bytes_;
  std::vector<std::uint8_t> memory_;
};

}  // namespace mx::kernels::relayout
