#include "golden/witness/product_cuts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

constexpr EnumWord<PieceJoin> kJoins[] = {{"ascending", PieceJoin::ascending},
                                          {"halves", PieceJoin::halves},
                                          {"ascending_fp16", PieceJoin::ascending_fp16},
                                          {"descending", PieceJoin::descending}};

constexpr EnumWord<TurnJoin> kTurnJoins[] = {{"ascending", TurnJoin::ascending}, {"warps", TurnJoin::warps}};

struct ProductWord {
  std::string_view word;
  const Format* format;
};
constexpr ProductWord kProducts[] = {{"exact", nullptr}, {"bf16", &kBf16}, {"fp16", &kFp16}};

std::int64_t length_or(Fields& params, std::string_view key, std::int64_t otherwise) {
  return params.has(key) ? params.integer(key, 1, kLargestExtent) : otherwise;
}

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw Unmodelled(otherwise);
}

/// The elements of [first, first + count) with what is left over first, filled up with zeros to whole groups.
std::vector<Value> rest_first(std::span<const Value> piece, std::int64_t tile, int group) {
  const std::size_t rest = piece.size() % static_cast<std::size_t>(tile);
  std::vector<Value> values(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(rest));
  while (values.size() % static_cast<std::size_t>(std::max(group, 1)) != 0) values.emplace_back();
  values.insert(values.end(), piece.begin() + static_cast<std::ptrdiff_t>(rest), piece.end());
  return values;
}

/// A run of an operand with the scales that belong to it.
Operand run_of(const Operand& operand, std::size_t first, std::size_t count) {
  Operand run = operand;
  run.elements = operand.elements.subspan(first, count);
  if (operand.scales.size() > 1) {
    const auto block = static_cast<std::size_t>(operand.block);
    run.scales = operand.scales.subspan(first / block, (count + block - 1) / block);
  }
  return run;
}

/// What each part takes of a piece that parts share by turns, prepared for itself.
std::vector<PreparedOperand> parts_of(const ContractRow& row, const Cuts& cuts, Side side, const Operand& piece) {
  std::vector<PreparedOperand> prepared;
  for (std::int64_t part = 0; part < cuts.turns; ++part) {
    std::vector<Value> values;
    for (std::size_t k = 0; k < piece.elements.size(); ++k)
      if (static_cast<std::int64_t>(k) / cuts.turn_k % cuts.turns == part) values.push_back(piece.elements[k]);
    Operand taken = piece;
    taken.elements = values;
    prepared.push_back(prepare(row, side, taken));
  }
  return prepared;
}

/// Lengths of the chains of a piece of that length; one for all where they do not begin anew.
std::vector<std::int64_t> chains_of(const Cuts& cuts, std::int64_t length) {
  if (cuts.step_k == 0) return {length};
  std::vector<std::int64_t> lengths;
  for (std::int64_t step = 0; step < length; step += cuts.step_k) {
    const std::int64_t end = std::min(cuts.step_k, length - step);
    for (std::int64_t k = 0; k < end; k += cuts.chain) lengths.push_back(std::min(cuts.chain, end - k));
  }
  return lengths;
}

std::uint32_t joined(const ContractRow& row, PieceJoin join, std::vector<std::uint32_t> sums) {
  if (join == PieceJoin::descending) std::ranges::reverse(sums);
  if (join != PieceJoin::halves) {
    std::uint32_t total = sums.front();
    for (std::size_t i = 1; i < sums.size(); ++i) total = added(row, total, sums[i]);
    return total;
  }
  while (sums.size() > 1) {
    const std::size_t half = sums.size() / 2;
    for (std::size_t i = 0; i < half; ++i) sums[i] = added(row, sums[i], sums[i + half]);
    sums.resize(half);
  }
  return sums.front();
}

std::uint32_t sum_of_parts(const ContractRow& row, const Cuts& cuts, const std::vector<PreparedOperand>& a, const std::vector<PreparedOperand>& b) {
  std::vector<std::uint32_t> sums;
  for (std::size_t part = 0; part < a.size(); ++part) sums.push_back(dot(row, a[part], b[part], {}));
  if (cuts.turn_join == TurnJoin::warps && sums.size() == 4) return added(row, sums[0], added(row, sums[1], added(row, sums[3], sums[2])));
  return joined(row, PieceJoin::ascending, std::move(sums));
}

