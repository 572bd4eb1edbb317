#pragma once
// The conversions from fp32 that are proven: every element format with every rounding direction and overflow rule that it has.

#include <string>
#include <vector>

#include "model/numerics/convert.hpp"
#include "tests/proof/check.hpp"

namespace mx::test {

/// One row of the proof: the same conversion in the oracle's words and in the model's.
struct ConversionProof {
  std::string name;  ///< format/direction/overflow, and for formats without a sign what becomes of negative values
  const FormatFacts* facts;
  Mode mode;
  const Format* to;
  Conversion how;
};

/// Every row, format by format.
std::vector<ConversionProof> conversion_proofs();

/// The model as a conversion under test.
Encoder model_encoder(const Format& to, const Conversion& how);

/// Codes of the format whose decoded value, or whose NaN, differs from the one that the documents define (held in MPFR).
std::vector<std::uint32_t> wrong_decodes(const FormatFacts& facts);

}  // namespace mx::test
