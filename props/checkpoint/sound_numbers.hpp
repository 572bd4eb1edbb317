#pragma once
// Numbers of a matrix as a quantizer writes them: the rules of many quantizers, from documents, apart from the model.

#include <cstdint>
#include <vector>

#include "props/checkpoint/sound_checkpoint.hpp"

namespace mx::props {

using SoundBytes = std::vector<std::uint8_t>;

/// A matrix of numbers, row by row.
struct SoundMatrix {
  std::int64_t rows, columns;
  std::vector<double> numbers;
};

/// Rules of a checkpoint, drawn once for all of it.
struct SoundRules {
  int powers = 0;             ///< of E8M0: 0 floor, 1 up, 2 even
  double largest = 448;       ///< of e4m3 codes: 240 on some hardware
  bool block_powers = false;  ///< scales of blocks in F32 are powers of two
  double zero_scale = 0;      ///< of a block of zeros, of block scales in e4m3
};

/// What a matrix becomes: a byte for each code, scales as the file has them, row by row.
struct Coded {
  std::int64_t rows = 0, columns = 0;
  SoundBytes codes;
  SoundBytes scales;
  std::int64_t scale_rows = 0, scale_columns = 0;
  double global = 1;
};

double amax_of(const SoundMatrix& matrix);
/// `amax` is that of the whole tensor, or of what shares its global scale.
Coded coded(const SoundMatrix& matrix, const SoundForm& form, const SoundRules& rules, double amax);

/// The code of a number in F32, in BF16 to nearest even; and a code's bytes.
std::uint32_t f32_code(double number);
std::uint32_t bf16_code(double number);
void put_code(SoundBytes& bytes, std::uint32_t code, std::size_t count);

}  // namespace mx::props
