#include "model/engine/vllm/rounding.hpp"

#include <algorithm>
#include <array>

#include "model/stand_in.hpp"

namespace mx::layout {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 1> kDeepGemm{"DEEPGEMM_MXFP4"};
constexpr std::array<Names, 2> kMarlin{"MARLIN", "BATCHED_MARLIN"};
constexpr std::array<Names, 2> kTrtllm{"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 2> kCutlass{"FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kAiterBf16{"AITER_MXFP4_BF16"};
constexpr std::array<Names, 1> kCpu{"CPU"};
constexpr std::array<Names, 1> kEmulation{"EMULATION"};

bool on_rocm(const Setting& setting) { return is_rocm(setting.arch); }
bool on_xpu(const Setting& setting) { return setting.arch == Arch::xpu; }
bool on_rocm_with_silu_or_situ(const Setting& setting) { return is_rocm(setting.arch) && setting.activation != ConverterActivation::swigluoai; }

/// Source: vllm 7e1b45a09 (2026-05) and 017e9f444 (2026-08), the if-chain in its order.
constexpr std::array<RoundingRow, 11> kRows{{
    {kOnly2026_08, kEmulation, nullptr, 32, 32},
    {kBothEngines, kDeepGemm, nullptr, 128, 128},
    {kBothEngines, kMarlin, on_xpu, 128, 128},
    {kBothEngines, kMarlin, nullptr, 256, 128},
    {kOnly2026_05, kTrtllm, nullptr, 256, 256},
    {kOnly2026_08, kTrtllm, nullptr, 256, 128},
    {kBothEngines, kCutlass, nullptr, 128, 128},
    {kOnly2026_08, kAiterBf16, on_rocm_with_silu_or_situ, 128, 128},
    {kBothEngines, {}, on_rocm, 256, 256},
    {kBothEngines, kCpu, nullptr, 32, 32},
    {kBothEngines, {}, nullptr, 1, 64},
}};

bool applies(const RoundingRow& row, std::string_view backend, const Setting& setting) {
  return row.engines.has(setting.engine) && (row.backends.empty() || std::ranges::find(row.backends, backend) != row.backends.end()) &&
         (row.applies == nullptr || row.applies(setting));
}

std::int64_t up_to(std::int64_t size, std::int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

}  // namespace

std::span<const RoundingRow> rounding_rows() { return fault::rows_of<RoundingRow>(fault::Table::roundings, kRows); }

Sizes rounded_up(std::string_view backend, const Setting& setting) {
  check(setting.sizes);
  Sizes padded = setting.sizes;
  if (setting.form.format != WeightFormat::mxfp4) return padded;
  const auto row = std::ranges::find_if(rounding_rows(), [&](const RoundingRow& r) { return applies(r, backend, setting); });
  padded.hidden = up_to(padded.hidden, row->hidden);
  padded.intermediate = up_to(padded.intermediate, row->intermediate);
  return padded;
}

}  // namespace mx::layout
