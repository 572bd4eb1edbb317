#include "checkpoint/form_sets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "support/quote.hpp"

namespace mx::checkpoint {

std::string titles_of(Forms forms) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string_view> titles;
  for (std::size_t i = 0; i < source_forms().size(); ++i) {
    if ((forms >> i & 1U) != 0) titles.push_back(source_forms()[i].title);
  }
  if (titles.size() <= kMost) return fmt::format("{}", fmt::join(titles, " or "));
  const std::size_t others = titles.size() - kMost + 1;
  titles.resize(kMost - 1);
  return fmt::format("{} or one of {} others", fmt::join(titles, ", "), others);
}

const SourceForm& first_of(Forms forms) { return source_forms()[static_cast<std::size_t>(std::countr_zero(forms))]; }

bool agrees(const ConfigFact& fact, std::string_view value) { return (std::ranges::find(fact.values, value) != fact.values.end()) != fact.is_none; }

std::string contradiction(const SourceForm& form, const ModuleMethod& declared) {
  bool says_model = false;
  for (const DeclaredFact& fact : declared.facts) {
    says_model = says_model || fact.key == "model";
    const auto row = std::ranges::find(form.facts, fact.key, &ConfigFact::key);
    if (row == form.facts.end() || fact.value == "null" || agrees(*row, fact.value)) continue;
    if (row->is_none && row->key != "model") return fmt::format("{} is {}, unlike {}", fact.path, support::in_quotes(fact.value), form.title);
    if (row->is_none)
      return fmt::format("{} is {}, whose fused matrices have inputs as rows, unlike {}", fact.path, support::in_quotes(fact.value), form.title);
    return fmt::format("{} is {}, where {} has {}", fact.path, support::in_quotes(fact.value), form.title, fmt::join(row->values, " or "));
  }
  if (form.by_model && !says_model)
    return fmt::format("model_type is not given: whether inputs or outputs are the rows of {} follows from it", form.title);
  return {};
}

Forms allowed_by(const ModuleMethod& declared, Forms among) {
  const auto has_scales = [](const SourceForm& form) { return std::ranges::find(form.tensors, Piece::scale, &TensorRow::piece) != form.tensors.end(); };
  const Forms kept = among & forms_that([&](const SourceForm& form) {
                       return (has_scales(form) || declared.method.empty()) && contradiction(form, declared).empty();
                     });
  return kept == 0 ? among : kept;
}

const SourceForm& nearest_of(Forms among, const ModuleMethod& declared) {
  const auto method = std::ranges::find(declared.facts, "method", &DeclaredFact::key);
  for (std::size_t i = 0; method != declared.facts.end() && i < source_forms().size(); ++i) {
    const SourceForm& form = source_forms()[i];
    const auto row = std::ranges::find(form.facts, "method", &ConfigFact::key);
    if ((among >> i & 1U) != 0 && row != form.facts.end() && std::ranges::find(row->values, method->value) != row->values.end()) return form;
  }
  return first_of(among);
}

bool are_alike(Forms forms) {
  const SourceForm& first = first_of(forms);
  return (forms & ~forms_that([&](const SourceForm& form) { return form.form == first.form && form.scales == first.scales; })) == 0;
}

Forms best_declared(Forms among, const ModuleMethod& declared) {
  const auto count_of = [&](const SourceForm& form) {
    return std::ranges::count_if(declared.facts, [&](const DeclaredFact& fact) {
      const auto row = std::ranges::find(form.facts, fact.key, &ConfigFact::key);
      return row != form.facts.end() && !row->is_none && agrees(*row, fact.value);
    });
  };
  std::ptrdiff_t most = 0;
  for (std::size_t i = 0; i < source_forms().size(); ++i) {
    if ((among >> i & 1U) != 0) most = std::max(most, count_of(source_forms()[i]));
  }
  return among & forms_that([&](const SourceForm& form) { return count_of(form) == most; });
}

}  // namespace mx::checkpoint
