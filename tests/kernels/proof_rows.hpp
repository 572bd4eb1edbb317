#pragma once
// What mxact_kernels_proof compares, in chunks that can be spread over machines and taken up again (tests/proof/work.hpp).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/isa.hpp"
#include "tests/kernels/codec_cases.hpp"
#include "tests/proof/work.hpp"

namespace mx::tests {

using Tiers = std::vector<const kernels::IsaTier*>;
using Wanted = std::function<bool(const std::string&)>;

/// Rows of one recipe: 256 chunks each, the last one what is left. A chunk has 2^24 elements.
struct QuantizerProof {
  std::string name;
  std::uint64_t blocks_per_chunk;
  std::vector<ProofRow> rows;
};

/// At least `blocks` blocks of each wanted recipe that a kernel knows (of squares, which have 16384 elements each, one for 256 of others), drawn,
/// quantized by the model once and by the kernels of every tier, and compared. A chunk's wrong inputs are the elements of batches that differ.
std::vector<QuantizerProof> quantizer_proofs(std::uint64_t blocks, const Tiers& tiers, const Wanted& wanted);

/// All 2^32 arguments of each wanted function: the kernels of every tier against the correctly rounded result (tests/proof/functions.hpp), which
/// shares nothing with the model.
std::vector<ProofRow> function_proofs(const Tiers& tiers, const Wanted& wanted);

}  // namespace mx::tests
