// oneDNN's matmul on weights in bf16, in the order that it likes best.

#include <omp.h>

#include <cstring>
#include <dnnl.hpp>
#include <string>

#include "bench/moe_peers.hpp"

namespace {

using namespace mx::bench;
using dnnl::memory;

memory filled(const memory::desc& description, const dnnl::engine& engine, const void* from) {
  memory made(description, engine);
  std::memcpy(made.get_data_handle(), from, description.get_size());
  return made;
}

void matmul(benchmark::State& state, std::size_t columns, std::size_t rows, int threads) {
  if (bf16_dot_peak(1) == 0) return state.SkipWithError("this processor has no products of bf16");
  pin(threads);
  omp_set_num_threads(threads);
  const auto m = static_cast<memory::dim>(rows);
  const auto n = static_cast<memory::dim>(columns);
  const auto k = static_cast<memory::dim>(kProductK);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory::desc x_form({m, k}, memory::data_type::bf16, memory::format_tag::ab);
  const memory::desc any_form({k, n}, memory::data_type::bf16, memory::format_tag::any);
  const memory::desc out_form({m, n}, memory::data_type::f32, memory::format_tag::ab);
  const dnnl::matmul::primitive_desc chosen(dnnl::matmul::desc(x_form, any_form, out_form), engine);
  dnnl::matmul product(chosen);

  const PeerWeights& one = peer_weights(columns);
  memory x = filled(x_form, engine, bf16_codes(peer_rows(rows)).data());
  // [columns, K] is [K, columns] the other way round.
  memory plain = filled({{k, n}, memory::data_type::bf16, memory::format_tag::ba}, engine, bf16_codes(one.values).data());
  std::vector<memory> weights;
  const std::size_t copies = copies_of(one.values.size() * sizeof(std::uint16_t), rows);
  for (std::size_t i = 0; i < copies; ++i) {
    weights.emplace_back(chosen.weights_desc(), engine);
    dnnl::reorder(plain, weights.back()).execute(stream, plain, weights.back());
  }
  stream.wait();
  std::vector<float> out(rows * columns);
  memory result(out_form, engine, out.data());
  // Such as brg:avx512_core_bf16, or brgemm:avx512_core_amx: whether it has tiles is said by nothing else.
  const std::string implementation = chosen.impl_info_str();
  state.SetLabel(implementation);
  const bool tiles = implementation.find("amx") != std::string::npos && bf16_tile_peak(1) != 0;
  const auto limit = [&] { return product_limit(tiles ? bf16_tile_peak(threads) : bf16_dot_peak(threads), rows, sizeof(std::uint16_t), threads); };
  const double before = limit();
  std::size_t copy = 0;
  for (auto _ : state) {
    product.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights[copy]}, {DNNL_ARG_DST, result}});
    stream.wait();
    copy = (copy + 1) % copies;
  }
  if (!std::equal(one.expected.begin(), one.expected.end(), out.begin())) return state.SkipWithError("a wrong product");
  count_product(state, rows, columns, (before + limit()) / 2);
}

const bool kRegistered = [] {
  register_products("peer oneDNN matmul/w:bf16", matmul);
  return true;
}();

}  // namespace
