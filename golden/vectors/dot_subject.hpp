#pragma once
// A dot product under test: two sides of a length under a contract, what else may be computed of its products, and operands that tell these apart.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"
#include "model/numerics/dot.hpp"

namespace mx::golden {

/// One side: elements of a format, with or without block scales.
struct SideFormat {
  std::string_view name;
  const Format* element;
  const Format* scale;  ///< null: none
  int block;
};

/// Lanes of its operands: scales of a, a, scales of b, b, C where it has one.
struct DotSubject {
  SideFormat a, b;
  std::string contract_name;  ///< as it was asked for
  Contract contract;
  std::size_t length;
  bool has_c;  ///< operand C, fp32, where the contract lets it enter

  std::size_t scales_of(const SideFormat& side) const { return side.scale == nullptr ? 0 : length / static_cast<std::size_t>(side.block); }
  std::size_t b_begins() const { return scales_of(a) + length; }
  std::size_t lanes() const { return b_begins() + scales_of(b) + length + (has_c ? 1U : 0U); }
  std::optional<std::uint32_t> c_of(Lanes operands) const { return has_c ? std::optional(operands.back()) : std::nullopt; }
};

/// Both sides as a contract takes them.
struct DotSides {
  PreparedOperand a, b;
};
DotSides prepared(const DotSubject& subject, const ContractRow& row, Lanes operands);
/// The dot product of the lanes under a contract, C included; and what it would be without C.
std::uint32_t dot_of(const DotSubject& subject, const ContractRow& row, Lanes operands);
std::uint32_t dot_without_c(const DotSubject& subject, const ContractRow& row, Lanes operands);

/// Exponent of the leading bit of a finite value.
int top_exponent(const Value& value);
/// The code of 1 among scales: of an element format its own, of E8M0 127; 0 without scales.
std::uint32_t scale_of_one(const Format* scale);
/// The code with the other sign; itself where the format has none.
std::uint32_t negated(std::uint32_t code, const Format& format);

/// Another arithmetic for the same products, and how a coverage question calls it.
struct DotRival {
  std::string name;  ///< "a pairwise tree"
  int width = 0;     ///< of an alignment: the bits that are kept below the largest product
  std::function<std::uint32_t(const std::vector<Value>& products, std::optional<std::uint32_t> c)> sum;
};
/// Those that a device may have in the contract's place: of exact sums and of chains of fp32, by formats whose scaled products are exact; else none.
std::vector<DotRival> dot_rivals(const DotSubject& subject);
/// Others, which the coverage does not ask for: products that have fewer bits before they are added.
std::vector<DotRival> short_product_rivals(const DotSubject& subject);
/// The exact scaled products; empty where one of them is no finite number.
std::vector<Value> products_of(const DotSubject& subject, Lanes operands);
/// That sums are exact in fp32 in any order, in words; empty where they may not be. Scales at the lower end of their range are looked at by the
/// vectors.
std::string why_short(const DotSubject& subject);
/// Why the rival gives the same sum everywhere, as far as the formats say it.
std::string why_same_sum(const DotSubject& subject, const DotRival& rival);

/// Edition v1.1, operands to add: sums whose order, groups and widths show, NaNs and infinities in every place.
void deciding_dots(const DotSubject& subject, const std::function<void(Lanes operands)>& sink);

}  // namespace mx::golden
