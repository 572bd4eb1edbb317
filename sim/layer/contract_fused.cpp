#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/moe/layer.hpp"
#include "kernels/threads.hpp"
#include "sim/execute/stage_checks.hpp"
#include "sim/layer/contract_runs.hpp"

namespace mx::sim {
namespace {

namespace panels = kernels::moe;
using panels::FusedStage;
using Words = std::vector<std::uint32_t>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

int step_of(LayerStage stage) { return row_of(stage).step; }

Words words_of_floats(std::span<const float> values) {
  Words words;
  words.reserve(values.size());
  for (const float value : values) words.push_back(std::bit_cast<std::uint32_t>(value));
  return words;
}

const StageValues* find(std::span<const StageValues> stages, LayerStage stage) {
  const auto found = std::ranges::find(stages, stage, &StageValues::stage);
  return found == stages.end() ? nullptr : &*found;
}

bool wants(std::span<const LayerStage> wanted, LayerStage stage) { return std::ranges::find(wanted, stage) != wanted.end(); }

FusedStage fused_stage(int step) {
  constexpr std::array kSteps{FusedStage::x_codes,   FusedStage::gate_up,    FusedStage::act,
                              FusedStage::act_codes, FusedStage::expert_out, FusedStage::out};
  return step < 0 ? FusedStage::x : kSteps[static_cast<std::size_t>(step)];
}

/// Memory for what is given and wanted.
class Fused {
 public:
  Fused(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> forms, std::span<const StageValues> from,
        std::span<const LayerStage> wanted, int last)
      : experts_(experts), tokens_(tokens), forms_(forms), wanted_(wanted) {
    stages_.start = fused_stage(from.empty() ? -1 : step_of(from.front().stage));
    stages_.last = fused_stage(last);
    stages_.gate_up = floats(LayerStage::h13, from);
    stages_.act = floats(LayerStage::act, from);
    stages_.expert_out = floats(LayerStage::y, from);
    stages_.x_codes = codes(0, LayerStage::a1_codes, LayerStage::a1_scales, from);
    stages_.act_codes = codes(1, LayerStage::act_codes, LayerStage::act_scales, from);
  }

  std::vector<StageValues> run() {
    const auto experts = static_cast<std::int32_t>(experts_.sizes.experts);
    std::vector<std::uint16_t> x(tokens_.x.begin(), tokens_.x.end());
    std::vector<float> weights;
    for (const std::uint32_t bits : tokens_.weights) weights.push_back(std::bit_cast<float>(bits));
    // A slot without an expert goes to one more, which is on no rank.
    std::vector<std::int32_t> ids = tokens_.ids, map;
    for (std::int32_t& id : ids) id = id < 0 ? experts : id;
    for (std::int32_t expert = 0; expert < experts; ++expert) map.push_back(expert);
    map.push_back(-1);
    std::vector<float> out(stages_.last == FusedStage::out ? elements_of(form_of(forms_, LayerStage::out, {}, {}).shape) : 0);
    panels::FusedLayer layer(*experts_.panels, experts_.choices);
    layer.run_stages({.x = x, .experts = ids, .weights = weights, .top_k = at(tokens_.top_k), .expert_map = map}, stages_, out,
                     std::min(omp_get_max_threads(), kernels::kMostThreads));
    std::vector<StageValues> made;
    for (const StageValues& form : forms_) {
      if (!wants(wanted_, form.stage)) continue;
      made.push_back(form);
      made.back().words = form.stage == LayerStage::out ? words_of_floats(out) : words(form.stage);
    }
    return made;
  }

 private:
  /// Of a stage that is given or wanted; else none.
  std::span<float> floats(LayerStage stage, std::span<const StageValues> from) {
    const StageValues* const given = find(from, stage);
    if (given == nullptr && !wants(wanted_, stage)) return {};
    std::vector<float>& memory = floats_[static_cast<std::size_t>(stage)];
    memory.resize(elements_of(form_of(forms_, stage, {}, {}).shape));
    if (given == nullptr) return memory;
    const Words words = stage == LayerStage::h13 ? halves_of(*given, experts_.gated) : given->words;
    std::ranges::transform(words, memory.begin(), [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
    return memory;
  }

  panels::Int8Memory codes(std::size_t which, LayerStage codes, LayerStage scales, std::span<const StageValues> from) {
    const StageValues *const given = find(from, codes), *const given_scales = find(from, scales);
    if (given == nullptr && !wants(wanted_, codes) && !wants(wanted_, scales)) return {};
    codes_[which].resize(elements_of(form_of(forms_, codes, {}, {}).shape));
    scales_[which].resize(elements_of(form_of(forms_, scales, {}, {}).shape));
    if (given != nullptr) {
      std::ranges::transform(given->words, codes_[which].begin(), [](std::uint32_t code) { return static_cast<std::int8_t>(code); });
      std::ranges::transform(given_scales->words, scales_[which].begin(), [](std::uint32_t code) { return static_cast<std::uint8_t>(code); });
    }
    return {codes_[which], scales_[which]};
  }

  Words words(LayerStage stage) const {
    const std::size_t which = step_of(stage) == step_of(LayerStage::a1_codes) ? 0 : 1;
    Words words;
    if (stage == LayerStage::a1_codes || stage == LayerStage::act_codes) {
      for (const std::int8_t code : codes_[which]) words.push_back(static_cast<std::uint8_t>(code));
    } else if (stage == LayerStage::a1_scales || stage == LayerStage::act_scales) {
      words.assign(scales_[which].begin(), scales_[which].end());
    } else {
      words = words_of_floats(floats_[static_cast<std::size_t>(stage)]);
    }
    return words;
  }

  const ContractExperts& experts_;
  const LayerTokens& tokens_;
  std::span<const StageValues> forms_;
  std::span<const LayerStage> wanted_;
  panels::FusedStages stages_;
  std::array<std::vector<float>, 8> floats_;  ///< by stage
  std::array<std::vector<std::int8_t>, 2> codes_;
  std::array<std::vector<std::uint8_t>, 2> scales_;
};

}  // namespace

std::vector<StageValues> run_fused(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> forms,
                                   std::span<const StageValues> from, std::span<const LayerStage> wanted, int last) {
  return Fused(experts, tokens, forms, from, wanted, last).run();
}

}  // namespace mx::sim
