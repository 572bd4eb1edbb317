// OpenBLAS's sgemm on weights in fp32.

#include <cblas.h>

#include "bench/moe_peers.hpp"

namespace {

using namespace mx::bench;

void sgemm(benchmark::State& state, std::size_t columns, std::size_t rows, int threads) {
  pin(threads);
  openblas_set_num_threads(threads);
  const std::vector<float> x = peer_rows(rows);
  const PeerWeights& one = peer_weights(columns);
  const std::size_t copies = copies_of(one.values.size() * sizeof(float), rows);
  std::vector<float> weights;
  for (std::size_t i = 0; i < copies; ++i) weights.insert(weights.end(), one.values.begin(), one.values.end());
  std::vector<float> out(rows * columns);
  const auto m = static_cast<blasint>(rows);
  const auto n = static_cast<blasint>(columns);
  const auto k = static_cast<blasint>(kProductK);
  const auto limit = [&] { return product_limit(std::max(f32_fma_peak(threads), f32_wide_fma_peak(threads)), rows, sizeof(float), threads); };
  const double before = limit();
  std::size_t copy = 0;
  for (auto _ : state) {
    const float* const taken = weights.data() + copy * one.values.size();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, x.data(), k, taken, k, 0, out.data(), n);
    benchmark::DoNotOptimize(out.data());
    copy = (copy + 1) % copies;
  }
  if (!std::equal(one.expected.begin(), one.expected.end(), out.begin())) return state.SkipWithError("a wrong product");
  count_product(state, rows, columns, (before + limit()) / 2);
}

const bool kRegistered = [] {
  register_products("peer OpenBLAS sgemm/w:fp32", sgemm);
  return true;
}();

}  // namespace
