// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/aiter/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

/// Shuffled scales of all experts lie in tiles of 256 rows and 8 groups, and are viewed as experts by rows.
bool views_as_rows(const Setting& s, std::int64_t rows, std::int64_t length) {
  std::int64_t all = s.padded.experts * rows;
  const std::int64_t rows_of_all = all;
  while (all % 256 != 0) ++all;
  std::int64_t columns = length / s.padded.group;
  while (columns % 8 != 0) ++columns;
  return all * columns % rows_of_all == 0;
}
// 7.
Answer aiter_bf16_2026_05(const Setting& s) { return first_broken({hidden(s, 128), intermediate(s, 128), groups13(s, 8), groups2(s, 8)}); }
Answer aiter_bf16(const Setting& s) {
  if (is_standard(s) && s.arch == Arch::gfx1250) return std::nullopt;
  return first_broken({hidden(s, 128), intermediate(s, 128)});
}
Answer aiter_mxfp8(const Setting& s) { return first_broken({hidden(s, 64), intermediate(s, 64)}); }
Answer aiter_mxfp4(const Setting& s) {
  if (const Answer broken = first_broken({hidden(s, 64), intermediate(s, 64)})) return broken;
  if (!views_as_rows(s, 2 * s.padded.intermediate, s.padded.hidden)) return Refusal{Quantity::w13_scale_rest, 0};
  if (!views_as_rows(s, s.padded.hidden, s.padded.intermediate)) return Refusal{Quantity::w2_scale_rest, 0};
  return std::nullopt;
}

constexpr std::array kRows{
    Takes{kMxfp4, "AITER_MXFP4_BF16", kMay, kMay, kMay, false, true, aiter_bf16_2026_05},
    Takes{kMxfp4, "AITER_MXFP4_BF16", kSinceAugust, kSinceAugust, kSinceAugust, false, true, aiter_bf16},
    Takes{kMxfp4, "AITER_MXFP4_MXFP4", kBoth, kSinceAugust, kBoth, false, true, aiter_mxfp4},
    Takes{kTensor, "AITER", kBoth, kBoth, kNo, true, true, tiles_16x32},
    Takes{kChannel, "AITER", kBoth, kBoth, kNo, true, true, tiles_16x32},
    Takes{kBlock, "AITER", kBoth, kBoth, kNo, true, true, tiles_16x32},
    Takes{kMxfp8, "AITER_MXFP8", kSinceAugust, kSinceAugust, kNo, false, true, aiter_mxfp8},
};

}  // namespace

constinit const std::span<const Takes> kAiterTakes{kRows};

}  // namespace mx::props
