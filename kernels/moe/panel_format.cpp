#include "kernels/moe/panel_format.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"

namespace mx::kernels::moe {
namespace {

using layout::WeightFormat;

/// Source: model/layout/tensor.hpp WeightFormat.
constexpr std::array kFormats{
    PanelFormat{WeightFormat::mxfp4, PanelKind::mxfp4, 4, PanelScale::e8m0, 32},
    PanelFormat{WeightFormat::mxfp8, PanelKind::mxfp8, 8, PanelScale::e8m0, 32},
    PanelFormat{WeightFormat::nvfp4, PanelKind::nvfp4, 4, PanelScale::e4m3, 16},
    PanelFormat{WeightFormat::fp8_block, PanelKind::fp8, 8, PanelScale::f32, 128},
    PanelFormat{WeightFormat::fp8_channel, PanelKind::fp8, 8, PanelScale::f32, 0},
    PanelFormat{WeightFormat::fp8_tensor, PanelKind::fp8, 8, PanelScale::f32, 0},
};

}  // namespace

std::span<const PanelFormat> panel_formats() { return kFormats; }

const PanelFormat& panel_format_of(WeightFormat format) {
  const auto* const found = std::ranges::find(kFormats, format, &PanelFormat::format);
  if (found == kFormats.end()) throw Error(ErrorCode::unsupported, "no kernel multiplies " + std::string(layout::name_of(format)), "panels");
  return *found;
}

}  // namespace mx::kernels::moe
