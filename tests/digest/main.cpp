// mxact_digest: what the model computes, and the kernels on each tier that runs here with 1, 2, 3 and 8 threads, as digests. Every cell must have the
// same; matrix.sh compares them between compilers and processors.

#include <cinttypes>
#include <cstdio>
#include <exception>
#include <string>

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

int run(bool verbose) {
  print("model", digest_of(model_parts(), verbose));
  bool all_same = true;
  std::uint64_t first = 0;
  int cells = 0;
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    if (!kernels::runs_here(tier)) continue;
    for (const int threads : kThreads) {
      const Digest digest = digest_of(kernel_parts(), verbose, tier, threads);
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
  const std::string option = argc == 2 ? argv[1] : "";
  if (argc > 2 || (argc == 2 && option != "--parts")) {
    std::fprintf(stderr,
                 "usage: mxact_digest [--parts]\nPrints the model's digest, and that of the kernels for each tier that runs here and 1, 2, 3 and 8 "
                 "threads; with --parts, what they are made of.\n");
    return option == "--help" ? 0 : static_cast<int>(mx::ErrorCode::usage);
  }
  try {
    return mx::test::run(option == "--parts");
  } catch (const mx::Error& error) {
    std::fprintf(stderr, "mxact_digest: error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mxact_digest: error: internal: %s\n", error.what());
    return mx::test::kInternal;
  }
}
