#pragma once
// The fast twin as a conversion under test.

#include "kernels/encode.hpp"
#include "tests/proof/check.hpp"

namespace mx::test {

/// For conversions that kernels::has_encode accepts.
inline Encoder twin_encoder(const Format& to, const Conversion& how) {
  return [&to, how](std::span<const std::uint32_t> patterns, std::span<std::uint32_t> codes) { kernels::encode(patterns, to, how, codes); };
}

}  // namespace mx::test
