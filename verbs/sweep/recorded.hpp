#pragma once
// Recorded digests of a sweep: a witness entry or a raw file, and writing one.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/sweep/sweep.hpp"

namespace mx::verbs {

struct RecordedSweep {
  std::string name;  ///< where it was read from
  std::array<std::uint64_t, sim::kSweepChunks> digests;
};

/// Digests from SET/ENTRY (a folder with a manifest.json, or that file, and the id of one of its sweep_digest entries) or from a raw file of 256
/// little-endian 64-bit words. Throws Error(input) when nothing of the kind is there, Error(usage) when the entry is of another target format or
/// another digest; a missing entry is answered with those that the set has.
RecordedSweep recorded_sweep(const std::filesystem::path& path, const Format& to);

/// The same raw file, through a temporary one. All digests must be there (a programmer's error otherwise). Throws as support::write_file does.
void write_sweep(const std::filesystem::path& path, const sim::Digests& digests, bool force);

/// Chunks that are known and differ from the record.
std::vector<int> differing_chunks(const sim::Digests& digests, const RecordedSweep& recorded);

}  // namespace mx::verbs
