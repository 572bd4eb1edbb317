#pragma once
// The model's conversion, compiled for its target format, as a conversion under test.

#include "tests/proof/conversions.hpp"
#include "tests/proof/specialized.hpp"

namespace mx::tests {

inline Encoder specialized_encoder(const ConversionProof& proof) {
  const Conversion& how = proof.how;
  const PlainConversion plain{.rounding = static_cast<int>(how.rounding),
                              .overflow = static_cast<int>(how.overflow),
                              .nan_rule = static_cast<int>(how.nan_rule),
                              .flush = static_cast<int>(how.flush),
                              .nan_positive = how.nan_positive,
                              .nan_negative = how.nan_negative,
                              .zero_code = how.zero_code,
                              .negative_is_nan = how.negative_is_nan,
                              .random_bits = how.random_bits,
                              .random = proof.random};
  return [convert = specialized_convert(proof.to->name), plain](std::span<const std::uint32_t> patterns, std::span<std::uint32_t> codes) {
    convert(plain, patterns, codes);
  };
}

}  // namespace mx::tests
