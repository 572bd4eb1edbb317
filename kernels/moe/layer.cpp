#include "kernels/moe/layer.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

#include "kernels/moe/buffers.hpp"
#include "kernels/threads.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/ordinary_mode.hpp"

namespace mx::kernels::moe {
namespace {

constexpr std::array kCombineKernels {
  KernelRow<CombineFunction>{"combine portable", 0, combine_portable},
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
      KernelRow<CombineFunction>{"combine avx2", kAvx2, combine_avx2}, KernelRow<CombineFunction>{"combine avx512", kAvx2 | kAvx512, combine_avx512},
#endif
};

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "layer"); }

void check_size(std::string_view what, std::size_t found, std::size_t wanted) {
  if (found != wanted) refuse(std::string(what) + " has " + std::to_string(found) + " values, not " + std::to_string(wanted));
}

/// Rows that are quantized in one call.
constexpr std::size_t kStagedAtOnce = 16;

/// Who lays out a block of rows: blocks are spread over the threads here, not what is in them.
constexpr int kOneThread = 1;

/// A stretch of one product's panels for one block of rows: what a thread takes at a time.
struct Work {
  std::size_t block;
  std::size_t first;
  std::size_t count;
};

std::vector<Work> work_of(const Operand& operand, std::size_t panels) {
  constexpr std::size_t kPanels = 12;
  std::vector<Work> work;
  for (std::size_t block = 0; block < operand.row_blocks.size(); ++block) {
    for (std::size_t first = 0; first < panels; first += kPanels) work.push_back({block, first, std::min(kPanels, panels - first)});
  }
  return work;
}

}  // namespace

FusedLayer::FusedLayer(const PanelLayer& weights, const mx::moe::ScaledChoices& choices, const IsaTier& tier)
    : FusedLayer(weights, choices, gemm_kernel_for(choices.contract, *weights.w13.format, tier), tier) {}

FusedLayer::FusedLayer(const PanelLayer& weights, const mx::moe::ScaledChoices& choices)
    : FusedLayer(weights, choices, gemm_kernel_in_use(choices.contract, *weights.w13.format), isa_tier()) {}

FusedLayer::FusedLayer(const PanelLayer& weights, const mx::moe::ScaledChoices& choices, const GemmKernel& kernel, const IsaTier& tier)
    : weights_(weights),
      choices_(choices),
      kernel_(kernel),
      activation_(*choices.activation, choices.constants, tier),
      stage_(choices.contract, choices.recipe, tier),
      combine_(kernel_for(kCombineKernels, tier).run),
      hidden_(weights.w13.shape.k),
      intermediate_(weights.w2.shape.k) {
  const PanelShape& w13 = weights.w13.shape;
  const PanelShape& w2 = weights.w2.shape;
  const std::size_t halves = activation_.gated() ? 2 : 1;
  if (w13.halves != halves) {
    refuse("experts are " + std::string(halves == 2 ? "not gated" : "gated") + ", " + std::string(choices.activation->name) +
           " is an activation of " + (halves == 2 ? "gate and up" : "one row"));
  }
  if (w2.halves != 1 || w13.columns != w2.k || w2.columns != w13.k || w13.experts != w2.experts || weights.w13.format != weights.w2.format) {
    refuse("w13 is " + std::to_string(w13.experts) + " x " + std::to_string(w13.halves) + " x " + std::to_string(w13.columns) + " x " +
           std::to_string(w13.k) + ", w2 " + std::to_string(w2.experts) + " x " + std::to_string(w2.halves) + " x " + std::to_string(w2.columns) +
           " x " + std::to_string(w2.k) + ": not one layer's");
  }
  stage_.check_length(hidden_);
  stage_.check_length(intermediate_);
  if (!stage_.scaled() && !stage_.int8()) return;
  first_chain_ = chain_of(weights.w13, stage_.block_of(hidden_));
  second_chain_ = chain_of(weights.w2, stage_.block_of(intermediate_));
}

