#pragma once
// What lies in the place of a safetensors file: what Git leaves of a large one that was not fetched, and files of other kinds.

#include <cstdint>
#include <span>
#include <string>

namespace mx::support {

/// What such a file is, with the command that fetches it; empty for any other. Source: git-lfs/git-lfs docs/spec.md, the pointer.
std::string lfs_pointer_text(std::span<const std::uint8_t> bytes);

/// What a file is by its first bytes, where they are no length of a header: "is a GGUF file, not safetensors"; empty for none that is known. Sources:
/// ggml docs/gguf.md; PKWARE APPNOTE 4.3.7; HDF5 file format II.A; numpy.lib.format.
std::string other_file_text(std::span<const std::uint8_t> bytes);

}  // namespace mx::support
