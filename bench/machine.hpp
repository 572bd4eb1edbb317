#pragma once
// What benchmarks need of the machine: memory in large pages, threads that stay where they are, and the rates that nothing can beat, measured when
// asked, since others may share the machine.

#include <cstddef>
#include <cstdint>
#include <span>

namespace mx::bench {

/// Memory of its own, at the begin of a large page where the system grants them, written once so that it is there.
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
  std::size_t bytes_;
  std::size_t reserved_;
  void* memory_;
  void* data_;
};

/// Pins each OpenMP thread of a team of `threads` to a processor of its own, from 0 on; the calling thread is the first.
void pin(int threads);

/// Bytes of the larger side that are moved before the other side has its turn: which is faster depends on how much of both there is.
inline constexpr std::size_t kLongStep = 4096;
inline constexpr std::size_t kShortStep = 512;

/// Reads all of `from` and writes all of `to` past the caches, in proportion, and computes nothing: the limit of any kernel that moves so many
/// bytes is the faster of both steps. Either side may be empty; both begin at a multiple of 64 bytes. Returns a sum of what was read.
std::uint64_t move(std::span<const std::byte> from, std::span<std::byte> to, int threads, std::size_t step);

/// Copies `bytes`, a multiple of 256, between buffers aligned to 64, with the widest non-temporal stores that the processor has.
void stream_copy(std::byte* target, const std::byte* source, std::size_t bytes);

/// Bytes per second that so many threads read from memory together, 256 MiB in all. One thread's seconds are its own processor time.
double memory_read(int threads);

/// Operations per second of so many threads at the same time (a multiplication and an addition are two), 0 where the processor lacks the instruction.
double bf16_dot_peak(int threads);      ///< VDPBF16PS, 512 bits
double bf16_tile_peak(int threads);     ///< TDPBF16PS, whole tiles
double int8_tile_peak(int threads);     ///< TDPBSSD, whole tiles of 32 of K
double int8_dot_peak(int threads);      ///< VPDPBUSD, 512 bits
double int8_block_peak(int threads);    ///< of four VPDPBUSD for each VSUBPS and VFMADD231PS, 512 bits
double int8_pair_peak(int threads);     ///< VPMADDUBSW, 256 bits, whose sums of two are yet to be added up
double f32_fma_peak(int threads);       ///< VFMADD231PS, 256 bits
double f32_wide_fma_peak(int threads);  ///< VFMADD231PS, 512 bits

}  // namespace mx::bench
