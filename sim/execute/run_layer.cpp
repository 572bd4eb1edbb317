#include "sim/execute/run_layer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"
#include "sim/execute/stage_checks.hpp"

namespace mx::sim {
namespace {

using families::Quantizer;
using families::ScaleScope;
using Words = std::vector<std::uint32_t>;

[[noreturn]] void refuse(const std::string& text, std::string_view where) { throw Error(ErrorCode::usage, text, std::string(where)); }

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

int step_of(LayerStage stage) { return row_of(stage).step; }

/// Codes and scales of rows that a quantizer made; nothing where it leaves them as they are.
void add_quantized(std::vector<StageValues>& forms, LayerStage codes, LayerStage scales, const Quantizer& quantizer, std::int64_t rows,
                   std::int64_t columns) {
  if (quantizer.scope == ScaleScope::none) return;
  const bool in_blocks = quantizer.scope == ScaleScope::block;
  const std::int64_t block = in_blocks ? quantizer.format->block : columns;
  const std::int64_t groups = (columns + block - 1) / block;
  forms.push_back({codes, quantizer.back_to_bf16 ? "BF16" : "U8", {rows, groups * block}});
  if (quantizer.back_to_bf16) return;
  std::vector<std::int64_t> shape{rows, groups};
  if (quantizer.scope == ScaleScope::tensor) shape = {1};
  forms.push_back({scales, in_blocks && *quantizer.format->scale != kF32 ? "U8" : "F32", std::move(shape)});
}

/// A run on its way.
class Run {
 public:
  Run(const LayerExperts& experts, const LayerTokens& tokens)
      : forms_(stage_forms(experts, tokens)),
        experts_(settled(experts, tokens.tokens(), tokens.top_k)),
        row_(*experts_.execution.row),
        tokens_(tokens) {
    check_experts(tokens.ids, tokens.top_k, experts_.weights.sizes().experts);
    for (std::size_t slot = 0; slot < tokens.ids.size(); ++slot) {
      if (tokens.ids[slot] < 0) continue;
      held_.push_back(slot);
      work_.push_back({static_cast<std::int64_t>(slot) / tokens.top_k, tokens.ids[slot]});
    }
    stages_.resize(held_.size());
  }

  const StageValues& form(LayerStage stage) const { return form_of(forms_, stage, row_.backend, "stages"); }

  /// Takes the stages that the run starts from.
  void start(std::span<const StageValues> from) {
    check_start(forms_, from, row_.backend);
    step_ = step_of(from.front().stage);
    for (const StageValues& given : from) check_codes(given);
    for (const StageValues& given : from) take(given);
    if (step_ == step_of(LayerStage::a1_codes)) input_ = quantized_of(*execution().first, execution().scales.first, from);
    if (step_ == step_of(LayerStage::act_codes)) act_ = quantized_of(*execution().second, execution().scales.second, from);
  }

  std::span<const StageValues> forms() const { return forms_; }
  int step() const { return step_; }

  /// One step on.
  void advance() {
    ++step_;
    if (step_ == step_of(LayerStage::a1_codes)) return quantize();
    if (step_ == step_of(LayerStage::h13)) return first_product();
    if (step_ == step_of(LayerStage::act)) return run_activation(execution(), or_all({}, intermediate()), stages_);
    if (step_ == step_of(LayerStage::act_codes)) {
      act_ = second_input(execution(), intermediate(), stages_);
      return;
    }
    step_ == step_of(LayerStage::y) ? second_product() : sum();
  }

  /// A stage of the step that was made last.
  StageValues values(LayerStage stage) const {
    StageValues made = form(stage);
    switch (stage) {
      case LayerStage::a1_codes: made.words = input_->codes; break;
      case LayerStage::a1_scales: made.words = scales_of(*input_); break;
      case LayerStage::h13:
        made.words = h13();
        add_possible(made, &SlotStages::gate_possible, 0);
        add_possible(made, &SlotStages::up_possible, at(intermediate()));
        break;
      case LayerStage::act: made.words = spread(made, [](const SlotStages& slot) { return bf16_codes(slot.activation); }); break;
      case LayerStage::act_codes: made.words = spread_rows(made, act_->codes); break;
      case LayerStage::act_scales: made.words = made.shape.size() == 1 ? scales_of(*act_) : spread_rows(made, scales_of(*act_)); break;
      case LayerStage::y:
        made.words = spread(made, [](const SlotStages& slot) { return bf16_codes(slot.down); });
        add_possible(made, &SlotStages::down_possible, 0);
        break;
      case LayerStage::out: made.words = out_; break;
    }
    return made;
  }

