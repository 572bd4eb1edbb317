// A checkpoint of gigabytes through a conversion, beside what the disk and the kernels allow, all measured in one run. Hidden: it takes minutes and
// three times its size of disk. It prints the tables of docs/scale.md.

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/rounding.hpp"
#include "kernels/relayout/mover.hpp"
#include "model/families/memory.hpp"
#include "support/json.hpp"
#include "support/random.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr layout::Sizes kSizes{32, 2880, 2880, 32};  // a layer of gpt-oss-20b

double seconds_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Layers of random bytes, one to a file, as gpt-oss has them.
void write_checkpoint(const fs::path& directory, int layers) {
  fs::create_directories(directory);
  support::Json map;
  std::uint64_t total = 0;
  std::vector<std::uint8_t> random(std::size_t{1} << 22);
  support::SplitMix64 source(1);
  for (std::uint8_t& byte : random) byte = static_cast<std::uint8_t>(source.next() >> 56);
  const std::int64_t e = kSizes.experts, i = kSizes.intermediate, h = kSizes.hidden;
  for (int layer = 0; layer < layers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".mlp.experts.", file = fmt::format("model-{:05}.safetensors", layer);
    const std::vector<support::TensorEntry> entries{{prefix + "gate_up_proj_blocks", "U8", {e, 2 * i, h / 32, 16}},
                                                {prefix + "gate_up_proj_scales", "U8", {e, 2 * i, h / 32}},
                                                {prefix + "gate_up_proj_bias", "BF16", {e, 2 * i}},
                                                {prefix + "down_proj_blocks", "U8", {e, h, i / 32, 16}},
                                                {prefix + "down_proj_scales", "U8", {e, h, i / 32}},
                                                {prefix + "down_proj_bias", "BF16", {e, h}}};
    support::SafetensorsWriter writer(directory / file, entries, {}, false);
    for (const support::TensorEntry& entry : entries) {
      const std::uint64_t bytes = support::bytes_of(entry);
      std::vector<std::uint8_t> data(bytes);
      for (std::size_t at = 0; at < bytes; at += random.size()) {
        std::copy_n(random.begin(), std::min<std::size_t>(random.size(), bytes - at), data.begin() + static_cast<std::ptrdiff_t>(at));
      }
      writer.put(entry.name, data);
      map[entry.name] = file;
      total += bytes;
    }
    writer.commit();
  }
  write_bytes(directory / "model.safetensors.index.json", support::Json{{"metadata", {{"total_size", total}}}, {"weight_map", map}}.dump());
}

/// Takes a directory's files out of the page cache, so that they are read from the disk.
void forget(const fs::path& directory) {
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const int file = ::open(entry.path().c_str(), O_RDONLY);
    REQUIRE(file >= 0);
    ::fsync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

/// The plainest program: read a piece, write it, sync at the end of each file.
void copy_files(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  std::vector<std::uint8_t> piece(std::size_t{8} << 20);
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    const int in = ::open(entry.path().c_str(), O_RDONLY);
    const int out = ::open((to / entry.path().filename()).c_str(), O_WRONLY | O_CREAT, 0666);
    REQUIRE((in >= 0 && out >= 0));
    ssize_t count = 0;
    while ((count = ::read(in, piece.data(), piece.size())) > 0) REQUIRE(::write(out, piece.data(), static_cast<std::size_t>(count)) == count);
    REQUIRE(::fsync(out) == 0);
    ::close(in);
    ::close(out);
  }
}

/// Peak resident memory, in MiB, of work done in a process of its own, and its time.
struct Cost {
  double seconds;
  long mebibytes;
};
Cost cost_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  struct rusage used {};
  REQUIRE(::wait4(child, &status, 0, &used) == child);
  REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  return {std::chrono::duration<double>(Clock::now() - begin).count(), used.ru_maxrss / 1024};
}

/// Median seconds of converting one layer in memory.
double seconds_of_kernels(const fs::path& source, const checkpoint::ConvertOptions& options) {
  const layout::CanonicalLayer layer = checkpoint::Checkpoint(source).layer(0).experts;
  families::Setting setting{};
  setting.sizes = setting.padded = kSizes;
  setting.padded = checkpoint::rounded_up(options.backend, setting);
  const families::BackendLayout& backend = *families::find_backend_layout(options.backend);
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) {
    layout::CanonicalLayer taken = layer;
    times.push_back(seconds_of([&] { families::convert(std::move(taken), backend, setting, kernels::relayout::mover_of(kernels::relayout::MoveBy::plans)); }));
  }
  std::ranges::sort(times);
  return times[1];
}

void show_figures(int layers, int rounds) {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source", packed = directory.path() / "packed", copied = directory.path() / "copied";
  const fs::path restored = directory.path() / "restored";
  write_checkpoint(source, layers);
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(source)) bytes += entry.file_size();
  const checkpoint::ConvertOptions options{.backend = "FLASHINFER_TRTLLM_MXFP4_BF16", .setting = {}};
  for (int round = 0; round < rounds; ++round) {
    const Cost in_memory = cost_of([&] { write_bytes(directory.path() / "kernels", std::to_string(seconds_of_kernels(source, options) * layers)); });
    const double kernels = std::stod(read_bytes(directory.path() / "kernels"));
    forget(source);
    const Cost copy = cost_of([&] { copy_files(source, copied); });
    fs::remove_all(copied);
    forget(source);
    const Cost there = cost_of([&] { checkpoint::convert_checkpoint(source, packed, options); });
    forget(packed);
    const Cost back = cost_of([&] { checkpoint::restore_checkpoint({packed}, restored, {}); });
    if (round == 0) CHECK(file_differences(source, restored) == "");
    fs::remove_all(packed);
    fs::remove_all(restored);
    const double slower = std::max(copy.seconds, kernels), both = copy.seconds + kernels;
    fmt::print("| {:.2f} | {:.1f} | {:.1f} | {:.1f} | {:.0f} % | {:.0f} % | {:.1f} | {} | {} | {} | {} |\n", static_cast<double>(bytes) / 1e9,
               copy.seconds, kernels, there.seconds, 100 * slower / there.seconds, 100 * both / there.seconds, back.seconds, copy.mebibytes,
               in_memory.mebibytes, there.mebibytes, back.mebibytes);
    std::fflush(stdout);
  }
}

}  // namespace

TEST_CASE("figures of conversions of gigabytes", "[.scale]") {
  fmt::print(
      "| GB | copy, s | kernels, s | convert, s | of the slower of the two | of both, one after the other | restore, s | peak MiB: copy | "
      "kernels | convert | restore |\n");
  // One measurement of 10 GB is enough; small ones are repeated.
  const auto show = [](int layers) { show_figures(layers, layers < 8 ? 3 : 1); };
  const char* const layers = std::getenv("MXACT_SCALE_LAYERS");
  if (layers != nullptr) return show(std::stoi(layers));
  show(2);
  show(24);
}

}  // namespace mx::tests
