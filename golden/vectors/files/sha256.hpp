#pragma once
// SHA-256, for manifests that other programs check. Source: FIPS 180-4, sections 4.1.2, 5.3.3 and 6.2.

#include <cstdint>
#include <span>
#include <string>

namespace mx::golden {

/// 64 lower-case hex digits.
std::string sha256(std::span<const std::uint8_t> bytes);

}  // namespace mx::golden
