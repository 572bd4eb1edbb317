#include "sim/ranks/exchange.hpp"

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"
#include "model/stand_in.hpp"

namespace mx::sim {
namespace {

// Source of all: vllm 7e1b45a09 fused_moe/prepare_finalize/ (spec engine 3.1, 3.3). In which order a collective adds is not stated anywhere:
// ascending.
constexpr std::array kExchanges{
    ExchangeRow{"MoEPrepareAndFinalizeNoDPEP", QuantizeTime::here, SwizzleRule::configured, Reach::own, RankSum::bf16, Grounds::published,
                "no_dp_ep.py; the tensor parallel all-reduce behind it"},
    ExchangeRow{"MoEPrepareAndFinalizeNaiveDPEP", QuantizeTime::before, SwizzleRule::nvfp4_alone, Reach::everyone, RankSum::bf16, Grounds::published,
                "naive_dp_ep.py: all-gather, reduce-scatter"},
    ExchangeRow{"DeepEPHTPrepareAndFinalize", QuantizeTime::blocks_before, SwizzleRule::configured, Reach::holders, RankSum::f32, Grounds::assumed,
                "deepep_ht.py; sums inside DeepEP"},
    ExchangeRow{"DeepEPLLPrepareAndFinalize", QuantizeTime::blocks_before, SwizzleRule::never, Reach::per_expert, RankSum::slots_in_f32,
                Grounds::assumed, "deepep_ll.py; sums inside DeepEP"},
    ExchangeRow{"MoriPrepareAndFinalize", QuantizeTime::blocks_before, SwizzleRule::never, Reach::holders, RankSum::f32, Grounds::assumed,
                "mori.py; sums inside mori"},
    ExchangeRow{"FlashInferNVLinkTwoSidedPrepareAndFinalize", QuantizeTime::before, SwizzleRule::nvfp4_alone, Reach::holders, RankSum::f32,
                Grounds::assumed, "flashinfer_nvlink_two_sided.py; sums inside flashinfer"},
    ExchangeRow{"FlashInferNVLinkOneSidedPrepareAndFinalize", QuantizeTime::before, SwizzleRule::nvfp4_alone, Reach::holders, RankSum::f32,
                Grounds::assumed, "flashinfer_nvlink_one_sided.py; sums inside flashinfer"},
    ExchangeRow{"NixlEPPrepareAndFinalize", QuantizeTime::blocks_before, SwizzleRule::never, Reach::per_expert, RankSum::slots_in_f32,
                Grounds::assumed, "nixl_ep.py; sums inside NIXL"},
};

/// Scales of a token or of 128 columns: what DeepEP and mori dispatch in fp8.
bool is_fp8_group(const families::Quantizer& quantizer) {
  return quantizer.format != nullptr && quantizer.format->scale == &kF32 && quantizer.scope != families::ScaleScope::tensor;
}

bool quantizes_before(const ExchangeRow& exchange, const families::Quantizer& quantizer) {
  return exchange.quantize == QuantizeTime::before || (exchange.quantize == QuantizeTime::blocks_before && is_fp8_group(quantizer));
}

bool swizzles(const ExchangeRow& exchange, const families::Quantizer& quantizer, bool moved) {
  if (fault::planted(fault::Fault::sim_scales_stay_linear)) return false;
  if (fault::planted(fault::Fault::sim_flag_says_linear) && !moved) return false;
  switch (exchange.swizzle) {
    case SwizzleRule::configured: return true;
    case SwizzleRule::nvfp4_alone:
      return !moved || quantizer.format == &kNvfp4 || (quantizer.format != nullptr && *quantizer.format->scale == kE4m3fn);
    case SwizzleRule::never: break;
  }
  return false;
}

std::span<const std::uint32_t> rows_of(const SampleTokens& tokens, const Interval& part, std::int64_t hidden) {
  return std::span(tokens.x).subspan(static_cast<std::size_t>(part.first * hidden), static_cast<std::size_t>(part.count * hidden));
}

void append(Activations& to, const Activations& from) {
  to.rows += from.rows;
  to.codes.insert(to.codes.end(), from.codes.begin(), from.codes.end());
  to.blocks.insert(to.blocks.end(), from.blocks.begin(), from.blocks.end());
  to.row_scale.insert(to.row_scale.end(), from.row_scale.begin(), from.row_scale.end());
}

/// Chosen rows of row-major activations; a row of -1 is one that nobody wrote: zero codes, unwritten scales.
Activations chosen_rows(const Activations& all, std::span<const std::int64_t> rows) {
  Activations chosen{all.quantizer, static_cast<std::int64_t>(rows.size()), all.columns, {}, {}, families::ScaleMemory::row_major, {}, all.fnuz};
  const auto width = static_cast<std::size_t>(all.columns);
  const std::size_t groups = all.blocks.empty() ? 0 : static_cast<std::size_t>(all.groups());
  for (const std::int64_t row : rows) {
    const auto at = static_cast<std::size_t>(std::max<std::int64_t>(row, 0));
    for (std::size_t k = 0; k < width; ++k) chosen.codes.push_back(row < 0 ? 0 : all.codes[at * width + k]);
    for (std::size_t g = 0; g < groups; ++g) chosen.blocks.push_back(row < 0 ? kUnwrittenScale : all.blocks[at * groups + g]);
    chosen.row_scale.push_back(row < 0 ? f32::kOne : all.row_scale[at]);
  }
  return chosen;
}

/// True when codes and scales move, not 16-bit rows.
bool moves_codes(const ExchangeRow& exchange, const Execution& execution) {
  return exchange.reach != Reach::own && execution.row->by != families::QuantizedBy::kernel && quantizes_before(exchange, *execution.first);
}

Words packed(const Activations& activations) {
  Words words = activations.codes;
  words.insert(words.end(), activations.row_scale.begin(), activations.row_scale.end());
  words.insert(words.end(), activations.blocks.begin(), activations.blocks.end());
  return words;
}

/// `empty` says everything but the rows.
Activations unpacked(const Activations& empty, std::int64_t rows, const Words& words) {
  Activations activations = empty;
  activations.rows = rows;
  const auto scales = words.begin() + static_cast<std::ptrdiff_t>(rows * empty.columns);
  const auto blocks = scales + static_cast<std::ptrdiff_t>(rows);
  activations.codes.assign(words.begin(), scales);
  activations.row_scale.assign(scales, blocks);
  activations.blocks.assign(blocks, words.end());
  return activations;
}

/// All tokens as the sources quantized them.
Activations sent_codes(const Execution& execution, const Plan& plan, std::span<const Words> sent, std::int64_t tokens, std::int64_t hidden) {
  const Activations empty = quantized(*execution.first, {}, hidden, execution.scales.first, execution.fnuz);
  Activations all = empty;
  for (const RankPlan& rank : plan.ranks) {
    if (rank.tp != 0) continue;
    append(all, unpacked(empty, tokens_of(tokens, rank.dp, plan.parallel.dp_size).count, sent[static_cast<std::size_t>(rank.rank)]));
  }
  return all;
}

/// The rows of these tokens, 16 bits wide.
std::vector<std::uint32_t> sent_rows(std::span<const Words> sent, std::span<const std::int64_t> tokens, std::int64_t hidden) {
  std::vector<std::uint32_t> all;
  for (const Words& words : sent) all.insert(all.end(), words.begin(), words.end());
  std::vector<std::uint32_t> x;
  for (const std::int64_t token : tokens) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(token * hidden);
    x.insert(x.end(), first, first + static_cast<std::ptrdiff_t>(hidden));
  }
  return x;
}

/// Rows of a rank, and which slots it computes.
void choose_rows(const ExchangeRow& exchange, const RankPlan& rank, const SampleTokens& tokens, Received& received) {
  const auto local_experts = static_cast<std::int64_t>(rank.loaded.size());
  const auto local_of = [&](std::int64_t expert) { return rank.addressed[static_cast<std::size_t>(expert)]; };
  if (exchange.reach == Reach::per_expert) {
    for (std::int64_t local = 0; local < local_experts; ++local) {
      for (std::size_t token = 0; token < tokens.slots.size(); ++token) {
        for (std::size_t slot = 0; slot < tokens.slots[token].size(); ++slot) {
          if (local_of(tokens.slots[token][slot].expert) != local) continue;
          received.work.push_back({static_cast<std::int64_t>(received.token_of_row.size()), local});
          received.slot_of.emplace_back(static_cast<std::int64_t>(token), slot);
          received.token_of_row.push_back(static_cast<std::int64_t>(token));
        }
      }
    }
    return;
  }
  for (std::size_t token = 0; token < tokens.slots.size(); ++token) {
    const auto row = static_cast<std::int64_t>(received.token_of_row.size());
    bool needed = exchange.reach != Reach::holders;
    for (std::size_t slot = 0; slot < tokens.slots[token].size(); ++slot) {
      const std::int64_t local = local_of(tokens.slots[token][slot].expert);
      if (local < 0 || local >= local_experts) continue;
      needed = true;
      received.work.push_back({row, local});
      received.slot_of.emplace_back(static_cast<std::int64_t>(token), slot);
    }
    if (needed) received.token_of_row.push_back(static_cast<std::int64_t>(token));
  }
}

/// One rank's sum for each of its tokens; tokens without slots there are +0.
std::vector<std::uint32_t> rank_sums(const Execution& execution, const Received& received, const std::vector<SlotStages>& stages,
                                     const SampleTokens& tokens, std::size_t columns) {
  std::vector<std::uint32_t> sums(tokens.slots.size() * columns, 0);
  std::vector<std::vector<WeighedSlot>> of_token(tokens.slots.size());
  for (std::size_t i = 0; i < received.work.size(); ++i) {
    const auto [token, position] = received.slot_of[i];
    const moe::Slot& slot = tokens.slots[static_cast<std::size_t>(token)][position];
    of_token[static_cast<std::size_t>(token)].push_back({slot.expert, stages[i].weight(slot.weight), stages[i].down, position});
  }
  for (std::size_t token = 0; token < of_token.size(); ++token) {
    const std::vector<std::uint32_t> sum = combined(execution, std::move(of_token[token]), tokens.slots[token].size(), columns);
    std::ranges::copy(sum, sums.begin() + static_cast<std::ptrdiff_t>(token * columns));
  }
  return sums;
}

void add_bf16(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = to_bf16(f32::add(to[i], from[i]));
}

/// Data parallel ranks first, then tensor parallel ones; each addition in bf16.
std::vector<std::uint32_t> summed_in_bf16(const Plan& plan, const std::vector<std::vector<std::uint32_t>>& of_rank) {
  std::vector<std::uint32_t> total;
  for (const RankPlan& first : plan.ranks) {
    if (first.dp != 0) continue;
    std::vector<std::uint32_t> sum;
    for (const RankPlan& rank : plan.ranks) {
      if (rank.tp != first.tp) continue;
      const std::vector<std::uint32_t>& part = of_rank[static_cast<std::size_t>(rank.rank)];
      sum.empty() ? void(sum = part) : add_bf16(sum, part);
    }
    total.empty() ? void(total = std::move(sum)) : add_bf16(total, sum);
  }
  return total;
}

std::vector<std::uint32_t> summed_in_f32(const std::vector<std::vector<std::uint32_t>>& of_rank) {
  std::vector<std::uint32_t> total = of_rank.front();
  for (std::size_t rank = 1; rank < of_rank.size(); ++rank) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] = f32::add(total[i], of_rank[rank][i]);
  }
  for (std::uint32_t& sum : total) sum = to_bf16(sum);
  return total;
}

