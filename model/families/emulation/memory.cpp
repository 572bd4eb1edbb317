// The engine's emulation: MXFP4 as loaded.

#include <array>

#include "model/families/memory_rows.hpp"

namespace mx::layout {
namespace {

constexpr std::array<BackendLayout, 1> kRows{as_loaded_row("emulation", "EMULATION")};

}  // namespace

std::span<const BackendLayout> emulation_layouts() { return kRows; }

}  // namespace mx::layout
