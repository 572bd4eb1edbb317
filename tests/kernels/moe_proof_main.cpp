// mxact_moe_proof: random layers in every format, contract and activation, on every tier, number of threads and split of the batch, each against the
// model, for as long as is asked.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "model/error.hpp"
#include "tests/kernels/moe_cases.hpp"

namespace mx::tests {
namespace {

constexpr int kWrong = 1;

/// What was compared so far.
struct Count {
  std::uint64_t layers = 0;
  std::uint64_t runs = 0;
  std::uint64_t outputs = 0;
};

/// Rows of one expert of which no kernel takes all at once, for layers that are small enough.
constexpr std::size_t kManyRows = kernels::moe::kMostRows + 100;
constexpr std::int64_t kFewWeights = 64 * 96;

/// All tokens to one expert.
void crowd(Case& c) {
  c.map.clear();
  std::ranges::fill(c.experts, 0);
}

/// Tokens and what becomes of them so many times over.
void repeat(Case& c, std::vector<std::uint32_t>& expected, std::size_t times) {
  const auto over = [&](auto& values) {
    const auto once = values;
    for (std::size_t i = 1; i < times; ++i) values.insert(values.end(), once.begin(), once.end());
  };
  over(c.x);
  over(c.experts);
  over(c.weights);
  over(expected);
}

/// One layer of this number; returns whether all runs gave the model's bits.
bool hold_layer(std::uint64_t number, Count& count) {
  std::mt19937 random(static_cast<std::uint32_t>(number));
  const Contract contract = kContracts[random() % std::size(kContracts)];
  std::vector<WeightFormat> formats;
  std::ranges::copy_if(kFormats, std::back_inserter(formats), [&](WeightFormat format) { return takes(contract, format); });
  const WeightFormat format = formats[random() % formats.size()];
  const bool gated = random() % 4 != 0;
  Case c = any_case(random, random() % 2 == 0, format, gated, Width::wide);
  const mx::moe::ScaledChoices choices = any_choices(random, contract, c);
  const bool many = random() % 8 == 0 && c.layer.sizes.intermediate * c.layer.sizes.hidden <= kFewWeights;
  if (many) crowd(c);
  std::vector<std::uint32_t> expected = modelled(c, choices);
  if (many) repeat(c, expected, 1 + kManyRows / c.experts.size());
  const kernels::moe::PanelLayer panels = kernels::moe::pack(c.layer);
  ++count.layers;
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    if (!kernels::runs_here(tier)) continue;
    for (const int threads : {1, 2, 3, 8}) {
      // Of many, most at once.
      const std::size_t tokens = many ? c.tokens() - random() % (c.tokens() / 16) : 1 + random() % c.tokens();
      const std::string wrong = difference(run_split(panels, c, choices, tier, threads, tokens), expected);
      ++count.runs;
      count.outputs += expected.size();
      if (wrong.empty()) continue;
      std::fprintf(
          stderr,
          "mxact_moe_proof: WRONG: %s of %s by %s on %s, %d threads, %zu tokens at a time: %s\nrepeat: mxact_moe_proof --first %llu --layers 1\n",
          std::string(name_of(contract)).c_str(), std::string(layout::name_of(format)).c_str(), std::string(choices.activation->name).c_str(),
          std::string(tier.name).c_str(), threads, tokens, wrong.c_str(), static_cast<unsigned long long>(number));
      return false;
    }
  }
  return true;
}

/// What is wrong with a number that has to be more than zero.
std::string not_positive(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  return *end == '\0' && std::isfinite(value) && value > 0 ? "" : "'" + word + "' is not a positive number";
}

int prove(int argc, char** argv) {
  const cli::Program program("mxact_moe_proof",
                             "mxact_moe_proof: the fused layer on every tier, number of threads and split of a batch against the model, bit for bit");
  const cli::Verb root = program.root();
  root.footer("exit status: 0 all right; 1 a wrong answer; 2 usage");
  double minutes = 0;
  std::uint64_t layers = 100;
  std::uint64_t first = 0;
  root.add_option("--minutes", minutes, "go on for so long, whatever --layers says").check(not_positive);
  root.add_option("--layers", layers, "how many layers (default 100)").check(not_positive);
  root.add_option("--first", first, "number of the first layer: each makes its own random numbers");
  if (!program.parse({argv + 1, argv + argc})) return 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto goes_on = [&](std::uint64_t done) {
    if (minutes == 0) return done < layers;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 60 * minutes;
  };
  Count count;
  bool right = true;
  for (std::uint64_t done = 0; right && goes_on(done); ++done) right = hold_layer(first + done, count);
  std::printf("%llu layers, %llu runs, %llu outputs compared, %s\n", static_cast<unsigned long long>(count.layers),
              static_cast<unsigned long long>(count.runs), static_cast<unsigned long long>(count.outputs), right ? "none wrong" : "WRONG");
  return right ? 0 : kWrong;
}

}  // namespace
}  // namespace mx::tests

int main(int argc, char** argv) {
  try {
    const int status = mx::tests::prove(argc, argv);
    return std::fflush(stdout) == 0 ? status : static_cast<int>(mx::ErrorCode::resource);
  } catch (const mx::Error& error) {
    std::fprintf(stderr, "mxact_moe_proof: error: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
