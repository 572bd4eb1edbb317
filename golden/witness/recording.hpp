#pragma once
// The bytes of a recording: of its file, or of FILE.gz (RFC 1952), as those of more than 256 KiB lie here.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace mx::golden {

/// The name that a recording has everywhere: without ".gz". A folder keeps its own.
std::filesystem::path recording_name(const std::filesystem::path& file);

/// True where the recording is there, as it is or compressed.
bool has_recording(const std::filesystem::path& file);

/// Whole content, inflated where FILE.gz alone is there. Throws Error(input) as support::read_file does, for more than `limit` bytes, which no
/// inflated byte goes beyond, and for a FILE.gz that is no single gzip member to its end.
std::vector<std::uint8_t> read_recording(const std::filesystem::path& file, std::uint64_t limit);

}  // namespace mx::golden