/// Slots by position, whichever rank computed them.
std::vector<std::uint32_t> summed_slots(const std::vector<Received>& received, const RankStages& stages, const SampleTokens& tokens,
                                        std::size_t columns) {
  std::vector<std::vector<std::vector<std::uint32_t>>> share(tokens.slots.size());
  for (std::size_t token = 0; token < share.size(); ++token) share[token].resize(tokens.slots[token].size());
  for (std::size_t rank = 0; rank < received.size(); ++rank) {
    for (std::size_t i = 0; i < received[rank].work.size(); ++i) {
      const auto [token, position] = received[rank].slot_of[i];
      share[static_cast<std::size_t>(token)][position] = unweighted(stages[rank][i]);
    }
  }
  std::vector<std::uint32_t> sums(tokens.slots.size() * columns, 0);
  for (std::size_t token = 0; token < share.size(); ++token) {
    for (std::size_t slot = 0; slot < share[token].size(); ++slot) {
      for (std::size_t n = 0; n < share[token][slot].size(); ++n) {
        std::uint32_t& sum = sums[token * columns + n];
        sum = f32::fma(share[token][slot][n], tokens.slots[token][slot].weight, sum);
      }
    }
  }
  for (std::uint32_t& sum : sums) sum = to_bf16(sum);
  return sums;
}

}  // namespace

