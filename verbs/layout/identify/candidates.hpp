#pragma once
// Everything that a tensor could have gone through: every building block with its versions and parameters, every backend's tensors in every setting.

#include <cstdint>
#include <span>
#include <vector>

#include "verbs/layout/subject.hpp"

namespace mx::verbs {

/// How the bytes of the canonical tensor are read: a stack of row-major matrices.
struct MatrixShape {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t cols;
  int unit_bits;
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

/// Every different program that takes such a matrix, with the first choice that gives it. Of a building block: each version and each combination of
/// parameters (the standard value, small ranges whole, else powers of two). Of a backend: each tensor of that shape, both row orders, gated or not,
/// each field of the setting tried alone from every program found and in pairs from the first, sizes as they are, rounded up by the engine, and the
/// next that the converter takes.
std::vector<Subject> candidates_for(const MatrixShape& matrix);

}  // namespace mx::verbs
