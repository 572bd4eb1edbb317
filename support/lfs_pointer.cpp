#include "support/lfs_pointer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace mx::support {

std::string lfs_pointer_text(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kBegin = "version https://git-lfs.github.com/spec/", kSize = "\nsize ";
  constexpr std::size_t kLongest = 1024;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kLongest));
  if (!text.starts_with(kBegin)) return {};
  const std::size_t at = text.find(kSize);
  std::string_view size = at == std::string_view::npos ? std::string_view() : text.substr(at + kSize.size());
  size = size.substr(0, size.find_first_not_of("0123456789"));
  return fmt::format("is a Git LFS pointer{}, not the weights: `git lfs pull` in its directory fetches them",
                     size.empty() ? "" : fmt::format(" to a file of {} bytes", size));
}

std::string other_file_text(std::span<const std::uint8_t> bytes) {
  struct Kind {
    std::string_view begin;
    std::string_view is;
  };
  constexpr std::array kKinds{Kind{"GGUF", "a GGUF file"}, Kind{"PK\x03\x04", "a zip archive, as torch.save and numpy.savez write"},
                              Kind{"{", "JSON text"}, Kind{"\x89HDF\r\n", "an HDF5 file"}, Kind{"\x93NUMPY", "an array of NumPy"}};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto kind = std::ranges::find_if(kKinds, [&](const Kind& row) { return text.starts_with(row.begin); });
  return kind == kKinds.end() ? std::string() : fmt::format("is {}, not safetensors", kind->is);
}

}  // namespace mx::support
