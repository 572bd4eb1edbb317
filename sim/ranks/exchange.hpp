#pragma once
// What moves between ranks: which tokens reach which rank, quantized before or after, and how the ranks' results become one.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/engine/vllm/setup/assembly.hpp"
#include "sim/execute/kernel.hpp"
#include "sim/execute/sample_layer.hpp"
#include "sim/ranks/plan.hpp"
#include "sim/transport/transport.hpp"

namespace mx::sim {

/// When the prepare step quantizes.
enum class QuantizeTime : std::uint8_t {
  here,          ///< nothing moves
  before,        ///< each rank its own tokens; codes and scales move
  after,         ///< 16-bit rows move
  blocks_before  ///< before when scales are per token or block of 128, else after
};

/// Which received scales are moved into the tile that the kernel may want.
enum class SwizzleRule : std::uint8_t {
  configured,   ///< what the kernel's config says
  nvfp4_alone,  ///< after an exchange that moved scales: NVFP4's, no other (vllm#42118)
  never
};

enum class Reach : std::uint8_t {
  own,        ///< every rank has its tokens already
  everyone,   ///< every rank gets all tokens
  holders,    ///< the ranks that hold one of the token's experts
  per_expert  ///< likewise, a row for each expert (BatchedExperts)
};

enum class RankSum : std::uint8_t {
  bf16,         ///< ranks ascending, rounded to bf16 at each addition; data parallel ranks first, then tensor parallel ones
  f32,          ///< ranks ascending in fp32, rounded once
  slots_in_f32  ///< no sums on the ranks: slots by position with their weights, fp32, rounded once
};

struct ExchangeRow {
  std::string_view prepare;  ///< beginning of the class names
  QuantizeTime quantize;
  SwizzleRule swizzle;
  Reach reach;
  RankSum sum;
  Grounds grounds;
  std::string_view source;
};
std::span<const ExchangeRow> exchange_rows();
/// Throws Error(unsupported) for a prepare class without a row.
const ExchangeRow& exchange_of(std::string_view prepare_class);

/// What one rank's kernel gets.
struct Received {
  Activations input;
  std::vector<std::int64_t> token_of_row;  ///< global token, -1: a row that nobody wrote
  std::vector<SlotWork> work;
  std::vector<std::pair<std::int64_t, std::size_t>> slot_of;  ///< of each work: token and position in its slots
};

/// Tokens of a data parallel rank: consecutive, the first ranks one more where they do not divide.
Interval tokens_of(std::int64_t tokens, int dp, int dp_size);

/// What a rank hands to the exchange: the tokens of its data parallel rank, quantized where that comes first, else 16-bit rows; nothing where another
/// tensor parallel rank hands in the same ones. Throws Error(usage) as quantized() does.
Words sent(const ExchangeRow& exchange, const Execution& execution, const Plan& plan, const RankPlan& rank, const SampleTokens& tokens,
           std::int64_t hidden);

/// Which rows a rank gets and which slots it computes, without the rows themselves.
Received routed(const ExchangeRow& exchange, const RankPlan& rank, const SampleTokens& tokens);

/// Dispatch to one rank of what all ranks sent. Throws Error(usage) as quantized() does.
Received dispatched(const ExchangeRow& exchange, const Execution& execution, const Plan& plan, const RankPlan& rank, std::span<const Words> sent,
                    const SampleTokens& tokens, std::int64_t hidden);

/// What every rank made of its slots, [rank][work]: all of it of the ranks here, the second product of the others.
using RankStages = std::vector<std::vector<SlotStages>>;

/// The deployment's result, fp32 bits [tokens, columns] of bf16 numbers.
std::vector<std::uint32_t> combined_ranks(const ExchangeRow& exchange, const Execution& execution, const Plan& plan,
                                          const std::vector<Received>& received, const RankStages& stages, const SampleTokens& tokens,
                                          std::size_t columns);

}  // namespace mx::sim