void FusedLayer::run(const RoutedTokens& tokens, std::span<float> out, int threads) { run_stages(tokens, {}, out, threads); }

void FusedLayer::check_tokens(const RoutedTokens& tokens, const FusedStages& stages, std::span<float> out, int threads) const {
  if (tokens.top_k < 1 || tokens.experts.size() % tokens.top_k != 0) {
    refuse(std::to_string(tokens.experts.size()) + " experts are not rows of top_k " + std::to_string(tokens.top_k));
  }
  require_threads(threads, "layer");
  const bool weighs_input = choices_.weight_on == mx::moe::WeightPlace::input;
  const bool takes_x = stages.start == FusedStage::x;
  const bool takes_weights = stages.last == FusedStage::out || (takes_x && weighs_input);
  const std::size_t count = tokens.experts.size() / tokens.top_k;
  if (takes_weights) check_size("weights", tokens.weights.size(), tokens.experts.size());
  if (takes_x) check_size("x", tokens.x.size(), count * hidden_);
  check_size("out", out.size(), stages.last == FusedStage::out ? count * hidden_ : 0);
  if (weighs_input && (stages.start == FusedStage::x_codes || !stages.x_codes.codes.empty()))
    refuse("x has a weight of each slot: its codes are none of a token");
  check_buffers("layer", out,
                {input("x", tokens.x), input("weights", tokens.weights), input("experts", tokens.experts), input("expert_map", tokens.expert_map)});
  require_apart_from_weights(out);
  check_stages(stages, count, tokens.experts.size());
  for (std::size_t i = 0; takes_weights && i < tokens.weights.size(); ++i) {
    if (!std::isfinite(tokens.weights[i])) {
      refuse("the weight of token " + std::to_string(i / tokens.top_k) + ", slot " + std::to_string(i % tokens.top_k) + " is " +
             std::to_string(tokens.weights[i]) + ", not finite");
    }
  }
}

void FusedLayer::check_stages(const FusedStages& stages, std::size_t tokens, std::size_t slots) const {
  const auto check = [&](FusedStage stage, std::string_view name, std::size_t found, std::size_t wanted) {
    if (found != 0 || stages.start == stage) check_size(name, found, wanted);
  };
  const auto check_codes = [&](FusedStage stage, std::string_view name, const Int8Memory& memory, std::size_t wanted) {
    const bool is_there = !memory.codes.empty() || !memory.scales.empty() || stages.start == stage;
    if (!is_there) return;
    if (!stage_.int8()) refuse(std::string(name) + " are those of int8 kernels: " + std::string(name_of(choices_.contract)) + " has none");
    check_size(name, memory.codes.size(), wanted);
    check_size(std::string(name) + "' scales", memory.scales.size(), wanted / kQuantizedBlock);
  };
  const std::size_t halves = activation_.gated() ? 2 : 1;
  check_codes(FusedStage::x_codes, "x's codes", stages.x_codes, tokens * hidden_);
  check(FusedStage::gate_up, "gate_up", stages.gate_up.size(), slots * halves * intermediate_);
  check(FusedStage::act, "act", stages.act.size(), slots * intermediate_);
  check_codes(FusedStage::act_codes, "act's codes", stages.act_codes, slots * intermediate_);
  check(FusedStage::expert_out, "expert_out", stages.expert_out.size(), slots * hidden_);
}

void FusedLayer::run_stages(const RoutedTokens& tokens, const FusedStages& stages, std::span<float> out, int threads) {
  check_tokens(tokens, stages, out, threads);
  const SortedPairs pairs = sort_pairs(tokens.experts, tokens.expert_map, weights_.w13.shape.experts);
  run_experts(pairs.group_sizes, sources_of(tokens, pairs), {stages, pairs.slot_of}, threads);
  if (stages.last != FusedStage::out) return;
  const std::size_t count = tokens.experts.size() / tokens.top_k;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t token = 0; token < count; ++token) {
    const OrdinaryMode mode;
    combine(tokens, pairs, token, out);
  }
}

