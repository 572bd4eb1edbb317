#pragma once
// What several laws of layouts ask of one layout, and how they count what they asked.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "model/layout/layout.hpp"

namespace mx::props {

/// The four descriptions of one layout say the same; every address holds one element or padding, every element not sliced away has one address, of
/// repeated ones the first; a stack is made of parts that lie as they lie alone. Fails the running property otherwise.
void check_addresses(const layout::Layout& layout);
/// Where the layout has digits: they are a bijection and compute the addresses that the interpreter does.
void check_digits(const layout::Layout& layout);

/// The address that digits give, by their definition.
std::int64_t address_by_digits(const std::vector<layout::Digit>& digits, const layout::Coord& coord);
layout::Coord coord_of(std::int64_t index, const std::vector<layout::Axis>& axes);

/// The different shapes that a row was tried on, and how many of their elements were looked at.
class Tally {
 public:
  bool has(const std::string& shape) const { return shapes_.contains(shape); }
  void add(const std::string& shape, std::int64_t elements) {
    shapes_.insert(shape);
    elements_ += elements;
  }
  std::string text() const { return std::to_string(shapes_.size()) + " shapes, " + std::to_string(elements_) + " elements"; }

 private:
  std::set<std::string> shapes_;
  std::int64_t elements_ = 0;
};

}  // namespace mx::props
