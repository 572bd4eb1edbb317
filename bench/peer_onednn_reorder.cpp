// A peer beside the layouts of bytes: oneDNN's reorder into blocks of 16 x 16 bytes, which is AITER's 16x16 without padding.

#include <benchmark/benchmark.h>
#include <omp.h>

#include <dnnl.hpp>
#include <string>

#include "bench/beside_copy.hpp"
#include "bench/machine.hpp"

namespace {

/// The rows of w13 of twelve experts of gpt-oss, two codes in a byte.
constexpr dnnl::memory::dim kRows = 12 * 5760;
constexpr dnnl::memory::dim kBytes = 1440;

void reorder(benchmark::State& state, bool undo, int threads) {
  using Tag = dnnl::memory::format_tag;
  omp_set_num_threads(threads);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const mx::bench::Memory a(static_cast<std::size_t>(kRows * kBytes));
  const mx::bench::Memory b(static_cast<std::size_t>(kRows * kBytes));
  const std::span<std::uint8_t> source = a.words<std::uint8_t>();
  const std::span<std::uint8_t> target = b.words<std::uint8_t>();
  const auto described = [](Tag tag) { return dnnl::memory::desc({kRows, kBytes, 1, 1}, dnnl::memory::data_type::u8, tag); };
  dnnl::memory from(described(undo ? Tag::ABcd16a16b : Tag::abcd), engine, source.data());
  dnnl::memory to(described(undo ? Tag::abcd : Tag::ABcd16a16b), engine, target.data());
  const dnnl::reorder::primitive_desc how(from, to);
  const dnnl::reorder primitive(how);
  mx::bench::beside_copy(state, source, target, threads, [&] {
    primitive.execute(stream, from, to);
    stream.wait();
  });
  const dnnl_version_t* version = dnnl_version();
  state.SetLabel("oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + ", " + how.impl_info_str());
}

const bool kRegistered = [] {
  for (const int threads : {1, 2}) {
    for (const bool undo : {false, true}) {
      const std::string name = std::string("relayout/peer/oneDNN, 16x16 bytes") + (undo ? "/undo" : "/apply") + "/threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { reorder(state, undo, threads); })
          ->UseManualTime()
          ->Iterations(mx::bench::kTurns)
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
