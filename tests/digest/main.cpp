// mxact_digest: what the model computes, and the kernels on each tier that runs here with 1, 2, 3 and 8 threads, as digests. Every cell must have the
// same; matrix.sh compares them between compilers and processors. Under --mode the host's floating-point mode is another one when the threads are
// born and the doors' guard stands between it and the model; modes_test.sh compares.

#include <omp.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/ordinary_mode.hpp"
#include "tests/digest/digest.hpp"

namespace mx::tests {
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

/// A mode that a host may have set, as the control registers of x86-64 hold it.
struct ModeRow {
  std::string_view name;
  FloatMode mode;
};
constexpr std::array kModes{ModeRow{"ordinary", {0x1F80, 0x037F}}, ModeRow{"ftz", {0x9F80, 0x037F}},  ModeRow{"daz", {0x1FC0, 0x037F}},
                            ModeRow{"ftz-daz", {0x9FC0, 0x037F}},  ModeRow{"zero", {0x7F80, 0x0F7F}}, ModeRow{"down", {0x3F80, 0x077F}},
                            ModeRow{"up", {0x5F80, 0x0B7F}}};

/// The model, and behind the guard the kernels on the best tier with two threads that were born under the mode.
int run_under(const FloatMode& mode, bool guarded) {
  set_float_mode(mode);
  std::array<FloatMode, 2> born{};
#pragma omp parallel num_threads(2)
  born[static_cast<std::size_t>(omp_get_thread_num())] = float_mode();
  const bool all_born =
      std::ranges::all_of(born, [&](const FloatMode& one) { return one.x87 == mode.x87 && (one.words | 0x3F) == (mode.words | 0x3F); });
  if (!all_born) {
    std::fprintf(stderr, "mxact_digest: WRONG: a thread was not born under the mode\n");
    return kWrong;
  }
  std::optional<OrdinaryMode> guard;
  if (guarded) guard.emplace();
  print("model", digest_of(model_parts(), false));
  if (!guarded) return 0;
  const kernels::IsaTier* best = nullptr;
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    if (kernels::runs_here(tier)) best = &tier;
  }
  print("kernels", digest_of(kernel_parts(), false, *best, 2));
  return 0;
}

int run(const std::vector<std::string>& words) {
  if (words.empty() || words == std::vector<std::string>{"--parts"}) return run(!words.empty());
  const auto row = std::ranges::find(kModes, words.size() < 2 ? std::string_view() : std::string_view(words[1]), &ModeRow::name);
  const bool known = words.front() == "--mode" && row != kModes.end() && (words.size() == 2 || (words.size() == 3 && words[2] == "--unguarded"));
  if (known) return run_under(row->mode, words.size() == 2);
  std::fprintf(
      stderr,
      "usage: mxact_digest [--parts | --mode ordinary|ftz|daz|ftz-daz|zero|down|up [--unguarded]]\nPrints the model's digest, and that of the "
      "kernels for each tier that runs here and 1, 2, 3 and 8 threads; with --parts, what they are made of; with --mode, the model's and the "
      "best tier's in a process whose threads were born under that floating-point mode.\n");
  return words == std::vector<std::string>{"--help"} ? 0 : static_cast<int>(ErrorCode::usage);
}

}  // namespace
}  // namespace mx::tests

int main(int argc, char** argv) {
  try {
    return mx::tests::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const mx::Error& error) {
    std::fprintf(stderr, "mxact_digest: error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mxact_digest: error: internal: %s\n", error.what());
    return mx::tests::kInternal;
  }
}
