#pragma once
// All 2^32 fp32 patterns through one conversion, as one digest for each 2^24 of them: by the fast twin or by the model alone, in shards.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/convert.hpp"

namespace mx::sim {

inline constexpr int kSweepChunks = 256;
inline constexpr std::uint64_t kSweepChunkInputs = std::uint64_t{1} << 24;

/// Who computes.
enum class SweepBy {
  twin,   ///< kernels::sweep_digest
  model,  ///< mx::convert alone
};
std::string_view name_of(SweepBy by);

/// One conversion of fp32 and who computes it.
struct SweepSubject {
  const Format* to;
  Conversion how;
  SweepBy by;
};

/// Every choice of the subject in one line: two subjects with the same line have the same digests, made in the same way.
std::string identity(const SweepSubject& subject);

/// Digests by chunk; none where a chunk has not been swept. Chunk c holds the patterns from c * 2^24; its digest is that of golden/witness/FORMAT.md,
/// "mix64_sum".
using Digests = std::array<std::optional<std::uint64_t>, kSweepChunks>;

/// Throws Error(usage) for a stochastic conversion, Error(unsupported) when the twin is asked for one that it does not have.
void require_sweepable(const SweepSubject& subject);

/// Digest of one chunk, by the calling thread; the subject is sweepable.
std::uint64_t chunk_digest(int chunk, const SweepSubject& subject);

/// One of `count` parts of a sweep: the chunks c with c % count == index - 1.
struct Shard {
  int index = 1;  ///< 1 .. count
  int count = 1;

  bool has(int chunk) const { return chunk % count == index - 1; }
};
/// From "2/8". Throws Error(usage) naming text and rule.
Shard shard_from(const std::string& text);

/// What a running sweep tells and asks; called by one thread at a time.
struct SweepHooks {
  std::function<void(int chunk, std::uint64_t digest)> finished;
  std::function<bool()> stop;  ///< true: no further chunk is begun
};

/// Sweeps the shard's chunks that `digests` lacks, by all threads. Throws as require_sweepable does, and what `finished` throws.
void sweep(const SweepSubject& subject, const Shard& shard, Digests& digests, const SweepHooks& hooks);

/// The shard's chunks that have no digest.
std::vector<int> missing_chunks(const Digests& digests, const Shard& shard = {});

/// "3-7, 9 (fp32 0x03000000-0x07ffffff, 0x09000000-0x09ffffff)"
std::string chunks_text(const std::vector<int>& chunks);
/// "0x03000000-0x03ffffff"
std::string patterns_text(int chunk);

}  // namespace mx::sim