void FusedLayer::run_batched(const BatchedTokens& tokens, std::span<float> out, int threads) {
  const std::size_t experts = weights_.w13.shape.experts;
  if (choices_.weight_on == mx::moe::WeightPlace::input) refuse("batched tokens come without weights to put on the input");
  require_threads(threads, "layer");
  check_size("counts", tokens.counts.size(), experts);
  check_size("x", tokens.x.size(), product_of({experts, tokens.room, hidden_}));
  check_size("out", out.size(), tokens.x.size());
  check_buffers("layer", out, {input("x", tokens.x), input("counts", tokens.counts)});
  require_apart_from_weights(out);
  std::vector<std::size_t> group_sizes;
  Sources sources;
  std::vector<float*> to;
  for (std::size_t expert = 0; expert < experts; ++expert) {
    const std::int32_t count = tokens.counts[expert];
    if (count < 0 || static_cast<std::size_t>(count) > tokens.room) {
      refuse("expert " + std::to_string(expert) + " has " + std::to_string(count) + " tokens in room for " + std::to_string(tokens.room));
    }
    group_sizes.push_back(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < group_sizes.back(); ++i) {
      sources.of_pair.push_back(sources.rows.size());
      sources.rows.push_back(tokens.x.data() + (expert * tokens.room + i) * hidden_);
      to.push_back(out.data() + (expert * tokens.room + i) * hidden_);
    }
  }
  run_experts(group_sizes, sources, {{}, {}}, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t row = 0; row < to.size(); ++row) std::copy_n(expert_out_.data() + row * hidden_, hidden_, to[row]);
}

void FusedLayer::require_apart_from_weights(std::span<float> out) const {
  require_apart("layer", out, weights_.w13);
  require_apart("layer", out, weights_.w2);
}

/// A token enters once, or, where the input has the weights, once for each of its pairs.
FusedLayer::Sources FusedLayer::sources_of(const RoutedTokens& tokens, const SortedPairs& pairs) const {
  Sources sources;
  const auto row_of = [&](std::size_t token) { return tokens.x.data() + token * hidden_; };
  if (choices_.weight_on == mx::moe::WeightPlace::input) {
    for (const std::uint32_t slot : pairs.slot_of) {
      sources.of_pair.push_back(sources.rows.size());
      sources.rows.push_back(row_of(slot / tokens.top_k));
      sources.weights.push_back(tokens.weights[slot]);
    }
    return sources;
  }
  const std::size_t count = tokens.experts.size() / tokens.top_k;
  for (std::size_t token = 0; token < count; ++token) sources.rows.push_back(tokens.x.empty() ? nullptr : row_of(token));
  for (const std::uint32_t slot : pairs.slot_of) sources.of_pair.push_back(slot / tokens.top_k);
  return sources;
}

void FusedLayer::run_experts(std::span<const std::size_t> group_sizes, const Sources& sources, const Captured& captured, int threads) {
  const FusedStages& stages = captured.stages;
  const auto makes = [&](FusedStage stage) { return stages.start < stage && stage <= stages.last; };
  const std::size_t pairs = sources.of_pair.size();
  const bool as_is = stage_.keeps_bf16() && sources.weights.empty();
  act_.resize(pairs * intermediate_);
  expert_out_.resize(pairs * hidden_);
  stage_.make_room(x_, as_is ? 0 : sources.rows.size(), hidden_);
  make_room(first_, {.k = hidden_, .tiling = kernel_.tiling, .chain = first_chain_}, group_sizes);
  make_room(second_, {.k = intermediate_, .tiling = kernel_.tiling, .chain = second_chain_}, group_sizes);
  scratch_.resize(std::max(scratch_.size(), static_cast<std::size_t>(threads)));
  const std::vector<Work> gate_and_up_work = work_of(first_, weights_.w13.shape.panels());
  const std::vector<Work> down_work = work_of(second_, weights_.w2.shape.panels());
  // What is given is taken; what two products have in common is given row by row.
  if (stages.start == FusedStage::x_codes) take_x_codes(stages);
  const bool takes_rows = stages.start == FusedStage::gate_up || stages.start == FusedStage::act || stages.start == FusedStage::expert_out;
  const std::size_t staged = stages.start == FusedStage::x && !as_is ? sources.rows.size() : 0;
#pragma omp parallel num_threads(threads)
  {
    const OrdinaryMode mode;
    Scratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic)
    for (std::size_t row = 0; row < staged; row += kStagedAtOnce) stage_x(sources, row, scratch);
#pragma omp for schedule(dynamic)
    for (std::size_t block = 0; block < (makes(FusedStage::gate_up) ? first_.row_blocks.size() : 0); ++block) fill_from_x(block, sources, scratch);
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < (makes(FusedStage::gate_up) ? gate_and_up_work.size() : 0); ++i)
      gate_and_up(gate_and_up_work[i].block, gate_and_up_work[i].first, gate_and_up_work[i].count, captured, scratch);
