// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/marlin/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

// 5: MXFP4 takes 8-bit floats, whose scale bytes grow by 6 and must stay numbers; fp16 ends at 2^15.
Answer marlin_mxfp4(const Setting& s) {
  if (s.input_dtype == InputDtype::int8) return Refusal{Quantity::activation_dtype, static_cast<std::int64_t>(InputDtype::float8_e4m3fn)};
  if (s.padded.hidden % 64 != 0) return Refusal{Quantity::w2_rows, 64};
  const std::int64_t most = s.params_dtype == families::ParamsDtype::bf16 ? 249 : 142;
  if (s.input_dtype != InputDtype::none && s.of<families::MarlinParameters>().largest_scale_byte > most) return Refusal{Quantity::scale_byte, most};
  return std::nullopt;
}
Answer marlin_nvfp4_2026_05(const Setting& s) { return sixteen_bits(s, first_broken({rows13(s, 64), rows2(s, 64)})); }
Answer marlin_nvfp4(const Setting& s) { return sixteen_bits(s, first_broken({hidden(s, 64)})); }
Answer marlin_fp8_2026_05(const Setting& s) {
  return sixteen_bits(s, first_broken({hidden(s, 16), rows13(s, 64), intermediate(s, 16), rows2(s, 64)}));
}
/// The padding of the newer engine takes the rows of a single shard as two.
Answer marlin_fp8(const Setting& s) { return sixteen_bits(s, first_broken({intermediate(s, s.form.gated ? 1 : 64), hidden(s, 16), rows2(s, 64)})); }
Answer marlin_blocks(const Setting& s) {
  return sixteen_bits(s, first_broken({intermediate(s, s.form.gated ? 1 : 128), hidden(s, 16), rows2(s, 64)}));
}

constexpr std::array kRows{
    Takes{kMxfp4, "MARLIN", kBoth, kBoth, kBoth, false, true, marlin_mxfp4},
    Takes{kMxfp4, "BATCHED_MARLIN", kBoth, kBoth, kBoth, false, true, marlin_mxfp4},
    Takes{kNvfp4, "MARLIN", kMay, kMay, kMay, true, true, marlin_nvfp4_2026_05},
    Takes{kNvfp4, "MARLIN", kSinceAugust, kSinceAugust, kSinceAugust, true, true, marlin_nvfp4},
    Takes{kMxfp8, "MARLIN", kMay, kMay, kMay, true, true, marlin_fp8_2026_05},
    Takes{kMxfp8, "MARLIN", kSinceAugust, kSinceAugust, kSinceAugust, true, true, marlin_fp8},
    Takes{kTensor, "MARLIN", kMay, kMay, kMay, true, true, marlin_fp8_2026_05},
    Takes{kTensor, "MARLIN", kSinceAugust, kSinceAugust, kSinceAugust, true, true, marlin_fp8},
    Takes{kChannel, "MARLIN", kMay, kMay, kMay, true, true, marlin_fp8_2026_05},
    Takes{kChannel, "MARLIN", kSinceAugust, kSinceAugust, kSinceAugust, true, true, marlin_fp8},
    Takes{kBlock, "MARLIN", kMay, kMay, kNo, true, true, marlin_fp8_2026_05},
    Takes{kBlock, "MARLIN", kSinceAugust, kSinceAugust, kNo, true, true, marlin_blocks},
};

}  // namespace

constinit const std::span<const Takes> kMarlinTakes{kRows};

}  // namespace mx::props