std::uint32_t piece_sum(const ContractRow& row, const Cuts& cuts, const std::vector<PreparedOperand>& a, const std::vector<PreparedOperand>& b) {
  if (cuts.turns > 1) return sum_of_parts(row, cuts, a, b);
  if (cuts.step_k == 0) return dot(row, a.front(), b.front(), {});
  std::uint32_t total = 0;
  std::uint32_t step = 0;
  std::int64_t in_step = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint32_t sum = dot(row, a[i], b[i], {});
    step = cuts.steps_are_sums ? added(row, step, sum) : sum;
    in_step += static_cast<std::int64_t>(a[i].elements);
    if (cuts.steps_are_sums && in_step < cuts.step_k && i + 1 < a.size()) continue;
    total = added(row, total, step);
    if (cuts.steps_are_sums) step = 0;
    in_step = 0;
  }
  return total;
}

bool is_power_of_two(std::int64_t count) { return count > 0 && (count & (count - 1)) == 0; }

std::int64_t pieces_of(const Cuts& cuts, std::int64_t k) { return cuts.piece_k == 0 ? 1 : (k + cuts.piece_k - 1) / cuts.piece_k; }

void require_turns(const Cuts& cuts, const Product& product, const ScalingWord& scaling) {
  if (cuts.turns == 1) return;
  require(cuts.turn_k > 0, fmt::format("turns {} without turn_k", cuts.turns));
  require(cuts.turn_join != TurnJoin::warps || cuts.turns == 2 || cuts.turns == 4,
          fmt::format("turn_join warps of {} parts, must be 2 or 4", cuts.turns));
  const bool has_scales = scaling.k != 0 && !scaling.in_elements;
  require(!has_scales && product.row.restart == 0 && cuts.rest_first == 0 && cuts.step_k == 0, "turns with chains, or with scales along K");
  const std::int64_t shortest = cuts.piece_k == 0 ? product.k : std::min(cuts.piece_k, (product.k - 1) % cuts.piece_k + 1);
  require(shortest > (cuts.turns - 1) * cuts.turn_k, fmt::format("{} parts by turns of {} in a piece of {}", cuts.turns, cuts.turn_k, shortest));
}

void require_steps(const Cuts& cuts, const Product& product, const ScalingWord& scaling) {
  if (cuts.steps_are_sums) require(cuts.step_k > 0, "accum promoted_steps without step_k");
  if (cuts.step_k == 0) return;
  require(cuts.chain > 0, fmt::format("step_k {} with accum {}, which has no chains", cuts.step_k, product.accum));
  require(scaling.k == 0 && cuts.rest_first == 0, "step_k with scales along K, or with rest_first");
}

}  // namespace

Cuts read_cuts(Fields& params, const Product& product, const ScalingWord& scaling) {
  Cuts cuts;
  cuts.piece_k = length_or(params, "piece_k", 0);
  cuts.rest_first = length_or(params, "rest_first", 0);
  cuts.step_k = length_or(params, "step_k", 0);
  cuts.turns = length_or(params, "turns", 1);
  cuts.turn_k = length_or(params, "turn_k", 0);
  if (params.has("turn_join")) cuts.turn_join = row_named(kTurnJoins, "turn_join", params.text("turn_join")).value;
  cuts.steps_are_sums = product.accum == "promoted_steps";
  cuts.chain = product.row.restart;
  if (params.has("join")) cuts.join = row_named(kJoins, "join", params.text("join")).value;
  if (params.has("piece_rounded")) cuts.piece_rounded = params.integer("piece_rounded", 0, 1) == 1;
  const std::int64_t pieces = pieces_of(cuts, product.k);
  if (params.has("pieces")) {
    const std::int64_t said = params.integer("pieces", 1, kLargestExtent);
    require(said == pieces, fmt::format("{} pieces of {} for K {}, which are {}", said, cuts.piece_k, product.k, pieces));
  }
  if (cuts.join == PieceJoin::halves) require(is_power_of_two(pieces), fmt::format("join halves of {} pieces", pieces));
  const bool in_fp16 = *product.row.result == kFp16;
  if (pieces > 1 && in_fp16 != (cuts.join == PieceJoin::ascending_fp16)) throw Unmodelled("pieces that meet in another format than accum adds in");
  const std::int64_t whole = std::max<std::int64_t>(scaling.k, scaling.k == 0 ? 1 : product.row.restart);
  require(cuts.piece_k % whole == 0, fmt::format("pieces of {} with scales of {} along K", cuts.piece_k, whole));
  require(cuts.rest_first == 0 || (scaling.k == 0 && product.row.restart == 0), "rest_first with chains");
  require_steps(cuts, product, scaling);
  require_turns(cuts, product, scaling);
  return cuts;
}

