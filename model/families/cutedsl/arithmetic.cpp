// How FlashInfer's CuTe DSL kernels compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/cutedsl/family.hpp"

namespace mx::families {
namespace {

constexpr ExecutionRow cutedsl() {
  ExecutionRow cutedsl =
      nvfp4_row("FLASHINFER_CUTEDSL", ScaleMemory::row_major, ExpertAddress::offset, Grounds::read, "E/flashinfer_cutedsl_moe.py (read)");
  cutedsl.silu = kLimitedSilu;
  return cutedsl;
}

/// Rows arrive as bf16, an expert's at a time; the experts quantize them.
constexpr ExecutionRow batched() {
  ExecutionRow batched = nvfp4_row("FLASHINFER_CUTEDSL_BATCHED", ScaleMemory::tile_128x4, ExpertAddress::map, Grounds::read,
                                   "E/flashinfer_cutedsl_batched_moe.py; prepare_finalize/deepep_ll.py leaves nvfp4 as bf16 (read)");
  batched.by = QuantizedBy::kernel;
  return batched;
}

constexpr std::array kRows{
    cutedsl(),
    batched(),
};

}  // namespace

constinit const std::span<const ExecutionRow> kCutedslExecutions{kRows};

}  // namespace mx::families
