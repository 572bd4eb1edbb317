#include "model/numerics/comparison.hpp"

#include <array>

#include "model/numerics/rounding.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

constexpr auto kLess = static_cast<std::uint8_t>(Relation::less), kEqual = static_cast<std::uint8_t>(Relation::equal),
               kGreater = static_cast<std::uint8_t>(Relation::greater), kUnordered = static_cast<std::uint8_t>(Relation::unordered);

constexpr std::array kPredicates{Predicate{"quiet-equal", kEqual, false},
                                 Predicate{"quiet-not-equal", kLess | kGreater | kUnordered, false},
                                 Predicate{"quiet-less", kLess, false},
                                 Predicate{"quiet-less-equal", kLess | kEqual, false},
                                 Predicate{"quiet-greater", kGreater, false},
                                 Predicate{"quiet-greater-equal", kGreater | kEqual, false},
                                 Predicate{"quiet-not-less", kGreater | kEqual | kUnordered, false},
                                 Predicate{"quiet-greater-unordered", kGreater | kUnordered, false},
                                 Predicate{"quiet-not-greater", kLess | kEqual | kUnordered, false},
                                 Predicate{"quiet-less-unordered", kLess | kUnordered, false},
                                 Predicate{"quiet-unordered", kUnordered, false},
                                 Predicate{"quiet-ordered", kLess | kEqual | kGreater, false},
                                 Predicate{"signalling-equal", kEqual, true},
                                 Predicate{"signalling-not-equal", kLess | kGreater | kUnordered, true},
                                 Predicate{"signalling-less", kLess, true},
                                 Predicate{"signalling-less-equal", kLess | kEqual, true},
                                 Predicate{"signalling-greater", kGreater, true},
                                 Predicate{"signalling-greater-equal", kGreater | kEqual, true},
                                 Predicate{"signalling-not-less", kGreater | kEqual | kUnordered, true},
                                 Predicate{"signalling-greater-unordered", kGreater | kUnordered, true},
                                 Predicate{"signalling-not-greater", kLess | kEqual | kUnordered, true},
                                 Predicate{"signalling-less-unordered", kLess | kUnordered, true}};

int sign_of(const Value& value) { return value.cls == ValueClass::zero ? 0 : value.negative ? -1 : 1; }

/// Whether the magnitude of a nonzero value is above that of another.
bool is_larger(const Value& a, const Value& b) {
  if (a.cls == ValueClass::infinity || b.cls == ValueClass::infinity) return a.cls != b.cls && a.cls == ValueClass::infinity;
  return rounding::exceeds(a, b);
}

}  // namespace

Relation relation(const Value& a, const Value& b) {
  if (a.cls == ValueClass::nan || b.cls == ValueClass::nan) return Relation::unordered;
  const int sign = sign_of(a);
  if (sign != sign_of(b)) return sign < sign_of(b) ? Relation::less : Relation::greater;
  if (sign == 0 || (!is_larger(a, b) && !is_larger(b, a))) return Relation::equal;
  return is_larger(a, b) == (sign > 0) ? Relation::greater : Relation::less;
}

std::span<const Predicate> all_predicates() { return kPredicates; }

const Predicate& predicate_named(std::string_view name) { return rows::named(kPredicates, "predicate", name); }

bool compare(const Predicate& predicate, std::uint32_t a, const Format& of_a, std::uint32_t b, const Format& of_b, IeeeFlags& flags) {
  const Relation found = relation(decode(of_a, a), decode(of_b, b));
  flags.invalid |= (found == Relation::unordered && predicate.signals) || is_signalling(a, of_a) || is_signalling(b, of_b);
  return (predicate.holds & static_cast<std::uint8_t>(found)) != 0;
}

}  // namespace mx