 private:
  const Execution& execution() const { return experts_.execution; }
  std::int64_t intermediate() const { return experts_.weights.sizes().intermediate; }

  /// Of columns from `first` on.
  void add_possible(StageValues& made, Possible SlotStages::*possible, std::size_t first) const {
    for (std::size_t slot = 0; slot < stages_.size(); ++slot) {
      const Possible& all = stages_[slot].*possible;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].empty()) continue;
        const Words words = made.dtype == "BF16" ? bf16_codes(all[i]) : all[i];
        made.possible.emplace(held_[slot] * at(made.shape[1]) + first + i, words);
      }
    }
  }

  static Words bf16_codes(const Words& f32) {
    Words codes;
    for (const std::uint32_t bits : f32) codes.push_back(bits >> 16U);
    return codes;
  }

  void check_codes(const StageValues& given) const {
    const bool is_first = given.stage == LayerStage::a1_codes;
    if ((!is_first && given.stage != LayerStage::act_codes) || given.dtype != "U8") return;
    const Quantizer& quantizer = is_first ? *execution().first : *execution().second;
    for (std::size_t i = 0; i < given.words.size(); ++i) {
      if (given.words[i] >> static_cast<unsigned>(quantizer.format->element->width) == 0) continue;
      refuse("element " + std::to_string(i) + " is " + std::to_string(given.words[i]) + ", no code of " +
                 std::string(quantizer.format->element->name) + ": each has a byte of its own",
             row_of(given.stage).name);
    }
  }

  void take(const StageValues& given) {
    const std::size_t width = given.shape.size() < 2 ? 0 : at(given.shape[1]);
    const auto row_of_slot = [&](std::size_t slot) { return std::span(given.words).subspan(held_[slot] * width, width); };
    if (given.stage == LayerStage::h13) {
      const std::size_t half = at(intermediate());
      for (std::size_t slot = 0; slot < stages_.size(); ++slot) {
        const auto word = [&](std::uint32_t bits) { return row_.rounds_h13 ? bits << 16U : bits; };
        std::ranges::transform(row_of_slot(slot).first(half), std::back_inserter(stages_[slot].gate), word);
        std::ranges::transform(row_of_slot(slot).subspan(half), std::back_inserter(stages_[slot].up), word);
        if (fault::planted(fault::Fault::sim_starts_with_up)) std::swap(stages_[slot].gate, stages_[slot].up);
      }
    }
    if (given.stage != LayerStage::act && given.stage != LayerStage::y) return;
    for (std::size_t slot = 0; slot < stages_.size(); ++slot) {
      Words& to = given.stage == LayerStage::act ? stages_[slot].activation : stages_[slot].down;
      for (const std::uint32_t code : row_of_slot(slot)) to.push_back(code << 16U);
    }
  }

  /// Rows that somebody else quantized: of tokens, or of the slots that have an expert.
  Activations quantized_of(const Quantizer& quantizer, std::uint32_t scale, std::span<const StageValues> from) const {
    Words codes, scales;
    std::int64_t columns = 0;
    for (const StageValues& given : from) {
      const bool of_slots = step_of(given.stage) == step_of(LayerStage::act_codes) && given.shape.size() == 2;
      const bool is_codes = given.stage == LayerStage::a1_codes || given.stage == LayerStage::act_codes;
      (is_codes ? codes : scales) = of_slots ? held_rows(given) : given.words;
      if (is_codes) columns = given.shape[1];
    }
    return quantized_already(quantizer, columns, std::move(codes), std::move(scales), scale, execution().fnuz);
  }

  Words held_rows(const StageValues& all) const {
    const std::size_t width = at(all.shape[1]);
    Words rows;
    for (const std::size_t slot : held_) {
      const auto row = std::span(all.words).subspan(slot * width, width);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
  }

  static Words scales_of(const Activations& input) {
    if (has_block_scales(input)) return input.blocks;
    if (input.quantizer->scope == ScaleScope::tensor) return {input.row_scale.empty() ? f32::kOne : input.row_scale.front()};
    return input.row_scale;
  }

  Words spread_rows(const StageValues& form, const Words& rows) const {
    const std::size_t width = at(form.shape[1]);
    Words all(elements_of(form.shape));
    for (std::size_t slot = 0; slot < held_.size(); ++slot)
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(slot * width), width, all.begin() + static_cast<std::ptrdiff_t>(held_[slot] * width));
    return all;
  }

  template <class Row>
  Words spread(const StageValues& form, const Row& row) const {
    const std::size_t width = at(form.shape[1]);
    Words all(elements_of(form.shape));
    for (std::size_t slot = 0; slot < held_.size(); ++slot)
      std::ranges::copy(row(stages_[slot]), all.begin() + static_cast<std::ptrdiff_t>(held_[slot] * width));
    return all;
  }

  Words h13() const {
    return spread(form(LayerStage::h13), [&](const SlotStages& slot) {
      Words both = slot.gate;
      both.insert(both.end(), slot.up.begin(), slot.up.end());
      return row_.rounds_h13 ? bf16_codes(both) : both;
    });
  }

  void quantize() {
    require_columns(tokens_, experts_.hidden);
    const std::size_t wanted = at(tokens_.tokens() * experts_.hidden);
    if (tokens_.x.size() != wanted)
      refuse("has " + std::to_string(tokens_.x.size()) + " values for " + std::to_string(tokens_.tokens()) + " tokens of " +
                 std::to_string(experts_.hidden),
             "x");
    input_ = quantized(*execution().first, tokens_.x, experts_.hidden, execution().scales.first, execution().fnuz);
  }

  void first_product() {
    const bool in_tiles = row_.scales == families::ScaleMemory::tile_128x4;
    if (work_.empty()) return;
    run_first(execution(), experts_.weights, in_tiles ? swizzled(*input_) : *input_, work_, or_all({}, intermediate()), stages_);
  }

  std::uint32_t weight_of(std::size_t slot) const { return stages_[slot].weight(tokens_.weights[held_[slot]]); }

  void require_weights() const {
    if (tokens_.weights.size() == tokens_.ids.size()) return;
    refuse("has " + std::to_string(tokens_.weights.size()) + " values for " + std::to_string(tokens_.ids.size()) + " slots", "weights");
  }

  /// Leaves each slot's share in `down`.
  void second_product() {
    require_weights();
    if (work_.empty()) return;
    run_second(execution(), experts_.weights, *act_, work_, or_all({}, experts_.hidden), stages_);
    for (std::size_t slot = 0; slot < stages_.size(); ++slot) {
      for (std::uint32_t& word : stages_[slot].down) word = slot_share(execution(), word, weight_of(slot));
      for (Words& possible : stages_[slot].down_possible) {
        for (std::uint32_t& word : possible) word = slot_share(execution(), word, weight_of(slot));
        possible.erase(std::ranges::unique(possible).begin(), possible.end());
        if (possible.size() == 1) possible.clear();
      }
    }
  }

  void sum() {
    require_weights();
    const std::size_t columns = at(experts_.hidden);
    std::vector<std::vector<WeighedSlot>> of_token(at(tokens_.tokens()));
    for (std::size_t slot = 0; slot < stages_.size(); ++slot)
      of_token[held_[slot] / at(tokens_.top_k)].push_back({work_[slot].expert, weight_of(slot), stages_[slot].down, held_[slot] % at(tokens_.top_k)});
    for (std::vector<WeighedSlot>& slots : of_token) {
      for (const std::uint32_t bits : summed(execution(), std::move(slots), at(tokens_.top_k), columns)) out_.push_back(bits >> 16U);
    }
  }

  std::vector<StageValues> forms_;
  LayerExperts experts_;
  const families::ExecutionRow& row_;
  const LayerTokens& tokens_;
  std::vector<std::size_t> held_;  ///< slots that have an expert
  std::vector<SlotWork> work_;     ///< of them
  std::vector<SlotStages> stages_;
  std::optional<Activations> input_, act_;
  Words out_;
  int step_ = -1;  ///< that was made last
};

}  // namespace

