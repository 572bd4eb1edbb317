// Runs a fuzz target where there is no libFuzzer: every seed as it is, then so many mutations of seeds, always the same ones.
// usage: fuzz_TARGET SEEDS [--runs N] [--seed N] [--keep FILE]

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using Input = std::vector<std::uint8_t>;

struct Options {
  std::vector<std::filesystem::path> seeds;
  std::uint64_t runs = 1000;
  std::uint64_t seed = 1;
  std::filesystem::path keep = "fuzz-input";  ///< where the input in hand is kept when the target ends the process
};

std::uint64_t number(const char* text) {
  std::uint64_t value = 0;
  const char* const end = text + std::char_traits<char>::length(text);
  if (std::from_chars(text, end, value).ptr != end) throw mx::Error(mx::ErrorCode::usage, std::string("'") + text + "' is not a whole number");
  return value;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--runs" && i + 1 < argc) {
      options.runs = number(argv[++i]);
    } else if (word == "--seed" && i + 1 < argc) {
      options.seed = number(argv[++i]);
    } else if (word == "--keep" && i + 1 < argc) {
      options.keep = argv[++i];
    } else if (std::filesystem::is_directory(word)) {
      for (const auto& entry : std::filesystem::directory_iterator(word)) options.seeds.push_back(entry.path());
    } else {
      options.seeds.emplace_back(word);
    }
  }
  std::sort(options.seeds.begin(), options.seeds.end());
  if (options.seeds.empty()) throw mx::Error(mx::ErrorCode::usage, "no seeds are named");
  return options;
}

Input read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw mx::Error(mx::ErrorCode::input, "cannot be read", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One small change: a bit, a byte, a piece cut, doubled, moved, or taken from another seed.
void change(Input& input, const Input& other, mx::support::SplitMix64& random) {
  constexpr std::uint8_t kTelling[] = {0x00, 0x01, 0x7F, 0x80, 0xFF, '0', '9', '"', '{', '}', '[', ']', ',', ':', '-', '=', ' ', '\n'};
  const auto pick = [&](std::size_t count) { return count == 0 ? 0 : static_cast<std::size_t>(random.next() % count); };
  const std::size_t at = pick(input.size());
  const std::size_t length = 1 + pick(16);
  const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end = input.begin() + static_cast<std::ptrdiff_t>(std::min(input.size(), at + length));
  switch (pick(7)) {
    case 0:
      if (!input.empty()) *place = static_cast<std::uint8_t>(*place ^ (1U << pick(8)));
      break;
    case 1:
      if (!input.empty()) *place = kTelling[pick(sizeof kTelling)];
      break;
    case 2: input.erase(place, end); break;
    case 3: {
      const Input piece(place, end);
      input.insert(place, piece.begin(), piece.end());
      break;
    }
    case 4: input.insert(place, kTelling[pick(sizeof kTelling)]); break;
    case 5: input.resize(at); break;
    default: {
      const std::size_t from = pick(other.size());
      const std::size_t until = std::min(other.size(), from + 4 * length);
      input.insert(place, other.begin() + static_cast<std::ptrdiff_t>(from), other.begin() + static_cast<std::ptrdiff_t>(until));
    }
  }
}

// What the handler of deadly signals writes.
const Input* in_hand = nullptr;
std::string kept_as;

extern "C" void keep_input(int signal) {
  const int file = open(kept_as.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, in_hand->data(), in_hand->size()) < 0 || close(file) != 0) _exit(128 + signal);
  constexpr char kKept[] = "the input in hand is kept (--keep)\n";
  if (write(STDERR_FILENO, kKept, sizeof kKept - 1) < 0) _exit(128 + signal);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void keep_when_ended(const std::filesystem::path& path) {
  kept_as = path;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, keep_input);
}

int drive(const Options& options) {
  keep_when_ended(options.keep);
  std::vector<Input> seeds;
  for (const std::filesystem::path& path : options.seeds) seeds.push_back(read(path));
  std::uint64_t runs = 0;
  const auto run = [&](const Input& input) {
    in_hand = &input;
    mx::tests::LLVMFuzzerTestOneInput(input.data(), input.size());
    ++runs;
  };
  for (const Input& input : seeds) run(input);
  mx::support::SplitMix64 random(options.seed);
  while (runs < options.runs) {
    Input input = seeds[random.next() % seeds.size()];
    for (std::uint64_t changes = 1 + random.next() % 6; changes > 0; --changes) change(input, seeds[random.next() % seeds.size()], random);
    run(input);
  }
  std::fprintf(stderr, "%llu executions of %zu seeds, no finding\n", static_cast<unsigned long long>(runs), seeds.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return drive(options_of(argc, argv));
  } catch (const mx::Error& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return static_cast<int>(error.code());
  }
}
