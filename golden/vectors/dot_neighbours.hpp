#pragma once
// The contract's neighbours: records with one field or two other than the contract's, what tells them from it, and why nothing does.

#include <functional>
#include <string>
#include <vector>

#include "golden/vectors/dot_subject.hpp"

namespace mx::golden {

/// A contract beside the one under test.
struct DotNeighbour {
  std::string change;  ///< "align=24", of two "align=24:keep=23"
  Contract contract;
};

/// Whether the subject's contract has neighbours here: records and the rows of tensor_core_contracts(). The contracts of the first editions have the
/// rivals of dot_rivals(), and vectors that stay.
bool has_neighbours(const DotSubject& subject);
/// Those with one other field. None without has_neighbours().
std::vector<DotNeighbour> dot_neighbours(const DotSubject& subject);
/// Those with two of the fields that devices get wrong: what `ver` tries besides.
std::vector<DotNeighbour> second_neighbours(const DotSubject& subject);

/// True where the neighbour's answer has other bits.
bool is_told(const DotSubject& subject, const DotNeighbour& neighbour, Lanes operands, std::uint32_t right);
/// Operands that tell each neighbour from the contract, a few each, found by a search that always takes the same way.
void deciding_neighbours(const DotSubject& subject, const std::function<void(Lanes operands)>& sink);
/// Why the neighbour gives the same everywhere, as far as fields and formats say it; else empty.
std::string why_same_neighbour(const DotSubject& subject, const DotNeighbour& neighbour);

}  // namespace mx::golden
