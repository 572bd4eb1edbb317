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

/// A row's name in state files: without spaces, and with the tiers that were compared.
std::string row_name(std::string name, const Tiers& tiers);

/// Rows of one recipe: 256 chunks each, the last one what is left. A chunk has 2^24 elements.
struct QuantizerProof {
  std::string name;
  std::uint64_t blocks_per_chunk;
  std::vector<ProofRow> rows;
};

/// At least `blocks` blocks of each wanted recipe that a kernel knows (of squares, which have 16384 elements each, one for 256 of others), drawn,
/// quantized by the model once and by the kernels of every tier, and compared. A chunk's wrong inputs are the elements of batches that differ.
std::vector<QuantizerProof> quantizer_proofs(std::uint64_t blocks, const Tiers& tiers, const Wanted& wanted);

/// All magnitudes that a source has, 2^31 of fp32 and 2^15 of halves, for each wanted recipe whose scales the kernels look up: the scale and what the
/// elements meet are the model's, or the group is left to it. With the numbers of tensor_scale_for(needs, 0).
struct ThresholdProof {
  ProofRow row;
  std::uint64_t left;  ///< finite magnitudes of these that the table leaves to the model
};
std::vector<ThresholdProof> threshold_proofs(const Wanted& wanted);

/// All 2^32 arguments of each wanted function: the kernels of every tier against the correctly rounded result (tests/proof/functions.hpp), which
/// shares nothing with the model.
std::vector<ProofRow> function_proofs(const Tiers& tiers, const Wanted& wanted);

}  // namespace mx::tests
