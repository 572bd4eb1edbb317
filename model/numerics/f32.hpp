#pragma once
// fp32 arithmetic on bit patterns: the operations that IEEE 754 defines exactly, and correctly rounded elementary functions.
// A NaN result is always 0x7FC00000, since processors differ in what they return. add, sub, mul, div, fma and sqrt use the processor's operations:
// they are nearest even with subnormals in the default floating-point environment, which environment_is_default() checks. Everything else is integer.

#include <cstdint>
#include <string>

namespace mx::f32 {

inline constexpr std::uint32_t kNan = 0x7FC00000U;
inline constexpr std::uint32_t kOne = 0x3F800000U;
inline constexpr std::uint32_t kSign = 0x80000000U;

/// True when this thread rounds to nearest even and keeps subnormals (no FTZ, no DAZ): what loading a library built with fast-math can change.
bool environment_is_default();

std::uint32_t add(std::uint32_t a, std::uint32_t b);  ///< bits of a + b, rounded once to nearest even
std::uint32_t sub(std::uint32_t a, std::uint32_t b);  ///< bits of a - b, rounded once to nearest even
std::uint32_t mul(std::uint32_t a, std::uint32_t b);  ///< bits of a * b, rounded once to nearest even
std::uint32_t div(std::uint32_t a, std::uint32_t b);  ///< bits of a / b, rounded once to nearest even
/// a * b + c, rounded once.
std::uint32_t fma(std::uint32_t a, std::uint32_t b, std::uint32_t c);

/// Total order on numbers: true when a < b (-0 equals +0; false when either is NaN).
bool less(std::uint32_t a, std::uint32_t b);
bool is_nan(std::uint32_t a);

/// The bits for people: "0x7fc00000".
std::string text(std::uint32_t bits);

/// min and max that keep a NaN (the rule of torch.clamp); of equal operands (+0 and -0) the first.
std::uint32_t min(std::uint32_t a, std::uint32_t b);
std::uint32_t max(std::uint32_t a, std::uint32_t b);

/// Square root, nearest even (IEEE 754); of a negative number NaN, of -0 -0.
std::uint32_t sqrt(std::uint32_t x);

// Elementary functions, correctly rounded to nearest even for every one of the 2^32 inputs; integer arithmetic only.

/// e^x. exp(-Inf) = +0, exp(+Inf) = +Inf.
std::uint32_t exp(std::uint32_t x);
/// 2^x. exp2(-Inf) = +0, exp2(+Inf) = +Inf.
std::uint32_t exp2(std::uint32_t x);
/// log2 x. log2(+-0) = -Inf, of a negative number NaN, log2(+Inf) = +Inf, log2(1) = +0.
std::uint32_t log2(std::uint32_t x);
/// ln(1 + x). log1p(-1) = -Inf, below -1 NaN, log1p(+-0) = +-0, log1p(+Inf) = +Inf.
std::uint32_t log1p(std::uint32_t x);
/// tanh x. tanh(+-0) = +-0, tanh(+-Inf) = +-1.
std::uint32_t tanh(std::uint32_t x);
/// The error function. erf(+-0) = +-0, erf(+-Inf) = +-1.
std::uint32_t erf(std::uint32_t x);

}  // namespace mx::f32
