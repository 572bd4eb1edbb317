// How FlashInfer's b12x computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/b12x/family.hpp"

namespace mx::families {
namespace {

/// Block scales times the checkpoint's own scale, in e4m3 again; activations with a scale of 1.
constexpr ExecutionRow b12x() {
  ExecutionRow b12x = nvfp4_row("FLASHINFER_B12X", ScaleMemory::tile_128x4, ExpertAddress::refused, Grounds::read,
                                "E/flashinfer_b12x_moe.py; fi flashinfer/fused_moe/cute_dsl/b12x_moe.py (read)");
  b12x.by = QuantizedBy::kernel;
  b12x.global = GlobalScale::refolded;
  return b12x;
}

constexpr std::array kRows{b12x()};

}  // namespace

constinit const std::span<const ExecutionRow> kB12xExecutions{kRows};

}  // namespace mx::families
