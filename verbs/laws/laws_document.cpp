#include "verbs/laws/laws_document.hpp"

#include <fmt/core.h>

#include <string>

namespace mx::verbs {
namespace {

constexpr int kFailed = 1;
constexpr int kMistrusted = 5;

/// Kernels of one list, by name: of the wrong ones those that pass on some data, of the right ones those that fail on some.
Table judged(const Json& power, const char* list, const char* named, const char* head, const char* place) {
  Table table{"", {in_text(head), in_text("what"), in_text("error"), in_text("on")}};
  for (const Json& kernel : power.at(list)) {
    bool is_named = false;
    for (const Json& name : power.at(named)) is_named = is_named || name.text() == kernel.at("name").text();
    if (!is_named) continue;
    const Json& error = kernel.at("error");
    table.add({kernel.at("name"),
               kernel.at("what"),
               {error, error.is_null() ? "no number" : fmt::format("{:.3g}", error.get<double>())},
               kernel.at(place)});
  }
  return table;
}

/// What a comparison lets through, and what it fails.
void show_power(Document& document, const Json& power) {
  document.value("power", power);
  const auto count = [&](const char* list) { return power.at(list).size(); };
  document.line(fmt::format("{}: {} of {} wrong kernels are caught, {} of {} right ones pass; errors {}", power.at("layer").text(),
                            count("wrong") - count("passing"), count("wrong"), count("right") - count("failing"), count("right"),
                            power.at("unit").text()));
  if (count("passing") > 0) document.table(judged(power, "wrong", "passing", "wrong, and passes", "smallest"));
  if (count("failing") > 0) document.table(judged(power, "right", "failing", "right, and fails", "data"));
  for (const Json& data : power.at("refuses")) {
    document.line("the comparison fails the right answer itself on " + data.text() + " data: nothing is judged there");
  }
  document.line(power.at("why").text());
}

}  // namespace

Document laws_document(const Json& run) {
  Document document{"laws"};
  document.value("subject", run.at("subject"));
  document.field("law", "law", run.at("held"));
  document.field("command", "command", run.at("command"));
  document.field("seed", "seed", run.at("seed"));
  document.field("compared", "compared", run.at("compared"));
  document.value("answers", run.at("answers"));
  if (run.contains("power")) show_power(document, run.at("power"));
  document.value("failure", run.at("failure"));
  document.value("replay", run.at("replay"));
  const std::string failure = run.at("failure").text();
  // An answer that is none is wrong; nothing at all is no answer.
  const Json* const heard = run.find("heard");
  const bool answered = heard != nullptr ? heard->flag() : run.at("answers").get<std::int64_t>() > 0;
  document.ended(failure.empty() ? 0 : answered ? kFailed : kMistrusted);
  const std::string why = answered ? failure : "it answered nothing\n" + failure;
  const std::string replay = run.at("replay").text();
  document.cases.push_back({.group = "mxact.laws." + run.at("subject").text(),
                            .name = run.at("held").text(),
                            .end = failure.empty() ? support::CheckEnd::passed
                                   : answered      ? support::CheckEnd::failed
                                                   : support::CheckEnd::mistrusted,
                            .message = failure.empty() ? "" : why.substr(0, why.find('\n')),
                            .replay = replay});
  if (!failure.empty()) {
    document.line();
    document.line(why);
    document.line("replay: " + replay);
  }
  document.line(document.verdict);
  return document;
}

}  // namespace mx::verbs
