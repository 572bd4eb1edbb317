// mxact_kernels_proof: the kernels against the model on more cases than a test run has time for. Prints a table of what it compared.

#include <omp.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/functions/functions.hpp"
#include "model/error.hpp"
#include "tests/kernels/codec_cases.hpp"

namespace mx::test {
namespace {

constexpr int kWrong = 1;
constexpr int kNothingRan = 5;
constexpr int kInternal = 70;

struct Options {
  std::uint64_t blocks = 1000000;
  std::vector<std::string> only;
  std::vector<std::string> tiers;
  int threads = 0;
};

bool is_wanted(const Options& options, const std::string& name) {
  if (options.only.empty()) return true;
  return std::ranges::any_of(options.only, [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

/// The tiers asked for, or all that run here.
std::vector<const kernels::IsaTier*> tiers_of(const Options& options) {
  if (options.tiers.empty()) return tiers_here();
  std::vector<const kernels::IsaTier*> out;
  for (const std::string& name : options.tiers) out.push_back(&kernels::isa_tier_named(name));
  return out;
}

/// Wrong answers and the first of them.
class Wrong {
 public:
  void add(const std::string& what) {
    if (count_.fetch_add(1) != 0) return;
    const std::scoped_lock lock(mutex_);
    first_ = what;
  }
  std::uint64_t count() const { return count_; }
  const std::string& first() const { return first_; }

 private:
  std::atomic<std::uint64_t> count_{0};
  std::mutex mutex_;
  std::string first_;
};

/// Blocks that a thread draws, quantizes by the model once and on every tier, and compares; fewer of squares, which have 16384 elements each.
constexpr std::uint64_t kBatch = 512;
constexpr std::uint64_t kSquaresInBatch = 2;
std::uint64_t batch_of(const BlockFormat& format) { return format.block_rows == 1 ? kBatch : kSquaresInBatch; }

void check_batch(const RecipeCase& the, std::uint64_t batch, const Options& options, Wrong& wrong) {
  Words random(batch * 1000003U + 20260505U);
  const BlockFormat& format = *the.recipe->format;
  const std::size_t block = format.block == 0 ? 64 : static_cast<std::size_t>(format.block);
  const auto blocks = static_cast<std::size_t>(batch_of(format));
  const auto block_rows = static_cast<std::size_t>(format.block_rows);
  const std::size_t rows = format.block == 0 ? blocks : block_rows;
  const kernels::Shape shape{rows, blocks * block / rows};
  const TensorScale tensor = tensor_scale_for(tensor_needs(*the.recipe), random());
  const auto elements = drawn_elements(shape.rows * shape.cols, block, *the.source, random);
  const Packed want = quantized_by_model(elements, shape, the, tensor);
  for (const kernels::IsaTier* tier : tiers_of(options)) {
    if (quantized_by_kernel(elements, shape, the, tensor, {tier, 1}) == want) continue;
    wrong.add(the.name() + " on " + std::string(tier->name) + ", batch " + std::to_string(batch));
  }
}

/// True when nothing was wrong.
bool check_quantizers(const Options& options, std::uint64_t& compared) {
  bool all_right = true;
  std::printf("| quantizer | blocks | wrong batches |\n|---|--:|--:|\n");
  for (const RecipeCase& the : recipe_cases()) {
    const bool is_fast = kernels::has_fast_quantize(*the.recipe, *the.source, tensor_scale_for(tensor_needs(*the.recipe), 0));
    if (!is_fast || !is_wanted(options, the.name())) continue;
    const std::uint64_t in_batch = batch_of(*the.recipe->format);
    const std::uint64_t batches = (options.blocks + kBatch - 1) / kBatch;
    Wrong wrong;
#pragma omp parallel for schedule(dynamic)
    for (std::uint64_t batch = 0; batch < batches; ++batch) check_batch(the, batch, options, wrong);
    compared += batches * in_batch;
    std::printf("| %s | %llu | %llu |\n", the.name().c_str(), static_cast<unsigned long long>(batches * in_batch),
                static_cast<unsigned long long>(wrong.count()));
    std::fflush(stdout);
    if (wrong.count() != 0) std::fprintf(stderr, "mxact_kernels_proof: WRONG: %s\n", wrong.first().c_str());
    all_right = all_right && wrong.count() == 0;
  }
  return all_right;
}

/// Scales of a format: every byte, or fp32 numbers of each sign and exponent with a mantissa drawn for each.
std::vector<std::uint32_t> scales_of(const BlockFormat& format) {
  std::vector<std::uint32_t> out(*format.scale == kF32 ? 512 : 256);
  Words random(20260507);
  for (std::uint32_t i = 0; i < out.size(); ++i) out[i] = *format.scale == kF32 ? i << 23 | (random() & 0x7FFFFFU) : i;
  return out;
}

/// All codes under these scales, each scale in a row of its own: with bytes every input that a block can hold.
Packed all_blocks(const BlockFormat& format, const std::vector<std::uint32_t>& scales, std::size_t cols) {
  const std::size_t block = format.block == 0 ? cols : static_cast<std::size_t>(format.block);
  const std::size_t codes = std::size_t{1} << format.element->width;
  const std::size_t scale_bytes = *format.scale == kF32 ? 4 : 1;
  Packed blocks;
  for (std::uint32_t scale : scales) {
    for (std::size_t i = 0; i < cols; ++i) {
      if (format.element->width != 4) blocks.codes.push_back(static_cast<std::uint8_t>(i % codes));
      if (format.element->width == 4 && i % 2 == 0) blocks.codes.push_back(static_cast<std::uint8_t>(i % 16 | (i + 1) % 16 << 4));
      for (std::size_t byte = 0; i % block == 0 && byte < scale_bytes; ++byte) {
        blocks.scales.push_back(static_cast<std::uint8_t>(scale >> (8 * byte)));
      }
    }
  }
  return blocks;
}

bool check_dequantizers(const Options& options, std::uint64_t& compared) {
  bool all_right = true;
  std::printf("| dequantizer | pairs of code and scale | wrong |\n|---|--:|--:|\n");
  for (const DequantizerCase& the : dequantizer_cases()) {
    if (!kernels::has_fast_dequantize(*the.how) || !is_wanted(options, the.name())) continue;
    const BlockFormat& format = *the.how->format;
    const std::size_t codes = std::size_t{1} << format.element->width;
    const std::vector<std::uint32_t> scales = scales_of(format);
    const kernels::Shape shape{scales.size(), std::max(codes, static_cast<std::size_t>(format.block))};
    const Packed blocks = all_blocks(format, scales, shape.cols);
    const TensorScale tensor = tensor_scale_for(needs_of(*the.how), 1);
    const auto want = dequantized_by_model(blocks, shape, *the.how, tensor);
    std::uint64_t wrong = 0;
    for (const kernels::IsaTier* tier : tiers_of(options)) {
      wrong += dequantized_by_kernel(blocks, shape, *the.how, tensor, {tier, 1}) == want ? 0U : 1U;
    }
    compared += codes * scales.size();
    std::printf("| %s | %zu | %llu |\n", the.name().c_str(), codes * scales.size(), static_cast<unsigned long long>(wrong));
    all_right = all_right && wrong == 0;
  }
  return all_right;
}

bool check_functions(const Options& options, std::uint64_t& compared) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 16;
  constexpr std::uint64_t kInputs = std::uint64_t{1} << 32;
  bool all_right = true;
  std::printf("| function | inputs | wrong |\n|---|--:|--:|\n");
  for (const kernels::ElementaryFunction& function : kernels::elementary_functions()) {
    if (!is_wanted(options, std::string(function.name))) continue;
    Wrong wrong;
#pragma omp parallel for schedule(dynamic, 64)
    for (std::uint64_t first = 0; first < kInputs; first += kChunk) {
      std::vector<std::uint32_t> x(kChunk);
      std::vector<std::uint32_t> want(kChunk);
      std::vector<std::uint32_t> y(kChunk);
      for (std::uint64_t i = 0; i < kChunk; ++i) {
        x[i] = static_cast<std::uint32_t>(first + i);
        want[i] = function.model(x[i]);
      }
      for (const kernels::IsaTier* tier : tiers_of(options)) {
        kernels::apply(function, x, y, *tier);
        for (std::uint64_t i = 0; i < kChunk; ++i) {
          if (y[i] != want[i]) wrong.add(std::string(function.name) + " of " + std::to_string(x[i]) + " on " + std::string(tier->name));
        }
      }
    }
    compared += kInputs;
    std::printf("| %s | %llu | %llu |\n", std::string(function.name).c_str(), static_cast<unsigned long long>(kInputs),
                static_cast<unsigned long long>(wrong.count()));
    std::fflush(stdout);
    if (wrong.count() != 0) std::fprintf(stderr, "mxact_kernels_proof: WRONG: %s\n", wrong.first().c_str());
    all_right = all_right && wrong.count() == 0;
  }
  return all_right;
}

int run(int argc, char** argv) {
  CLI::App app("mxact_kernels_proof: the kernels of every tier that runs here against the model, bit for bit", "mxact_kernels_proof");
  app.footer("exit status: 0 all right; 1 a wrong answer; 2 usage; 5 nothing was compared");
  app.require_subcommand(1);
  Options options;
  using Check = bool (*)(const Options&, std::uint64_t&);
  Check check = nullptr;
  const auto add = [&](const std::string& name, const std::string& what, Check part) {
    CLI::App* verb = app.add_subcommand(name, what);
    verb->add_option("--only", options.only, "only rows whose name contains one of these");
    verb->add_option("--tier", options.tiers, "only these tiers (default: all that run here)");
    verb->add_option("--threads", options.threads, "how many threads (default: OpenMP's)")->check(CLI::Range(1, 1024));
    verb->callback([&check, part] { check = part; });
    return verb;
  };
  add("quantizers", "blocks of every recipe that a kernel knows", check_quantizers)
      ->add_option("--blocks", options.blocks, "blocks of each (default 1000000)");
  add("dequantizers", "every code under every scale byte (fp32 scales: every exponent), for each dequantizer that a kernel knows",
      check_dequantizers);
  add("functions", "all 2^32 arguments of every elementary function", check_functions);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::usage, error.what());
  }
  if (options.threads > 0) omp_set_num_threads(options.threads);
  std::uint64_t compared = 0;
  const bool all_right = check(options, compared);
  std::string tiers;
  for (const kernels::IsaTier* tier : tiers_of(options)) tiers += " " + std::string(tier->name);
  std::printf("%llu cases on the tiers%s\n", static_cast<unsigned long long>(compared), tiers.c_str());
  if (compared == 0) return kNothingRan;
  return all_right ? 0 : kWrong;
}

}  // namespace
}  // namespace mx::test

int main(int argc, char** argv) {
  try {
    const int status = mx::test::run(argc, argv);
    return std::fflush(stdout) == 0 ? status : static_cast<int>(mx::ErrorCode::resource);
  } catch (const mx::Error& error) {
    std::fprintf(stderr, "mxact_kernels_proof: error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mxact_kernels_proof: error: internal: %s\n", error.what());
    return mx::test::kInternal;
  }
}
