#pragma once
// Which known layout turns this tensor into that buffer.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verbs/layout/identify/candidates.hpp"
#include "verbs/layout/identify/plain.hpp"

namespace mx::verbs {

/// A candidate held against the buffer.
struct Match {
  Choice choice;
  std::int64_t compared;  ///< addresses whose content the layout determines: elements and written padding
  std::int64_t equal;

  double share() const { return compared == 0 ? 0 : static_cast<double>(equal) / static_cast<double>(compared); }
};

/// An address at which the buffer is not what a layout makes.
struct WrongPlace {
  std::int64_t address;
  std::string where;    ///< "address 35, byte 17 bit 4"
  std::string content;  ///< what belongs there: "batch=0 rows=3 cols=5", "padding, zero"
  std::uint64_t wanted;
  std::uint64_t found;
};

struct Identification {
  std::vector<MatrixShape> read_as;        ///< how the canonical bytes were read
  std::optional<PlainOrder> plain;         ///< tried first: the tensor's own order
  std::int64_t tried = 0;                  ///< programs whose memory has the buffer's size
  std::int64_t known = 0;                  ///< programs that take such a tensor
  std::vector<std::vector<Match>> groups;  ///< exact matches; those of a group put every element at the same place
  std::vector<Match> partial;              ///< the best others, when nothing matches exactly and the order is no plain one
  std::vector<WrongPlace> wrong;           ///< the first that the best of them does not explain, where it explains nearly all

  bool constant = false;  ///< every byte of the tensor is the same: any rearrangement would match

  bool is_exact() const { return !groups.empty(); }
  bool is_ambiguous() const { return groups.size() > 1 || (is_exact() && constant); }  ///< the data cannot tell
};

/// How the bytes of a tensor can be read: from its shape (none: raw) and element bits, or from `shape` and `unit_bits` where given ("" and 0: not).
/// Elements of 8 bits may be two of 4. Throws Error(usage) when nothing says the shape, or when the bytes do not fit it.
std::vector<MatrixShape> matrices_of(std::span<const std::int64_t> tensor_shape, int element_bits, std::size_t bytes, const std::string& shape,
                                     int unit_bits);

/// Holds every candidate against the buffer. `progress` is told the share done.
Identification identify(std::span<const std::uint8_t> canonical, std::span<const MatrixShape> matrices, std::span<const std::uint8_t> packed,
                        const std::function<void(double)>& progress);

}  // namespace mx::verbs