#pragma omp for schedule(static)
    for (std::size_t pair = 0; pair < (takes_rows ? pairs : 0); ++pair) take_start(pair, captured, scratch);
#pragma omp for schedule(dynamic)
    for (std::size_t block = 0; block < (stages.last >= FusedStage::act_codes ? second_.row_blocks.size() : 0); ++block)
      fill_from_act(block, captured, scratch);
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < (makes(FusedStage::expert_out) ? down_work.size() : 0); ++i)
      down(down_work[i].block, down_work[i].first, down_work[i].count);
#pragma omp for schedule(static)
    for (std::size_t pair = 0; pair < (captured.slot_of.empty() ? 0 : pairs); ++pair) hand_out_rows(pair, captured);
  }
  if (!stages.x_codes.codes.empty() && makes(FusedStage::x_codes)) {
    std::ranges::copy(x_.int8, stages.x_codes.codes.begin());
    std::ranges::copy(x_.scales, stages.x_codes.scales.begin());
  }
}

void FusedLayer::take_x_codes(const FusedStages& stages) {
  std::ranges::copy(stages.x_codes.codes, x_.int8.begin());
  std::ranges::copy(stages.x_codes.scales, x_.scales.begin());
}

/// One row of the stage that the run starts from.
void FusedLayer::take_start(std::size_t pair, const Captured& captured, Scratch& scratch) {
  const FusedStages& stages = captured.stages;
  const std::size_t slot = captured.slot_of[pair];
  if (stages.start == FusedStage::act) std::copy_n(stages.act.data() + slot * intermediate_, intermediate_, act_.data() + pair * intermediate_);
  if (stages.start == FusedStage::expert_out) std::copy_n(stages.expert_out.data() + slot * hidden_, hidden_, expert_out_.data() + pair * hidden_);
  if (stages.start != FusedStage::gate_up) return;
  const std::size_t halves = activation_.gated() ? 2 : 1;
  const float* const gate = stages.gate_up.data() + slot * halves * intermediate_;
  scratch.tile.resize(std::max(scratch.tile.size(), halves * kSwishColumns));
  for (std::size_t column = 0; column < intermediate_; column += kSwishColumns) {
    for (std::size_t half = 0; half < halves; ++half)
      std::copy_n(gate + half * intermediate_ + column, kSwishColumns, scratch.tile.data() + half * kSwishColumns);
    activation_(scratch.tile.data(), scratch.tile.data() + kSwishColumns, 1, halves * kSwishColumns, act_.data() + pair * intermediate_ + column,
                intermediate_, scratch.curve);
  }
}

void FusedLayer::hand_out_rows(std::size_t pair, const Captured& captured) const {
  const FusedStages& stages = captured.stages;
  const std::size_t slot = captured.slot_of[pair];
  const auto wants = [&](FusedStage stage, std::span<const float> memory) { return !memory.empty() && stages.start < stage && stage <= stages.last; };
  if (wants(FusedStage::act, stages.act)) std::copy_n(act_.data() + pair * intermediate_, intermediate_, stages.act.data() + slot * intermediate_);
  if (wants(FusedStage::expert_out, stages.expert_out))
    std::copy_n(expert_out_.data() + pair * hidden_, hidden_, stages.expert_out.data() + slot * hidden_);
}

