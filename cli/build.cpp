#include "cli/build.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "build_info.hpp"
#include "sim/io/file.hpp"

namespace mx::cli {

std::string build_name() {
  constexpr std::uint64_t kLargestProgram = std::uint64_t{1} << 30;
  // FNV-1a: it tells builds apart, it guards against nobody.
  std::uint64_t digest = 0xCBF29CE484222325U;
  for (const std::uint8_t byte : sim::read_file("/proc/self/exe", kLargestProgram)) digest = (digest ^ byte) * 0x100000001B3U;
  return fmt::format("build={:016x} commit={}", digest, MXACT_COMMIT);
}

}  // namespace mx::cli
