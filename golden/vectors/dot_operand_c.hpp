#pragma once
// Operand C of a dot product: what a vector is about, where else a device may add it, and operands that show it.

#include <functional>
#include <string>
#include <vector>

#include "golden/vectors/dot_subject.hpp"
#include "support/random.hpp"

namespace mx::golden {

/// Bins of the question what C does; and the one of a vector, counted from 1, 0: none.
std::vector<std::string> operand_c_bins();
std::uint8_t operand_c_bin(std::uint32_t c, std::uint32_t result, std::uint32_t without_c);

/// Another place for C or the sum before, and how a coverage question calls it.
struct OperandCRival {
  std::string name;  ///< "C added last"
  std::function<std::uint32_t(const DotSubject& subject, Lanes operands)> sum;
};
/// Those that the contract's steps leave open; where the subject has no C, those of the sum before.
std::vector<OperandCRival> operand_c_rivals(const DotSubject& subject);
/// Why the rival gives the same sum everywhere, as far as the contract and the formats say it.
std::string why_same_place(const DotSubject& subject, const OperandCRival& rival);
/// What else a device may do with C: leave it out, shorten it.
std::vector<WrongRule> operand_c_rules(const DotSubject& subject);

/// The C for one of the other directed vectors: about its sum, far above it, far below it, and special ones, by turns.
std::uint32_t c_beside(std::uint32_t sum, std::size_t turn);
/// A random C about the sum.
std::uint32_t random_c(std::uint32_t sum, support::SplitMix64& random);
/// Operands to add: every special C beside no product, one, and two that cancel; sums that show when C is added.
void deciding_operand_c(const DotSubject& subject, const std::function<void(Lanes operands)>& sink);

}  // namespace mx::golden
