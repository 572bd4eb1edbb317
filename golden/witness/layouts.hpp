#pragma once
// The form layout-vectors/2: what real converters did with known input.

#include <filesystem>
#include <vector>

#include "golden/witness/fields.hpp"
#include "golden/witness/witness.hpp"

namespace mx::golden {

/// Runs every entry. Throws Error(input) when the manifest or a file breaks the form.
SetResult run_layout_set(const std::filesystem::path& directory, const Json& manifest, const WitnessOptions& options);

/// The input bytes of generated entries: byte i is the low byte of splitmix64(seed + (i + 1) * golden ratio).
std::vector<std::uint8_t> generated_bytes(std::uint64_t seed, std::int64_t count);

/// FNV-1a, 64 bits.
std::uint64_t fnv1a64(std::span<const std::uint8_t> bytes);

}  // namespace mx::golden
