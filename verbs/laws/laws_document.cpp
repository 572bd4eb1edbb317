#include "verbs/laws/laws_document.hpp"

#include <string>

namespace mx::verbs {
namespace {

constexpr int kFailed = 1;
constexpr int kMistrusted = 5;

}  // namespace

Document laws_document(const Json& run) {
  Document document{"laws"};
  document.value("subject", run.at("subject"));
  document.field("law", "law", run.at("held"));
  document.field("command", "command", run.at("command"));
  document.field("seed", "seed", run.at("seed"));
  document.field("compared", "compared", run.at("compared"));
  document.value("answers", run.at("answers"));
  document.value("failure", run.at("failure"));
  document.value("replay", run.at("replay"));
  const std::string failure = run.at("failure").text();
  const bool answered = run.at("answers").get<std::int64_t>() > 0;
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
