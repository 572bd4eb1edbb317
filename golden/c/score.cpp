// The C functions of a scoreboard: words to choices, lanes one by one, the report as one text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "golden/c/mxact_score.h"
#include "golden/c/sentence.hpp"
#include "golden/vectors/families.hpp"
#include "golden/vectors/scoreboard.hpp"

struct mxact_score {
  mx::golden::Scoreboard board;
  std::size_t operands, lanes;
  std::vector<std::uint32_t> words, unknown;
  std::string text;
};

namespace {

using mx::Error;
using mx::ErrorCode;
using mx::golden::c_api::with_sentence;

static_assert(MXACT_SCORE_VALUE == 1 + static_cast<int>(mx::golden::ScoreKind::value) &&
              MXACT_SCORE_UNRESOLVED == 1 + static_cast<int>(mx::golden::ScoreKind::unresolved));

constexpr std::size_t kShow = 20;

std::vector<mx::golden::OpSetting> settings_of(std::string_view text) {
  std::vector<mx::golden::OpSetting> settings;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) throw Error(ErrorCode::usage, "'" + std::string(word) + "' is no key=value", "options");
    const std::string key(word.substr(0, equals));
    if (std::ranges::any_of(settings, [&](const mx::golden::OpSetting& one) { return one.key == key; }))
      throw Error(ErrorCode::usage, key + " is given twice", "options");
    settings.push_back({key, std::string(word.substr(equals + 1))});
  }
  return settings;
}

mxact_score& the(mxact_score* score) {
  if (score == nullptr) throw Error(ErrorCode::usage, "no scoreboard", "score");
  return *score;
}

void require_room(const void* result) {
  if (result == nullptr) throw Error(ErrorCode::usage, "a null pointer", "score");
}

}  // namespace

extern "C" {

const char* mxact_score_error(void) { return mx::golden::c_api::sentence.c_str(); }

std::int32_t mxact_score_open(const char* operation, const char* options, mxact_score** opened) {
  return with_sentence([&] {
    require_room(operation);
    require_room(opened);
    std::unique_ptr<mx::golden::VectorOp> op = mx::golden::op_named(operation, mx::golden::OpOptions(settings_of(options == nullptr ? "" : options)));
    const std::size_t operands = lane_count(op->operands()), results = lane_count(op->results());
    *opened = std::make_unique<mxact_score>(mxact_score{{std::move(op), kShow}, operands, operands + results, {}, {}, {}}).release();
  });
}

void mxact_score_close(mxact_score* score) { delete score; }

std::int32_t mxact_score_put(mxact_score* score, std::uint32_t lane, std::uint32_t unknown) {
  return with_sentence([&] {
    mxact_score& into = the(score);
    if (into.words.size() == into.lanes)
      throw Error(ErrorCode::usage, "a lane more than the " + std::to_string(into.lanes) + " of the operation", into.board.op().name());
    into.words.push_back(lane & ~unknown);
    into.unknown.push_back(unknown);
  });
}

std::int32_t mxact_score_check(mxact_score* score, const char* place, std::int32_t* kind) {
  return with_sentence([&] {
    require_room(kind);
    mxact_score& of = the(score);
    const std::vector<std::uint32_t> words = std::exchange(of.words, {}), unknown = std::exchange(of.unknown, {});
    if (words.size() != of.lanes)
      throw Error(ErrorCode::usage, std::to_string(words.size()) + " lanes of the " + std::to_string(of.lanes) + " of the operation",
                  of.board.op().name());
    const mx::golden::Lanes all(words);
    const auto found = of.board.check(all.first(of.operands), all.subspan(of.operands), unknown, place == nullptr ? "" : place);
    *kind = found ? 1 + static_cast<std::int32_t>(*found) : MXACT_SCORE_RIGHT;
  });
}

std::int32_t mxact_score_report(mxact_score* score, std::uint64_t expected, std::int32_t* verdict, const char** text) {
  return with_sentence([&] {
    require_room(verdict);
    require_room(text);
    mxact_score& of = the(score);
    const mx::golden::ScoreReport report = of.board.report(expected == 0 ? std::nullopt : std::optional(expected));
    of.text.clear();
    for (const std::string& line : report.text()) of.text += line + "\n";
    *verdict = report.verdict == mx::golden::CheckVerdict::passed   ? MXACT_SCORE_PASSED
               : report.verdict == mx::golden::CheckVerdict::failed ? MXACT_SCORE_FAILED
                                                                    : MXACT_SCORE_MISTRUSTED;
    *text = of.text.c_str();
  });
}

}  // extern "C"