std::span<const ExchangeRow> exchange_rows() { return fault::rows_of<ExchangeRow>(fault::Table::exchanges, kExchanges); }

const ExchangeRow& exchange_of(std::string_view prepare_class) {
  const std::span<const ExchangeRow> rows = exchange_rows();
  const auto row = std::ranges::find_if(rows, [&](const ExchangeRow& exchange) { return prepare_class.starts_with(exchange.prepare); });
  if (row != rows.end()) return *row;
  throw Error(ErrorCode::unsupported, "prepare step " + std::string(prepare_class) + " is not simulated");
}

Interval tokens_of(std::int64_t tokens, int dp, int dp_size) {
  const std::int64_t each = tokens / dp_size;
  const std::int64_t larger = tokens % dp_size;
  return {dp * each + std::min<std::int64_t>(dp, larger), each + (dp < larger ? 1 : 0)};
}

Words sent(const ExchangeRow& exchange, const Execution& execution, const Plan& plan, const RankPlan& rank, const SampleTokens& tokens,
           std::int64_t hidden) {
  if (rank.tp != 0) return {};
  const auto own = rows_of(tokens, tokens_of(static_cast<std::int64_t>(tokens.slots.size()), rank.dp, plan.parallel.dp_size), hidden);
  if (!moves_codes(exchange, execution)) return {own.begin(), own.end()};
  return packed(quantized(*execution.first, own, hidden, execution.scales.first, execution.fnuz));
}

