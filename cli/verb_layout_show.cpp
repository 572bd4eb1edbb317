// mxact layout show: one layout, its program, digits, formula, a worked example, what it needs and where it comes from.

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/layout_options.hpp"
#include "cli/verb_layout.hpp"
#include "model/families/setting_keys.hpp"
#include "verbs/layout/facts.hpp"
#include "verbs/layout/where.hpp"

namespace mx::cli {
namespace {

struct Arguments {
  std::string name;
  LayoutOptions options;
};

constexpr std::int64_t kExampleAddresses = 8;

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

Json params_json(std::span<const layout::StageParam> params) {
  Json out = Json::array();
  for (const layout::StageParam& param : params) {
    out.push_back({{"key", param.key}, {"standard", param.standard}, {"low", param.low}, {"high", param.high}, {"meaning", param.meaning}});
  }
  return out;
}

void print_params(std::span<const layout::StageParam> params) {
  for (const layout::StageParam& param : params) {
    fmt::print("--set {}={}  {}..{}: {}\n", param.key, param.standard, param.low, param.high, param.meaning);
  }
}

/// What holds of a building block whatever the shape; both kinds have the same words.
template <class Block>
Json block_json(const Block& block) {
  return {{"name", block.name},
          {"summary", block.summary},
          {"formula", block.formula},
          {"versions", std::vector<std::string_view>(block.versions.begin(), block.versions.end())},
          {"params", params_json(block.params)},
          {"source", source_json(block.source)}};
}

template <class Block>
void print_block(const Block& block) {
  fmt::print("{}: {}\nformula: {}\nversions: {}\n", block.name, block.summary, block.formula, joined(block.versions));
  print_params(block.params);
}

Json backend_json(const layout::BackendLayout& row) {
  Json needs = Json::array();
  for (const layout::Need& need : row.needs) needs.push_back(layout::text_of(need));
  return {{"backend", row.backend},
          {"format", layout::name_of(row.format)},
          {"engines", golden::engines_text(row.engines)},
          {"summary", row.summary},
          {"gpt_oss_order", golden::engines_text(row.gpt_oss_order)},
          {"standard_order", golden::engines_text(row.standard_order)},
          {"not_gated", row.takes_not_gated},
          {"needs", needs},
          {"source", source_json(row.source)}};
}

void print_backend(const layout::BackendLayout& row) {
  const auto engines = [](const Versions& set) {
    const std::string text = golden::engines_text(set);
    return text.empty() ? std::string("not converted") : "engine " + text;
  };
  fmt::print("{} for {}, engine {}: {}\n", row.backend, layout::name_of(row.format), golden::engines_text(row.engines), row.summary);
  fmt::print("checkpoints in gpt_oss order: {}; in standard order: {}{}\n", engines(row.gpt_oss_order), engines(row.standard_order),
             row.takes_not_gated ? "; gated or not" : "; gated only");
  for (layout::Role role : golden::roles_of(row)) {
    const golden::LayoutFacts facts = golden::facts_of(row, role);
    fmt::print("  {:<18} {:>2} bits, in memory {:>2}; padding {}; {}\n", layout::name_of(role), facts.unit_bits, facts.memory_bits, facts.padding,
               facts.way_back);
  }
  for (const layout::Need& need : row.needs) fmt::print("needs {}\n", layout::text_of(need));
}

/// Without a shape there is no program: what the tables say.
int show_rows(const Arguments& arguments) {
  const golden::Named named = golden::layout_named(arguments.name);
  Json out = json_head("layout-show");
  if (named.stage != nullptr) out["building_block"] = block_json(*named.stage);
  if (named.value_stage != nullptr) out["value_block"] = block_json(*named.value_stage);
  for (const layout::BackendLayout* row : named.backends) out["backends"].push_back(backend_json(*row));
  if (arguments.options.json) {
    print_json(out);
    return 0;
  }
  if (named.stage != nullptr) {
    print_block(*named.stage);
    fmt::print("source: {}\n", source_text(named.stage->source));
  }
  if (named.value_stage != nullptr) {
    print_block(*named.value_stage);
    fmt::print("from {} to {}\nsource: {}\n", joined(named.value_stage->inputs), joined(named.value_stage->outputs),
               source_text(named.value_stage->source));
  }
  for (const layout::BackendLayout* row : named.backends) {
    print_backend(*row);
    fmt::print("source: {}\n", source_text(row->source));
  }
  return 0;
}

/// The first addresses, and the first of the next line of memory or the first padding: what a reader checks by hand.
std::vector<std::int64_t> example_addresses(const layout::Layout& layout) {
  std::vector<std::int64_t> addresses;
  for (std::int64_t address = 0; address < std::min(kExampleAddresses, layout.cosize()); ++address) addresses.push_back(address);
  for (std::int64_t address = layout.cosize() / 2; address < layout.cosize(); address += std::max<std::int64_t>(layout.cosize() / 2 - 1, 1)) {
    if (address > addresses.back()) addresses.push_back(address);
  }
  return addresses;
}

/// What becomes of the values, and what is lost.
std::vector<std::string> losses_of(const golden::Subject& subject) {
  std::vector<std::string> losses;
  const layout::Layout& program = subject.layout;
  if (std::ranges::any_of(program.steps(), [](const layout::Step& step) { return std::holds_alternative<layout::Slice>(step); })) {
    losses.emplace_back("elements are cut off");
  }
  if (!subject.cast->keeps()) {
    losses.push_back(fmt::format("{}: {}{}", subject.cast->name, subject.cast->summary,
                                 layout::Uncast(*subject.cast).is_lossless() ? "; every code comes back" : "; some codes do not come back"));
  }
  const auto* backend = std::get_if<golden::BackendChoice>(&subject.choice);
  if (backend != nullptr && backend->row->values != nullptr) {
    losses.emplace_back(backend->row->undo_values != nullptr ? "values of several tensors change together, and come back"
                                                             : "values of several tensors change together and do not come back");
  }
  return losses;
}

Json subject_json(const golden::Subject& subject, const std::optional<golden::Tiles>& tiles) {
  const layout::Layout& program = subject.layout;
  Json out = json_head("layout-show");
  out["name"] = golden::name_of(subject.choice);
  out["layout"] = golden::spec_of(subject.choice);
  out["version"] = golden::version_of(subject.choice);
  for (const layout::Axis& axis : program.logical()) out["logical"].push_back({{"axis", axis.name}, {"extent", axis.extent}});
  out["unit_bits"] = program.unit_bits();
  out["address_bits"] = program.grain_bits();
  out["units"] = program.size();
  out["addresses"] = program.cosize();
  out["program"] = program.describe();
  if (tiles) {
    out["digits"] = digits_json(program, tiles->digits);
    out["digits_of"] = tiles->of;
  }
  for (std::int64_t address : example_addresses(program)) {
    out["example"].push_back({{"address", address}, {"holds", golden::content_text(program, address)}});
  }
  out["losses"] = losses_of(subject);
  out["source"] = source_json(golden::source_of(subject.choice));
  return out;
}

void print_subject(const golden::Subject& subject, const std::optional<golden::Tiles>& tiles) {
  const layout::Layout& program = subject.layout;
  fmt::print("\n{}\n", golden::spec_of(subject.choice));
  fmt::print("[{}] in {} addresses of {} bit{}\n\n{}\n", axes_text(program.logical()), program.cosize(), program.grain_bits(),
             program.grain_bits() == 1 ? "" : "s", program.describe());
  if (tiles)
    fmt::print("\nas digits{} (slowest first):\n{}", tiles->of.empty() ? "" : " of " + tiles->of, digits_text(program, tiles->digits));
  else
    fmt::print("\nno digit normal form: the program carries\n");
  fmt::print("\nfor example:\n");
  for (std::int64_t address : example_addresses(program)) {
    fmt::print("  {}: {}\n", golden::address_text(program, address), golden::content_text(program, address));
  }
  for (const std::string& loss : losses_of(subject)) fmt::print("values: {}\n", loss);
}

int show(const Arguments& arguments) {
  const golden::LayoutQuery query = golden::query_from(arguments.name, arguments.options.fields());
  if (query.fields.empty()) return show_rows(arguments);
  const golden::Subject subject = golden::resolve(query);
  const std::optional<golden::Tiles> tiles = golden::tiles_of(subject);
  if (arguments.options.json) {
    print_json(subject_json(subject, tiles));
    return 0;
  }
  if (const auto* stage = std::get_if<golden::StageChoice>(&subject.choice)) {
    print_block(*stage->stage);
  } else {
    print_backend(*std::get<golden::BackendChoice>(subject.choice).row);
  }
  print_subject(subject, tiles);
  fmt::print("source: {}\n", source_text(golden::source_of(subject.choice)));
  return 0;
}

}  // namespace

void add_layout_show(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("show", "a layout: program, digits, formula, example, needs, source");
  const auto arguments = std::make_shared<Arguments>();
  verb.add_option("NAME", arguments->name, "a backend or a building block (mxact layout list); without --shape what holds for every shape")
      .required();
  add_layout_options(verb, arguments->options);
  verb.callback([&action, arguments] { action = [arguments] { return show(*arguments); }; });
}

}  // namespace mx::cli
