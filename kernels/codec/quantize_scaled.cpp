// Groups whose elements meet one fp32 number: small ones whole, many to a thread; large ones in pieces, which all threads measure first and encode
// then; squares row by row.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <vector>

#include "kernels/codec/quantize_job.hpp"
#include "kernels/pieces.hpp"
#include "model/fault.hpp"

namespace mx::kernels {
namespace {

/// Elements of a piece; even, so that no two pieces share a byte of codes.
constexpr std::size_t kPiece = std::size_t{1} << 15;
/// What a thread takes at a time where groups are small.
constexpr std::size_t kPieceOfChunks = 32;
constexpr std::size_t kSquaresAtATime = 8;
constexpr std::size_t kChunkGroups = 2048;
/// Results of this many bytes do not stay in the caches anyway.
constexpr std::size_t kStreamFrom = std::size_t{4} << 20;

/// The kernels of one call.
struct Kernels {
  const ScaledRecipe& how;
  ScaledPlan plan;
  LargestMagnitudes* largest;
  ScaledEncode* encode;

  std::uint32_t largest_of(const std::byte* elements, std::size_t length) const {
    std::uint32_t amax = 0;
    largest(how.plan.source, elements, 1, length, &amax);
    return amax;
  }
  /// False where the kernel leaves it to the model.
  bool encode_one(const std::byte* elements, std::size_t length, std::uint32_t factor, std::uint8_t* codes) const {
    std::uint64_t irregular = 0;
    encode(plan, elements, 1, length, &factor, codes, &irregular);
    return irregular == 0;
  }
};

const std::byte* elements_at(const QuantizeJob& job, std::size_t i) { return job.elements.bytes.data() + i * job.words; }
std::uint8_t* codes_at(const QuantizeJob& job, std::size_t i) { return job.out.codes.data() + i * job.code_bits / 8; }

/// Groups [first, last), at most kChunkGroups.
void quantize_groups(const QuantizeJob& job, const Kernels& kernels, std::size_t first, std::size_t last) {
  const std::size_t count = last - first;
  const std::size_t length = job.grid.block_cols;
  std::array<std::uint32_t, kChunkGroups> amax;
  std::array<std::uint32_t, kChunkGroups> scales;
  std::array<std::uint32_t, kChunkGroups> factors;
  std::array<std::uint64_t, kChunkGroups / 64> irregular{};
  kernels.largest(kernels.how.plan.source, elements_at(job, first * length), count, length, amax.data());
  scalings_of(kernels.how, std::span(amax).first(count), scales.data(), factors.data(), irregular.data());
  kernels.encode(kernels.plan, elements_at(job, first * length), count, length, factors.data(), codes_at(job, first * length), irregular.data());
  put_scales(job, first, std::span(scales).first(count));
  if (fault::planted(fault::Fault::kernel_keeps_irregular)) return;
  for (std::size_t word = 0; word < irregular.size(); ++word) {
    for (std::uint64_t left = irregular[word]; left != 0; left &= left - 1) {
      quantize_by_model(job, first + word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }
}

void quantize_small_groups(const QuantizeJob& job, const Kernels& kernels, int threads) {
  const std::size_t groups = job.grid.count();
  const std::size_t at_a_time = std::clamp<std::size_t>(kScaledChunk / job.grid.block_cols, 1, kChunkGroups);
  const std::size_t piece_groups = at_a_time * kPieceOfChunks;
  for_each_piece((groups + piece_groups - 1) / piece_groups, threads, [&](std::size_t piece) {
    const std::size_t last = std::min(groups, (piece + 1) * piece_groups);
    for (std::size_t g = piece * piece_groups; g < last; g += at_a_time) quantize_groups(job, kernels, g, std::min(last, g + at_a_time));
  });
}

void quantize_large_group(const QuantizeJob& job, const Kernels& kernels, std::size_t group, int threads) {
  const std::size_t first = group * job.grid.block_cols;
  const std::size_t last = first + job.grid.block_cols;
  const std::size_t pieces = (job.grid.block_cols + kPiece - 1) / kPiece;
  const auto length = [&](std::size_t piece) { return std::min(kPiece, last - first - piece * kPiece); };
  std::vector<std::uint32_t> amaxes(pieces);
  for_each_piece(pieces, threads,
                 [&](std::size_t piece) { amaxes[piece] = kernels.largest_of(elements_at(job, first + piece * kPiece), length(piece)); });
  const std::uint32_t amax = std::ranges::max(amaxes);
  const auto scaling = scaling_of(kernels.how, amax);
  if (!scaling) return quantize_by_model(job, group);
  std::atomic<bool> regular = true;
  for_each_piece(pieces, threads, [&](std::size_t piece) {
    const std::size_t i = first + piece * kPiece;
    if (!kernels.encode_one(elements_at(job, i), length(piece), scaling->factor, codes_at(job, i))) regular = false;
  });
  if (!regular) return quantize_by_model(job, group);
  put_scale(job, group, scaling->scale);
}

/// A square whose rows lie one behind the other, as groups that share a scale: in the matrix each is too short a way for a kernel.
struct Square {
  std::vector<std::byte> elements;
  std::vector<std::uint8_t> codes;
  std::vector<std::uint32_t> amax, factors;
  std::vector<std::uint64_t> irregular;

  explicit Square(const QuantizeJob& job)
      : elements(job.grid.block_rows * job.grid.block_cols * job.words),
        codes(job.grid.block_rows * job.grid.block_cols * job.code_bits / 8),
        amax(job.grid.block_rows),
        factors(job.grid.block_rows),
        irregular((job.grid.block_rows + 63) / 64) {}
};

/// Asks for bytes from `first` on, as far as there are so many.
void ask_for(std::span<const std::byte> elements, std::size_t first, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t i = first; i < std::min(first + bytes, elements.size()); i += kLine) __builtin_prefetch(elements.data() + i);
}

/// Asks for the square beside it meanwhile: a processor does not foresee the rows.
void quantize_square(const QuantizeJob& job, const Kernels& kernels, std::size_t square, Square& memory) {
  const BlockGrid& grid = job.grid;
  const std::size_t first = square / grid.cols * grid.block_rows * job.shape.cols + square % grid.cols * grid.block_cols;
  const std::size_t row_bytes = memory.elements.size() / grid.block_rows;
  for (std::size_t row = 0; row < grid.block_rows; ++row) {
    const std::size_t i = first + row * job.shape.cols;
    ask_for(job.elements.bytes, i * job.words + row_bytes, row_bytes);
    std::copy_n(elements_at(job, i), row_bytes, memory.elements.data() + row * row_bytes);
  }
  kernels.largest(kernels.how.plan.source, memory.elements.data(), grid.block_rows, grid.block_cols, memory.amax.data());
  const auto scaling = scaling_of(kernels.how, std::ranges::max(memory.amax));
  if (!scaling) return quantize_by_model(job, square);
  std::ranges::fill(memory.factors, scaling->factor);
  std::ranges::fill(memory.irregular, 0);
  kernels.encode(kernels.plan, memory.elements.data(), grid.block_rows, grid.block_cols, memory.factors.data(), memory.codes.data(),
                 memory.irregular.data());
  if (std::ranges::any_of(memory.irregular, [](std::uint64_t rows) { return rows != 0; })) return quantize_by_model(job, square);
  const std::size_t row_codes = memory.codes.size() / grid.block_rows;
  for (std::size_t row = 0; row < grid.block_rows; ++row) {
    std::copy_n(memory.codes.data() + row * row_codes, row_codes, codes_at(job, first + row * job.shape.cols));
  }
  put_scale(job, square, scaling->scale);
}

/// Some squares after each other: what one asks for is the next one's.
void quantize_squares(const QuantizeJob& job, const Kernels& kernels, int threads) {
  const std::size_t squares = job.grid.count();
  const std::size_t at_a_time = std::clamp<std::size_t>(job.grid.cols, 1, kSquaresAtATime);
  for_each_piece((squares + at_a_time - 1) / at_a_time, threads, [&](std::size_t piece) {
    Square memory(job);
    const std::size_t last = std::min(squares, (piece + 1) * at_a_time);
    for (std::size_t square = piece * at_a_time; square < last; ++square) quantize_square(job, kernels, square, memory);
  });
}

}  // namespace

void quantize_scaled(const QuantizeJob& job, const ScaledRecipe& how, const Workers& workers) {
  ScaledPlan plan = how.plan;
  plan.streams = job.grid.block_rows == 1 && job.out.codes.size() >= kStreamFrom ? 1 : 0;
  const Kernels kernels{how, plan, kernel_for(largest_magnitudes(), *workers.tier).run, kernel_for(scaled_encoders(), *workers.tier).run};
  if (job.grid.block_rows != 1) return quantize_squares(job, kernels, workers.threads);
  if (job.grid.block_cols <= kPiece) return quantize_small_groups(job, kernels, workers.threads);
  for (std::size_t group = 0; group < job.grid.count(); ++group) quantize_large_group(job, kernels, group, workers.threads);
}

}  // namespace mx::kernels
