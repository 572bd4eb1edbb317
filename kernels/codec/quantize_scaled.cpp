// Groups with fp32 scales: small ones whole, one to a thread; large ones in pieces, which all threads measure first and encode then.

#include <algorithm>

#include "kernels/codec/quantize_job.hpp"

namespace mx::kernels {
namespace {

/// Elements of a piece; even, so that no two pieces share a byte of codes.
constexpr std::size_t kPiece = std::size_t{1} << 15;
/// Elements that a thread takes at a time where groups are small.
constexpr std::size_t kChunkElements = std::size_t{1} << 16;

/// The kernels of one call.
struct Kernels {
  LargestMagnitude* largest;
  ScaledEncode* encode;
};

const std::byte* elements_at(const QuantizeJob& job, std::size_t i) { return job.elements.bytes.data() + i * job.words; }
std::uint8_t* codes_at(const QuantizeJob& job, std::size_t i) { return job.out.codes.data() + i * job.code_bits / 8; }

void quantize_group(const QuantizeJob& job, const ScaledRecipe& how, const Kernels& kernels, std::size_t group) {
  const std::size_t first = group * job.grid.block_cols;
  const std::size_t count = job.grid.block_cols;
  const auto scaling = scaling_of(how, kernels.largest(how.plan.source, elements_at(job, first), count));
  if (!scaling) return quantize_by_model(job, group);
  kernels.encode(how.plan, elements_at(job, first), count, scaling->factor, codes_at(job, first));
  put_scale(job, group, scaling->scale);
}

void quantize_small_groups(const QuantizeJob& job, const ScaledRecipe& how, const Kernels& kernels, int threads) {
  const std::size_t groups = job.grid.count();
  const std::size_t at_a_time = std::max<std::size_t>(1, kChunkElements / job.grid.block_cols);
  const std::size_t chunks = (groups + at_a_time - 1) / at_a_time;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::size_t g = chunk * at_a_time; g < std::min(groups, (chunk + 1) * at_a_time); ++g) quantize_group(job, how, kernels, g);
  }
}

void quantize_large_group(const QuantizeJob& job, const ScaledRecipe& how, const Kernels& kernels, std::size_t group, int threads) {
  const std::size_t first = group * job.grid.block_cols;
  const std::size_t last = first + job.grid.block_cols;
  const std::size_t pieces = (job.grid.block_cols + kPiece - 1) / kPiece;
  const auto length = [&](std::size_t piece) { return std::min(kPiece, last - first - piece * kPiece); };
  std::uint32_t amax = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max : amax)
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    amax = std::max(amax, kernels.largest(how.plan.source, elements_at(job, first + piece * kPiece), length(piece)));
  }
  const auto scaling = scaling_of(how, amax);
  if (!scaling) return quantize_by_model(job, group);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t i = first + piece * kPiece;
    kernels.encode(how.plan, elements_at(job, i), length(piece), scaling->factor, codes_at(job, i));
  }
  put_scale(job, group, scaling->scale);
}

}  // namespace

void quantize_scaled(const QuantizeJob& job, const ScaledRecipe& how, const Workers& workers) {
  const Kernels kernels{kernel_for(largest_magnitudes(), *workers.tier).run, kernel_for(scaled_encoders(), *workers.tier).run};
  if (job.grid.block_cols <= kPiece) return quantize_small_groups(job, how, kernels, workers.threads);
  for (std::size_t group = 0; group < job.grid.count(); ++group) quantize_large_group(job, how, kernels, group, workers.threads);
}

}  // namespace mx::kernels
