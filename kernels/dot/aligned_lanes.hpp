// Rows side by side: one lane each, so that nothing is summed across lanes and no lane waits for another's last group. Every tier compiles this for
// itself (no include guard, all of it local), with MXACT_LANES as many lanes as its vectors of fp32 have. Each number here is exact until it is
// rounded on purpose, so all tiers have the same bits.

#include "kernels/dot/aligned_args.hpp"

namespace mx::kernels::dot {
namespace {

#define MXACT_LANES_INLINE inline __attribute__((always_inline))

/// Lanes of a vector of fp32 and of one of doubles.
constexpr size_t kWide = MXACT_LANES;
constexpr size_t kHalf = kWide / 2;

using Shorts = int16_t __attribute__((vector_size(kWide * sizeof(int16_t))));
using Ints = int32_t __attribute__((vector_size(kWide * sizeof(int32_t))));
using Floats = float __attribute__((vector_size(kWide * sizeof(float))));
using HalfShorts = int16_t __attribute__((vector_size(kHalf * sizeof(int16_t))));
using HalfInts = int32_t __attribute__((vector_size(kHalf * sizeof(int32_t))));
using HalfFloats = float __attribute__((vector_size(kHalf * sizeof(float))));
using Longs = int64_t __attribute__((vector_size(kHalf * sizeof(int64_t))));
using Doubles = double __attribute__((vector_size(kHalf * sizeof(double))));

constexpr int kF32Bias = 127;
constexpr int kF32Mantissa = 23;
constexpr int kDoubleBias = 1023;
constexpr int kDoubleMantissa = 52;
constexpr int kMagnitude = 0x7FFFFFFF;
/// Below every exponent.
constexpr int kNone = -30000;

template <class Vector, class Element>
MXACT_LANES_INLINE void load(Vector& into, const Element* from) {
  __builtin_memcpy(&into, from, sizeof into);
}

template <class Vector, class Element>
MXACT_LANES_INLINE void store(Element* into, const Vector& from) {
  __builtin_memcpy(into, &from, sizeof from);
}

#if MXACT_LANES == 16
#define MXACT_LOW_HALF 0, 1, 2, 3, 4, 5, 6, 7
#define MXACT_HIGH_HALF 8, 9, 10, 11, 12, 13, 14, 15
#elif MXACT_LANES == 8
#define MXACT_LOW_HALF 0, 1, 2, 3
#define MXACT_HIGH_HALF 4, 5, 6, 7
#else
#define MXACT_LOW_HALF 0, 1
#define MXACT_HIGH_HALF 2, 3
#endif

/// Both halves: by registers, since a sum that is stored inside a loop stays in memory.
MXACT_LANES_INLINE void split(HalfInts (&into)[2], const Ints& from) {
  into[0] = __builtin_shufflevector(from, from, MXACT_LOW_HALF);
  into[1] = __builtin_shufflevector(from, from, MXACT_HIGH_HALF);
}

/// 2^exponent, which is a normal number.
MXACT_LANES_INLINE void power_of_two(Floats& into, const Ints& exponent) { into = reinterpret_cast<Floats>((exponent + kF32Bias) << kF32Mantissa); }
MXACT_LANES_INLINE void power_of_two(Doubles& into, const Longs& exponent) {
  into = reinterpret_cast<Doubles>((exponent + kDoubleBias) << kDoubleMantissa);
}

/// Of fp32 numbers; of zeros kNone, of others at least `least`.
template <class Whole, class Number>
MXACT_LANES_INLINE void exponents_of(Whole& into, const Number& numbers, int least) {
  const Whole magnitude = reinterpret_cast<Whole>(numbers) & kMagnitude;
  const Whole exponent = (magnitude >> kF32Mantissa) - kF32Bias;
  into = magnitude == 0 ? Whole{} + kNone : (exponent < least ? Whole{} + least : exponent);
}

/// The largest nominal exponent of each lane's products in one group.
MXACT_LANES_INLINE void largest_exponent(Ints& into, const int16_t* lanes, const int16_t* row, size_t group) {
  Shorts largest = Shorts{} + static_cast<int16_t>(INT16_MIN);
  for (size_t k = 0; k < group; ++k) {
    Shorts lane;
    load(lane, lanes + k * kLanes);
    lane += row[k];
    largest = lane > largest ? lane : largest;
  }
  into = __builtin_convertvector(largest, Ints);
}

/// Adds each lane's products in units of 1 / to_unit, truncated, to the totals.
MXACT_LANES_INLINE void sum_in_units(Doubles (&totals)[2], const float* lanes, const float* row, size_t group, size_t chunk, const Floats& to_unit) {
  for (size_t first = 0; first < group; first += chunk) {
    const size_t end = first + chunk < group ? first + chunk : group;
    Ints sum = {};
    for (size_t k = first; k < end; ++k) {
      Floats product;
      load(product, lanes + k * kLanes);
      product *= row[k];
      product *= to_unit;
      sum += __builtin_convertvector(product, Ints);
    }
    HalfInts sums[2];
    split(sums, sum);
    for (size_t half = 0; half < 2; ++half) totals[half] += __builtin_convertvector(sums[half], Doubles);
  }
}

/// Rounded to fp16's grid, nearest even. A number is far below the one that is added and taken away.
MXACT_LANES_INLINE void rounded_to_fp16(Doubles& number) {
  constexpr int kLeast = -14;
  constexpr int kMantissa = 10;
  const Longs exponent = ((reinterpret_cast<Longs>(number) >> kDoubleMantissa) & 0x7FF) - kDoubleBias;
  const Longs unit = (exponent < kLeast ? Longs{} + kLeast : exponent) - kMantissa;
  Doubles large;
  power_of_two(large, unit + kDoubleMantissa);
  large *= 1.5;
  number += large;
  number -= large;
}

/// fp32 of a whole number of units, truncated to the kept bits.
MXACT_LANES_INLINE void truncated(Doubles& number, int kept_bits) {
  const int64_t kept = -(int64_t{1} << (kDoubleMantissa + 1 - kept_bits));
  number = reinterpret_cast<Doubles>(reinterpret_cast<Longs>(number) & kept);
}

/// Whole numbers toward zero: below 2^51 in magnitude.
MXACT_LANES_INLINE void whole(Doubles& number) {
  constexpr double kWhole = 4503599627370496.0;  // 2^52: above it a double has no fraction
  const Longs sign = reinterpret_cast<Longs>(number) & INT64_MIN;
  const Doubles magnitude = reinterpret_cast<Doubles>(reinterpret_cast<Longs>(number) & INT64_MAX);
  Doubles nearest = magnitude + kWhole;
  nearest -= kWhole;
  nearest = nearest > magnitude ? nearest - 1.0 : nearest;
  number = reinterpret_cast<Doubles>(reinterpret_cast<Longs>(nearest) | sign);
}

/// The group's result of half the lanes: from whole numbers of units, which become fp32 numbers.
MXACT_LANES_INLINE void finish_group(const AlignedArgs& args, Doubles& total, const HalfInts& unit, float* sums, Longs& given_up) {
  constexpr double kF16Overflow = 65536.0;
  Doubles to_number;
  power_of_two(to_number, __builtin_convertvector(unit, Longs));
  if (args.rounding == GroupRounding::fp16) {
    total *= to_number;
    rounded_to_fp16(total);
    given_up |= (total >= kF16Overflow) | (total <= -kF16Overflow);
  } else {
    truncated(total, args.kept_bits);
    total *= to_number;
  }
  store(sums, __builtin_convertvector(total, HalfFloats));
}

/// kWide of the lanes, from `lane` on.
MXACT_LANES_INLINE void aligned_vector(const AlignedArgs& args, size_t lane) {
  const int least_before = args.rounding == GroupRounding::fp16 ? -14 : -126;
  // A product lies below four times 2^exponent: so many fill 31 bits.
  const size_t chunk = size_t{1} << (29 - args.alignment_bits);
  Longs given_up[2] = {};
  for (size_t k = 0; k < args.length; k += args.group) {
    Floats before;
    load(before, args.sums + lane);
    Ints exponent, of_before;
    largest_exponent(exponent, args.lane_exponents + k * kLanes + lane, args.row_exponents + k, args.group);
    exponents_of(of_before, before, least_before);
    exponent = of_before > exponent ? of_before : exponent;
    exponent = exponent < args.least_exponent ? Ints{} + args.least_exponent : exponent;
    const Ints unit = exponent - args.alignment_bits;
    Floats to_unit;
    power_of_two(to_unit, -unit);
    const Floats in_units = before * to_unit;
    HalfInts starts[2], units[2];
    split(starts, __builtin_convertvector(in_units, Ints));
    split(units, unit);
    Doubles totals[2] = {__builtin_convertvector(starts[0], Doubles), __builtin_convertvector(starts[1], Doubles)};
    sum_in_units(totals, args.lanes + k * kLanes + lane, args.row + k, args.group, chunk, to_unit);
    for (size_t half = 0; half < 2; ++half) finish_group(args, totals[half], units[half], args.sums + lane + half * kHalf, given_up[half]);
  }
  for (size_t half = 0; half < 2; ++half) store(args.given_up + lane + half * kHalf, __builtin_convertvector(given_up[half], HalfInts));
}

MXACT_LANES_INLINE void aligned_lanes(const AlignedArgs& args) {
  for (size_t lane = 0; lane < kLanes; lane += kWide) aligned_vector(args, lane);
}

/// kHalf of the lanes, from `lane` on.
MXACT_LANES_INLINE void fp4_vector(const Fp4Args& args, size_t lane) {
  constexpr double kOfCodes = 0.25;  // both factors are twice what they stand for
  constexpr double kLargest = 0x1p127;
  constexpr double kLeast = 0x1p-126;
  HalfFloats sums;
  load(sums, args.sums + lane);
  Longs given_up = {};
  for (size_t first = 0; first < args.terms; first += args.group) {
    const size_t end = first + args.group < args.terms ? first + args.group : args.terms;
    HalfInts largest;
    exponents_of(largest, sums, -126);
    largest = largest < args.least_exponent ? HalfInts{} + args.least_exponent : largest;
    for (size_t term = first; term < end; ++term) {
      HalfInts exponent, places;
      load(exponent, args.lane_exponents + term * kLanes + lane);
      load(places, args.lane_places + term * kLanes + lane);
      exponent += args.row_exponents[term];
      places &= args.row_places[term];
      exponent = places == 0 ? HalfInts{} + kNone : exponent;
      largest = exponent > largest ? exponent : largest;
    }
    const Longs unit = __builtin_convertvector(largest, Longs) - args.alignment_bits;
    Doubles to_unit;
    power_of_two(to_unit, -unit);
    Doubles total = __builtin_convertvector(sums, Doubles) * to_unit;
    whole(total);
    for (size_t term = first; term < end; ++term) {
      HalfShorts products = {};
      for (size_t k = term * args.run; k < (term + 1) * args.run; ++k) {
        HalfShorts numbers;
        load(numbers, args.lanes + k * kLanes + lane);
        products += numbers * args.row[k];
      }
      Doubles scale;
      load(scale, args.lane_scales + term * kLanes + lane);
      Doubles sum = __builtin_convertvector(__builtin_convertvector(products, HalfInts), Doubles) * (scale * (args.row_scales[term] * kOfCodes));
      sum *= to_unit;
      whole(sum);
      total += sum;
    }
    truncated(total, args.kept_bits);
    Doubles to_number;
    power_of_two(to_number, unit);
    total *= to_number;
    const Doubles magnitude = reinterpret_cast<Doubles>(reinterpret_cast<Longs>(total) & INT64_MAX);
    given_up |= (magnitude >= kLargest) | ((magnitude < kLeast) & (magnitude != 0.0));
    const Doubles number = total + 0.0;
    sums = __builtin_convertvector(number, HalfFloats);
  }
  store(args.sums + lane, sums);
  store(args.given_up + lane, __builtin_convertvector(given_up, HalfInts));
}

MXACT_LANES_INLINE void fp4_lanes(const Fp4Args& args) {
  for (size_t lane = 0; lane < kLanes; lane += kHalf) fp4_vector(args, lane);
}

}  // namespace
}  // namespace mx::kernels::dot
