// Short blocks with a scale byte each: chunks for the threads, the kernel, and the model for what it leaves.

#include <algorithm>
#include <array>
#include <span>

#include "kernels/codec/quantize_job.hpp"
#include "kernels/pieces.hpp"
#include "model/fault.hpp"

namespace mx::kernels {
namespace {

/// Blocks that a thread takes at a time; a multiple of 64.
constexpr std::size_t kChunkBlocks = 2048;
/// Results of this many bytes do not stay in the caches anyway.
constexpr std::size_t kStreamFrom = std::size_t{4} << 20;

/// The scales that a kernel gave for blocks from `first` on, as the format has them: bytes, or powers of two as fp32.
void put_scale_bytes(const QuantizeJob& job, std::size_t first, std::span<const std::uint8_t> bytes) {
  constexpr unsigned kExponentField = 23;
  const unsigned shift = job.scale_width == 4 ? kExponentField : 0U;
  std::array<std::uint32_t, kChunkBlocks> scales;
  for (std::size_t i = 0; i < bytes.size(); ++i) scales[i] = std::uint32_t{bytes[i]} << shift;
  put_scales(job, first, std::span(scales).first(bytes.size()));
}

/// A kernel with its plan.
template <class Plan>
struct Planned {
  const Plan& plan;
  QuantizeBlocks<Plan>* kernel;
};

/// Blocks [first, last) by a kernel, and by the model where the kernel says so.
template <class Plan>
void quantize_chunk(const QuantizeJob& job, const Planned<Plan>& by, std::size_t first, std::size_t last) {
  std::array<std::uint64_t, kChunkBlocks / 64> irregular{};
  std::array<std::uint8_t, kChunkBlocks> scales;
  const std::size_t element = first * job.grid.block_cols;
  const bool in_place = job.scale_width == 1 && job.tiles.is_row_major();
  std::uint8_t* const to = in_place ? job.out.scales.data() + first : scales.data();
  by.kernel(by.plan, job.elements.bytes.data() + element * job.words, last - first, job.out.codes.data() + element * job.code_bits / 8, to,
            irregular.data());
  if (!in_place) put_scale_bytes(job, first, std::span(scales).first(last - first));
  for (std::size_t word = 0; word < irregular.size(); ++word) {
    if (irregular[word] == 0 || fault::planted(fault::Fault::kernel_keeps_irregular)) continue;
    for (std::size_t bit = 0; bit < 64; ++bit) {
      if ((irregular[word] >> bit & 1U) != 0) quantize_by_model(job, first + word * 64 + bit);
    }
  }
}

template <class Plan>
void quantize_chunks(const QuantizeJob& job, const Planned<Plan>& by, int threads) {
  const std::size_t blocks = job.grid.count();
  const std::size_t chunks = (blocks + kChunkBlocks - 1) / kChunkBlocks;
  for_each_piece(chunks, threads,
                 [&](std::size_t chunk) { quantize_chunk(job, by, chunk * kChunkBlocks, std::min(blocks, (chunk + 1) * kChunkBlocks)); });
}

}  // namespace

void quantize_blocks(const QuantizeJob& job, const PowerPlan& recipe_plan, const Workers& workers) {
  PowerPlan plan = recipe_plan;
  plan.streams = job.out.codes.size() >= kStreamFrom ? 1 : 0;
  quantize_chunks(job, Planned<PowerPlan>{plan, kernel_for(power_quantizers(), *workers.tier).run}, workers.threads);
}

void quantize_blocks(const QuantizeJob& job, const Nvfp4Plan& plan, const Workers& workers) {
  quantize_chunks(job, Planned<Nvfp4Plan>{plan, nvfp4_quantizer(*workers.tier)->run}, workers.threads);
}

}  // namespace mx::kernels
