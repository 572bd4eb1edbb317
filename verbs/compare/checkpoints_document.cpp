#include "verbs/compare/checkpoints_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "support/quote.hpp"

namespace mx::verbs {
namespace {

/// Rows of the text; JSON has all of them.
constexpr std::size_t kShown = 20;

/// A number with all its digits; what is no number is a word.
Cell number_of(double value) {
  if (std::isfinite(value)) return {value, fmt::format("{}", value)};
  const std::string word = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return {word, word};
}

Table differences_of(const checkpoint::CheckpointComparison& result, std::size_t rows) {
  Table table{"differences",
              {{"tensor", "tensor"},
               in_json("layer"),
               {"differing", "differ"},
               {"values", "of"},
               {"ratio", "largest ratio"},
               {"first", "first"},
               {"a", "there"},
               {"b", "and"},
               {"cause", "what explains it"}}};
  for (std::size_t i = 0; i < std::min(rows, result.differences.size()); ++i) {
    const checkpoint::TensorDifference& one = result.differences[i];
    table.add({one.name,
               one.layer,
               one.differing,
               one.values,
               number_of(one.ratio),
               {Json(one.first), fmt::format("[{}]", fmt::join(one.first, ", "))},
               number_of(one.a),
               number_of(one.b),
               one.cause});
  }
  return table;
}

support::JunitCase case_of(const checkpoint::TensorDifference& one, const std::string& replay, const std::string& file) {
  return {"mxact.compare",
          one.name,
          support::CheckEnd::failed,
          fmt::format("{} of {} values differ, by a factor of at most {}{}{}", one.differing, one.values, one.ratio, one.cause.empty() ? "" : ": ",
                      one.cause),
          fmt::format("[{}]: {} and {}", fmt::join(one.first, ", "), one.a, one.b),
          replay,
          file};
}

}  // namespace

Document checkpoints_document(const checkpoint::CheckpointComparison& result, const std::string& first, const std::string& second, bool lossless) {
  Document document{"compare-checkpoints"};
  document.field("first", "first", {{"path", first}, {"form", result.first_form}}, fmt::format("{} ({})", first, result.first_form));
  document.field("second", "second", {{"path", second}, {"form", result.second_form}}, fmt::format("{} ({})", second, result.second_form));
  document.field("tensors", "tensors", {{"compared", result.tensors}, {"equal", result.equal}, {"values", result.values}},
                 fmt::format("{} of {} equal, {} values compared", result.equal, result.tensors, result.values));
  document.value("differences", differences_of(result, result.differences.size()).json());
  if (!result.differences.empty()) {
    document.line();
    document.table(text_alone(differences_of(result, kShown)));
    if (result.differences.size() > kShown) document.line(fmt::format("and {} tensors more; --json has all", result.differences.size() - kShown));
  }
  const std::string replay =
      fmt::format("mxact compare {} {}{}", support::shell_word(first), support::shell_word(second), lossless ? " --proves-lossless" : "");
  Table omitted{"omitted", {in_json("name"), in_json("why"), in_json("differs")}};
  std::size_t shown = 0;
  for (const checkpoint::TensorOmitted& one : result.omitted) {
    omitted.add({one.name, one.why, one.differs});
    if (one.differs && shown++ < kShown) document.line(fmt::format("not compared: {}: {}", support::printable(one.name), one.why));
    if (one.differs) document.cases.push_back({"mxact.compare", one.name, support::CheckEnd::failed, one.why, {}, replay, second});
  }
  if (shown > kShown) document.line(fmt::format("and {} more; --json has all", shown - kShown));
  document.value("omitted", omitted.json());
  for (const checkpoint::TensorDifference& one : result.differences) document.cases.push_back(case_of(one, replay, second));
  if (result.equal > 0)
    document.cases.push_back({"mxact.compare", fmt::format("{} tensors", result.equal), support::CheckEnd::passed, {}, {}, {}, second});
  constexpr int kNothing = 5;
  if (lossless && result.values > 0) {
    document.value("lossless", result.same());
    document.line(result.same() ? "lossless: every number is the first's" : "not lossless");
  }
  if (result.values == 0) document.note("nothing was compared");
  document.ended(result.values == 0 ? kNothing : result.same() ? 0 : 1);
  return document;
}

}  // namespace mx::verbs
