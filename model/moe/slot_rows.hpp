#pragma once
// Stages of a layer as callers hold them: a row for each slot, also for one that has no expert.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mx::moe {

/// Rows of the slots that have an expert, with zeros between them for the others. rows: of LayerOutputs, `width` numbers each, one for every slot of
/// `chosen` that is not negative. out: a row for every slot.
inline void write_slot_rows(const std::vector<std::vector<std::uint32_t>>& rows, std::span<const std::int32_t> chosen, std::size_t width,
                            std::uint32_t* out) {
  auto row = rows.begin();
  for (const std::int32_t expert : chosen) out = expert < 0 ? std::fill_n(out, width, 0U) : std::ranges::copy(*row++, out).out;
}

}  // namespace mx::moe