LayerExperts packed_experts(const families::PackedLayer& packed, const ModelActivation& activation, std::string_view activation_key,
                            const StaticScales& scales, SumsBy sums, const families::LaunchChoice& launch) {
  const layout::WeightFormat format = packed.setting.form.format;
  const families::ExecutionRow* const row = families::find_execution(format, packed.backend);
  if (row == nullptr) {
    throw Error(ErrorCode::unsupported, "how its kernels compute " + std::string(layout::name_of(format)) + " is not known", packed.backend);
  }
  Execution execution = execution_on(*row, families::operation_of(packed.setting), activation_key, activation, scales, packed.setting.computes());
  execution.sums = sums;
  execution.choice = launch;
  if (const std::string unknown = unknown_products(execution, packed.setting); !unknown.empty())
    throw Error(ErrorCode::unsupported, unknown, packed.backend);
  static_cast<void>(used_activation(*row, activation));
  return {std::move(execution), Weights::of_packed(packed, *row, kernel_order(*row, activation)), packed.setting.sizes.hidden};
}

LayerExperts settled(LayerExperts experts, std::int64_t tokens, std::int64_t top_k) {
  experts.execution = settled(std::move(experts.execution), {tokens, top_k, experts.weights.sizes(), experts.weights.halves(Matrix::w13) == 2});
  return experts;
}

