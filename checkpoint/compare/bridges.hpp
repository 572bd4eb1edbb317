#pragma once
// What is known to happen to numbers between two files: a tool takes the codes, and not the scale that counts for them.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/compare/scaled_codes.hpp"

namespace mx::checkpoint {

/// A bridge. Whoever adds a row says what it does, and which tool and version does it.
struct KnownBridge {
  std::string_view id;
  std::string_view text;
  std::string_view tool;  ///< with its version; empty: none is known that does so
  bool (*may)(const ScaledCodes& codes);
  /// The scale that it takes for the code at a row and column.
  double (*scale)(const ScaledCodes& codes, std::int64_t row, std::int64_t column);
};
std::span<const KnownBridge> known_bridges();

/// "448 / 127: an int8 scale taken for one of FP8", where a tool is known that makes all scales so many times larger, or smaller; else empty.
std::string known_ratio(double ratio);

/// Numbers of a file that holds them as they are.
struct PlainCopy {
  int bits;  ///< significant ones: 24 (F32), 8 (BF16), 11 (FP16)
  std::function<void(std::int64_t first, std::span<double> out)> read;
};
/// The first bridge under which all of a copy are these codes; empty: none of them.
std::string bridge_between(const ScaledCodes& codes, const PlainCopy& copy, const std::function<void()>& check);

}  // namespace mx::checkpoint
