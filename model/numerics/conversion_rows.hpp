#pragma once
// How a table of casts is put together: targets with what becomes of them, for each source. For conversion_profiles.cpp.

#include <array>
#include <cstddef>

#include "model/numerics/profile.hpp"

namespace mx {

/// A target with what becomes of it, whatever the source.
struct Target {
  const Format* to;
  Conversion how;
};

/// One row for each source and target.
template <std::size_t S, std::size_t T>
constexpr std::array<ConversionRow, S * T> rows_of(const Format* const (&sources)[S], const Target (&targets)[T]) {
  std::array<ConversionRow, S * T> rows{};
  for (std::size_t i = 0; i < S * T; ++i) rows[i] = {sources[i / T], targets[i % T].to, targets[i % T].how};
  return rows;
}

/// Tables one after the other.
template <std::size_t... N>
constexpr std::array<ConversionRow, (N + ...)> joined(const std::array<ConversionRow, N>&... tables) {
  std::array<ConversionRow, (N + ...)> rows{};
  std::size_t end = 0;
  const auto append = [&](const auto& table) {
    for (const ConversionRow& row : table) rows[end++] = row;
  };
  (append(tables), ...);
  return rows;
}

/// The same rows for a source that is rounded to fp32 first.
template <std::size_t N>
constexpr std::array<ConversionRow, N> through_f32(const Format& source, std::array<ConversionRow, N> rows) {
  for (ConversionRow& row : rows) {
    row.from = &source;
    row.how.before.through = &kF32;
  }
  return rows;
}

}  // namespace mx
