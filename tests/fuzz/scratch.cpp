#include <fcntl.h>
#include <unistd.h>

#include "tests/fuzz/target.hpp"

namespace mx::tests {

ScratchFolder::ScratchFolder() {
  const std::filesystem::path memory = "/dev/shm";
  const std::filesystem::path base = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  path_ = base / ("mxact-fuzz-" + std::to_string(getpid()));
  std::filesystem::create_directories(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path ScratchFolder::write(std::string_view name, const std::uint8_t* data, std::size_t size) const {
  std::filesystem::path path = path_ / name;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  require(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size) && close(file) == 0, "the scratch folder can be written");
  return path;
}

}  // namespace mx::tests