void FusedLayer::stage_x(const Sources& sources, std::size_t first, Scratch& scratch) {
  const std::size_t count = std::min(kStagedAtOnce, sources.rows.size() - first);
  scratch.tile.resize(count * hidden_);
  for (std::size_t row = first; row < first + count; ++row) {
    const float weight = sources.weights.empty() ? 1.0F : sources.weights[row];
    float* const to = scratch.tile.data() + (row - first) * hidden_;
    for (std::size_t k = 0; k < hidden_; ++k) to[k] = weight * std::bit_cast<float>(static_cast<std::uint32_t>(sources.rows[row][k]) << 16);
  }
  stage_.put(x_, first, scratch.tile);
}

void FusedLayer::fill_from_x(std::size_t block, const Sources& sources, Scratch& scratch) {
  const RowBlock& rows = first_.row_blocks[block];
  const std::span<const std::size_t> taken = std::span(sources.of_pair).subspan(rows.first, rows.rows);
  if (x_.bf16.empty() && x_.int8.empty()) {
    scratch.bf16.clear();
    for (const std::size_t row : taken) scratch.bf16.push_back(sources.rows[row]);
    return fill_bf16(first_, block, scratch.bf16, kOneThread);
  }
  fill(first_, block, x_, taken, scratch);
}

void FusedLayer::fill_from_act(std::size_t block, const Captured& captured, Scratch& scratch) {
  const FusedStages& stages = captured.stages;
  const RowBlock& rows = second_.row_blocks[block];
  const std::size_t scales = intermediate_ / kQuantizedBlock;
  std::vector<std::size_t> all(rows.rows);
  stage_.make_room(scratch.act, rows.rows, intermediate_);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (stages.start < FusedStage::act_codes)
    stage_.put(scratch.act, 0, std::span(act_).subspan(rows.first * intermediate_, rows.rows * intermediate_));
  for (std::size_t row = 0; row < (stages.act_codes.codes.empty() ? 0 : rows.rows); ++row) {
    const std::size_t slot = captured.slot_of[rows.first + row];
    std::int8_t* const codes = scratch.act.int8.data() + row * intermediate_;
    std::uint8_t* const bytes = scratch.act.scales.data() + row * scales;
    std::int8_t* const of_codes = stages.act_codes.codes.data() + slot * intermediate_;
    std::uint8_t* const of_bytes = stages.act_codes.scales.data() + slot * scales;
    const bool is_given = stages.start == FusedStage::act_codes;
    std::copy_n(is_given ? of_codes : codes, intermediate_, is_given ? codes : of_codes);
    std::copy_n(is_given ? of_bytes : bytes, scales, is_given ? bytes : of_bytes);
  }
  if (stages.last > FusedStage::act_codes && stages.start <= FusedStage::act_codes) fill(second_, block, scratch.act, all, scratch);
}

void FusedLayer::fill(Operand& operand, std::size_t block, const StagedRows& staged, std::span<const std::size_t> rows, Scratch& scratch) const {
  if (!stage_.int8()) {
    scratch.bf16.clear();
    for (const std::size_t row : rows) scratch.bf16.push_back(staged.bf16_row(row));
    if (!stage_.scaled()) return fill_bf16(operand, block, scratch.bf16, kOneThread);
    scratch.f32_scales.clear();
    for (const std::size_t row : rows) scratch.f32_scales.push_back(staged.f32_scale_row(row));
    return fill_scaled(operand, block, scratch.bf16, scratch.f32_scales, stage_.block_of(staged.length), kOneThread);
  }
  scratch.int8.clear();
  scratch.scales.clear();
  for (const std::size_t row : rows) {
    scratch.int8.push_back(staged.int8_row(row));
    scratch.scales.push_back(staged.scale_row(row));
  }
  fill_int8(operand, block, scratch.int8, scratch.scales, kOneThread);
}