CutOperand cut_operand(const ContractRow& row, const Cuts& cuts, Side side, const Operand& operand) {
  ContractRow of_part = row;
  if (cuts.step_k > 0) of_part.restart = 0;
  const auto all = static_cast<std::int64_t>(operand.elements.size());
  const std::int64_t length = cuts.piece_k == 0 ? all : cuts.piece_k;
  CutOperand cut;
  for (std::int64_t first = 0; first < all; first += length) {
    const std::int64_t end = std::min(first + length, all);
    std::vector<PreparedOperand> chains;
    if (cuts.turns > 1) {
      const Operand piece = run_of(operand, static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
      cut.pieces.push_back(parts_of(of_part, cuts, side, piece));
      continue;
    }
    std::int64_t k = first;
    for (const std::int64_t count : chains_of(cuts, end - first)) {
      Operand run = run_of(operand, static_cast<std::size_t>(k), static_cast<std::size_t>(count));
      std::vector<Value> turned;
      if (cuts.rest_first > 0) {
        turned = rest_first(run.elements, cuts.rest_first, row.group);
        run.elements = turned;
      }
      chains.push_back(prepare(of_part, side, run));
      k += count;
    }
    cut.pieces.push_back(std::move(chains));
  }
  return cut;
}

std::uint32_t cut_sum(const ContractRow& row, const Cuts& cuts, const CutOperand& a, const CutOperand& b, const Format& out) {
  ContractRow of_part = row;
  if (cuts.step_k > 0) of_part.restart = 0;
  std::vector<std::uint32_t> sums;
  for (std::size_t i = 0; i < a.pieces.size(); ++i) {
    const std::uint32_t sum = piece_sum(of_part, cuts, a.pieces[i], b.pieces[i]);
    sums.push_back(cuts.piece_rounded ? to_f32(narrowed(row, sum, out), out) : sum);
  }
  return joined(row, cuts.join, std::move(sums));
}

LaneSum read_lanes(Fields& params) {
  const LaneSum lanes{row_named(kProducts, "product", params.text("product")).format, params.integer("vector", 1, kLargestExtent),
                      params.integer("lanes", 1, kLargestExtent), params.integer("warps", 1, kLargestExtent)};
  require(is_power_of_two(lanes.lanes) && is_power_of_two(lanes.warps), fmt::format("halves over {} lanes and {} warps", lanes.lanes, lanes.warps));
  return lanes;
}

std::uint32_t lane_sum(const LaneSum& lanes, std::span<const Value> a, std::span<const Value> b) {
  const ContractRow& row = row_of(Contract::f32_sequential);
  const auto count = static_cast<std::size_t>(lanes.lanes);
  std::vector<std::uint32_t> sums(count * static_cast<std::size_t>(lanes.warps), 0);
  for (std::size_t k = 0; k < a.size(); ++k) {
    std::uint32_t& sum = sums[k / static_cast<std::size_t>(lanes.vector) % sums.size()];
    const std::uint32_t product = to_f32(exact_product(a[k], b[k]));
    sum = f32::add(sum, lanes.product == nullptr ? product : to_f32(narrowed(row, product, *lanes.product), *lanes.product));
  }
  std::vector<std::uint32_t> of_warps;
  for (std::size_t warp = 0; warp < sums.size(); warp += count) {
    const auto begin = sums.begin() + static_cast<std::ptrdiff_t>(warp);
    of_warps.push_back(joined(row, PieceJoin::halves, {begin, begin + static_cast<std::ptrdiff_t>(count)}));
  }
  return joined(row, PieceJoin::halves, std::move(of_warps));
}

}  // namespace mx::golden
