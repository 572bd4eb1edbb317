#pragma once
// A layout is a value: a view program from a logical tensor to memory.
//
// The logical tensor has named axes and units of a few bits (4 for an fp4 element, 8 for a scale, 16 or 32 for a bias). The program's
// steps change the view; what the last view lists row-major is the memory, in ascending address order. Addresses count *grains*: the
// smallest units the program speaks of (the logical unit, or what Explode made of it). Byte = address * grain_bits / 8.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/layout/step.hpp"

namespace mx::layout {

using Coord = std::vector<std::int64_t>;

/// One digit of the normal form: index / weight % radix of a logical axis contributes (digit or, when flipped, radix-1-digit) * stride.
struct Digit {
  int axis;
  std::int64_t radix;
  std::int64_t weight;  ///< value of this digit within its axis: the product of the radices of the lower digits of the axis
  std::int64_t stride;  ///< in grains
  bool flipped;
  friend bool operator==(const Digit&, const Digit&) = default;
};

/// What lies at an address.
struct Place {
  std::optional<Coord> coord;             ///< the logical element, or none for padding
  PadContent content = PadContent::zero;  ///< of padding
};

class Layout {
 public:
  /// The identity: row-major memory of the logical tensor. Extents must be positive, their product below 2^62; unit_bits 1..64.
  Layout(std::vector<Axis> logical, int unit_bits);

  // Steps, appended in order. Each checks its domain and throws Error(usage) naming the axis, the extent and the rule.
  Layout& split(std::string_view axis, std::int64_t inner, std::string outer_name, std::string inner_name);
  Layout& merge(std::span<const std::string_view> axes, std::string name);
  Layout& merge(std::initializer_list<std::string_view> axes, std::string name);
  Layout& permute(std::initializer_list<std::string_view> axes);
  Layout& permute(std::span<const std::string_view> axes);
  Layout& flip(std::string_view axis);
  Layout& pad(std::string_view axis, std::int64_t extent, PadContent content);
  Layout& slice(std::string_view axis, std::int64_t begin, std::int64_t length);
  Layout& explode(int bits, std::string axis_name);  ///< refused after pack and after neutral padding, which both speak of whole units
  Layout& pack();
  Layout& table(std::string_view axis, std::vector<std::int64_t> source);
  Layout& repeat(std::string_view axis, std::int64_t times);

  const std::vector<Axis>& logical() const;  ///< axes of the logical tensor (with the axes that Explode added at the end)
  const std::vector<Axis>& view() const;     ///< axes after the last step, without those that Pack took into the unit
  const std::vector<Step>& steps() const;
  int unit_bits() const;   ///< bits of a logical unit before any Explode
  int grain_bits() const;  ///< bits that one address counts

  std::int64_t size() const;    ///< grains of the logical tensor
  std::int64_t cosize() const;  ///< grains of memory, padding included
  std::int64_t bytes() const;   ///< memory in bytes; cosize * grain_bits must be a multiple of 8

  /// Address of a logical element (of a repeated one: its first place), or none when a Slice dropped it. Throws Error(usage) out of range.
  std::optional<std::int64_t> at(std::span<const std::int64_t> coord) const;
  /// What lies at an address. Throws Error(usage) when it is out of range.
  Place inverse(std::int64_t address) const;
  bool is_padding(std::int64_t address) const;
  /// Whether elements have several places, of which `at` names the first.
  bool repeats() const;

  /// Digit normal form, digits sorted by stride; none when a step carries (a pad in mid-chain, a split across a digit) or is a Table or Slice.
  std::optional<std::vector<Digit>> digits() const;

  /// The layout of the first `length` indices of the first axis where memory is a stack of such parts, each of whole bytes: no step acts on that
  /// axis, which stays the slowest one. None where a step may; throws Error(usage) unless the length divides the axis.
  std::optional<Layout> part_of_stack(std::int64_t length) const;

  /// The program as text, one step a line.
  std::string describe() const;

  /// A layout's whole address map, cached by callers that walk a tensor: for every address the row-major index of the logical grain,
  /// kPadZero, kPadNeutral or kPadUnwritten. Large tensors are better read in pieces: AddressMap in model/layout/address_map.hpp.
  static constexpr std::int64_t kPadZero = -1;
  static constexpr std::int64_t kPadUnwritten = -2;
  static constexpr std::int64_t kPadNeutral = -3;
  std::vector<std::int64_t> gather() const;

  /// Axes that steps()[index] acts on, the packed ones last; at index steps().size() the axes of memory.
  const std::vector<Axis>& axes_before(std::size_t index) const;

 private:
  int axis_named(std::string_view name, std::string_view step) const;
  Layout& append(Step step, std::vector<Axis> after);

  std::vector<Axis> logical_;
  std::vector<Axis> view_;
  std::vector<Step> steps_;
  std::vector<std::vector<Axis>> views_;  // views_[i]: axes before steps_[i], packed ones last
  int unit_bits_;
  int grain_bits_;
};

/// True when the digits are a bijection onto [0, product of radices): sorted by stride, each stride is the product of the radices before it, and
/// likewise the weights within each axis.
bool is_bijection(std::span<const Digit> digits);

/// Moves a tensor through layouts: `source` bytes in layout `from` -> bytes in layout `to`. Both have the same logical axes and grain.
/// Padding gets its content; unwritten bytes become `poison`. Throws Error(usage) when sizes disagree or when `from` does not hold
/// every logical element.
std::vector<std::uint8_t> apply(const Layout& from, std::span<const std::uint8_t> source, const Layout& to, std::uint8_t poison = 0);

}  // namespace mx::layout
