#include "cli/build.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "build_info.hpp"
#include "support/file.hpp"
#include "support/fnv1a.hpp"

namespace mx::cli {

std::string build_name() {
  constexpr std::uint64_t kLargestProgram = std::uint64_t{1} << 30;
  // It tells builds apart, it guards against nobody.
  support::Fnv1a digest;
  digest.add_bytes(support::read_file("/proc/self/exe", kLargestProgram));
  return fmt::format("build={:016x} commit={}", digest.value(), MXACT_COMMIT);
}

}  // namespace mx::cli
