#include "golden/vectors/describe.hpp"

#include <fmt/format.h>

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

void describe_column(const Column& column, Lanes right, Lanes answer, std::vector<std::string>& lines) {
  constexpr int kMostLanes = 4;
  int shown = 0;
  int wrong = 0;
  for (int i = 0; i < column.lanes; ++i) {
    const auto lane = static_cast<std::size_t>(i);
    if (right[lane] == answer[lane]) continue;
    ++wrong;
    if (shown++ >= kMostLanes) continue;
    const std::string name = column.lanes == 1 ? column.name : fmt::format("{}[{}]", column.name, i);
    lines.push_back(fmt::format("{}: device {}", name, lane_text(answer[lane], column)));
    std::string expected = fmt::format("{}: right  {}", name, lane_text(right[lane], column));
    if (column.format != nullptr && !neighbours(right[lane], *column.format).empty())
      expected += "; neighbours " + neighbours(right[lane], *column.format);
    lines.push_back(expected);
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
  Lanes right = mismatch.right;
  Lanes answer = mismatch.answer;
  for (const Column& column : op.results()) {
    const auto count = static_cast<std::size_t>(column.lanes);
    describe_column(column, right.first(count), answer.first(count), lines);
    right = right.subspan(count);
    answer = answer.subspan(count);
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

}  // namespace mx::golden
