#include <fmt/core.h>

#include <algorithm>

#include "model/families/fnuz.hpp"
#include "verbs/layout/facts.hpp"
#include "verbs/layout/layout_document.hpp"
#include "verbs/layout/where.hpp"
#include "verbs/layout/words.hpp"

namespace mx::verbs {
namespace {

constexpr std::int64_t kExampleAddresses = 8;

/// What holds of a building block whatever the shape; both kinds have the same words. The text goes into the document.
template <class Block>
Json add_block(Document& document, const Block& block) {
  Table params{{}, {in_json("key"), in_json("standard"), in_json("low"), in_json("high"), in_json("meaning")}};
  document.line(fmt::format("{}: {}\nformula: {}\nversions: {}", block.name, block.summary, block.formula, joined(block.versions)));
  for (const families::BlockParam& param : block.params) {
    params.add({param.key, param.standard, param.low, param.high, param.meaning});
    document.line(fmt::format("--set {}={}  {}..{}: {}", param.key, param.standard, param.low, param.high, param.meaning));
  }
  return {{"name", block.name},         {"summary", block.summary}, {"formula", block.formula},
          {"versions", block.versions}, {"params", params.json()},  {"source", source_json(block.source)}};
}

Json add_backend(Document& document, const families::BackendLayout& row) {
  const auto engines = [](const deployment::Versions& set) {
    const std::string text = engines_text(set);
    return text.empty() ? std::string("not converted") : "engine " + text;
  };
  document.line(fmt::format("{} for {}, engine {}: {}", row.backend, layout::name_of(row.format), engines_text(row.engines), row.summary));
  document.line(fmt::format("checkpoints in gpt_oss order: {}; in standard order: {}{}", engines(row.gpt_oss_order), engines(row.standard_order),
                            row.takes_not_gated ? "; gated or not" : "; gated only"));
  for (layout::Role role : roles_of(row)) {
    const LayoutFacts facts = facts_of(row, role);
    document.line(fmt::format("  {:<18} {:>2} bits, in memory {:>2}; padding {}; {}", layout::name_of(role), facts.unit_bits, facts.memory_bits,
                              facts.padding, facts.way_back));
  }
  Json needs = Json::array();
  for (const families::Need& need : row.needs) {
    needs.push_back(families::text_of(need));
    document.line("needs " + needs.back().text());
  }
  return {{"backend", row.backend},
          {"format", layout::name_of(row.format)},
          {"engines", engines_text(row.engines)},
          {"summary", row.summary},
          {"gpt_oss_order", engines_text(row.gpt_oss_order)},
          {"standard_order", engines_text(row.standard_order)},
          {"not_gated", row.takes_not_gated},
          {"needs", std::move(needs)},
          {"source", source_json(row.source)}};
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
std::vector<std::string> losses_of(const Subject& subject) {
  std::vector<std::string> losses;
  const layout::Layout& program = subject.layout;
  if (std::ranges::any_of(program.steps(), [](const layout::Step& step) { return std::holds_alternative<layout::Slice>(step); })) {
    losses.emplace_back("elements are cut off");
  }
  if (!subject.cast->keeps()) {
    losses.push_back(fmt::format("{}: {}{}", subject.cast->name, subject.cast->summary,
                                 layout::Uncast(*subject.cast).is_lossless() ? "; every code comes back" : "; some codes do not come back"));
  }
  const auto* backend = std::get_if<BackendChoice>(&subject.choice);
  if (backend != nullptr && families::has_fnuz(backend->setting) && (layout::is_weight(backend->role) || layout::is_scale(backend->role))) {
    losses.emplace_back(layout::is_weight(backend->role) ? "the method made e4m3fnuz of e4m3fn before: the code of -0 became 0"
                                                         : "the method made e4m3fnuz of e4m3fn before: every scale doubled");
  }
  if (backend != nullptr && backend->row->values != nullptr) {
    losses.emplace_back(backend->row->undo_values != nullptr ? "values of several tensors change together, and come back"
                                                             : "values of several tensors change together and do not come back");
  }
  return losses;
}

void add_program(Document& document, const Subject& subject) {
  const layout::Layout& program = subject.layout;
  const std::string spec = spec_of(subject.choice);
  document.value("name", name_of(subject.choice));
  document.value("layout", spec);
  document.value("version", version_of(subject.choice));
  Table axes{{}, {in_json("axis"), in_json("extent")}};
  for (const layout::Axis& axis : program.logical()) axes.add({axis.name, axis.extent});
  document.value("logical", axes.json());
  document.value("unit_bits", program.unit_bits());
  document.value("address_bits", program.grain_bits());
  document.value("units", program.size());
  document.value("addresses", program.cosize());
  document.value("program", program.describe());
  document.line(fmt::format("\n{}\n[{}] in {} addresses of {} bit{}\n\n{}", spec, axes_text(program.logical()), program.cosize(),
                            program.grain_bits(), program.grain_bits() == 1 ? "" : "s", program.describe()));
}

}  // namespace

Document layout_rows_document(const std::string& name) {
  const Named named = layout_named(name);
  Document document{"layout-show"};
  if (named.block != nullptr) {
    document.value("building_block", add_block(document, *named.block));
    document.line("source: " + source_text(named.block->source));
  }
  if (named.value_block != nullptr) {
    document.value("value_block", add_block(document, *named.value_block));
    document.line(fmt::format("from {} to {}\nsource: {}", joined(named.value_block->inputs), joined(named.value_block->outputs),
                              source_text(named.value_block->source)));
  }
  Json backends;
  for (const families::BackendLayout* row : named.backends) {
    backends.push_back(add_backend(document, *row));
    document.line("source: " + source_text(row->source));
  }
  if (!backends.is_null()) document.value("backends", std::move(backends));
  return document;
}

Document layout_show_document(const Subject& subject) {
  Document document{"layout-show"};
  if (const auto* block = std::get_if<BlockChoice>(&subject.choice)) {
    static_cast<void>(add_block(document, *block->block));
  } else {
    static_cast<void>(add_backend(document, *std::get<BackendChoice>(subject.choice).row));
  }
  add_program(document, subject);
  const layout::Layout& program = subject.layout;
  if (const std::optional<Tiles> tiles = tiles_of(subject)) {
    document.value("digits", digits_json(program, tiles->digits));
    document.value("digits_of", tiles->of);
    document.line(fmt::format("\nas digits{} (slowest first):", tiles->of.empty() ? "" : " of " + tiles->of));
    add_digits(document, program, tiles->digits);
  } else {
    document.line("\nno digit normal form: the program carries");
  }
  document.line("\nfor example:");
  Table example{"example", {in_json("address"), in_json("holds")}};
  for (std::int64_t address : example_addresses(program)) {
    const std::string holds = content_text(program, address);
    example.add({address, holds});
    document.line(fmt::format("  {}: {}", address_text(program, address), holds));
  }
  document.value(example.key, example.json());
  const std::vector<std::string> losses = losses_of(subject);
  for (const std::string& loss : losses) document.line("values: " + loss);
  document.value("losses", losses);
  document.value("source", source_json(source_of(subject.choice)));
  document.line("source: " + source_text(source_of(subject.choice)));
  return document;
}

}  // namespace mx::verbs
