#include "golden/vectors/scoreboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/describe.hpp"
#include "model/error.hpp"

namespace mx::golden {
namespace {

constexpr std::array<std::string_view, 5> kKinds{"value", "NaN", "sign of zero", "flags", "x or z"};

bool any_bit(Lanes lanes) {
  return std::ranges::any_of(lanes, [](std::uint32_t lane) { return lane != 0; });
}

}  // namespace

std::string_view name_of(ScoreKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::vector<std::string> ScoreReport::text() const {
  std::vector<std::string> lines;
  for (const Scored& one : first) {
    lines.push_back(fmt::format("{}: {}", one.place, name_of(one.kind)));
    for (const std::string& line : one.text) lines.push_back("  " + line);
  }
  if (wrong > first.size()) lines.push_back(fmt::format("... and {} mismatches more", wrong - first.size()));
  for (const auto& [kind, count] : kinds) lines.push_back(fmt::format("{} of {} wrong answers: {}", count, wrong, kind));
  const bool any_explained = std::ranges::any_of(kinds, [](const auto& kind) { return kind.first != name_of(ScoreKind::unresolved); });
  if (any_explained) {
    for (std::string& line : describe(explanations, compositions)) lines.push_back(std::move(line));
  }
  lines.push_back(verdict_text(verdict, checked, expected, wrong, why_mistrusted));
  return lines;
}

Scoreboard::Scoreboard(std::unique_ptr<VectorOp> op, std::size_t show, std::uint32_t flag_mask)
    : op_(std::move(op)),
      show_(show),
      operand_lanes_(lane_count(op_->operands())),
      result_lanes_(lane_count(op_->results())),
      flag_mask_(flag_mask),
      right_(result_lanes_),
      mask_(result_lanes_),
      kinds_(kKinds.size()),
      evidence_(*op_) {}

void Scoreboard::require_lanes(Lanes lanes, const std::vector<Column>& columns, std::string_view whose) const {
  const std::size_t wanted = lane_count(columns);
  if (lanes.size() != wanted) throw Error(ErrorCode::usage, fmt::format("{} numbers, {} has {}", lanes.size(), whose, wanted), op_->name());
  std::size_t at = 0;
  for (const Column& column : columns) {
    for (int i = 0; i < column.lanes; ++i, ++at) {
      if (column.bits < 32 && lanes[at] >> column.bits != 0)
        throw Error(ErrorCode::usage, fmt::format("{} 0x{:x} does not fit {} bits", column.name, lanes[at], column.bits), op_->name());
    }
  }
}

/// What is about numbers comes before what is about their signs and flags.
ScoreKind Scoreboard::kind_of(Lanes right, Lanes answer, Lanes mask) const {
  ScoreKind kind = ScoreKind::flags;
  std::size_t at = 0;
  for (const Column& column : op_->results()) {
    for (int i = 0; i < column.lanes; ++i, ++at) {
      if (column.flags || ((right[at] ^ answer[at]) & mask[at]) == 0) continue;
      ScoreKind of_lane = ScoreKind::value;
      if (column.format != nullptr) {
        const Value wanted = decode(*column.format, right[at]), got = decode(*column.format, answer[at]);
        if (wanted.cls == ValueClass::nan || got.cls == ValueClass::nan) of_lane = ScoreKind::nan;
        if (wanted.cls == ValueClass::zero && got.cls == ValueClass::zero) of_lane = ScoreKind::sign_of_zero;
      }
      kind = std::min(kind, of_lane);
    }
  }
  return kind;
}

void Scoreboard::note(ScoreKind kind, std::string_view place, const Mismatch& mismatch) {
  ++wrong_;
  // The first of each kind is kept beside the first of all.
  if (++kinds_[static_cast<std::size_t>(kind)] > 1 && first_.size() >= show_) return;
  const std::string where = place.empty() ? fmt::format("answer {}", checked_) : std::string(place);
  std::vector<std::string> text = mismatch.right.empty() ? std::vector<std::string>{"an operand has a bit that is x or z"} : describe(*op_, mismatch);
  first_.push_back({where, kind, std::move(text)});
}

std::optional<ScoreKind> Scoreboard::check(Lanes operands, Lanes answer, Lanes unknown, std::string_view place) {
  require_lanes(operands, op_->operands(), "the operands' column");
  require_lanes(answer, op_->results(), "the answer's column");
  if (!unknown.empty() && unknown.size() != operand_lanes_ + result_lanes_)
    throw Error(ErrorCode::usage, fmt::format("{} masks of unknown bits for {} numbers", unknown.size(), operand_lanes_ + result_lanes_),
                op_->name());
  if (!unknown.empty() && any_bit(unknown.first(operand_lanes_))) {
    ++checked_;
    note(ScoreKind::unresolved, place, {});
    return ScoreKind::unresolved;
  }
  op_->evaluate(operands, right_);
  op_->mask(operands, right_, mask_);
  std::size_t at = 0;
  for (const Column& column : op_->results()) {
    for (int i = 0; i < column.lanes; ++i, ++at) mask_[at] &= column.flags ? flag_mask_ : ~0U;
  }
  ++checked_;
  if (first_right_.empty()) first_right_ = right_;
  for (std::size_t i = 0; i < result_lanes_; ++i) answers_vary_ = answers_vary_ || ((first_right_[i] ^ right_[i]) & mask_[i]) != 0;
  Mismatch mismatch{checked_, {operands.begin(), operands.end()}, right_, {answer.begin(), answer.end()}, {}};
  for (std::size_t i = 0; i < result_lanes_ && !unknown.empty(); ++i) mismatch.unknown.push_back(unknown[operand_lanes_ + i] & mask_[i]);
  if (any_bit(mismatch.unknown)) {
    note(ScoreKind::unresolved, place, mismatch);
    return ScoreKind::unresolved;
  }
  bool is_match = true;
  for (std::size_t i = 0; i < result_lanes_; ++i) is_match = is_match && ((answer[i] ^ right_[i]) & mask_[i]) == 0;
  evidence_.add(operands, right_, mask_, answer, is_match);
  if (is_match) return std::nullopt;
  const ScoreKind kind = kind_of(right_, answer, mask_);
  note(kind, place, mismatch);
  return kind;
}

ScoreReport Scoreboard::report(std::optional<std::uint64_t> expected) const {
  ScoreReport report{};
  report.checked = checked_;
  report.expected = expected.value_or(checked_);
  report.wrong = wrong_;
  report.first = first_;
  if (checked_ == 0)
    report.why_mistrusted = "no vector came";
  else if (checked_ != report.expected)
    report.why_mistrusted = fmt::format("{} of {} vectors came", checked_, report.expected);
  else if (!answers_vary_)
    report.why_mistrusted = "every right answer is the same: a device that says nothing else would pass";
  report.verdict = wrong_ > 0 ? CheckVerdict::failed : report.why_mistrusted.empty() ? CheckVerdict::passed : CheckVerdict::mistrusted;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] > 0) report.kinds.emplace_back(kKinds[i], kinds_[i]);
  }
  std::ranges::stable_sort(report.kinds, [](const auto& a, const auto& b) { return a.second > b.second; });
  report.explanations = evidence_.explanations();
  report.compositions = evidence_.compositions();
  return report;
}

}  // namespace mx::golden
