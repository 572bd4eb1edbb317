#include "model/numerics/device.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <span>

#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/value.hpp"

namespace mx::device {
namespace {

constexpr int kMantissaBits = 23;
constexpr std::uint32_t kMantissa = 0x007FFFFFU;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kSmallestNormal = 0x00800000U;
constexpr std::uint32_t kFractions = 1U << kMantissaBits;

/// Of one segment, in units of the last place of a result: `start` quarters, `slope` a segment's length, `bend` the square of it.
struct Segment {
  std::int32_t start, slope, bend;
};

/// 2^f in segments of f / 64.
constexpr std::array<Segment, 64> kEx2{{
    {33554435, 90852, 494},  {33919818, 91840, 501},  {34289182, 92840, 506},  {34662565, 93852, 511},  {35040018, 94872, 518},
    {35421577, 95908, 521},  {35807292, 96952, 527},  {36197209, 98008, 532},  {36591372, 99072, 541},  {36989825, 100152, 546},
    {37392616, 101244, 551}, {37799797, 102344, 559}, {38211409, 103460, 564}, {38627504, 104588, 568}, {39048131, 105724, 577},
    {39473337, 106876, 583}, {39903173, 108040, 589}, {40337690, 109216, 596}, {40776937, 110408, 600}, {41220970, 111608, 609},
    {41669836, 112824, 615}, {42123592, 114052, 622}, {42582286, 115296, 627}, {43045977, 116552, 633}, {43514717, 117820, 641},
    {43988561, 119104, 647}, {44467565, 120400, 655}, {44951786, 121712, 661}, {45441278, 123036, 670}, {45936101, 124376, 677},
    {46436314, 125728, 686}, {46941971, 127100, 691}, {47453135, 128484, 699}, {47969867, 129884, 705}, {48492225, 131296, 715},
    {49020269, 132728, 721}, {49554065, 134172, 730}, {50093674, 135632, 739}, {50639159, 137108, 748}, {51190582, 138604, 753},
    {51748011, 140112, 763}, {52311510, 141636, 773}, {52881146, 143180, 779}, {53456983, 144740, 787}, {54039091, 146316, 796},
    {54627538, 147908, 806}, {55222393, 149520, 813}, {55823725, 151148, 822}, {56431607, 152792, 833}, {57046106, 154456, 842},
    {57667297, 156140, 849}, {58295254, 157840, 858}, {58930048, 159556, 870}, {59571754, 161296, 877}, {60220447, 163052, 887},
    {60876205, 164828, 896}, {61539104, 166620, 909}, {62209220, 168436, 917}, {62886634, 170272, 925}, {63571424, 172124, 938},
    {64263672, 174000, 946}, {64963458, 175892, 959}, {65670863, 177808, 969}, {66385972, 179744, 980},
}};

/// 1 / (1 + f) in segments of f / 128.
constexpr std::array<Segment, 128> kRcp{{
    {67108864, -131068, 1013}, {66588642, -129044, 989}, {66076422, -127066, 966}, {65572021, -125134, 945}, {65075262, -123244, 923},
    {64585976, -121398, 902},  {64103992, -119594, 883}, {63629146, -117828, 863}, {63161284, -116102, 845}, {62700254, -114414, 827},
    {62245905, -112762, 809},  {61798091, -111144, 791}, {61356677, -109562, 774}, {60921524, -108014, 758}, {60492499, -106498, 742},
    {60069474, -105014, 727},  {59652325, -103560, 711}, {59240930, -102136, 696}, {58835170, -100742, 682}, {58434930, -99376, 669},
    {58040099, -98038, 656},   {57650569, -96726, 642},  {57266231, -95442, 631},  {56886986, -94182, 618},  {56512729, -92946, 605},
    {56143366, -91736, 594},   {55778798, -90548, 582},  {55418934, -89384, 572},  {55063686, -88242, 561},  {54712961, -87120, 549},
    {54366677, -86022, 540},   {54024747, -84942, 529},  {53687093, -83884, 519},  {53353633, -82846, 510},  {53024288, -81826, 501},
    {52698987, -80824, 490},   {52377651, -79842, 482},  {52060212, -78878, 474},  {51746596, -77930, 465},  {51436737, -77000, 457},
    {51130565, -76086, 449},   {50828017, -75188, 441},  {50529029, -74306, 433},  {50233538, -73440, 426},  {49941482, -72588, 418},
    {49652803, -71752, 412},   {49367442, -70928, 403},  {49085342, -70120, 397},  {48806449, -69326, 390},  {48530705, -68544, 383},
    {48258060, -67776, 377},   {47988464, -67022, 371},  {47721861, -66280, 366},  {47458204, -65548, 358},  {47197444, -64830, 353},
    {46939534, -64124, 348},   {46684429, -63428, 341},  {46432082, -62746, 337},  {46182446, -62072, 331},  {45935480, -61410, 326},
    {45691143, -60758, 320},   {45449392, -60118, 316},  {45210185, -59486, 310},  {44973481, -58864, 305},  {44739244, -58254, 302},
    {44507436, -57652, 297},   {44278016, -57058, 291},  {44050948, -56474, 287},  {43826199, -55900, 283},  {43603730, -55334, 279},
    {43383510, -54776, 274},   {43165503, -54228, 271},  {42949675, -53686, 266},  {42735995, -53154, 263},  {42524430, -52628, 258},
    {42314950, -52112, 256},   {42107525, -51602, 251},  {41902122, -51100, 248},  {41698714, -50604, 243},  {41497270, -50116, 240},
    {41297764, -49636, 237},   {41100168, -49162, 233},  {40904453, -48696, 231},  {40710593, -48234, 226},  {40518561, -47780, 223},
    {40328333, -47334, 222},   {40139883, -46892, 218},  {39953186, -46456, 214},  {39768218, -46028, 212},  {39584955, -45604, 208},
    {39403371, -45186, 205},   {39223448, -44776, 204},  {39045159, -44368, 199},  {38868484, -43968, 197},  {38693401, -43574, 196},
    {38519888, -43184, 193},   {38347924, -42798, 189},  {38177489, -42418, 186},  {38008563, -42044, 184},  {37841123, -41674, 182},
    {37675154, -41310, 180},   {37510633, -40950, 178},  {37347543, -40594, 175},  {37185866, -40244, 173},  {37025582, -39898, 171},
    {36866673, -39556, 169},   {36709124, -39218, 166},  {36552915, -38886, 165},  {36398030, -38556, 161},  {36244452, -38232, 160},
    {36092164, -37912, 159},   {35941151, -37594, 155},  {35791396, -37282, 154},  {35642884, -36974, 153},  {35495599, -36668, 150},
    {35349528, -36368, 149},   {35204652, -36070, 147},  {35060959, -35776, 145},  {34918436, -35486, 143},  {34777064, -35200, 143},
    {34636835, -34916, 140},   {34497732, -34636, 138},  {34359741, -34360, 137},  {34222849, -34086, 135},  {34087044, -33816, 133},
    {33952313, -33550, 132},   {33818641, -33286, 131},  {33686019, -33026, 130},
}};

/// What is added to every segment's start, in units of 2^-17 and 2^-16 of the last place: the middle of what an infinitely long sum would round.
constexpr std::int64_t kEx2Offset = 24456;
constexpr std::int64_t kRcpOffset = 4046;

/// Partial products of a square whose weight is below 2^-15 are left out.
constexpr int kSquareBits = 15;

/// (x / 2^bits)^2 in units of 2^-15, summed from those partial products of bits that weigh at least as much.
std::int64_t short_square(std::uint32_t x, int bits) {
  std::int64_t sum = 0;
  for (int i = 0; i < bits; ++i) {
    for (int j = i; j < bits; ++j) {
      const int weight = i + j + (i == j ? 0 : 1) - 2 * bits + kSquareBits;
      if (weight >= 0 && ((x >> i) & (x >> j) & 1U) != 0) sum += std::int64_t{1} << weight;
    }
  }
  return sum;
}

/// The polynomial of the fraction's segment, cut to a whole number of units of the last place.
std::uint32_t interpolated(std::span<const Segment> segments, std::uint32_t fraction, std::int64_t offset) {
  const int bits = kMantissaBits - std::countr_zero(segments.size());
  const Segment& segment = segments[fraction >> bits];
  const std::uint32_t x = fraction & ((1U << bits) - 1U);
  const std::int64_t sum = (std::int64_t{segment.start} << (bits - 2)) + offset + std::int64_t{segment.slope} * x +
                           (std::int64_t{segment.bend} * short_square(x, bits) << (bits - kSquareBits));
  return static_cast<std::uint32_t>(sum >> bits);
}

std::uint32_t rounded(std::uint32_t significand, int exponent, bool negative) {
  return to_f32(Value{.significand = significand, .exponent = exponent, .cls = ValueClass::finite, .negative = negative});
}

/// |x| in units of 2^-23, cut toward zero; |x| below 2^8.
std::uint32_t in_fractions(std::uint32_t magnitude) {
  const int shift = static_cast<int>(magnitude >> kMantissaBits) - kF32.bias;
  const std::uint32_t significand = (magnitude & kMantissa) | kSmallestNormal;
  if (magnitude < kSmallestNormal || shift < -kMantissaBits) return 0;
  return shift < 0 ? significand >> -shift : significand << shift;
}

}  // namespace

std::uint32_t ex2_approx(std::uint32_t x, bool flush) {
  constexpr std::uint32_t kLarge = 0x43800000U;  // 256
  if (f32::is_nan(x)) return f32::kNan;
  const bool negative = (x & f32::kSign) != 0;
  const std::uint32_t magnitude = x & ~f32::kSign;
  if (magnitude >= kLarge) return negative ? 0 : kInfinity;
  const std::uint32_t fractions = in_fractions(magnitude);
  const auto whole = static_cast<int>(fractions >> kMantissaBits);
  const std::uint32_t fraction = fractions % kFractions;
  std::uint32_t result = 0;
  if (!negative) {
    result = rounded(interpolated(kEx2, fraction, kEx2Offset), whole - kMantissaBits, false);
  } else if (fraction == 0) {
    result = rounded(1, -whole, false);
  } else {
    result = rounded(interpolated(kEx2, kFractions - 1 - fraction, kEx2Offset), -whole - 1 - kMantissaBits, false);
  }
  return flush && result < kSmallestNormal ? 0 : result;
}

std::uint32_t rcp_approx(std::uint32_t x) {
  const std::uint32_t sign = x & f32::kSign;
  const Value value = decode(kF32, x);
  if (value.cls == ValueClass::nan) return f32::kNan;
  if (value.cls == ValueClass::zero) return sign | kInfinity;
  if (value.cls == ValueClass::infinity) return sign;
  const int lead = static_cast<int>(std::bit_width(value.significand)) - 1;
  const auto fraction = static_cast<std::uint32_t>(value.significand << (kMantissaBits - lead)) & kMantissa;
  return rounded(interpolated(kRcp, fraction, kRcpOffset), -(value.exponent + lead) - kMantissaBits - 1, sign != 0);
}

std::uint32_t div_full(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t kLarge = 0x7E800000U;    // 2^126
  constexpr std::uint32_t kQuarter = 0x3E800000U;  // 2^-2
  const std::uint32_t magnitude = b & ~f32::kSign;
  if (magnitude < kLarge || magnitude >= kInfinity) return f32::mul(a, rcp_approx(b));
  return f32::mul(f32::mul(a, kQuarter), rcp_approx(f32::mul(b, kQuarter)));
}

std::uint32_t expf(std::uint32_t x) {
  constexpr std::uint32_t kSteps = 0x3BBB989DU;      // log2 e / 252
  constexpr std::uint32_t kHalf = 0x3F000000U;       // 1/2
  constexpr std::uint32_t kLog2E = 0x3FB8AA3BU;      // log2 e
  constexpr std::uint32_t kLog2ERest = 0x32A57060U;  // and what rounding took from it
  constexpr int kRange = 252;
  constexpr int kMiddle = 126;
  std::uint32_t step = f32::fma(x, kSteps, kHalf);
  if (f32::is_nan(step) || f32::less(step, 0)) step = 0;
  if (f32::less(f32::kOne, step)) step = f32::kOne;
  // 252 * step + 12582913 rounded down to fp32, whose unit is 1 there.
  const Value at = decode(kF32, step);
  const int whole = at.cls == ValueClass::zero ? 0
                    : at.exponent >= 0         ? kRange
                                               : static_cast<int>((at.significand * kRange) >> std::min(-at.exponent, 63));
  const std::uint32_t minus_j = to_f32(Value{.significand = static_cast<std::uint64_t>(std::abs(whole - kMiddle)),
                                             .exponent = 0,
                                             .cls = whole == kMiddle ? ValueClass::zero : ValueClass::finite,
                                             .negative = whole > kMiddle});
  const std::uint32_t rest = f32::fma(x, kLog2ERest, f32::fma(x, kLog2E, minus_j));
  return f32::mul(ex2_approx(rest, true), static_cast<std::uint32_t>(whole + 1) << kMantissaBits);
}

std::uint32_t triton_exp(std::uint32_t x) {
  constexpr std::uint32_t kLog2E = 0x3FB8AA3BU;
  return ex2_approx(f32::mul(x, kLog2E));
}

}  // namespace mx::device
