#include "checkpoint/inspect/reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "checkpoint/inspect/chance.hpp"

namespace mx::checkpoint {
namespace {

/// How often a sound quantizer's blocks have the format's largest code. By its scale rule: floor gives it to blocks whose amax lies in the upper part
/// of a binade, the others to those just below a limit; where scales are no powers of two the largest weight becomes the largest code, up to
/// four-over-six, which gives 4 to some blocks. Source: OCP MX 1.0 section 6.3; the scale rules of model/numerics/mx_profiles.cpp and
/// nvfp4_profiles.cpp.
struct ReachRow {
  CodeKind codes;
  bool powers;      ///< scales are powers of two
  double at_least;  ///< share of blocks
  bool may_always;  ///< all of them by right
};
constexpr std::array kRows{ReachRow{CodeKind::e2m1, true, 0.15, false}, ReachRow{CodeKind::e2m1, false, 0.25, true},
                           ReachRow{CodeKind::e4m3, true, 0.04, false}, ReachRow{CodeKind::e4m3, false, 0.25, true}};
/// With powers of two so many blocks may reach the largest code where weights have one magnitude or few.
constexpr double kOften = 0.75;
/// The second most frequent scale's share: without it amax may lie at one place in its binade by right.
constexpr double kSpread = 0.1;

/// What is known of some blocks together.
struct Reach {
  std::int64_t blocks = 0;
  std::int64_t reaching = 0;
  std::int64_t reaching_240 = 0;
  std::int64_t codes = 0;
  std::int64_t largest = 0;
  std::int64_t block = 0;
  ScaleCounts scales = {};

  void add(const CodeFacts& facts) {
    blocks += facts.blocks;
    reaching += facts.reaching;
    reaching_240 += facts.reaching_240;
    codes += facts.codes;
    largest += facts.largest;
    block = facts.block;
    for (const auto& [number, count] : facts.scales) scales[number] += count;
  }
  bool has_powers() const {
    int exponent = 0;
    return std::ranges::all_of(scales, [&](const auto& one) { return one.first <= 0 || std::frexp(one.first, &exponent) == 0.5; });
  }
  bool is_spread() const {
    std::vector<std::int64_t> counts;
    std::int64_t all = 0;
    for (const auto& [number, count] : scales) {
      counts.push_back(count);
      all += count;
    }
    std::ranges::sort(counts, std::greater());
    return counts.size() > 1 && static_cast<double>(counts[1]) >= kSpread * static_cast<double>(all);
  }
  /// How likely a block would have the largest code if codes came one by one, with the share that they have.
  double likely() const {
    const double share = static_cast<double>(largest) / static_cast<double>(std::max<std::int64_t>(codes, 1));
    return 1 - std::pow(1 - share, static_cast<double>(block));
  }
};

/// What the blocks of a weight, or of all weights of its layer, show.
std::optional<ScannedFault> look_at(const Reach& reach, const PartFacts& one, bool whole_layer) {
  const FoundTensor& weight = *one.part.weight;
  const auto* const row =
      std::ranges::find_if(kRows, [&](const ReachRow& known) { return known.codes == one.codes->kind && known.powers == reach.has_powers(); });
  if (row == kRows.end() || reach.blocks == 0) return std::nullopt;
  const auto blocks = static_cast<double>(reach.blocks);
  const std::string of = whole_layer ? "the layer's blocks" : "the blocks";
  const std::string first = one.part.experts == 1 || whole_layer ? "" : place_in(weight.at->view->shape, one.begin_in(weight));
  if (reach.reaching == 0) {
    // Some hardware's e4m3 ends at 240.
    const bool ends_at_240 = 4 * reach.reaching_240 >= 3 * reach.blocks;
    const double chance = blocks * std::log10(1 - row->at_least);
    if (ends_at_240 || chance > kNever || (row->powers && !reach.is_spread())) return std::nullopt;
    return ScannedFault{ValueFault::never_largest,
                        Piece::weight,
                        std::string(weight.name),
                        reach.blocks,
                        first,
                        fmt::format("none of {}, which are {}; by chance at most {}", of, reach.blocks, chance_text(chance))};
  }
  if (reach.reaching != reach.blocks || row->may_always) return std::nullopt;
  const double chance = blocks * std::log10(std::max(reach.likely(), kOften));
  if (chance > kNever) return std::nullopt;
  return ScannedFault{ValueFault::always_largest,
                      Piece::weight,
                      std::string(weight.name),
                      reach.blocks,
                      first,
                      fmt::format("all of {}, which are {}; by chance {}", of, reach.blocks, chance_text(chance))};
}

}  // namespace

std::vector<ScannedFault> odd_reaches(std::span<const PartFacts> parts) {
  std::vector<ScannedFault> faults;
  Reach all;
  const PartFacts* first = nullptr;
  for (const PartFacts& one : parts) {
    if (!one.codes || one.part.scale == nullptr) continue;
    Reach reach;
    reach.add(*one.codes);
    // Matrices of one magnitude each have several scales together, and say as little.
    if (!reach.has_powers() || reach.is_spread()) all.add(*one.codes);
    if (first == nullptr) first = &one;
    if (std::optional<ScannedFault> fault = look_at(reach, one, false)) faults.push_back(std::move(*fault));
  }
  if (!faults.empty() || first == nullptr) return faults;
  if (std::optional<ScannedFault> fault = look_at(all, *first, true)) faults.push_back(std::move(*fault));
  return faults;
}

}  // namespace mx::checkpoint
