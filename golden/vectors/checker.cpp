#include "golden/vectors/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "golden/vectors/text.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "support/quote.hpp"

namespace mx::golden {
namespace {

using fault::Fault;
using fault::planted;

/// What simulators say on stdout between their programs' lines.
struct Chatter {
  std::string_view part;
  bool at_start;
  std::string_view who;
};
constexpr std::array kChatter{
    Chatter{"- ", true, "Verilator: - FILE:LINE: Verilog $finish"},
    Chatter{": $finish called at ", false, "Icarus: FILE:LINE: $finish called at TIME"},
    Chatter{"VCD info: ", true, "Icarus: dump files"},
    Chatter{"%Warning", true, "Verilator: warnings at run time"},
    Chatter{"WARNING: ", true, "Icarus: warnings at run time"},
};

bool is_chatter(std::string_view line) {
  return std::ranges::any_of(
      kChatter, [&](const Chatter& row) { return row.at_start ? line.starts_with(row.part) : line.find(row.part) != std::string_view::npos; });
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  return line;
}

std::uint64_t hash_of(Lanes lanes) {
  std::uint64_t hash = 0x9E3779B97F4A7C15U;
  if (planted(Fault::checker_hashes_first_lane)) lanes = lanes.first(1);
  for (std::uint32_t lane : lanes) {
    hash = (hash ^ lane) * 0xBF58476D1CE4E5B9U;
    hash ^= hash >> 29U;
  }
  return hash * 0x94D049BB133111EBU;
}

std::vector<Column> joined(std::vector<Column> first, const std::vector<Column>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// As the header has them, or with ", " between them for people.
std::string columns_text(const std::vector<Column>& columns, std::string_view separator = " ") {
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : std::string(separator)) + column_text(column);
  return text;
}

std::string hex_text(const std::vector<Column>& columns, Lanes lanes) {
  std::string text;
  append_fields(text, columns, lanes, ' ');
  return text;
}

std::vector<Column> answer_columns(const VectorOp& op) {
  std::vector<Column> columns = op.results();
  for (Column& column : columns) column.name = "the device's " + column.name;
  return columns;
}

std::string field_rule(FieldFault fault, const Column& column) {
  switch (fault) {
    case FieldFault::not_hex: return fmt::format("is no hex number of {} digit{}", column.digits(), column.digits() == 1 ? "" : "s");
    case FieldFault::undriven: return "has digits x or z: the signal has no value";
    case FieldFault::too_long:
      return fmt::format("has more than the {} digit{} of {} bits", column.digits(), column.digits() == 1 ? "" : "s", column.width());
    case FieldFault::too_large: return fmt::format("does not fit {} bits", column.width());
    case FieldFault::none: break;
  }
  return {};
}

}  // namespace

std::string_view name_of(CheckVerdict verdict) {
  constexpr std::array<std::string_view, 3> kNames{"PASSED", "FAILED", "MISTRUSTED"};
  return kNames[static_cast<std::size_t>(verdict)];
}

StreamChecker::StreamChecker(const VectorOp& op, VectorSet set, std::size_t show, bool with_expected)
    : op_(&op),
      set_(std::move(set)),
      facts_(header_facts(op, set_)),
      operands_and_answer_(joined(op.operands(), answer_columns(op))),
      file_and_answer_(joined(file_columns(op), answer_columns(op))),
      with_expected_(with_expected),
      show_(show),
      met_(op),
      wrong_(op),
      evidence_(op) {
  const auto longest = [](const std::vector<Column>& all) {
    return std::accumulate(all.begin(), all.end(), std::size_t{0},
                           [](std::size_t sum, const Column& c) { return sum + static_cast<std::size_t>(c.digits()) + 16; });
  };
  longest_line_ = 4096 + 2 * longest(file_and_answer_);
  const std::size_t results = lane_count(op.results());
  wanted_.resize(lane_count(op.operands()));
  for (auto* lanes : {&right_, &mask_, &answer_}) lanes->resize(results);
  bins_.resize(op.axes().size());
  for (const CoverageAxis& axis : op.axes()) first_wrong_.emplace_back(axis.bins.size(), 0);
  report_.expected = set_.count();
}

void StreamChecker::refuse(const std::string& what) const { throw Error(ErrorCode::input, fmt::format("line {}: {}", line_, what), "device stream"); }

void StreamChecker::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      rest_ += bytes;
      if (rest_.size() > longest_line_) {
        ++line_;
        refuse(fmt::format("longer than {} bytes", longest_line_));
      }
      return;
    }
    if (rest_.empty()) {
      take_line(bytes.substr(0, end), false);
    } else {
      rest_ += bytes.substr(0, end);
      take_line(rest_, false);
      rest_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

void StreamChecker::take_line(std::string_view line, bool is_cut_off) {
  ++line_;
  line = trimmed(line);
  if (line.empty() || is_chatter(line)) return;
  if (line.starts_with("//")) return take_comment(line.substr(2));
  take_vector(line, is_cut_off);
}

void StreamChecker::take_comment(std::string_view line) {
  line = trimmed(line);
  constexpr std::string_view kColumns = "cols:";
  constexpr std::string_view kHead = "mxact-vectors ";
  if (line.starts_with(kColumns)) return take_columns(trimmed(line.substr(kColumns.size())));
  if (!line.starts_with(kHead)) return;
  line = trimmed(line.substr(kHead.size()));
  const std::size_t end = std::min(line.find(' '), line.size());
  if (line.substr(0, end) != header_version(op_->edition()) && !planted(Fault::checker_ignores_version))
    refuse(fmt::format("vectors of version {}, this check is of {}", support::in_quotes(line.substr(0, end)), header_version(op_->edition())));
  take_facts(trimmed(line.substr(end)));
}

void StreamChecker::take_columns(std::string_view words) {
  const bool with_expected = words == columns_text(file_columns(*op_));
  if (!with_expected && words != columns_text(op_->operands())) {
    refuse(fmt::format("the stream has columns {}, this check is of {}", support::in_quotes(words), columns_text(op_->operands())));
  }
  if (with_expected != with_expected_ && report_.checked > 0) refuse("the columns change in mid-stream");
  with_expected_ = with_expected;
}

void StreamChecker::take_facts(std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    const std::size_t equals = std::min(word.find('='), word.size());
    const auto fact = std::ranges::find(facts_, word.substr(0, equals), &OpSetting::key);
    if (fact == facts_.end()) refuse(fmt::format("unknown fact {}", support::in_quotes(word)));
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    if (value != fact->value && !planted(Fault::checker_ignores_facts))
      refuse(fmt::format("the stream has {}={}, this check is of {}={}", fact->key, support::printable(value), fact->key, fact->value));
    words = trimmed(words.substr(end));
  }
}

