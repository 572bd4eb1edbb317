#pragma once
// What P3109's operations compute in the closed extended reals (its auxiliary operations, written with an omega). For p3109.cpp.

#include <array>
#include <span>
#include <string_view>

#include "model/numerics/exact_real.hpp"

namespace mx::p3109 {

using Operands = std::array<Real, 3>;

/// A scalar operation: its name, how many operands it has, what it computes, and whether section 4.5 requires it, alone and of scaled numbers.
struct Function {
  std::string_view name;
  int arity;
  Real (*compute)(const Operands& x);
  bool required;
  bool required_scaled;
};
std::span<const Function> functions();

struct Comparison {
  std::string_view name;
  bool (*holds)(const Real& a, const Real& b);
  bool required;
};
std::span<const Comparison> comparisons();

/// The largest of what is finite, else of what is infinite, else NaN: reduce(MaximumFinite, ...).
Real maximum_finite(const Real& a, const Real& b);

}  // namespace mx::p3109
