#pragma once
// How much memory this machine has.

#include <unistd.h>

#include <cstdint>

namespace mx::support {

/// Bytes.
inline std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace mx::support
