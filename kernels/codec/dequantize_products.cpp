// Codes under fp32 factors: short blocks many at a time, rows in pieces.

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/codec/dequantize_job.hpp"
#include "kernels/pieces.hpp"

namespace mx::kernels {
namespace {

/// Short blocks that a thread takes at a time.
constexpr std::size_t kChunkBlocks = 2048;
/// Elements of a piece of a long block; even, so that pieces of codes begin at a byte.
constexpr std::size_t kPiece = std::size_t{1} << 15;

/// The kernel of one call.
struct Kernel {
  const ProductPlan& plan;
  ProductUnpack* run;
  const ScaleFactors& factors;
};

const std::uint8_t* codes_at(const DequantizeJob& job, std::size_t i) {
  return job.blocks.codes.data() + (job.how.format->element->width == 4 ? i / 2 : i);
}
std::byte* numbers_at(const DequantizeJob& job, std::size_t i) { return job.out.bytes.data() + i * job.words; }

/// Blocks [first, last), at most kChunkBlocks.
void unpack_blocks(const DequantizeJob& job, const Kernel& kernel, std::size_t first, std::size_t last) {
  const std::size_t length = job.grid.block_cols;
  std::array<std::uint32_t, kChunkBlocks> factors;
  std::array<std::uint64_t, kChunkBlocks / 64> irregular{};
  if (job.tiles.is_row_major() && job.scale_width == 1) {
    kernel.factors.look_up(job.blocks.scales.subspan(first, last - first), factors.data(), irregular.data());
  } else {
    for (std::size_t i = 0; i < last - first; ++i) {
      const auto factor = kernel.factors.of(scale_at(job, first + i));
      if (!factor) irregular[i / 64] |= std::uint64_t{1} << (i % 64);
      factors[i] = factor.value_or(0U);
    }
  }
  kernel.run(kernel.plan, codes_at(job, first * length), factors.data(), last - first, length, numbers_at(job, first * length));
  for (std::size_t word = 0; word < irregular.size(); ++word) {
    for (std::uint64_t left = irregular[word]; left != 0; left &= left - 1) {
      dequantize_by_model(job, first + word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }
}

void unpack_short(const DequantizeJob& job, const Kernel& kernel, int threads) {
  const std::size_t blocks = job.grid.count();
  const std::size_t chunks = (blocks + kChunkBlocks - 1) / kChunkBlocks;
  for_each_piece(chunks, threads,
                 [&](std::size_t chunk) { unpack_blocks(job, kernel, chunk * kChunkBlocks, std::min(blocks, (chunk + 1) * kChunkBlocks)); });
}

void unpack_long(const DequantizeJob& job, const Kernel& kernel, std::size_t block, int threads) {
  const auto factor = kernel.factors.of(scale_at(job, block));
  if (!factor) return dequantize_by_model(job, block);
  const std::size_t length = job.grid.block_cols;
  const std::size_t first = block * length;
  const std::size_t pieces = (length + kPiece - 1) / kPiece;
  for_each_piece(pieces, threads, [&](std::size_t piece) {
    const std::size_t i = first + piece * kPiece;
    kernel.run(kernel.plan, codes_at(job, i), &*factor, 1, std::min(kPiece, first + length - i), numbers_at(job, i));
  });
}

}  // namespace

void dequantize_products(const DequantizeJob& job, const ProductPlan& product, const ScaleFactors& factors, const Workers& workers) {
  ProductPlan plan = product;
  plan.streams = job.streams ? 1 : 0;
  const Kernel kernel{plan, kernel_for(product_unpackers(), *workers.tier).run, factors};
  if (job.grid.block_cols <= kPiece) return unpack_short(job, kernel, workers.threads);
  for (std::size_t block = 0; block < job.grid.count(); ++block) unpack_long(job, kernel, block, workers.threads);
}

}  // namespace mx::kernels
