#pragma once
// Sums over k that are cut into pieces, steps and chains, as libraries and compilers cut them, and how their parts meet again.
// Source: outputs of an H100 (cuBLASLt 130100, Triton 3.6.0, JAX 0.11.2) and of an H200 (vLLM 0.26.0); words: FORMAT-LIBRARIES.md.

#include "golden/witness/product_words.hpp"

namespace mx::golden {

/// How sums of pieces meet.
enum class PieceJoin {
  ascending,       ///< in fp32, from the first
  halves,          ///< piece i and piece i + S/2, and so on, in fp32
  ascending_fp16,  ///< as `ascending`, rounded to fp16 after each addition
  descending,      ///< in fp32, from the last
};

/// How sums of parts meet that share a piece by turns, in fp32.
enum class TurnJoin {
  ascending,  ///< from the first
  warps,      ///< w0 + w1, or w0 + (w1 + (w3 + w2))
};

/// Where k is cut.
struct Cuts {
  std::int64_t piece_k = 0;  ///< a piece: a sum of its own; 0: one for all k
  PieceJoin join = PieceJoin::ascending;
  bool piece_rounded = false;   ///< pieces are rounded to the output's format before they meet
  std::int64_t rest_first = 0;  ///< in each piece its length modulo this comes first, zeros fill its last group; 0: not
  std::int64_t step_k = 0;      ///< chains begin anew at each multiple of this inside a piece; 0: they do not
  bool steps_are_sums = false;  ///< chains of a step are summed from +0, then the steps; else each chain enters the total
  std::int64_t chain = 0;       ///< with `step_k`: its chains
  std::int64_t turns = 1;       ///< parts that share a piece by turns of `turn_k`: warps of a block, or splits of k
  std::int64_t turn_k = 0;
  TurnJoin turn_join = TurnJoin::ascending;
};

/// `pieces`, `piece_k`, `join`, `piece_rounded`, `rest_first`, `step_k`, `turns`, `turn_k`, `turn_join`. Throws Unmodelled for words that contradict
/// each other or the scales.
Cuts read_cuts(Fields& params, const Product& product, const ScalingWord& scaling);

/// A row of an operand cut as `cuts` says, each part prepared for itself.
struct CutOperand {
  std::vector<std::vector<PreparedOperand>> pieces;  ///< a piece's chains; one of each where they do not begin anew
};
CutOperand cut_operand(const ContractRow& row, const Cuts& cuts, Side side, const Operand& operand);

/// fp32 bits of the sum of all pieces, before scales of the total; `out` is what pieces may be rounded to.
std::uint32_t cut_sum(const ContractRow& row, const Cuts& cuts, const CutOperand& a, const CutOperand& b, const Format& out);

/// Products in fp32 by lanes, without a tensor core (XLA at M = 1): lane l of `lanes` adds runs of `vector` k, then halves over lanes and over warps.
struct LaneSum {
  const Format* product;  ///< each product is rounded to it; null: exact
  std::int64_t vector, lanes, warps;
};
/// `product`, `vector`, `lanes`, `warps`. Throws Unmodelled.
LaneSum read_lanes(Fields& params);
std::uint32_t lane_sum(const LaneSum& lanes, std::span<const Value> a, std::span<const Value> b);

}  // namespace mx::golden
