#pragma once
// Dequantizers of implementations as their sources have them, said in the host's double and fp32: how a scale is read, in which type scale and
// product are held, what becomes of what is out of range. No row of the model is read and nothing of it is called.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "props/numerics/programs.hpp"

namespace mx::props::numerics {

struct BackInput {
  double element;       ///< NaN and Inf where the format has them
  std::uint32_t scale;  ///< its code, or fp32 bits
  SourceType target;
  TensorNumbers tensor;
};

struct BackProgram {
  std::string_view implementation;
  std::string_view profile;
  std::string_view formats;
  std::string_view targets;
  std::uint32_t (*run)(const BackInput& in);  ///< the target's code; a NaN is the positive quiet one
  Take encode = Take::no;
  Take decode = Take::no;
};

std::span<const BackProgram> back_programs();

/// The number of a code.
double element_number(const Grid& grid, std::uint32_t code);

}  // namespace mx::props::numerics
