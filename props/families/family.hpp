#pragma once
// What the second opinion says of a family, as a record. families.cpp has the array of all of them.

#include <initializer_list>
#include <random>
#include <span>
#include <string_view>

#include "props/families/memory_formula.hpp"
#include "props/families/restated_takes.hpp"

namespace mx::props {

struct FamilyFormulas {
  std::string_view name;  ///< the folder's
  std::span<const BackendFormula> backends;
  const std::span<const Takes>* takes = nullptr;          ///< what its converters take and refuse
  const std::span<const BlockFormula>* blocks = nullptr;  ///< null: it has no building blocks of its own
  /// Draws what its converters alone look at, edges among it; null: they look at nothing else.
  void (*draw)(families::Setting& setting, std::mt19937& random) = nullptr;
};

/// One of the values that stand there.
int one_of(std::mt19937& random, std::initializer_list<int> values);

/// Every family.
std::span<const FamilyFormulas* const> all_family_formulas();

}  // namespace mx::props
