#pragma once
// The fast twin as a conversion under test.

#include "kernels/sweep/encode.hpp"
#include "tests/proof/conversions.hpp"

namespace mx::tests {

inline bool has_twin(const ConversionProof& proof) { return !proof.random && kernels::has_encode(*proof.to, proof.how); }

/// For rows that has_twin accepts, on one tier.
inline Encoder twin_encoder(const ConversionProof& proof, const kernels::IsaTier& tier = kernels::isa_tier()) {
  return [to = proof.to, how = proof.how, tier = &tier](std::span<const std::uint32_t> patterns, std::span<std::uint32_t> codes) {
    kernels::encode(patterns, *to, how, codes, *tier);
  };
}

}  // namespace mx::tests
