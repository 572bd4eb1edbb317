#include "verbs/compare/makers_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/quote.hpp"

namespace mx::verbs {
namespace {

using checkpoint::MadeBy;
using checkpoint::Maker;
using checkpoint::MatrixMaker;

/// Rows of the text; JSON has all of them.
constexpr std::size_t kShown = 20;

Json maker_json(const Maker& maker) { return {{"profile", maker.profile}, {"release", maker.release}, {"made_from", maker.made_from}}; }

Json first_of(const MadeBy& made) {
  return made.counts.differing == 0 ? Json() : Json(std::vector<std::int64_t>{made.counts.first_row, made.counts.first_column});
}

bool is_told(const MatrixMaker& one) { return one.made.is_exact() || one.made.lossless; }

Table shares_of(const checkpoint::Makers& makers) {
  Table table{"makers", {{"profile", "maker"}, {"release", "release"}, {"made_from", "makes it"}, {"exact", "exactly"}, in_text("of")}};
  for (const checkpoint::MakerShare& share : makers.shares)
    table.add({share.maker.profile, share.maker.release, share.maker.made_from, share.exact, std::ssize(makers.matrices)});
  return table;
}

Table rest_of(const checkpoint::Makers& makers) {
  Table table{{}, {in_text("no rule's"), in_text("nearest"), in_text("differ"), in_text("of"), in_text("first"), in_text("what explains it")}};
  for (const MatrixMaker& one : makers.matrices) {
    if (is_told(one) || table.rows.size() == kShown) continue;
    const checkpoint::MakerCounts& counts = one.made.counts;
    table.add({one.name, one.made.known ? one.made.nearest.profile : "-", counts.differing, counts.blocks,
               fmt::format("[{}, {}]", counts.first_row, counts.first_column), one.made.cause});
  }
  return table;
}

/// What global scales are, and of how many matrices.
void add_numbers(Document& document, const checkpoint::Makers& makers) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const MatrixMaker& one : makers.matrices) {
    if (one.number.empty()) continue;
    const auto found = std::ranges::find(counts, one.number, &std::pair<std::string, std::int64_t>::first);
    if (found == counts.end()) {
      counts.emplace_back(one.number, 1);
    } else {
      ++found->second;
    }
  }
  for (const auto& [number, count] : counts) document.line(fmt::format("scale of the whole: {} ({} matrices)", number, count));
}

void add_others(Document& document, const checkpoint::CheckpointComparison& others) {
  Table table{"others_differing", {in_json("tensor"), in_json("why")}};
  for (const checkpoint::TensorDifference& one : others.differences)
    table.add({one.name, one.cause.empty() ? fmt::format("{} of {} numbers differ", one.differing, one.values) : one.cause});
  for (const checkpoint::TensorOmitted& one : others.omitted) {
    if (one.differs) table.add({one.name, one.why});
  }
  for (std::size_t i = 0; i < std::min(kShown, table.rows.size()); ++i)
    document.line(fmt::format("other: {}: {}", table.rows[i][0].shown(), table.rows[i][1].shown()));
  if (table.rows.size() > kShown) document.line(fmt::format("and {} more; --json has all", table.rows.size() - kShown));
  document.value(table.key, table.json());
}

}  // namespace

Json made_by_json(const MadeBy& made) {
  Json exact = Json::array();
  for (const Maker& maker : made.exact) exact.push_back(maker_json(maker));
  return {{"exact", std::move(exact)},
          {"nearest", made.known ? maker_json(made.nearest) : Json()},
          {"blocks", made.counts.blocks},
          {"differing", made.counts.differing},
          {"scales_differing", made.counts.scales},
          {"codes_differing", made.counts.codes},
          {"first", first_of(made)},
          {"cause", made.cause},
          {"lossless", made.lossless}};
}

Document makers_document(const checkpoint::Makers& makers, const std::string& base, const std::string& quantized) {
  Document document{"made-by"};
  document.field("base", "base", {{"path", base}, {"form", makers.base_form}}, fmt::format("{} ({})", base, makers.base_form));
  document.field("quantized", "quantized", {{"path", quantized}, {"form", makers.quantized_form}, {"producer", makers.producer}},
                 fmt::format("{} ({}{})", quantized, makers.quantized_form, makers.producer.empty() ? "" : ", says " + makers.producer));
  document.field("matrices", "matrices", {{"compared", std::ssize(makers.matrices)}, {"exact", makers.exact()}, {"lossless", makers.lossless()}},
                 fmt::format("{} compared, {} exactly a rule's, {} lossless", makers.matrices.size(), makers.exact(), makers.lossless()));
  document.field("others", "others", {{"compared", makers.others.tensors}, {"equal", makers.others.equal}},
                 fmt::format("{} of {} tensors equal", makers.others.equal, makers.others.tensors));
  document.value("makers", shares_of(makers).json());
  if (!makers.shares.empty()) {
    document.line();
    document.table(text_alone(shares_of(makers)));
  }
  Json tensors = Json::array();
  const std::string replay = fmt::format("mxact compare {} {}", support::shell_word(base), support::shell_word(quantized));
  std::int64_t told = 0;
  for (const MatrixMaker& one : makers.matrices) {
    Json entry = {{"tensor", one.name}, {"layer", one.layer}, {"scale_of_all", one.number}};
    entry.update(made_by_json(one.made));
    tensors.push_back(std::move(entry));
    told += is_told(one) ? 1 : 0;
    if (is_told(one)) continue;
    document.cases.push_back({"mxact.compare", one.name, support::CheckEnd::failed,
                              fmt::format("{} of {} blocks are not those of the nearest rule, {}{}{}", one.made.counts.differing,
                                          one.made.counts.blocks, one.made.nearest.profile, one.made.cause.empty() ? "" : ": ", one.made.cause),
                              fmt::format("[{}, {}]", one.made.counts.first_row, one.made.counts.first_column), replay, quantized});
  }
  document.value("tensors", std::move(tensors));
  const auto rest = std::ssize(makers.matrices) - told;
  if (rest > 0) {
    document.line();
    document.table(text_alone(rest_of(makers)));
    if (rest > static_cast<std::int64_t>(kShown)) document.line(fmt::format("and {} more; --json has all", rest - static_cast<std::int64_t>(kShown)));
  }
  document.line();
  add_numbers(document, makers);
  add_others(document, makers.others);
  document.value("sentence", makers.sentence());
  document.line(makers.sentence());
  for (const checkpoint::TensorDifference& one : makers.others.differences)
    document.cases.push_back({"mxact.compare",
                              one.name,
                              support::CheckEnd::failed,
                              fmt::format("{} of {} numbers differ", one.differing, one.values),
                              {},
                              replay,
                              quantized});
  for (const checkpoint::TensorOmitted& one : makers.others.omitted) {
    if (one.differs) document.cases.push_back({"mxact.compare", one.name, support::CheckEnd::failed, one.why, {}, replay, quantized});
  }
  if (told > 0) document.cases.push_back({"mxact.compare", fmt::format("{} matrices", told), support::CheckEnd::passed, {}, {}, {}, quantized});
  constexpr int kNothing = 5;
  if (makers.matrices.empty()) document.note("nothing was compared");
  document.ended(makers.matrices.empty() ? kNothing : makers.explained() ? 0 : 1);
  return document;
}

}  // namespace mx::verbs
