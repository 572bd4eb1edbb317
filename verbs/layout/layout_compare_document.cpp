// Two layouts held against each other, and a buffer against all of them.

#include <fmt/core.h>

#include "verbs/layout/layout_document.hpp"
#include "verbs/layout/words.hpp"

namespace mx::verbs {
namespace {

Table matches_of(const std::vector<Match>& matches) {
  Table table{{}, {in_json("name"), {"equal", "equal"}, {"compared", "of"}, in_text("share"), {"layout", "layout"}, in_json("version")}};
  for (const Match& match : matches)
    table.add({name_of(match.choice), match.equal, match.compared, fmt::format("{:.4g} %", 100 * match.share()), spec_of(match.choice),
               version_of(match.choice)});
  return table;
}

Json plain_json(const std::optional<PlainOrder>& plain) {
  if (!plain) return nullptr;
  return {{"rows", plain->rows},       {"row_bytes", plain->row_bytes}, {"word", plain->word},
          {"swapped", plain->swapped}, {"padding", plain->padding},     {"text", plain->text()}};
}

void add_group(Document& document, const std::vector<Match>& group) {
  for (const Match& match : group) document.line(fmt::format("  {} ({})", spec_of(match.choice), version_of(match.choice)));
}

/// What was found, in words.
void add_finding(Document& document, const Identification& found) {
  if (found.plain) document.line("the tensor's own order: " + found.plain->text());
  if (found.plain && !found.is_exact()) return document.line("no converter's layout is that");
  if (found.is_exact() && !found.is_ambiguous()) {
    document.line(fmt::format("exact match{}:", found.groups.front().size() == 1 ? "" : ", the same layout under each of these names"));
    add_group(document, found.groups.front());
    return;
  }
  if (found.is_ambiguous()) {
    document.line(found.constant ? "every byte of the tensor is the same: any rearrangement would match, of the known ones"
                                 : fmt::format("the data cannot tell {} different layouts apart:", found.groups.size()));
    for (const std::vector<Match>& group : found.groups) {
      add_group(document, group);
      document.line();
    }
    return;
  }
  if (!found.wrong.empty()) {
    const Match& best = found.partial.front();
    document.line(fmt::format("{}, but for {} of {} addresses:", spec_of(best.choice), best.compared - best.equal, best.compared));
    for (const WrongPlace& one : found.wrong)
      document.line(fmt::format("  {}: 0x{:x}, must be 0x{:x} ({})", one.where, one.found, one.wanted, one.content));
    document.line();
  }
  document.line(fmt::format("no known layout: {} of {} programs that take this tensor give a buffer of that size", found.tried, found.known));
  document.table(matches_of(found.partial));
}

}  // namespace

Document layout_diff_document(const Subject& a, const Subject& b, const LayoutDifference& found) {
  Document document{"layout-diff"};
  document.exit_code = found.equal() ? 0 : 1;
  document.value("a", spec_of(a.choice));
  document.value("b", spec_of(b.choice));
  document.value("equal", found.equal());
  if (!found.values.empty()) document.value("values", found.values);
  document.value("address_bits", found.grain_bits);
  document.value("addresses", found.addresses);
  document.value("differing", found.differing);
  document.line(fmt::format("a: {}\nb: {}", spec_of(a.choice), spec_of(b.choice)));
  if (!found.values.empty())
    document.line("they change values differently: " + found.values);
  else if (found.equal())
    document.line(fmt::format("equal: all {} addresses of {} bits hold the same", found.addresses, found.grain_bits));
  else
    document.line(fmt::format("{} of {} addresses of {} bits differ", found.differing, found.addresses, found.grain_bits));
  Table first{"first", {{"address", "address"}, {"count", "count"}, {"a", "a"}, {"b", "b"}}};
  for (const Difference& one : found.first) first.add({one.address, one.count, one.a, one.b});
  document.table(std::move(first));
  document.value("digits_only_in_a", digits_json(a.layout, found.only_a));
  document.value("digits_only_in_b", digits_json(b.layout, found.only_b));
  if (found.equal() || !found.values.empty()) return document;
  if (!found.only_a.empty()) document.line("digits of a only:");
  add_digits(document, a.layout, found.only_a);
  if (!found.only_b.empty()) document.line("digits of b only:");
  add_digits(document, b.layout, found.only_b);
  return document;
}

Document layout_identify_document(const Identification& found) {
  constexpr int kUnknown = 1;
  constexpr int kAmbiguous = 5;
  Document document{"layout-identify"};
  document.exit_code = found.is_ambiguous() ? kAmbiguous : found.is_exact() || found.plain ? 0 : kUnknown;
  Table read{"read_as", {in_json("batch"), in_json("rows"), in_json("cols"), in_json("unit_bits")}};
  for (const MatrixShape& matrix : found.read_as) read.add({matrix.batch, matrix.rows, matrix.cols, matrix.unit_bits});
  document.value(read.key, read.json());
  document.value("known", found.known);
  document.value("plain", plain_json(found.plain));
  document.value("tried", found.tried);
  document.value("ambiguous", found.is_ambiguous());
  document.value("constant", found.constant);
  Json groups = Json::array();
  for (const std::vector<Match>& group : found.groups) groups.push_back(matches_of(group).json());
  document.value("groups", std::move(groups));
  document.value("partial", matches_of(found.partial).json());
  Table wrong{"wrong", {in_json("address"), in_json("where"), in_json("content"), in_json("wanted"), in_json("found")}};
  for (const WrongPlace& one : found.wrong) wrong.add({one.address, one.where, one.content, one.wanted, one.found});
  document.value(wrong.key, wrong.json());
  add_finding(document, found);
  return document;
}

}  // namespace mx::verbs
