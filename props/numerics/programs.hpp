#pragma once
// Quantizers of implementations as their sources have them, in the host's fp32 and for whole blocks: which element types and tensor scales they take,
// what becomes of NaNs, infinities, subnormals and zeros, and of scales at both ends. No row of the model is read and nothing of it is called.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "props/numerics/grid.hpp"

namespace mx::props::numerics {

enum class SourceType { f32, bf16, fp16 };

/// Numbers of the whole tensor: g, what is used for 1/g or a static scale, an upper bound on the largest magnitude.
struct TensorNumbers {
  std::optional<float> encode;
  std::optional<float> decode;
  std::optional<float> amax_bound;
};

struct ProgramInput {
  std::vector<float> x;
  SourceType type;   ///< what x was held in
  const Grid* grid;  ///< of the elements
  TensorNumbers tensor;
};

struct ProgramOutput {
  std::uint32_t scale;
  std::vector<std::uint32_t> codes;  ///< none where an implementation gives scales alone

  friend bool operator==(const ProgramOutput&, const ProgramOutput&) = default;
};

/// Whether a number of the tensor is refused, may be left out, or must be given.
enum class Take { no, may, must };

struct Program {
  std::string_view implementation;
  std::string_view profile;
  std::string_view formats;  ///< block formats, separated by blanks
  std::string_view sources;  ///< element types, likewise
  ProgramOutput (*run)(const ProgramInput& in);
  Take encode = Take::no;
  Take decode = Take::no;
  Take amax_bound = Take::no;
};

std::span<const Program> mx_programs();       ///< E8M0 scales
std::span<const Program> library_programs();  ///< of Python libraries, whatever their scales
std::span<const Program> bridge_programs();   ///< of exporters and compilers
std::span<const Program> scaled_programs();   ///< fp32 and E4M3 scales

// What programs share.

float number_of(std::uint32_t f32);
std::uint32_t bits_of(float number);
/// fp32 bits of the largest magnitude; a NaN is 0x7FC00000: of any NaN, or where they are ignored of nothing but NaNs.
std::uint32_t largest_of(const std::vector<float>& x, bool ignores_nan);
/// The nearest code, ties to even, the largest beyond it; NaNs are the caller's.
std::uint32_t saturated(const Grid& grid, float quotient);
/// The same, `nan` with the quotient's sign beyond the largest number.
std::uint32_t saturated_or_nan(const Grid& grid, float quotient, std::uint32_t nan);
/// The number as a variable of the type holds it.
float stored(float number, SourceType type);

}  // namespace mx::props::numerics