/// Columns of a few panels that lie in the tile.
void FusedLayer::hand_out_gate_up(const Scratch& scratch, const RowBlock& rows, std::size_t panel, std::size_t taken,
                                  const Captured& captured) const {
  const std::size_t halves = activation_.gated() ? 2 : 1;
  const std::size_t lanes = weights_.w13.shape.lanes();
  for (std::size_t row = 0; row < rows.rows; ++row) {
    float* const to = captured.stages.gate_up.data() + captured.slot_of[rows.first + row] * halves * intermediate_;
    for (std::size_t at = 0; at < taken; ++at) {
      const float* const from = scratch.tile.data() + (at * rows.rows + row) * kPanelColumns;
      for (std::size_t half = 0; half < halves; ++half) std::copy_n(from + half * lanes, lanes, to + half * intermediate_ + (panel + at) * lanes);
    }
  }
}

void FusedLayer::gate_and_up(std::size_t block, std::size_t first, std::size_t count, const Captured& captured, Scratch& scratch) {
  const RowBlock& rows = first_.row_blocks[block];
  const std::size_t lanes = weights_.w13.shape.lanes();
  const std::size_t step = kPanelsAtOnce;
  const Strides strides{rows.rows * kPanelColumns, kPanelColumns, kPanelColumns / 2};
  scratch.tile.resize(step * rows.rows * kPanelColumns);
  for (std::size_t panel = first; panel < first + count; panel += step) {
    const std::size_t taken = std::min(step, first + count - panel);
    run_tiles(kernel_, weights_.w13, rows.group, panel, taken, first_, block, scratch.tile.data(), strides, Bias::added);
    if (!captured.stages.gate_up.empty()) hand_out_gate_up(scratch, rows, panel, taken, captured);
    // Gate and up of 16 columns each, or two vectors of columns without an up: the columns are the next product's K, whole panels of them.
    for (std::size_t vector = 0; vector < taken * (kPanelColumns / kSwishColumns); vector += activation_.gated() ? 2U : 1U) {
      const std::size_t column = panel * lanes + (activation_.gated() ? vector / 2 : vector) * kSwishColumns;
      const float* const gate = scratch.tile.data() + vector / 2 * strides.panel + vector % 2 * kSwishColumns;
      activation_(gate, gate + kSwishColumns, rows.rows, strides.row, act_.data() + rows.first * intermediate_ + column, intermediate_,
                  scratch.curve);
    }
  }
}

void FusedLayer::down(std::size_t block, std::size_t first, std::size_t count) {
  const RowBlock& rows = second_.row_blocks[block];
  run_columns(kernel_, weights_.w2, rows.group, second_, block, first, first + count, expert_out_,
              choices_.add_w2_bias ? Bias::added : Bias::left_out);
}

void FusedLayer::combine(const RoutedTokens& tokens, const SortedPairs& pairs, std::size_t token, std::span<float> out) const {
  std::vector<float> weights;
  std::vector<const float*> rows;
  for (std::size_t slot = token * tokens.top_k; slot < (token + 1) * tokens.top_k; ++slot) {
    if (pairs.place_of[slot] < 0) continue;
    weights.push_back(choices_.weight_on == mx::moe::WeightPlace::input ? 1.0F : tokens.weights[slot]);
    rows.push_back(expert_out_.data() + static_cast<std::size_t>(pairs.place_of[slot]) * hidden_);
  }
  if (fault::planted(fault::Fault::moe_kernel_slots_reversed)) {
    std::ranges::reverse(weights);
    std::ranges::reverse(rows);
  }
  combine_({.weights = weights.data(), .rows = rows.data(), .count = rows.size(), .columns = hidden_, .out = out.data() + token * hidden_});
}

}  // namespace mx::kernels::moe
