#include "support/lfs_pointer.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace mx::support
