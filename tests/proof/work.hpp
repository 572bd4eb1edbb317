#pragma once
// The rows of all proofs, and doing what is left of them.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/proof/check.hpp"
#include "tests/proof/state.hpp"

namespace mx::tests {

inline constexpr std::string_view kConversions = "conversions";  ///< the model's conversions against the thresholds
inline constexpr std::string_view kFurther = "further";  ///< the same for rarer ways: ties toward zero, HIP overflow, flushing, payloads, random bits
inline constexpr std::string_view kTwin = "twin";        ///< the fast twin's conversions, likewise
inline constexpr std::string_view kFunctions = "functions";  ///< the model's elementary functions against MPFR

/// Likewise of mxact_kernels_proof.
inline constexpr std::string_view kVectors = "vectors";        ///< the functions' kernels against MPFR
inline constexpr std::string_view kQuantizers = "quantizers";  ///< the quantizers' kernels against the model: a chunk has 2^24 elements
inline constexpr std::string_view kThresholds = "thresholds";  ///< their tables of scales against the model's rules: a chunk has 2^24 magnitudes

/// A row of the proof.
struct ProofRow {
  std::string kind;
  std::string name;
  std::function<ChunkResult(std::uint32_t)> check;
  std::function<std::size_t()> thresholds;  ///< how many places there are where the output changes; empty where there are none
  std::uint32_t chunks = kChunks;
  std::string tier = {};  ///< of the twin: the instruction sets whose kernel is checked
};

/// What state files call a chunk of the row: with the tier, so that what one tier did never counts for another one.
ChunkKey key_of(const ProofRow& row, std::uint32_t chunk);

/// Every row of every kind; of the twin by the tier in use. Throws what kernels::isa_tier() throws.
std::vector<ProofRow> all_rows();

/// Part `part` of `parts`, from 1: every parts-th chunk.
struct Shard {
  std::uint32_t part = 1;
  std::uint32_t parts = 1;
};
/// "i/n". Throws Error(usage) for anything else.
Shard shard_of(const std::string& text);

struct Outcome {
  std::uint64_t selected = 0;  ///< chunks of the rows and the shard
  std::uint64_t run = 0;       ///< of these, the ones that were not in the state
  std::uint64_t wrong = 0;     ///< inputs of all selected chunks
};

/// Checks the chunks of the rows that `known` does not hold, with all OpenMP threads; `done` is called for each, by one thread at a time.
Outcome run_rows(const std::vector<ProofRow>& rows, const Shard& shard, const Results& known,
                 const std::function<void(const ChunkKey&, const ChunkResult&)>& done);

}  // namespace mx::tests
