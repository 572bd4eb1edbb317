// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/deepgemm/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

Answer deepgemm_fp8(const Setting& s) {
  if (s.arch != Arch::sm90 && s.arch != Arch::sm100) return Refusal{Quantity::deepgemm_device, 1};
  // 4.1: blocks quantized anew are whole ones of gate and of up; packed scales are those of whole blocks of rows.
  if (!s.of<families::DeepgemmParameters>().e8m0) return std::nullopt;
  return first_broken({intermediate(s, 128), hidden(s, s.arch == Arch::sm100 ? 128 : 1)});
}
/// e8m0 scales: only packed ones are repeated for every row.
Answer deepgemm_e8m0(const Setting& s) {
  if (s.arch != Arch::sm90 && s.arch != Arch::sm100) return Refusal{Quantity::deepgemm_device, 1};
  return s.of<families::DeepgemmParameters>().e8m0 && s.arch == Arch::sm100 ? first_broken({intermediate(s, 128), hidden(s, 128)}) : std::nullopt;
}
Answer deepgemm_mxfp8(const Setting& s) { return s.arch == Arch::sm100 ? std::nullopt : Answer(Refusal{Quantity::deepgemm_packs, 1}); }
Answer mega(const Setting& s) { return first_broken({rows13(s, 128), rows2(s, 128)}); }

constexpr std::array kRows{
    Takes{kMxfp4, "DEEPGEMM_MXFP4", kMay, kMay, kMay, false, true, nothing},
    Takes{kMxfp4, "DEEPGEMM_MXFP4", kSinceAugust, kSinceAugust, kSinceAugust, false, true, nothing},
    Takes{kMxfp4, "DEEPGEMM_MEGA_MOE", kBoth, kBoth, kNo, false, true, mega},
    Takes{kMxfp8, "DEEPGEMM", kSinceAugust, kSinceAugust, kNo, false, true, deepgemm_mxfp8},
    Takes{kBlock, "DEEPGEMM", kBoth, kBoth, kNo, false, true, deepgemm_fp8},
    Takes{kBlock, "BATCHED_DEEPGEMM", kBoth, kBoth, kNo, false, true, deepgemm_fp8},
    Takes{kE8m0Block, "DEEPGEMM", kBoth, kBoth, kNo, false, true, deepgemm_e8m0},
    Takes{kE8m0Block, "BATCHED_DEEPGEMM", kBoth, kBoth, kNo, false, true, deepgemm_e8m0},
};

}  // namespace

constinit const std::span<const Takes> kDeepgemmTakes{kRows};

}  // namespace mx::props
