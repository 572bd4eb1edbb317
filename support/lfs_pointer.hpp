#pragma once
// What Git leaves in the place of a large file that was not fetched.

#include <cstdint>
#include <span>
#include <string>

namespace mx::support {

/// What such a file is, with the command that fetches it; empty for any other. Source: git-lfs/git-lfs docs/spec.md, the pointer.
std::string lfs_pointer_text(std::span<const std::uint8_t> bytes);

}  // namespace mx::support