void require_columns(const LayerTokens& tokens, std::int64_t hidden) {
  if (tokens.columns != 0 && tokens.columns != hidden)
    refuse("has " + std::to_string(tokens.columns) + " columns, the layer's hidden size is " + std::to_string(hidden), "x");
}

void require_scales(const Execution& execution, bool is_given, const std::string& where) {
  for (const Quantizer* quantizer : {execution.first, execution.second}) {
    if (quantizer->tensor == families::TensorNumber::none || is_given) continue;
    refuse(std::string(quantizer->name) +
               " quantizes by a calibrated scale of the activations: --input-scale FIRST,SECOND gives that of x and that of what enters the second "
               "product",
           where);
  }
  const bool is_read = execution.first->tensor != families::TensorNumber::none || execution.second->tensor != families::TensorNumber::none;
  if (is_given && !is_read)
    refuse("--input-scale is given, and quantizer " + std::string(execution.first->name) + " reads no calibrated scale", where);
}

std::vector<StageValues> stage_forms(const LayerExperts& experts, const LayerTokens& tokens) {
  if (tokens.top_k < 1 || tokens.ids.empty() || tokens.ids.size() % at(tokens.top_k) != 0)
    refuse(std::to_string(tokens.ids.size()) + " experts are not tokens with " + std::to_string(tokens.top_k) + " each", "ids");
  const families::ExecutionRow& row = *experts.execution.row;
  const layout::Sizes& sizes = experts.weights.sizes();
  const auto slots = static_cast<std::int64_t>(tokens.ids.size());
  std::vector<StageValues> forms;
  add_quantized(forms, LayerStage::a1_codes, LayerStage::a1_scales, *experts.execution.first, tokens.tokens(), experts.hidden);
  forms.push_back({LayerStage::h13, row.rounds_h13 ? "BF16" : "F32", {slots, experts.weights.halves(Matrix::w13) * sizes.intermediate}});
  // One kernel for the activation and the quantizer behind it writes no activation.
  if (settled(experts, tokens.tokens(), tokens.top_k).execution.launched().between == nullptr)
    forms.push_back({LayerStage::act, "BF16", {slots, sizes.intermediate}});
  add_quantized(forms, LayerStage::act_codes, LayerStage::act_scales, *experts.execution.second, slots, sizes.intermediate);
  forms.push_back({LayerStage::y, "BF16", {slots, experts.hidden}});
  forms.push_back({LayerStage::out, "BF16", {tokens.tokens(), experts.hidden}});
  return forms;
}

std::vector<LayerStage> stages_behind(std::span<const StageValues> forms, const LayerTokens& tokens, std::span<const StageValues> from) {
  std::vector<LayerStage> stages;
  for (const StageValues& form : forms) {
    const bool is_before = !from.empty() && step_of(form.stage) <= step_of(from.front().stage);
    const bool lacks_weights = tokens.weights.empty() && step_of(form.stage) >= step_of(LayerStage::y);
    if (!is_before && !lacks_weights) stages.push_back(form.stage);
  }
  return stages;
}

std::uint64_t run_bytes(const LayerExperts& experts, const LayerTokens& tokens) {
  std::uint64_t elements = 0;
  for (const StageValues& form : stage_forms(experts, tokens)) elements += elements_of(form.shape);
  // Once in the run and once as it is handed out; what the sums keep of a product's rows is no more than its results.
  constexpr std::uint64_t kCopies = 3;
  return kCopies * elements * sizeof(std::uint32_t);
}

std::vector<StageValues> run_layer(const LayerExperts& experts, const LayerTokens& tokens, std::span<const StageValues> from,
                                   std::span<const LayerStage> wanted, const support::StopPoint& stop,
                                   const std::function<void(std::string_view)>& begun) {
  Run run(experts, tokens);
  if (!from.empty()) run.start(from);
  const int last = last_step(run.forms(), from, wanted, experts.execution.row->backend);
  std::vector<StageValues> made;
  while (run.step() < last) {
    stop.check();
    const auto next = std::ranges::find(stage_rows(), run.step() + 1, &StageRow::step);
    if (begun) begun(next->name);
    run.advance();
    for (const StageRow& row : stage_rows()) {
      if (row.step == run.step() && std::ranges::find(wanted, row.stage) != wanted.end()) made.push_back(run.values(row.stage));
    }
  }
  return made;
}

}  // namespace mx::sim
