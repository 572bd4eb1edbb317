#pragma once
// The relative error of a format along the real line: how far the nearest code is from a value, bin by bin of its logarithm.

#include <cstdint>
#include <string>
#include <vector>

namespace mx::sim {

inline constexpr int kErrorLineLowest = -17;  ///< the first bin begins at 2^this
inline constexpr int kErrorLineHighest = 16;  ///< the last one ends at 2^this
inline constexpr int kErrorLineBins = 16;     ///< in a power of two, equally wide
inline constexpr int kErrorLineSamples = 64;  ///< values tried in a bin, at equal distances from its beginning on

/// One format, rounded to nearest even, what is too large to its largest number.
struct ErrorLine {
  std::string format;
  std::vector<double> worst;  ///< of each bin, ascending: the largest |code's value - x| / x of the values tried
};

/// Of the element formats named, of every floating-point format of up to 8 bits with a sign when there is none. Throws Error(usage) for a name that
/// is not known or a format without such numbers.
std::vector<ErrorLine> error_lines(const std::vector<std::string>& formats);

}  // namespace mx::sim
