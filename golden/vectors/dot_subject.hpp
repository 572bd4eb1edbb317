#pragma once
// A dot product under test: two sides of a length under a contract, what else may be computed of its products, and operands that tell these apart.

#include <functional>
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

/// Lanes of its operands: scales of a, a, scales of b, b.
struct DotSubject {
  SideFormat a, b;
  std::string contract_name;  ///< as it was asked for
  Contract contract;
  std::size_t length;

  std::size_t scales_of(const SideFormat& side) const { return side.scale == nullptr ? 0 : length / static_cast<std::size_t>(side.block); }
  std::size_t b_begins() const { return scales_of(a) + length; }
};

/// The code of 1 among scales: of an element format its own, of E8M0 127; 0 without scales.
std::uint32_t scale_of_one(const Format* scale);
/// The code with the other sign; itself where the format has none.
std::uint32_t negated(std::uint32_t code, const Format& format);

/// Another arithmetic for the same products, and how a coverage question calls it.
struct DotRival {
  std::string name;  ///< "a pairwise tree"
  int width = 0;     ///< of an alignment: the bits that are kept below the largest product
  std::function<std::uint32_t(const std::vector<Value>& products)> sum;
};
/// Those that a device may have in the contract's place: of exact sums and of chains of fp32, by formats whose scaled products are exact; else none.
std::vector<DotRival> dot_rivals(const DotSubject& subject);
/// Others, which the coverage does not ask for: products that have fewer bits before they are added.
std::vector<DotRival> short_product_rivals(const DotSubject& subject);
/// The exact scaled products; empty where one of them is no finite number.
std::vector<Value> products_of(const DotSubject& subject, Lanes operands);
/// Why the rival gives the same sum everywhere, as far as the formats say it.
std::string why_same_sum(const DotSubject& subject, const DotRival& rival);

/// Edition v1.1, operands to add: sums whose order, groups and widths show, NaNs and infinities in every place.
void deciding_dots(const DotSubject& subject, const std::function<void(Lanes operands)>& sink);

}  // namespace mx::golden