void StreamChecker::parse(std::string_view line, bool is_cut_off, std::vector<std::uint32_t>& lanes) {
  const std::vector<Column>& all = columns();
  fields_.resize(all.size());
  const std::size_t count = split_fields(line, fields_);
  // What is no row of hex at all is better shown than counted.
  const auto is_no_hex = [](char c) { return std::string_view("0123456789abcdefABCDEFxXzZ_ \t").find(c) == std::string_view::npos; };
  const auto no_vector = [&] { return fmt::format("{} is no vector: expected {}", support::in_quotes(line), columns_text(all, ", ")); };
  if (count != all.size()) {
    // Left to the caller, who takes lines without lanes for chatter.
    if (planted(Fault::checker_passes_over_lines)) return lanes.clear();
    if (std::ranges::any_of(line, is_no_hex)) refuse(no_vector());
    refuse(fmt::format("{} field{}, expected {}: {}{}", count, count == 1 ? "" : "s", all.size(), columns_text(all, ", "),
                       is_cut_off ? " (the stream ends here)" : ""));
  }
  lanes.resize(lane_count(all));
  MutableLanes rest(lanes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto width = static_cast<std::size_t>(all[i].lanes);
    const FieldFault fault = parse_field(fields_[i], all[i], rest.first(width));
    if (i == 0 && fault != FieldFault::none && std::ranges::any_of(fields_[0], is_no_hex)) refuse(no_vector());
    if (fault != FieldFault::none) refuse(fmt::format("{}: {} {}", all[i].name, support::in_quotes(fields_[i]), field_rule(fault, all[i])));
    rest = rest.subspan(width);
  }
  if (is_cut_off && !planted(Fault::checker_takes_cut_line) && fields_.back().size() < static_cast<std::size_t>(all.back().digits())) {
    refuse(fmt::format("the stream ends within a line: {} has {} of {} digits", all.back().name, fields_.back().size(), all.back().digits()));
  }
}

void StreamChecker::take_vector(std::string_view line, bool is_cut_off) {
  parse(line, is_cut_off, lanes_);
  if (planted(Fault::checker_passes_over_lines) && lanes_.empty()) return;
  if (report_.checked == report_.expected && !planted(Fault::checker_takes_extra))
    refuse(fmt::format("a vector more than the {} of the set{}{}", report_.expected, out_of_order_.empty() ? "" : ": ", out_of_order_));
  const Lanes operands = Lanes(lanes_).first(wanted_.size());
  try {
    op_->evaluate(operands, right_);
  } catch (const Error& error) {
    refuse(fmt::format("{} has no answer: {}", hex_text(op_->operands(), operands), error.what()));
  }
  op_->mask(operands, right_, mask_);
  std::copy(lanes_.end() - static_cast<std::ptrdiff_t>(answer_.size()), lanes_.end(), answer_.begin());
  if (with_expected_) check_own_columns();
  ++report_.checked;
  note_order();
  compare();
}

void StreamChecker::check_own_columns() {
  file_lanes(*op_, Lanes(lanes_).first(wanted_.size()), expected_file_);
  const Lanes given = Lanes(lanes_).first(expected_file_.size());
  if (std::ranges::equal(given, expected_file_) || planted(Fault::checker_trusts_columns)) return;
  refuse(fmt::format("the vector is not one of this check's: {}, expected {}", hex_text(file_columns(*op_), given),
                     hex_text(file_columns(*op_), expected_file_)));
}

