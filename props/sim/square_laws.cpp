// FP8 in squares of 128 that a rank's share cuts. What a rank has is counted here by plain loops over the scales; a deployment of such ranks is held
// against the exact layer.

#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "checkpoint/shard.hpp"
#include "model/error.hpp"
#include "model/families/memory.hpp"
#include "model/layout/grains.hpp"
#include "model/moe/layer.hpp"
#include "props/layout/generators.hpp"
#include "props/sim/laws.hpp"
#include "sim/execute/run_backend.hpp"
#include "sim/execute/sample_layer.hpp"
#include "sim/ranks/deployment.hpp"

namespace mx::props {
namespace {

using layout::Role;

constexpr int kCases = 12;
constexpr std::int64_t kSide = 128;
constexpr layout::Form kSquares{layout::WeightFormat::fp8_block, layout::SourceOrder::standard};
/// Power of signal over noise that activations in e4m3 keep by far.
constexpr double kFp8 = 100;

/// A layer whose ranks cut squares, and the side of the finer ones.
struct Cut {
  layout::Sizes whole;
  int tp;
  std::int64_t side;

  std::int64_t share() const { return whole.intermediate / tp; }
};

/// Shares and hidden sizes that the side divides and 128 does not.
Cut random_cut() {
  const std::int64_t side = 32 * pick(1, 2);
  const int tp = static_cast<int>(pick(1, 3));
  const auto odd = [&] { return side * (2 * pick(0, 2) + 1); };
  const std::int64_t share = odd();
  const std::int64_t hidden = pick(0, 1) == 0 ? odd() : kSide * pick(1, 2);
  return {{2, share * tp, hidden, 1}, tp, std::gcd(std::gcd(kSide, share), hidden)};
}

std::uint64_t scale_at(const layout::CanonicalLayer& layer, Role role, std::int64_t index) { return layout::get_grain(layer[role], index, 32); }

std::int64_t squares(std::int64_t size, std::int64_t side) { return (size + side - 1) / side; }

/// Scales of one expert's half, [rows, columns] of squares of each side; the part begins at (row, column) of the whole.
struct Grid {
  Role role;
  std::int64_t half, halves, rows, columns;  ///< of the part, in elements
  std::int64_t whole_rows, whole_columns;
  std::int64_t row, column;
};

bool has_scales_of(const layout::CanonicalLayer& part, const layout::CanonicalLayer& whole, const Cut& cut, const Grid& grid) {
  const std::int64_t own_columns = squares(grid.columns, cut.side), own = squares(grid.rows, cut.side) * own_columns;
  const std::int64_t all_columns = squares(grid.whole_columns, kSide), all = squares(grid.whole_rows, kSide) * all_columns;
  for (std::int64_t expert = 0; expert < part.sizes.experts; ++expert) {
    for (std::int64_t i = 0; i < grid.rows; i += cut.side) {
      for (std::int64_t k = 0; k < grid.columns; k += cut.side) {
        const std::int64_t at = (expert * grid.halves + grid.half) * own + i / cut.side * own_columns + k / cut.side;
        const std::int64_t from = (expert * grid.halves + grid.half) * all + (grid.row + i) / kSide * all_columns + (grid.column + k) / kSide;
        if (scale_at(part, grid.role, at) != scale_at(whole, grid.role, from)) return false;
      }
    }
  }
  return true;
}

void hold_parts(const Cut& cut, const layout::CanonicalLayer& whole) {
  std::vector<layout::CanonicalLayer> parts;
  for (int rank = 0; rank < cut.tp; ++rank) {
    parts.push_back(checkpoint::shard(whole, {rank, cut.tp, cut.share(), cut.side}));
    const std::int64_t first = rank * cut.share();
    for (std::int64_t half = 0; half < 2; ++half) {
      const Grid of_w13{Role::w13_weight_scale, half, 2, cut.share(), cut.whole.hidden, cut.whole.intermediate, cut.whole.hidden, first, 0};
      RC_ASSERT(has_scales_of(parts.back(), whole, cut, of_w13));
    }
    const Grid of_w2{Role::w2_weight_scale, 0, 1, cut.whole.hidden, cut.share(), cut.whole.hidden, cut.whole.intermediate, 0, first};
    RC_ASSERT(has_scales_of(parts.back(), whole, cut, of_w2));
  }
  RC_ASSERT(checkpoint::join(parts, cut.whole).tensors == whole.tensors);
}

void hold_takers(const Cut& cut) {
  layout::Sizes sizes = cut.whole;
  sizes.intermediate = cut.share();
  sizes.group = cut.side;
  for (const families::BackendLayout& row : families::all_backend_layouts()) {
    if (row.format != kSquares.format) continue;
    const families::Setting setting{.sizes = sizes, .padded = sizes, .form = kSquares, .engine = deployment::kVllm2026_08};
    const std::vector<families::BrokenNeed> broken = families::broken_needs(row, setting);
    const bool refuses =
        std::ranges::any_of(broken, [](const families::BrokenNeed& one) { return one.need.quantity == families::Quantity::block_side; });
    RC_ASSERT(refuses == (row.backend != "TRITON"));
  }
}

void hold_deployment(const Cut& cut, const layout::CanonicalLayer& whole) {
  constexpr std::int64_t kTokens = 2;
  const sim::ModelLayer layer{whole, {"SILU", {0, 0, 0, 0}}, sim::usual_scales(kSquares.format)};
  const sim::SampleTokens tokens = sim::sample_tokens(kTokens, cut.whole.hidden, cut.whole.experts, 2, static_cast<std::uint64_t>(pick(0, 999)));
  deployment::LayerConfig config{};
  config.num_experts = cut.whole.experts;
  config.experts_per_token = 2;
  config.hidden = cut.whole.hidden;
  config.intermediate_per_partition = cut.share();
  config.activation = "SILU";
  config.routing_method = "RenormalizeNaive";
  deployment::Deployment deployment = deployment::deployment_on(deployment::platform_named("SM90"), {.tp = cut.tp}, config);
  deployment.weight_key = "kFp8Static128BlockSym";
  deployment.activation_key = "kFp8Dynamic128Sym";
  const sim::SimulationRequest request{"fp8", deployment, "TRITON", "TritonExperts", deployment::kVllm2026_08};
  // Activations go in groups as long as the squares, or nothing can be multiplied.
  RC_ASSERT(families::in_groups_of(families::quantizer_named("fp8-group128"), cut.side, families::Arch::sm90, deployment::kVllm2026_08).format->block == cut.side);
  const sim::Reference reference = sim::run_reference(request, layer, tokens, {});
  RC_ASSERT(reference.input.quantizer->format->block == cut.side);
  const sim::Simulation simulation = sim::simulate(request, layer, tokens, reference, sim::in_process());
  RC_ASSERT(simulation.result.has_value());
  RC_ASSERT(simulation.result->broken() == nullptr);
  const auto number = [](std::uint32_t f32) { return static_cast<double>(std::bit_cast<float>(f32)); };
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < reference.exact.size(); ++i) {
    const double difference = number(simulation.result->out[i]) - number(reference.exact[i]);
    signal += number(reference.exact[i]) * number(reference.exact[i]);
    noise += difference * difference;
  }
  RC_ASSERT(signal > kFp8 * noise);
}

}  // namespace

Outcome law_squares(const Law& law) {
  return check_property(
      law,
      [] {
        const Cut cut = random_cut();
        const layout::CanonicalLayer whole = sim::sample_layer(cut.whole, kSquares, false, static_cast<std::uint64_t>(pick(0, 999)));
        hold_parts(cut, whole);
        hold_takers(cut);
        hold_deployment(cut, whole);
      },
      kCases);
}

}  // namespace mx::props
