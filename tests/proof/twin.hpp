#pragma once
// The fast twin as a conversion under test.

#include "kernels/sweep/encode.hpp"
#include "tests/proof/conversions.hpp"

namespace mx::test {

inline bool has_twin(const ConversionProof& proof) { return !proof.random && kernels::has_encode(*proof.to, proof.how); }

/// For rows that has_twin accepts.
inline Encoder twin_encoder(const ConversionProof& proof) {
  return [to = proof.to, how = proof.how](std::span<const std::uint32_t> patterns, std::span<std::uint32_t> codes) {
    kernels::encode(patterns, *to, how, codes);
  };
}

}  // namespace mx::test