Received routed(const ExchangeRow& exchange, const RankPlan& rank, const SampleTokens& tokens) {
  Received received;
  choose_rows(exchange, rank, tokens, received);
  return received;
}

Received dispatched(const ExchangeRow& exchange, const Execution& execution, const Plan& plan, const RankPlan& rank, std::span<const Words> sent,
                    const SampleTokens& tokens, std::int64_t hidden) {
  Received received = routed(exchange, rank, tokens);
  const families::Quantizer& quantizer = *execution.first;
  const bool by_kernel = execution.row->by == families::QuantizedBy::kernel;
  const bool moved = moves_codes(exchange, execution);
  if (moved) {
    const auto count = static_cast<std::int64_t>(tokens.slots.size());
    received.input = chosen_rows(sent_codes(execution, plan, sent, count, hidden), received.token_of_row);
  } else {
    received.input = quantized(quantizer, sent_rows(sent, received.token_of_row, hidden), hidden, execution.scales.first, execution.fnuz);
  }
  // A kernel that quantizes writes the memory that it reads; a prepare step follows its own rule.
  const bool wanted = execution.row->scales == families::ScaleMemory::tile_128x4;
  if (wanted && (by_kernel || swizzles(exchange, quantizer, moved))) received.input = swizzled(std::move(received.input));
  return received;
}

std::vector<std::uint32_t> combined_ranks(const ExchangeRow& exchange, const Execution& execution, const Plan& plan,
                                          const std::vector<Received>& received, const RankStages& stages, const SampleTokens& tokens,
                                          std::size_t columns) {
  if (exchange.sum == RankSum::slots_in_f32) return summed_slots(received, stages, tokens, columns);
  std::vector<std::vector<std::uint32_t>> of_rank;
  for (const RankPlan& rank : plan.ranks) {
    const auto at = static_cast<std::size_t>(rank.rank);
    of_rank.push_back(rank_sums(execution, received[at], stages[at], tokens, columns));
  }
  if (of_rank.size() > 1 && fault::planted(fault::Fault::sim_drops_rank_sum)) std::ranges::fill(of_rank.back(), 0U);
  if (of_rank.size() > 1 && fault::planted(fault::Fault::sim_adds_rank_sum_twice)) add_bf16(of_rank.back(), of_rank.back());
  return exchange.sum == RankSum::bf16 ? summed_in_bf16(plan, of_rank) : summed_in_f32(of_rank);
}

}  // namespace mx::sim
