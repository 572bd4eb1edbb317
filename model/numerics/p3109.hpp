#pragma once
// Operations of IEEE P3109 (draft 4.0 of 26 June 2026) on any of its formats, scalar and on blocks, by the text of a specialization:
// "Add<Binary8p4se, Binary8p4se, Binary8p3se, (NearestTiesToEven, SatNone)>". The text says its result whole; nothing else is asked.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/convert.hpp"
#include "model/numerics/rule_words.hpp"

namespace mx::p3109 {

/// What its operands and parameters are.
enum class Kind {
  scalar,               ///< of 1 to 3 numbers, rounded into a format
  comparison,           ///< of 2 numbers: 0 or 1
  predicate,            ///< of a number: 0 or 1
  neighbour,            ///< of a number: one of the same format
  fact,                 ///< of a format: a whole number
  number_of_format,     ///< of a format: one of its numbers
  block,                ///< a scalar operation on the elements of blocks; the last operand is the result's scale
  scaled,               ///< of blocks of one element; no scale comes out
  from_block,           ///< a scale and its elements
  to_block,             ///< elements, and the scale that they get
  to_block_by_largest,  ///< elements; the scale comes first in the result
  reduction,            ///< a scale and its elements: one number
  dot,                  ///< two blocks: one number
};

struct Operation {
  std::string name;  ///< "Add", "BlockAdd", "ScaledAdd"
  Kind kind;
  int arity;      ///< numbers or blocks
  bool required;  ///< of section 4.5, of conforming implementations
};
/// In the order of the document.
std::span<const Operation> all_operations();

using rules::Saturation;

/// A rounding with a saturation, as (StochasticA8, SatFinite): N random bits stand behind a stochastic one's name.
struct Projection {
  Rounding rounding;
  Saturation saturation;
  int random_bits = 0;

  friend bool operator==(const Projection&, const Projection&) = default;
};
/// Names of all of them, for declarations.
std::span<const std::string_view> rounding_names();
std::span<const std::string_view> saturation_names();

/// An operation with all its parameters. Formats stand in the order of its signature.
struct Specialization {
  const Operation* operation;
  int block = 1;
  std::vector<const Format*> formats;
  std::vector<Projection> projections;
};

/// Formats of P3109 by name, any case, and binary32, binary16, BFloat16. Throws Error(usage) for an unknown word, for another number of parameters
/// than the signature has, and for a format that the operation is not of; with what is expected.
Specialization specialization_of(std::string_view text);
/// As the document writes it. Read again, it is the same.
std::string text_of(const Specialization& specialization);
/// "Binary8p3se", "binary32".
std::string name_of(const Format& format);

/// The format of each operand, and of each number of the result; null for a truth value or a whole number. In the order of the signature, a block's
/// elements one after the other.
std::vector<const Format*> operands_of(const Specialization& specialization);
std::vector<const Format*> results_of(const Specialization& specialization);

/// The defined result. `random`: of stochastic roundings one number for each of the result, in their order; else none. Exact, rounded once; one zero
/// and one NaN, no flags. Of facts SignednessOf is 1 of unsigned, DomainOf 1 of extended formats. Throws Error(usage) for another number of operands
/// or random numbers, and for a code that is none of its format. Source: P3109 4.0 sections 4.7 to 4.16 and 5.
std::vector<std::uint32_t> evaluate(const Specialization& specialization, std::span<const std::uint32_t> operands,
                                    std::span<const std::uint32_t> random = {});

}  // namespace mx::p3109
