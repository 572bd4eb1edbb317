#pragma once
// What benchmarks need of the machine: memory in large pages, threads that stay where they are, and the rate that nothing can beat.

#include <cstddef>
#include <cstdint>
#include <span>

namespace mx::bench {

/// Memory of its own, in large pages where the system grants them, written once so that it is there.
class Memory {
 public:
  explicit Memory(std::size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  template <class Word>
  std::span<Word> words() const {
    return {static_cast<Word*>(data_), bytes_ / sizeof(Word)};
  }

 private:
  void* data_;
  std::size_t bytes_;
};

/// Pins each OpenMP thread of a team of `threads` to a processor of its own, from 0 on; the calling thread is the first.
void pin(int threads);

/// Reads all of `from` and writes all of `to` past the caches, in proportion, and computes nothing: the limit of any kernel that moves so many
/// bytes. Either may be empty. Returns a sum of what was read.
std::uint64_t move(std::span<const std::byte> from, std::span<std::byte> to, int threads);

}  // namespace mx::bench
