// What a backend's row says of a token and its batch, held against the bits that it computes.

#include <rapidcheck.h>

#include <algorithm>
#include <string>

#include "model/families/batch.hpp"
#include "props/sim/generators.hpp"
#include "props/sim/laws.hpp"
#include "sim/execute/run_layer.hpp"
#include "sim/execute/sample_layer.hpp"

namespace mx::props {
namespace {

using families::Batch;
using families::BatchRow;
using Words = std::vector<std::uint32_t>;

constexpr std::int64_t kMostTokens = 8, kTopK = 2, kHidden = 256, kIntermediate = 128, kExperts = 3;
constexpr int kDraws = 6;  // layers among which what changes must show

/// A backend of a version on a device, with the wish of its activations.
struct Subject {
  layout::WeightFormat format;
  std::string_view backend;
  families::Arch arch;
  deployment::Engine engine;
  std::string_view key;
};

struct Ran {
  Words words;  ///< of the first token: gate and up before they are rounded, then its output
  families::BatchWord said;
};

/// Exponents that differ by up to 15: sums of such products are rounded, and their order shows.
void spread(std::vector<std::uint32_t>& x_bf16) {
  constexpr std::uint32_t kGolden = 0x9E3779B1U;
  for (std::size_t i = 0; i < x_bf16.size(); ++i) x_bf16[i] += (static_cast<std::uint32_t>(i) * kGolden >> 28U) << 7U;
}

/// The first token of the seed among `beside` others, in a launch of at least `tokens`.
Ran first_token(const Subject& subject, std::string_view given, std::int64_t tokens, std::int64_t beside, std::uint64_t seed) {
  families::ExecutionRow row = families::execution_of(subject.format, subject.backend);
  row.rounds_h13 = false;  // few bf16 values show an order of scales
  const bool is_oai = row.silu.row.empty();
  const layout::Form form(subject.format, is_oai ? row.oai_order : row.silu_order);
  const layout::CanonicalLayer layer =
      sim::sample_layer({kExperts, kIntermediate, kHidden, std::max<std::int64_t>(layout::group_of(subject.format), 1)}, form, false, seed);
  sim::Execution execution = sim::execution_on(row, {subject.arch}, subject.key, {is_oai ? "SWIGLUOAI" : "SILU", {}},
                                               {sim::power_of_two(-6), sim::power_of_two(-4)}, subject.engine);
  execution.sums = sim::SumsBy::twins;
  execution.choice = families::read_launch(given);
  execution.choice.set(families::LaunchKey::tokens, std::max(tokens, beside + 1));
  const sim::SampleTokens drawn = sim::sample_tokens(kMostTokens, kHidden, kExperts, kTopK, seed);
  sim::LayerTokens input{kTopK, {}, {}, {drawn.x.begin(), drawn.x.begin() + (beside + 1) * kHidden}};
  spread(input.x);
  for (std::int64_t token = 0; token <= beside; ++token) {
    for (const moe::Slot& slot : drawn.slots[static_cast<std::size_t>(token)]) {
      input.ids.push_back(static_cast<std::int32_t>(slot.expert));
      input.weights.push_back(slot.weight);
    }
  }
  const sim::LayerExperts experts =
      sim::settled({std::move(execution), sim::Weights::of_checkpoint(layer, row), kHidden}, input.tokens(), input.top_k);
  const std::vector<sim::LayerStage> wanted{sim::LayerStage::h13, sim::LayerStage::out};
  Ran ran{{}, experts.execution.batch};
  for (const sim::StageValues& stage : run_layer(experts, input, {}, wanted)) {
    const auto rows = static_cast<std::ptrdiff_t>(stage.stage == sim::LayerStage::h13 ? kTopK * 2 * kIntermediate : kHidden);
    ran.words.insert(ran.words.end(), stage.words.begin(), stage.words.begin() + rows);
  }
  return ran;
}

/// Without either's words in the message.
void require_same(const Ran& a, const Ran& b) {
  const bool is_same = a.words == b.words;
  RC_ASSERT(is_same);
}

std::uint64_t pick_seed() { return static_cast<std::uint64_t>(pick(1, 1 << 20)); }

/// Alone and among others, in launches of any size: the same bits.
void hold_invariant(const Subject& subject, std::string_view given) {
  const std::uint64_t seed = pick_seed();
  const Ran alone = first_token(subject, given, 1, 0, seed);
  RC_ASSERT(alone.said.word == Batch::invariant);
  for (const std::int64_t tokens : {std::int64_t{2}, pick(3, 600), std::int64_t{5000}})
    require_same(first_token(subject, given, tokens, pick(1, kMostTokens - 1), seed), alone);
}

/// One result up to the boundary, another behind it.
void hold_boundary(const Subject& subject, const BatchRow& row) {
  const std::int64_t last = row.last / (row.of == "slots" ? kTopK : 1);
  bool found = false;
  for (int draw = 0; draw < kDraws && !found; ++draw) {
    const std::uint64_t seed = pick_seed();
    const Ran below = first_token(subject, "", last, 0, seed), above = first_token(subject, "", last + 1, 0, seed);
    RC_ASSERT(below.said.word == Batch::changes && above.said.word == Batch::changes);
    require_same(first_token(subject, "", pick(kMostTokens, last - 1), pick(0, kMostTokens - 1), seed), below);
    require_same(first_token(subject, "", pick(last + 2, 20 * last), pick(0, kMostTokens - 1), seed), above);
    found = below.words != above.words;
  }
  RC_ASSERT(found);
}

/// Another result with other tokens beside it, in the same launch.
void hold_beside(const Subject& subject, std::string_view given) {
  bool found = false;
  for (int draw = 0; draw < kDraws && !found; ++draw) {
    const std::uint64_t seed = pick_seed();
    const Ran alone = first_token(subject, given, kMostTokens, 0, seed), among = first_token(subject, given, kMostTokens, kMostTokens - 1, seed);
    RC_ASSERT(alone.said.word == Batch::changes && among.said.word == Batch::changes);
    found = alone.words != among.words;
  }
  RC_ASSERT(found);
}

/// From so many slots on no two runs agree: the row says so of such a launch alone.
void hold_unsteady(const Subject& subject, const BatchRow& row, std::string_view given) {
  const std::uint64_t seed = pick_seed();
  RC_ASSERT(first_token(subject, given, row.unsteady / kTopK - 1, 0, seed).said.word == Batch::changes);
  RC_ASSERT(first_token(subject, given, row.unsteady / kTopK, 0, seed).said.word == Batch::not_repeatable);
}

void hold(const Subject& subject, const BatchRow& row) {
  // So small a layer has a grid of few blocks, whatever the device has.
  constexpr std::string_view kGrid = "blocks=3,stages=1", kInvariant = "batch_invariant=1";
  if (row.word == Batch::invariant) return hold_invariant(subject, "");
  if (row.last != 0) {
    hold_boundary(subject, row);
  } else {
    hold_beside(subject, kGrid);
  }
  if (row.unsteady != 0) hold_unsteady(subject, row, kGrid);
  if (row.steady != families::Steady::by_nothing) hold_invariant(subject, kInvariant);
}

}  // namespace

Outcome law_batch(const Law& law) {
  std::vector<RowProperty> rows;
  const auto add = [&](const Subject& subject, Batch word, std::function<void()> property) {
    rows.push_back(
        {std::string(subject.backend) + " " + std::string(layout::name_of(subject.format)) + " " + std::string(deployment::name_of(subject.engine)),
         std::move(property), [word] { return std::string(families::name_of(word)); }});
  };
  for (const BatchRow& row : families::batch_rows()) {
    for (const layout::WeightFormat format : row.formats) {
      for (const deployment::Engine engine : {deployment::kVllm2026_05, deployment::kVllm2026_08}) {
        const Subject subject{format, row.backend, families::Arch::sm90, engine, "kFp8DynamicTokenSym"};
        if (row.engines.has(engine)) add(subject, row.word, [subject, &row] { hold(subject, row); });
      }
    }
  }
  // A row of no word: one scale for what all tokens bring is one of the batch, on any device.
  const Subject together{layout::WeightFormat::fp8_tensor, "TRITON", families::Arch::sm100, deployment::kVllm2026_05, "kFp8DynamicTensorSym"};
  add(together, Batch::changes, [together] { hold_beside(together, ""); });
  return check_rows(law, rows, 1);
}

}  // namespace mx::props
