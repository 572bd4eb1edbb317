// Conversions of checkpoints: what was planned, which units were done, what became of the whole.

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

/// "2.17 MB", of powers of ten.
std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kPrefixes = {"", "k", "M", "G", "T"};
  auto value = static_cast<double>(bytes);
  std::size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < kPrefixes.size()) value /= 1000, ++prefix;
  return fmt::format("{:.3g} {}B", value, kPrefixes.at(prefix));
}

support::HtmlCell number(const Node& node) { return {std::to_string(node.count()), "number"}; }

/// "256", or "180 -> 256" where the engine rounds up.
std::string size_text(const Node& setting, const char* name) {
  const std::int64_t size = setting[name].count();
  const std::optional<Node> rounded = setting.find(std::string("rounded_") + name);
  return !rounded || rounded->count() == size ? std::to_string(size) : fmt::format("{} \u2192 {}", size, rounded->count());
}

using Terms = std::vector<std::pair<std::string, std::string>>;

/// Members of a run that are words, in the order in which people ask for them.
void add_words(Terms& terms, const Node& root, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::optional<Node> member = root.find(name);
    if (member && member->json().is_string()) terms.emplace_back(name, member->text());
  }
}

void add_setting(Terms& terms, const Node& root) {
  const Node setting = root["setting"];
  // A plan's file keeps the sizes in groups of their own.
  const std::optional<Node> sizes = setting.find("sizes");
  terms.emplace_back("platform", fmt::format("{}, engine {}", setting["platform"].text(), setting["engine"].text()));
  terms.emplace_back("sizes", sizes ? fmt::format("{} experts, hidden {}, intermediate {}", (*sizes)["experts"].count(), (*sizes)["hidden"].count(),
                                                  (*sizes)["intermediate"].count())
                                    : fmt::format("{} experts, hidden {}, intermediate {}", setting["experts"].count(), size_text(setting, "hidden"),
                                                  size_text(setting, "intermediate")));
}

std::string losses_html(const Node& losses) {
  std::vector<support::HtmlRow> rows;
  for (const Node& loss : losses.items()) {
    rows.push_back(
        {{loss["tensor"].text()}, number(loss["units"]), {std::to_string(loss["layers"].items().size()), "number"}, {loss["what"].text(), "text"}});
  }
  return rows.empty() ? support::html_paragraph("Nothing was lost: restoring gives the same bytes.")
                      : support::html_table("what was lost", {"tensor", "units", "layers", "what is lost"}, rows);
}

std::int64_t layers_of(const Run& run) { return run.root()["layers"].count(); }

}  // namespace

Outcome conversion_outcome(const Run& run) {
  const Node root = run.root();
  const std::size_t losses = root["losses"].items().size();
  const std::string lost = losses == 0 ? "nothing lost" : fmt::format("{} kind{} of loss", losses, losses == 1 ? "" : "s");
  // What restore read is what convert wrote: it has one number of bytes.
  const std::optional<Node> read = root.find("bytes_in");
  const std::string bytes = read ? fmt::format("{} of experts became {}", bytes_text(read->count()), bytes_text(root["bytes_out"].count()))
                                 : fmt::format("{} of experts", bytes_text(root["bytes"].count()));
  return {Standing::shown, fmt::format("{}: {} layers, {}, {}", root["backend"].text(), layers_of(run), bytes, lost)};
}

std::string conversion_html(const Run& run) {
  const Node root = run.root();
  Terms terms;
  add_words(terms, root, {"backend", "checkpoint", "output", "plan"});
  add_setting(terms, root);
  terms.emplace_back("layers", std::to_string(layers_of(run)));
  for (const auto& [key, name] : {std::pair{"bytes_in", "experts, read"}, {"bytes_out", "experts, written"}, {"bytes", "experts"}}) {
    if (const std::optional<Node> bytes = root.find(key)) terms.emplace_back(name, fmt::format("{} bytes", bytes->count()));
  }
  for (const auto& [key, name] : {std::pair{"other_tensors", "other tensors"}, {"files", "files"}}) {
    if (const std::optional<Node> count = root.find(key)) terms.emplace_back(name, std::to_string(count->count()));
  }
  add_words(terms, root, {"digest"});
  return support::html_terms(terms) + losses_html(root["losses"]);
}

Outcome plan_outcome(const Run& run) {
  const std::vector<Node> units = run.root()["units"].items();
  const std::string counted =
      fmt::format("{}: {} units of {} planned", run.root()["backend"].text(), units.size(), bytes_text(total(units, "bytes")));
  return {units.empty() ? Standing::nothing : Standing::shown, counted};
}

std::string plan_html(const Run& run) {
  const Node root = run.root();
  const std::vector<Node> units = root["units"].items();
  Terms terms;
  add_words(terms, root, {"backend", "checkpoint", "output", "plan", "program"});
  add_setting(terms, root);
  std::vector<support::HtmlRow> rows;
  for (const Node& unit : units) {
    rows.push_back({{std::to_string(unit["unit"].count())},
                    {unit["what"].text(), "text"},
                    {unit["file"].text(), "code"},
                    {std::to_string(unit["bytes"].count()), "number"}});
  }
  return support::html_terms(terms) + support::html_details("Units", fmt::format("{}, {}", units.size(), bytes_text(total(units, "bytes"))),
                                                            support::html_table("units", {"unit", "what", "file", "bytes to read"}, rows),
                                                            rows.size() <= 24);
}

Outcome units_outcome(const Run& run) {
  constexpr std::array<std::string_view, 2> kOutcomes = {"written", "there already"};
  std::array<std::size_t, 2> counts{};
  const std::vector<Node> units = run.root()["units"].items();
  for (const Node& unit : units) ++counts.at(unit["outcome"].word_of("outcome", kOutcomes));
  const std::string counted = fmt::format("{} units written, {} there already, {}", counts[0], counts[1], bytes_text(total(units, "size")));
  return {units.empty() ? Standing::nothing : Standing::shown, counted};
}

std::string units_html(const Run& run) {
  const Node root = run.root();
  std::vector<support::HtmlRow> rows;
  for (const Node& unit : root["units"].items()) {
    const bool written = unit["outcome"].text() == "written";
    rows.push_back({{std::to_string(unit["unit"].count())},
                    {unit["outcome"].text(), written ? "possible" : "refused"},
                    {unit["file"].text(), "code"},
                    number(unit["size"]),
                    {unit["digest"].text(), "code"}});
  }
  const std::size_t count = rows.size();
  Terms terms;
  add_words(terms, root, {"plan"});
  return support::html_terms(terms) + support::html_details("Units", std::to_string(count),
                                                            support::html_table("units", {"unit", "", "file", "bytes", "digest"}, rows), count <= 24);
}

}  // namespace mx::verbs
