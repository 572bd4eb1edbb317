// Memory of large results. A block that nothing refers to any more is kept for the next result: the kernel clears fresh pages in as much time as a
// quantizer takes to fill them.

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "python/module/core.hpp"

namespace mx::python {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kMostKept = std::size_t{1} << 28;

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

struct Block {
  std::unique_ptr<void, Free> memory;
  std::size_t bytes = 0;
};

std::mutex mutex;
Block kept;

/// The kept block where it is as large, and not twice as large; else a fresh one.
Block taken(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex);
    if (kept.bytes >= bytes && kept.bytes / 2 <= bytes) return std::exchange(kept, {});
  }
  const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  Block block{std::unique_ptr<void, Free>(std::aligned_alloc(kHugePage, whole)), whole};
  if (block.memory == nullptr) throw std::bad_alloc();
  madvise(block.memory.get(), whole, MADV_HUGEPAGE);
  return block;
}

void give_back(void* given) noexcept {
  Block block = std::move(*static_cast<Block*>(given));
  delete static_cast<Block*>(given);
  if (block.bytes > kMostKept) return;
  const std::lock_guard lock(mutex);
  std::swap(kept, block);
}

/// Bytes whose content is not defined.
nb::object room(std::size_t bytes) {
  auto block = std::make_unique<Block>(taken(bytes));
  void* const memory = block->memory.get();
  const nb::capsule owner(block.release(), give_back);
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(memory, {bytes}, owner));
}

}  // namespace

void bind_room(nb::module_& module) { module.def("room", room, nb::arg("bytes")); }

}  // namespace mx::python
