// Codes under powers of two: kernels move exponents, the model does the scales at the ends of the range.

#include <algorithm>
#include <array>

#include "kernels/codec/dequantize_job.hpp"
#include "kernels/pieces.hpp"

namespace mx::kernels {
namespace {

/// Blocks that a thread takes at a time; a multiple of 64.
constexpr std::size_t kChunkBlocks = 2048;

/// Blocks [first, last) by a kernel, and by the model where the kernel says so.
void unpack(const DequantizeJob& job, const UnpackPlan& plan, Unpack* kernel, std::size_t first, std::size_t last) {
  std::array<std::uint64_t, kChunkBlocks / 64> irregular{};
  std::array<std::uint8_t, kChunkBlocks> scales;
  const std::uint8_t* from = job.blocks.scales.data() + first;
  if (!job.tiles.is_row_major()) {
    for (std::size_t i = first; i < last; ++i) scales[i - first] = static_cast<std::uint8_t>(scale_at(job, i));
    from = scales.data();
  }
  const std::size_t code_bytes = plan.width == 4 ? plan.block / 2 : plan.block;
  kernel(plan, job.blocks.codes.data() + first * code_bytes, from, last - first, job.out.bytes.data() + first * plan.block * job.words,
         irregular.data());
  for (std::size_t word = 0; word < irregular.size(); ++word) {
    if (irregular[word] == 0) continue;
    for (std::size_t bit = 0; bit < 64; ++bit) {
      if ((irregular[word] >> bit & 1U) != 0) dequantize_by_model(job, first + word * 64 + bit);
    }
  }
}

}  // namespace

void dequantize_powers(const DequantizeJob& job, const UnpackPlan& power, const Workers& workers) {
  Unpack* const kernel = kernel_for(unpackers(), *workers.tier).run;
  UnpackPlan plan = power;
  plan.streams = job.streams ? 1 : 0;
  const std::size_t blocks = job.grid.count();
  const std::size_t chunks = (blocks + kChunkBlocks - 1) / kChunkBlocks;
  for_each_piece(chunks, workers.threads,
                 [&](std::size_t chunk) { unpack(job, plan, kernel, chunk * kChunkBlocks, std::min(blocks, (chunk + 1) * kChunkBlocks)); });
}

}  // namespace mx::kernels
