#include "verbs/compare/compare_document.hpp"

#include <fmt/core.h>

#include "verbs/numbers/conversion_text.hpp"
#include "verbs/numbers/numbers.hpp"

namespace mx::verbs {
namespace {

std::string share(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.4g} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

Json code_json(std::uint32_t code, const Format& format) { return {{"code", hex(code, format)}, {"value", decimal(decode(format, code))}}; }

Cell code_of(std::uint32_t code, const Format& format) {
  return {code_json(code, format), fmt::format("{} = {}", hex(code, format), decimal(decode(format, code)))};
}

Cell outcome_of(const Outcome& outcome, const Format& format) { return outcome ? code_of(*outcome, format) : Cell("refused"); }

/// Texts of an example's input and of both sides, and all of it as a value.
struct Example {
  Cell input;
  Cell first;
  Cell second;
  Json json() const { return {{"input", input.value}, {"first", first.value}, {"second", second.value}}; }
};

/// A class with its counts and, where there is one, its example: the text has only those.
void add_class(Table& all, Table& shown, const DifferenceClass& difference, std::vector<Cell> counts, const std::optional<Example>& example) {
  std::vector<Cell> row{difference.name};
  row.insert(row.end(), counts.begin(), counts.end());
  const Cell none = Cell::none();
  for (const Cell& text :
       example ? std::vector<Cell>{example->input.shown(), example->first.shown(), example->second.shown()} : std::vector<Cell>{none, none, none})
    row.push_back(text);
  row.emplace_back(difference.meaning);
  row.push_back(example ? Cell(example->json()) : none);
  if (example) shown.add(row);
  all.add(std::move(row));
}

Document begun(const Compared& compared, const char* kind, std::string_view format, const Json& first, const Json& second) {
  Document document{"compare"};
  document.value("kind", kind);
  document.value("format", format);
  document.value("from", compared.from->name);
  Json a = {{"profile", compared.first->name}};
  Json b = {{"profile", compared.second->name}};
  a.update(first);
  b.update(second);
  document.value("first", std::move(a));
  document.value("second", std::move(b));
  return document;
}

void finish(Document& document, Table all, Table shown, std::uint64_t differing, bool same) {
  constexpr int kMistrusted = 5;
  document.exit_code = differing > 0 ? 1 : same ? kMistrusted : 0;
  document.value("classes", all.json());
  if (differing > 0) document.table(std::move(shown));
  if (document.exit_code == kMistrusted) document.note("MISTRUSTED: a profile was compared with itself; nothing could have differed");
}

Cell block_of(const BlockExample::Side& side, const BlockFormat& format, bool scales_alone) {
  const std::string scale = hex(side.scale, *format.scale);
  Json json = {{"scale", code_json(side.scale, *format.scale)},
               {"code", code_json(side.code, *format.element)},
               {"rest_code", code_json(side.rest_code, *format.element)}};
  if (scales_alone) return {std::move(json), "scale " + scale};
  return {std::move(json), fmt::format("scale {}, codes {} {}..", scale, hex(side.code, *format.element), hex(side.rest_code, *format.element))};
}

}  // namespace

Document conversions_document(const Compared& compared, const Format& to, const ConversionComparison& result) {
  const Format& from = *compared.from;
  const Conversion& how = conversion(*compared.first, from, to);
  const Conversion& other = conversion(*compared.second, from, to);
  Document document =
      begun(compared, "conversion", to.name, {{"conversion", conversion_json(how, to)}}, {{"conversion", conversion_json(other, to)}});
  const char* by = result.twin ? "the fast twin" : "the model";
  document.value("computed_by", result.twin ? "twin" : "model");
  document.value("inputs", result.inputs);
  document.value("differing", result.differing);
  document.line(fmt::format("{} -> {}: {} ({}) and {} ({})", from.name, to.name, compared.first->name, short_text(how), compared.second->name,
                            short_text(other)));
  if (result.differing == 0)
    document.line(fmt::format("identical: {} inputs, 0 differ, by {}", result.inputs, by));
  else
    document.line(fmt::format("{} of {} inputs differ ({}), by {}", result.differing, result.inputs, share(result.differing, result.inputs), by));
  Table all{{},
            {{"class", "class"},
             {"inputs", "inputs"},
             in_text("first input"),
             in_text(std::string(compared.first->name)),
             in_text(std::string(compared.second->name)),
             {"meaning", "meaning"},
             in_json("example")}};
  Table shown = all;
  for (const ConversionClassCount& row : result.classes) {
    std::optional<Example> example;
    if (row.example) example = {code_of(row.example->input, from), outcome_of(row.example->first, to), outcome_of(row.example->second, to)};
    add_class(all, shown, row.difference, {row.count}, example);
  }
  finish(document, std::move(all), std::move(shown), result.differing, compared.first->name == compared.second->name);
  return document;
}

Document recipes_document(const Compared& compared, const RecipeSide& first, const RecipeSide& second, const BlockPattern& pattern,
                          const RecipeComparison& result) {
  const Format& from = *compared.from;
  const BlockFormat& format = *first.recipe->format;
  const std::string_view first_rule = scale_rule_name(*first.recipe);
  const std::string_view second_rule = scale_rule_name(*second.recipe);
  Document document = begun(compared, "recipe", format.name, {{"scale_rule", first_rule}}, {{"scale_rule", second_rule}});
  document.value("computed_by", "model");
  document.value("rest", code_json(pattern.rest, from));
  document.value("blocks", result.blocks);
  document.value("differing", result.differing);
  document.value("scales_differing", result.scales);
  document.value("codes_compared", !result.scales_alone);
  document.value("codes_differing", result.codes);
  document.line(
      fmt::format("{} -> {}: {} ({}) and {} ({})", from.name, format.name, compared.first->name, first_rule, compared.second->name, second_rule));
  document.line(fmt::format("one block for each input x: x first, every other element {}{}", decimal(decode(from, pattern.rest)),
                            result.scales_alone ? "; scales alone, one side gives no codes" : ""));
  if (result.differing == 0)
    document.line(fmt::format("identical: {} blocks, 0 differ, by the model", result.blocks));
  else
    document.line(fmt::format("{} of {} blocks differ ({}): the scale of {}, codes of {}; by the model", result.differing, result.blocks,
                              share(result.differing, result.blocks), result.scales, result.codes));
  Table all{{},
            {{"class", "class"},
             {"blocks", "blocks"},
             {"scales_differing", "scales"},
             {"codes_differing", "codes"},
             in_text("first x"),
             in_text(std::string(compared.first->name)),
             in_text(std::string(compared.second->name)),
             {"meaning", "meaning"},
             in_json("example")}};
  Table shown = all;
  for (const BlockClassCount& row : result.classes) {
    std::optional<Example> example;
    if (row.example)
      example = {code_of(row.example->input, from), block_of(row.example->first, format, result.scales_alone),
                 block_of(row.example->second, format, result.scales_alone)};
    add_class(all, shown, row.difference, {row.blocks, row.scales, row.codes}, example);
  }
  const bool same_tensor = first.tensor.encode == second.tensor.encode && first.tensor.decode == second.tensor.decode;
  finish(document, std::move(all), std::move(shown), result.differing, same_tensor && compared.first->name == compared.second->name);
  return document;
}

}  // namespace mx::verbs