void StreamChecker::note_order() {
  const Lanes operands = Lanes(lanes_).first(wanted_.size());
  set_.next(wanted_);
  wanted_sum_ += hash_of(wanted_);
  seen_sum_ += hash_of(operands);
  if (first_out_of_order_ || std::ranges::equal(operands, wanted_)) return;
  first_out_of_order_ = line_;
  out_of_order_ = fmt::format("{} at line {}, where the set has {}", hex_text(op_->operands(), operands), line_, hex_text(op_->operands(), wanted_));
}

void StreamChecker::compare() {
  const Lanes operands = Lanes(lanes_).first(wanted_.size());
  op_->bins(operands, right_, bins_);
  met_.add(bins_);
  if (report_.checked == 1) first_right_ = right_;
  for (std::size_t i = 0; i < right_.size(); ++i) answers_vary_ = answers_vary_ || ((first_right_[i] ^ right_[i]) & mask_[i]) != 0;
  bool is_match = true;
  const std::size_t compared = planted(Fault::checker_first_lane_alone) ? 1 : answer_.size();
  for (std::size_t i = 0; i < compared; ++i) {
    const std::uint32_t looked_at = planted(Fault::checker_ignores_mask) ? ~0U : mask_[i];
    is_match = is_match && ((answer_[i] ^ right_[i]) & looked_at) == 0;
  }
  evidence_.add(operands, right_, mask_, answer_, is_match);
  if (is_match) return;
  ++report_.mismatched;
  wrong_.add(bins_);
  for (std::size_t axis = 0; axis < bins_.size(); ++axis) {
    if (bins_[axis] != 0 && first_wrong_[axis][bins_[axis] - 1U] == 0) first_wrong_[axis][bins_[axis] - 1U] = line_;
  }
  const std::string_view kind = op_->kind(operands, right_);
  const auto row = std::ranges::find(report_.kinds, kind, &std::pair<std::string, std::uint64_t>::first);
  std::vector<Mismatch>& kept = row == report_.kinds.end() ? report_.first : more_;
  if (kept.size() < show_) kept.push_back({line_, {operands.begin(), operands.end()}, right_, answer_});
  if (row == report_.kinds.end()) {
    report_.kinds.emplace_back(kind, 1);
  } else {
    ++row->second;
  }
}

std::string StreamChecker::why_mistrusted() const {
  if (report_.checked == 0) return "no vector came";
  if (report_.checked < report_.expected && !planted(Fault::checker_passes_missing)) {
    return fmt::format("{} of {} vectors came{}{}", report_.checked, report_.expected, out_of_order_.empty() ? "" : ": ", out_of_order_);
  }
  if (planted(Fault::checker_wants_order) && first_out_of_order_) return "out of order: " + out_of_order_;
  if (wanted_sum_ != seen_sum_ && !planted(Fault::checker_passes_replaced)) return "the operands are not those of the set: " + out_of_order_;
  if (!answers_vary_ && !planted(Fault::checker_passes_constants))
    return "every right answer is the same: a device that says nothing else would pass";
  return {};
}

std::vector<BinCheck> StreamChecker::bin_checks(const Coverage& reachable) const {
  std::vector<BinCheck> checks;
  for (std::size_t axis = 0; axis < op_->axes().size(); ++axis) {
    const CoverageAxis& row = op_->axes()[axis];
    for (std::size_t bin = 0; bin < row.bins.size(); ++bin) {
      if (reachable.is_hit(axis, bin))
        checks.push_back({row.name, row.bins[bin], met_.hits(axis, bin), wrong_.hits(axis, bin), first_wrong_[axis][bin]});
    }
  }
  return checks;
}

CheckReport StreamChecker::finish() {
  if (!rest_.empty() && !planted(Fault::checker_drops_last_line)) take_line(std::exchange(rest_, {}), true);
  report_.why_mistrusted = why_mistrusted();
  if (planted(Fault::checker_forgets_mismatch) && !report_.why_mistrusted.empty()) report_.mismatched = 0;
  report_.verdict = report_.mismatched > 0 ? CheckVerdict::failed : !report_.why_mistrusted.empty() ? CheckVerdict::mistrusted : CheckVerdict::passed;
  if (report_.why_mistrusted.empty()) report_.reordered_from = first_out_of_order_;
  std::ranges::stable_sort(report_.kinds, [](const auto& a, const auto& b) { return a.second > b.second; });
  const std::size_t others = std::min(more_.size(), show_ - std::min(show_, report_.first.size()));
  report_.first.insert(report_.first.end(), more_.begin(), more_.begin() + static_cast<std::ptrdiff_t>(others));
  report_.explanations = evidence_.explanations();
  report_.compositions = evidence_.compositions();
  const Coverage reachable = directed_coverage(*op_);
  report_.coverage = coverage_report(*op_, met_, reachable);
  report_.bins = bin_checks(reachable);
  return std::move(report_);
}

}  // namespace mx::golden
