#pragma once
// Random numbers and view programs for the laws of layouts.

#include <rapidcheck.h>

#include <cstdint>
#include <vector>

#include "model/layout/packed.hpp"

namespace mx::props {

/// What random programs are made of.
struct ProgramKind {
  bool carry_free;  ///< extents are powers of two and no step pads, slices or tabulates: a digit normal form must exist
  bool slices;      ///< steps may drop elements
};

/// A number in [low, high], all equally likely whatever RapidCheck's size, shrinking to low.
std::int64_t pick(std::int64_t low, std::int64_t high);

/// Passes over as many random numbers as rows of a table came before: all rows draw from the same ones, and would try the same shapes.
void skip_draws(std::size_t rows);

/// A random small tensor and program of up to 8 steps; fewer than 20,000 grains of memory.
layout::Layout random_program(const ProgramKind& kind);

/// Appends up to `count` random steps that the kind allows.
void random_steps(layout::Layout& layout, const ProgramKind& kind, std::int64_t count);

/// `count` random bytes.
std::vector<std::uint8_t> random_bytes(std::int64_t count);

/// An MXFP4 layer of random bytes.
layout::CanonicalLayer random_layer(const layout::Sizes& sizes, layout::SourceOrder order);

}  // namespace mx::props
