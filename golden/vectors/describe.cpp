#include "golden/vectors/describe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "golden/vectors/distance.hpp"
#include "golden/vectors/text.hpp"
#include "golden/vectors/words.hpp"

namespace mx::golden {
namespace {

/// "0x37 = 0.9375 and 0x39 = 1.125": the codes next to a number's, where there are some.
std::string neighbours(std::uint32_t code, const Format& format) {
  const std::uint32_t sign = format.has_sign && format.encoding == Encoding::floating ? 1U << (format.width - 1) : 0U;
  const std::uint32_t magnitude = code & ~sign;
  if (format.encoding == Encoding::fixed_point || is_nan_code(format, code) || is_inf_code(format, code)) return {};
  std::string text;
  const auto add = [&](std::uint32_t other) {
    text += fmt::format("{}0x{:0{}x} = {}", text.empty() ? "" : " and ", other, (format.width + 3) / 4, value_text(other, format));
  };
  if (magnitude > 0) add(code - 1U);
  if (magnitude < max_finite_code(format)) add(code + 1U);
  return text;
}

/// "0b0x11: a bit that is x or z"
std::string unknown_text(std::uint32_t lane, std::uint32_t unknown, const Column& column) {
  std::string text = "0b";
  for (int bit = column.bits - 1; bit >= 0; --bit) text += ((unknown >> bit) & 1U) != 0 ? 'x' : ((lane >> bit) & 1U) != 0 ? '1' : '0';
  return text + ": a bit that is x or z";
}

/// "exact 0.3; the device is 0.4 ulp off, the right answer 0.1 ulp"
std::string against_exact(const Value& exact, std::uint32_t right, std::uint32_t answer, const Format& format) {
  const auto device = distance_text(answer, exact, format), rounded = distance_text(right, exact, format);
  std::string text = "exact " + exact_text(exact);
  if (device) text += fmt::format("; the device is {} off", *device);
  if (rounded) text += fmt::format("{}the right answer {}{}", device ? ", " : "; ", *rounded, device ? "" : " off");
  return text;
}

/// A column of the answer, whose first lane is that one of all.
void describe_column(const VectorOp& op, const Mismatch& mismatch, const Column& column, std::size_t first, std::vector<std::string>& lines) {
  const Lanes right = Lanes(mismatch.right).subspan(first, static_cast<std::size_t>(column.lanes));
  const Lanes answer = Lanes(mismatch.answer).subspan(first, right.size());
  const Lanes unknown = mismatch.unknown.empty() ? Lanes() : Lanes(mismatch.unknown).subspan(first, right.size());
  constexpr int kMostLanes = 4;
  int shown = 0;
  int wrong = 0;
  for (int i = 0; i < column.lanes; ++i) {
    const auto lane = static_cast<std::size_t>(i);
    const bool is_unknown = !unknown.empty() && unknown[lane] != 0;
    if (right[lane] == answer[lane] && !is_unknown) continue;
    ++wrong;
    if (shown++ >= kMostLanes) continue;
    const std::string name = column.lanes == 1 ? column.name : fmt::format("{}[{}]", column.name, i);
    lines.push_back(
        fmt::format("{}: device {}", name, is_unknown ? unknown_text(answer[lane], unknown[lane], column) : lane_text(answer[lane], column)));
    std::string expected = fmt::format("{}: right  {}", name, lane_text(right[lane], column));
    if (column.format != nullptr && !neighbours(right[lane], *column.format).empty())
      expected += "; neighbours " + neighbours(right[lane], *column.format);
    lines.push_back(expected);
    if (column.format == nullptr || is_unknown) continue;
    if (const auto exact = op.exact(mismatch.operands, mismatch.right, first + lane))
      lines.push_back(fmt::format("{}: {}", name, against_exact(*exact, right[lane], answer[lane], *column.format)));
  }
  if (wrong > kMostLanes) lines.push_back(fmt::format("{}: {} of {} lanes differ", column.name, wrong, column.lanes));
}

}  // namespace

std::vector<std::string> describe(const VectorOp& op, const Mismatch& mismatch) {
  std::vector<std::string> lines;
  Lanes operands = mismatch.operands;
  for (const Column& column : op.operands()) {
    const Lanes lanes = operands.first(static_cast<std::size_t>(column.lanes));
    if (column.lanes == 1) {
      lines.push_back(fmt::format("{} = {}", column.name, lane_text(lanes[0], column)));
    } else {
      std::string text;
      append_fields(text, std::span(&column, 1), lanes, ' ');
      lines.push_back(fmt::format("{} = {}", column.name, text));
    }
    operands = operands.subspan(lanes.size());
  }
  std::size_t first = 0;
  for (const Column& column : op.results()) {
    describe_column(op, mismatch, column, first, lines);
    first += static_cast<std::size_t>(column.lanes);
  }
  return lines;
}

std::string describe(const Explanation& e) {
  // A long stream's answers are kept in part.
  const auto sample = [](std::uint64_t stride) { return stride == 1 ? std::string() : fmt::format(" tried, one in {}", stride); };
  const std::string rights = e.matches == 0
                                 ? "no right one to tell"
                                 : fmt::format("{} of {} right ones{}", e.contradicted == 0 ? "all" : fmt::format("{}", e.matches - e.contradicted),
                                               e.matches, sample(e.right_stride));
  return fmt::format("{}{}: {} {}: {} of {} wrong answers{}, and {}", e.beside.empty() ? "" : "what that leaves over: ", name_of(e.cls),
                     name_of(e.fit()), e.name, e.explained, e.mismatches, sample(e.wrong_stride), rights);
}

std::string describe(const FittingComposition& one) {
  const auto sample = [](std::uint64_t stride) { return stride == 1 ? std::string() : fmt::format(" tried, one in {}", stride); };
  const std::string rights = one.matches == 0 ? "no right one to tell" : fmt::format("all of {} right ones{}", one.matches, sample(one.right_stride));
  return fmt::format("rules that give all of {} wrong answers{}, and {}: {}", one.mismatches, sample(one.wrong_stride), rights, one.name);
}

std::vector<std::string> describe(const std::vector<Explanation>& explanations, const std::vector<FittingComposition>& compositions) {
  std::vector<std::string> lines;
  if (explanations.empty() && compositions.empty()) return {"no rule that is known here gives any of the wrong answers"};
  // The best comes first: where it is one in part, all are; where it explains everything, one that does not is not it.
  if (!explanations.empty()) {
    constexpr std::size_t kMost = 5;
    const Explanation& best = explanations.front();
    if (best.fit() == Fit::in_part && compositions.empty())
      lines.emplace_back("no rule that is known here gives half of the wrong answers and is borne out by the right ones");
    for (std::size_t i = 0; i < std::min(kMost, explanations.size()); ++i) {
      const Explanation& one = explanations[i];
      if (best.is_whole() && (!one.is_whole() || !one.beside.empty())) break;
      lines.push_back(describe(one));
    }
  }
  for (const FittingComposition& one : compositions) lines.push_back(describe(one));
  return lines;
}

std::string verdict_text(CheckVerdict verdict, std::uint64_t checked, std::uint64_t expected, std::uint64_t wrong,
                         const std::string& why_mistrusted) {
  return fmt::format("{}: {} of {} vectors checked, {} wrong{}{}", name_of(verdict), checked, expected, wrong, why_mistrusted.empty() ? "" : "; ",
                     why_mistrusted);
}

}  // namespace mx::golden
