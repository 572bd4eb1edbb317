#pragma once
// Numbers of a file, rounded to fewer bits.

namespace mx::checkpoint {

/// To nearest even with `bits` significant bits, in steps of 2^least at the smallest; any exponent above. Every step is a power of two: exact. Zeros,
/// infinities and NaN stay.
double nearest_even(double value, int bits, int least);

/// To the nearest FP16 number, even at ties; beyond the largest one Inf.
double nearest_fp16(double value);

/// Likewise BF16.
double nearest_bf16(double value);

}  // namespace mx::checkpoint
