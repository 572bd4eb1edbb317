#pragma once
// Which rules could have made such codes: rows of profiles, under rows that say how the base reached the quantizer and its result the file.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/maker/coded_matrix.hpp"
#include "model/numerics/profile.hpp"

namespace mx::checkpoint {

/// When a bridge is tried.
enum class BridgeUse : std::uint8_t {
  always,
  source_not_taken,  ///< where the recipe does not take the base's format
  nothing_fits,      ///< where no rule without it gives the codes
};

/// How a base reaches a quantizer. Whoever adds a row adds what it does here.
struct Bridge {
  std::string_view id;
  std::string_view text;  ///< behind "of this base"; empty: as it is
  const Format* to;       ///< every weight is converted to it first, to nearest even; null: to none
  BridgeUse use;
};
std::span<const Bridge> bridges();

/// A largest magnitude that the one scale of a tensor may have been made from.
struct Amax {
  std::uint32_t bits;     ///< of the source
  std::string_view text;  ///< "gate and up"; empty: the matrix's own
};

/// A rule with all that it takes.
struct Candidate {
  const Profile* profile;
  const Recipe* recipe;
  const Bridge* bridge;
  TensorScale tensor;
  std::size_t amax;       ///< of the amaxes that were given: the one that a scale of the whole matrix is made from
  bool given = false;     ///< its scale is that of the file
  std::string text = {};  ///< of the tensor's numbers; empty: those of the file

  const Format& source(const CodedMatrix& matrix) const { return bridge->to == nullptr ? *matrix.source : *bridge->to; }
  /// "of this base, rounded to bf16 first".
  std::string made_from() const;
};

/// Every rule that gives blocks of such a size with such elements, in the order of the profiles. `amaxes` of a matrix with one scale.
std::vector<Candidate> candidates(const CodedMatrix& matrix, std::span<const Amax> amaxes, BridgeUse use);

}  // namespace mx::checkpoint
