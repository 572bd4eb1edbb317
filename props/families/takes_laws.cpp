// L2: what a converter takes and what it refuses is part of its layout: a setting that it should refuse has no address in the document's formula.

#include "props/families/takes_laws.hpp"

#include <algorithm>
#include <random>

#include "props/families/family.hpp"
#include "props/families/restated_takes.hpp"
#include "props/layout/laws.hpp"

namespace mx::props {
namespace {

using families::BackendLayout;
using families::Setting;
using layout::Form;
using layout::SourceOrder;

std::optional<Refusal> refusal_of(const BackendLayout& row, const Setting& setting) {
  const std::vector<families::BrokenNeed> broken = families::broken_needs(row, setting);
  if (broken.empty()) return std::nullopt;
  return Refusal{broken.front().need.quantity, broken.front().need.operand};
}

std::string text_of(const std::optional<Refusal>& refusal) {
  if (!refusal) return "it is taken";
  return "refused for " + std::string(families::symbol_of(refusal->quantity)) + " and " + std::to_string(refusal->operand);
}

std::string text_of(const Form& form, deployment::Engine engine) {
  return std::string(layout::name_of(form.order)) + (form.gated ? "" : " not gated") + " of engine " + std::string(deployment::name_of(engine));
}

bool same(const deployment::Versions& a, const deployment::Versions& b) {
  return a.has(deployment::kVllm2026_05) == b.has(deployment::kVllm2026_05) && a.has(deployment::kVllm2026_08) == b.has(deployment::kVllm2026_08);
}

const Takes* takes_of(const BackendLayout& row) {
  const auto found = std::ranges::find_if(all_takes(), [&](const Takes& takes) {
    return takes.format == row.format && takes.backend == row.backend && same(takes.engines, row.engines);
  });
  return found == all_takes().end() ? nullptr : &*found;
}

}  // namespace

std::vector<Form> forms_of(layout::WeightFormat format) {
  std::vector<Form> forms;
  for (const SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    for (const bool gated : {true, false}) forms.emplace_back(format, order, gated);
  }
  return forms;
}

std::vector<Setting> settings_of(layout::WeightFormat format) {
  constexpr int kSettings = 3000;
  std::mt19937 random(13);
  const std::int64_t group = std::max<std::int64_t>(layout::group_of(format), 1);
  const std::int64_t step = group > 1 ? group : 16;  // others are refused before any converter is asked
  std::vector<Setting> settings;
  for (int i = 0; i < kSettings; ++i) {
    const auto size = [&] {
      const std::int64_t unit = random() % 2 == 0 ? step : std::max<std::int64_t>(step, 64);
      return unit * one_of(random, {1, 2, 3, 4, 6, 8, 12, 16});
    };
    const Form form = forms_of(format)[random() % 4];
    Setting s{.sizes = {one_of(random, {1, 2, 3, 5}), size(), size(), group},
              .padded = {},
              .form = form,
              .engine = families::kConversionEngines[random() % 2]};
    s.padded = s.sizes;
    if (random() % 8 == 0) s.padded.intermediate += 256;
    if (random() % 8 == 0) s.padded.hidden += 256;
    s.arch = static_cast<families::Arch>(random() % 2 == 0 ? one_of(random, {3, 4, 9, 12}) : static_cast<int>(random() % 15));
    s.tp_size = one_of(random, {1, 2, 3, 4, 8});
    s.params_dtype = static_cast<families::ParamsDtype>(random() % 2);
    s.input_dtype = static_cast<families::InputDtype>(random() % 2 == 0 ? 0 : one_of(random, {1, 2}));
    s.activation = static_cast<families::ConverterActivation>(random() % 3);
    s.has_bias = random() % 4 != 0;
    s.has_input_scale = random() % 4 != 0;
    for (const FamilyFormulas* family : all_family_formulas()) {
      if (family->draw != nullptr) family->draw(s, random);
    }
    settings.push_back(s);
  }
  return settings;
}

Outcome law_takes(const Law& law) {
  Exhaustive exhaustive(law);
  for (const BackendLayout& row : families::all_backend_layouts()) {
    const std::string name = std::string(row.backend) + " " + std::string(layout::name_of(row.format));
    const Takes* takes = takes_of(row);
    exhaustive.expect(takes != nullptr, [&] { return name + " of these engines is in no document"; });
    if (takes == nullptr) continue;
    for (const deployment::Engine engine : families::kConversionEngines) {
      for (const Form& form : forms_of(row.format)) {
        const bool standard = form.order == SourceOrder::standard;
        const bool taken = (standard ? takes->standard_order : takes->gpt_oss_order).has(engine) && (form.gated || takes->not_gated);
        exhaustive.expect(row.converts(form, engine) == taken, [&] { return name + " and " + text_of(form, engine) + ": taken or not, wrongly"; });
      }
    }
    exhaustive.expect((row.values == nullptr || row.undo_values != nullptr) == takes->restores,
                      [&] { return name + (takes->restores ? " cannot be restored" : " can be restored"); });
    for (const Setting& setting : settings_of(row.format)) {
      if (!row.engines.has(setting.engine)) continue;
      const std::optional<Refusal> expected = takes->refuses(setting);
      const std::optional<Refusal> got = refusal_of(row, setting);
      exhaustive.expect(got == expected, [&] {
        return name + " E " + std::to_string(setting.sizes.experts) + " IxH " + std::to_string(setting.padded.intermediate) + "x" +
               std::to_string(setting.padded.hidden) + " " + text_of(setting.form, setting.engine) + " " +
               std::string(families::name_of(setting.arch)) + ": " + text_of(got) + ", where the documents say " + text_of(expected);
      });
    }
  }
  for (const Takes& takes : all_takes()) {
    exhaustive.expect(std::ranges::any_of(families::all_backend_layouts(), [&](const BackendLayout& row) { return takes_of(row) == &takes; }),
                      [&] { return std::string(takes.backend) + " " + std::string(layout::name_of(takes.format)) + " is in no row"; });
  }
  return exhaustive.outcome();
}

}  // namespace mx::props
