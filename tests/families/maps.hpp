#pragma once
// What tests of converters share: settings, layouts, and address maps as numbers.

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::tests {

using Map = std::vector<std::int64_t>;

inline constexpr std::int64_t kUnwritten = layout::Layout::kPadUnwritten;

/// For every packed address the address in the checkpoint's own memory, or the kind of padding.
inline Map checkpoint_addresses(const families::BackendLayout& row, layout::Role role, const families::Setting& setting) {
  Map packed = row.build(role, setting).layout.gather();
  const Map source = layout::canonical(role, setting.sizes, setting.form).gather();
  Map address_of(source.size());
  for (std::size_t address = 0; address < source.size(); ++address) {
    address_of[static_cast<std::size_t>(source[address])] = static_cast<std::int64_t>(address);
  }
  for (std::int64_t& entry : packed) entry = entry < 0 ? entry : address_of[static_cast<std::size_t>(entry)];
  return packed;
}

/// An MXFP4 backend's layout of a tensor whose sizes nothing rounds up.
inline layout::Layout built(std::string_view backend, layout::Role role, const layout::Sizes& sizes,
                            layout::SourceOrder order = layout::SourceOrder::gpt_oss) {
  return families::find_backend_layout(backend)->build(role, {.sizes = sizes, .padded = sizes, .form = order}).layout;
}

/// A layer in the standard order for the engine of 2026-08.
inline families::Setting standard_setting(layout::WeightFormat format, const layout::Sizes& sizes, bool gated = true) {
  return {
      .sizes = sizes, .padded = sizes, .form = layout::Form(format, layout::SourceOrder::standard, gated), .engine = mx::deployment::kVllm2026_08};
}

}  // namespace mx::tests
