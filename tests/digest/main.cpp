// mxact_digest: what the model computes, and the kernels on each tier that runs here with 1, 2, 3 and 8 threads, as digests. Every cell must have the
// same; matrix.sh compares them between compilers and processors.

#include <cinttypes>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "model/error.hpp"
#include "tests/digest/digest.hpp"

namespace mx::test {
namespace {

constexpr int kWrong = 1;
constexpr int kInternal = 70;
constexpr int kThreads[] = {1, 2, 3, 8};

void print(std::string_view what, const Digest& digest) {
  std::printf("%-24.*s %016" PRIx64 " %" PRIu64 " results\n", static_cast<int>(what.size()), what.data(), digest.value(), digest.results());
  std::fflush(stdout);
}

/// The digest of the parts' digests.
template <class Parts, class... Arguments>
Digest digest_of(const Parts& parts, bool verbose, const Arguments&... arguments) {
  Digest all;
  for (const auto& part : parts) {
    Digest digest;
    part.run(digest, arguments...);
    if (verbose) print("  " + std::string(part.name), digest);
    all.add(digest);
  }
  return all;
}

struct Options {
  bool parts = false;  ///< their digests too
  bool model = false;  ///< the model alone
  bool wrong = false;
};

Options options_of(std::span<char* const> words) {
  Options options;
  for (const std::string_view word : words) {
    options.parts = options.parts || word == "--parts";
    options.model = options.model || word == "--model";
    options.wrong = options.wrong || (word != "--parts" && word != "--model");
  }
  return options;
}

int run(const Options& options) {
  print("model", digest_of(model_parts(), options.parts));
  if (options.model) return 0;
  bool all_same = true;
  std::uint64_t first = 0;
  int cells = 0;
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    if (!kernels::runs_here(tier)) continue;
    for (const int threads : kThreads) {
      const Digest digest = digest_of(kernel_parts(), options.parts, tier, threads);
      print("kernels " + std::string(tier.name) + " " + std::to_string(threads), digest);
      if (cells++ == 0) first = digest.value();
      all_same = all_same && digest.value() == first;
    }
  }
  if (!all_same) std::fprintf(stderr, "mxact_digest: WRONG: the kernels' digests differ\n");
  return all_same ? 0 : kWrong;
}

}  // namespace
}  // namespace mx::test

int main(int argc, char** argv) {
  const mx::test::Options options = mx::test::options_of({argv + 1, argv + argc});
  if (options.wrong) {
    std::fprintf(stderr,
                 "usage: mxact_digest [--parts] [--model]\nPrints the model's digest, and that of the kernels for each tier that runs here and 1, 2, 3 and "
                 "8 threads; with --parts, what they are made of, with --model the model's alone.\n");
    return argc == 2 && std::string_view(argv[1]) == "--help" ? 0 : static_cast<int>(mx::ErrorCode::usage);
  }
  try {
    return mx::test::run(options);
  } catch (const mx::Error& error) {
    std::fprintf(stderr, "mxact_digest: error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mxact_digest: error: internal: %s\n", error.what());
    return mx::test::kInternal;
  }
}
