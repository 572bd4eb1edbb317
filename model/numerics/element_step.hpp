#pragma once
// What block recipes have in common: the largest magnitude of a block, and the one fp32 operation that scales an element before it is encoded.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/numerics/block.hpp"

namespace mx {

/// What a NaN in a block does to its largest magnitude.
enum class AmaxNan {
  propagates,  ///< the largest magnitude is NaN (torch.amax)
  ignored,     ///< the largest of the numbers; NaN only when there is none (fmaxf, Triton's max, __hmax2)
};

/// The 16- and 32-bit formats that a recipe takes its elements from.
struct Sources {
  bool f32;
  bool bf16;
  bool fp16;

  friend bool operator==(const Sources&, const Sources&) = default;
};
/// True for one of them.
bool holds(const Sources& sources, const Format& source);
inline constexpr Sources kAnySource{true, true, true};
inline constexpr Sources kHalfSources{false, true, true};

enum class ElementOperation {
  exact,        ///< the element times the factor, rounded once into the element format
  multiply,     ///< element * factor in fp32
  divide,       ///< element / factor in fp32
  divide_full,  ///< the same by an NVIDIA device's div.full
};

/// The sign of a NaN that the operation makes, where the conversion tells NaNs apart by their sign.
enum class NanSign {
  positive,       ///< one canonical NaN (NVIDIA processors)
  element_first,  ///< the element's own NaN, else the factor's; that of an invalid operation is negative (x86 SSE, element as first operand)
  factor_first,   ///< the factor's NaN, else the element's; that of an invalid operation is negative (x86 SSE, factor as first operand)
};

/// Which zeros lose their sign.
enum class ZeroSign {
  kept,
  lost_before_rounding,      ///< a quotient of -0 becomes +0; a negative number that rounds to zero stays -0 (sign(x) * round(|x|))
  lost,                      ///< every zero is +0
  negative_before_rounding,  ///< a quotient of 0 becomes -0; a number that rounds to zero keeps its sign
};

/// How one element becomes a code, given the factor that its block's scale stands for.
struct ElementStep {
  ElementOperation operation;
  NanSign nan_sign;
  ZeroSign zero_sign;
  bool flush_subnormals;  ///< subnormal elements and quotients are zeros (-use_fast_math)
  /// Rounding to nearest is floor(q + 0.5) in fp32, q in units of the result: the largest q below one half, where the sum is a tie, becomes 1.
  bool half_is_added;
  /// Truncation to the unit of the binade floor(log2(|q|)), the logarithm rounded to fp32: just below a power of two the unit is twice the format's.
  bool unit_by_log2;
  bool in_source_type;  ///< the result of the operation is rounded to the source's type
  Conversion encode;

  friend bool operator==(const ElementStep&, const ElementStep&) = default;
};

/// Bits of the largest magnitude as fp32; a NaN is 0x7FC00000. At least one element.
std::uint32_t largest_magnitude(std::span<const std::uint32_t> f32, AmaxNan nans);

/// fp32 bits of a block's elements. Throws Error(usage) that names a source which the recipe for `block_format` does not take.
std::vector<std::uint32_t> widened(std::span<const std::uint32_t> x, const Format& source, const Sources& taken, std::string_view block_format);

/// Throws Error(usage) for any scale of the tensor or bound on amax: recipes whose blocks stand alone take none.
void require_no_tensor_scale(const TensorScale& tensor, std::string_view block_format);

/// Code of one fp32 element that came from a tensor of `source`, and what happened when the scaled value was rounded. `factor` is fp32 bits: positive
/// or NaN.
std::uint32_t encode_element(std::uint32_t x, std::uint32_t factor, const Format& format, const ElementStep& step, const Format& source,
                             Flags& flags);
/// The same of a tensor of fp32.
std::uint32_t encode_element(std::uint32_t x, std::uint32_t factor, const Format& format, const ElementStep& step);

/// A number as a variable of that type holds it: rounded to nearest even, Inf above its range; a NaN as it is.
std::uint32_t held_in(const Format& type, std::uint32_t f32);

/// The largest integer that is not above a finite fp32 number of magnitude below 2^24.
int floor_of(std::uint32_t f32);

/// A subnormal becomes a zero of its sign.
std::uint32_t flushed(std::uint32_t f32);

}  // namespace mx
