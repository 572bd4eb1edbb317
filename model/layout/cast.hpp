#pragma once
// How the value of a unit changes on the way into memory: one row per transform, each a function of one unit's bits. What a transform loses follows
// from its values: two units that become one cannot be told apart again.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mx::layout {

/// One transform. Units of at most 16 bits go in, units of `to_bits` come out.
struct Cast {
  std::string_view name;  ///< "bf16_to_f32"
  int from_bits;          ///< 0: any width, kept (the identity)
  int to_bits;            ///< 0 with the identity
  std::uint64_t (*make)(std::uint64_t unit);
  std::string_view summary;

  bool keeps() const { return from_bits == 0; }  ///< the identity
};

/// The way back through a cast: a table over all its units, made once.
class Uncast {
 public:
  explicit Uncast(const Cast& cast);
  /// The unit that becomes `value`, of several the smallest; none when no unit does.
  std::optional<std::uint64_t> operator()(std::uint64_t value) const;
  /// Whether no other unit becomes what `unit` becomes.
  bool is_recoverable(std::uint64_t unit) const;
  /// Whether that holds of every unit.
  bool is_lossless() const;

 private:
  struct Entry {
    std::uint64_t value;
    std::uint64_t unit;
  };
  std::size_t first_at_or_above(std::uint64_t value) const;

  const Cast& cast_;
  std::vector<Entry> entries_;  // by value, then unit; empty for the identity
};

extern const Cast kKeep;  ///< the identity

}  // namespace mx::layout
