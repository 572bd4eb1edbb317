#pragma once
// The conversions from fp32 that are proven: every element format with every rounding direction and overflow rule that it has.

#include <string>
#include <vector>

#include "model/numerics/convert.hpp"
#include "tests/proof/check.hpp"

namespace mx::tests {

/// One row of the proof: the same conversion in the judge's words and in the model's.
struct ConversionProof {
  std::string name;  ///< format/direction/overflow, and for formats without a sign what becomes of negative values
  const FormatFacts* facts;
  Mode mode;
  const Format* to;
  Conversion how;
  Random random;  ///< of a stochastic direction
  bool further;   ///< beyond the five directions of IEEE 754 and E8M0's own two, saturating and not: worth proving, after the others
};

/// Every row without random bits, format by format.
std::vector<ConversionProof> conversion_proofs();

/// Every format with every stochastic direction, saturating, for a random number of so many bits; stochastic_add takes the 23 - mantissa bits
/// that the format leaves, and as many low bits of the random number.
std::vector<ConversionProof> stochastic_proofs(int bits, std::uint32_t random);

/// The model's side of a row.
Encoder model_encoder(const ConversionProof& proof);

/// Codes of the format whose decoded value, or whose NaN, differs from the one that the documents define (held in MPFR).
std::vector<std::uint32_t> wrong_decodes(const FormatFacts& facts);

}  // namespace mx::tests
