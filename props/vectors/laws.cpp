#include "props/vectors/laws.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "golden/vectors/checker.hpp"
#include "golden/vectors/families.hpp"
#include "golden/vectors/text.hpp"
#include "model/error.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using golden::CheckReport;
using golden::CheckVerdict;
using golden::VectorOp;

/// Operations with one operand and several, narrow and wide columns, one result and many lanes of them; NaNs free in one.
struct Subject {
  std::string_view name;
  std::vector<golden::OpSetting> options;
};
const std::vector<Subject>& subjects() {
  static const std::vector<Subject> kSubjects{{"bf16_to_e2m3", {}},
                                              {"e5m2_to_bf16", {{"nan", "free"}}},
                                              {"f32_to_e4m3fn", {{"nan", "free"}, {"flags", "yes"}}},
                                              {"product_e4m3fn_e2m1", {}},
                                              {"quantize_mxfp4", {{"from", "bf16"}}}};
  return kSubjects;
}

/// Thirty vectors of a random set, and the lines in which a right device answers them.
struct Stream {
  std::unique_ptr<VectorOp> op;
  golden::SetChoice choice;
  std::string head;
  std::vector<std::vector<std::uint32_t>> operands;
  std::vector<std::vector<std::uint32_t>> right;
  bool as_file = false;  ///< lines with the columns of a file before the answer
  std::vector<std::string> lines;
};

std::string line_of(const Stream& stream, const std::vector<std::uint32_t>& operands, const std::vector<std::uint32_t>& answer) {
  std::string line;
  if (stream.as_file) {
    std::vector<std::uint32_t> lanes;
    golden::file_lanes(*stream.op, operands, lanes);
    golden::append_fields(line, golden::file_columns(*stream.op), lanes, ' ');
  } else {
    golden::append_fields(line, stream.op->operands(), operands, ' ');
  }
  golden::append_fields(line, stream.op->results(), answer, ' ');
  return line + "\n";
}

Stream pick_stream(std::uint64_t count = 30) {
  const Subject& subject = subjects()[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(subjects().size()) - 1))];
  Stream stream;
  stream.op = golden::op_named(subject.name, golden::OpOptions(subject.options));
  stream.choice = {golden::SetKind::random, static_cast<std::uint64_t>(pick(1, 1000)), count};
  stream.as_file = pick(0, 1) == 1;
  golden::VectorSet set(*stream.op, stream.choice);
  stream.head = golden::header_text(*stream.op, set, stream.as_file ? golden::file_columns(*stream.op) : stream.op->operands());
  std::vector<std::uint32_t> operands(golden::lane_count(stream.op->operands()));
  std::vector<std::uint32_t> results(golden::lane_count(stream.op->results()));
  while (set.next(operands)) {
    stream.op->evaluate(operands, results);
    stream.operands.push_back(operands);
    stream.right.push_back(results);
    stream.lines.push_back(line_of(stream, operands, results));
  }
  RC_LOG() << subject.name << " seed " << stream.choice.seed << (stream.as_file ? " as a file" : "");
  return stream;
}

std::string text_of(const Stream& stream) {
  std::string text = stream.head;
  for (const std::string& line : stream.lines) text += line;
  return text;
}

CheckReport checked(const Stream& stream, const std::string& text) {
  golden::StreamChecker checker(*stream.op, golden::VectorSet(*stream.op, stream.choice), 5, stream.as_file);
  checker.take(text);
  return checker.finish();
}

bool is_refused(const Stream& stream, const std::string& text) {
  try {
    checked(stream, text);
  } catch (const Error& error) {
    return error.code() == ErrorCode::input;
  }
  return false;
}

std::size_t pick_line(const Stream& stream) { return static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(stream.lines.size()) - 1)); }

std::vector<std::uint32_t> mask_of(const Stream& stream, std::size_t line) {
  std::vector<std::uint32_t> mask(stream.right[line].size());
  stream.op->mask(stream.operands[line], stream.right[line], mask);
  return mask;
}

/// A bit of an answer.
struct Place {
  std::size_t line;
  std::size_t lane;
  int bit;
};

/// Any place; now and then one that nobody is to look at, of which most streams have none or few.
Place pick_place(const Stream& stream) {
  std::vector<int> bits;  // of each lane
  for (const golden::Column& column : stream.op->results()) bits.insert(bits.end(), static_cast<std::size_t>(column.lanes), column.bits);
  std::vector<Place> free;
  for (std::size_t line = 0; line < stream.lines.size(); ++line) {
    const std::vector<std::uint32_t> mask = mask_of(stream, line);
    for (std::size_t lane = 0; lane < mask.size(); ++lane) {
      for (int bit = 0; bit < bits[lane]; ++bit) {
        if ((mask[lane] >> bit & 1U) == 0) free.push_back({line, lane, bit});
      }
    }
  }
  if (!free.empty() && pick(0, 3) == 0) return free[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(free.size()) - 1))];
  const auto lane = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(bits.size()) - 1));
  return {pick_line(stream), lane, static_cast<int>(pick(0, bits[lane] - 1))};
}

/// One bit of one answer is turned over, at times behind which vectors are missing: a mismatch, unless nobody is to look at that bit.
Outcome answers_are_compared(const Law& law) {
  return check_property(law, [] {
    Stream stream = pick_stream();
    const auto [at, lane, bit] = pick_place(stream);
    std::vector<std::uint32_t> answer = stream.right[at];
    answer[lane] ^= 1U << bit;
    const bool seen = (mask_of(stream, at)[lane] >> bit & 1U) != 0;
    stream.lines[at] = line_of(stream, stream.operands[at], answer);
    const bool cut = pick(0, 3) == 0 && at + 1 < stream.lines.size();
    if (cut) stream.lines.pop_back();
    const CheckReport report = checked(stream, text_of(stream));
    RC_LOG() << "line " << at << " lane " << lane << " bit " << bit << (cut ? ", the last line missing" : "");
    RC_ASSERT(report.mismatched == (seen ? 1U : 0U));
    RC_ASSERT((report.verdict == CheckVerdict::failed) == seen);
    if (!cut && !seen) RC_ASSERT(report.verdict == CheckVerdict::passed);
  });
}

/// All NaNs of the operation whose NaN answers are free, their payload turned over.
Outcome free_bits_are_free(const Law& law) {
  return check_property(law, [] {
    Stream stream = pick_stream();
    for (std::size_t at = 0; at < stream.lines.size(); ++at) {
      std::vector<std::uint32_t> answer = stream.right[at];
      const std::vector<std::uint32_t> mask = mask_of(stream, at);
      std::size_t lane = 0;
      for (const golden::Column& column : stream.op->results()) {
        const std::uint32_t all = column.bits == 32 ? ~0U : (1U << column.bits) - 1U;
        for (int i = 0; i < column.lanes; ++i, ++lane) answer[lane] ^= ~mask[lane] & all;
      }
      stream.lines[at] = line_of(stream, stream.operands[at], answer);
    }
    RC_ASSERT(checked(stream, text_of(stream)).verdict == CheckVerdict::passed);
  });
}

/// Every vector once, in any order and with any chatter, passes; what is missing, doubled or replaced does not.
Outcome sets_are_whole(const Law& law) {
  return check_property(law, [] {
    Stream stream = pick_stream();
    const std::size_t at = pick_line(stream);
    const std::size_t other = (at + 1 + static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(stream.lines.size()) - 2))) % stream.lines.size();
    const bool same = stream.operands[at] == stream.operands[other];
    const std::int64_t edit = pick(0, 6);
    RC_LOG() << "edit " << edit << " of lines " << at << " and " << other;
    if (edit == 0) {
      std::ranges::reverse(stream.lines);
      stream.lines.insert(stream.lines.begin() + static_cast<std::ptrdiff_t>(at), "dut.sv:17: $finish called at 0 (1s)\n// a remark\n\n");
      RC_ASSERT(checked(stream, text_of(stream)).verdict == CheckVerdict::passed);
    } else if (edit == 1) {
      stream.lines.resize(at);
      RC_ASSERT(checked(stream, text_of(stream)).verdict == CheckVerdict::mistrusted);
    } else if (edit == 2) {
      stream.lines.erase(stream.lines.begin() + static_cast<std::ptrdiff_t>(at));
      RC_ASSERT(checked(stream, text_of(stream)).verdict == CheckVerdict::mistrusted);
    } else if (edit == 3) {
      stream.lines[at] = stream.lines[other];
      RC_ASSERT(checked(stream, text_of(stream)).verdict == (same ? CheckVerdict::passed : CheckVerdict::mistrusted));
    } else if (edit == 4) {
      stream.lines.push_back(stream.lines[at]);
      RC_ASSERT(is_refused(stream, text_of(stream)));
    } else {
      // Another vector with its right answer; of several operands only the last one's last lane is another one.
      if (stream.as_file && edit == 6) RC_DISCARD("a file's columns say what is expected");
      std::vector<std::uint32_t> operands = stream.operands[at];
      const int bits = stream.op->operands().back().bits;
      operands.back() = (operands.back() + 1U) & (bits == 32 ? ~0U : (1U << bits) - 1U);
      std::vector<std::uint32_t> answer(stream.right[at].size());
      stream.op->evaluate(operands, answer);
      stream.lines[at] = line_of(stream, operands, answer);
      RC_ASSERT(checked(stream, text_of(stream)).verdict == CheckVerdict::mistrusted);
    }
  });
}

/// Lines that are no vectors of this check are refused: undriven and overlong digits, values beyond their column, fields too few or too many, half a
/// line at the end, headers of another check; a last line without its end is a line.
Outcome lines_are_read(const Law& law) {
  return check_property(law, [] {
    Stream stream = pick_stream();
    const std::size_t at = pick_line(stream);
    std::string& line = stream.lines[at];
    line.pop_back();
    const golden::Column last = stream.op->results().back();
    const int spare = last.digits() * 4 - last.width();
    // Few operations have digits with bits to spare: those get that edit often.
    const std::int64_t edit = spare > 0 && pick(0, 2) == 0 ? 4 : pick(0, 8);
    RC_LOG() << "edit " << edit << " of line " << at << ": " << line;
    if (edit == 0) line.back() = 'x';
    if (edit == 1) line += "0";
    if (edit == 2) line += " 0";
    if (edit == 3) line.resize(line.rfind(' '));
    if (edit == 4) {
      if (spare == 0) RC_DISCARD("every number of that many digits fits");
      line[line.size() - static_cast<std::size_t>(last.digits())] = 'f';
    }
    if (edit == 5) stream.head = "// mxact-vectors 2.0 op=" + std::string(stream.op->name()) + "\n";
    if (edit == 6) stream.head = "// mxact-vectors 1.1 op=another\n";
    if (edit == 7) {
      if (!stream.as_file) RC_DISCARD("no columns of a file");
      // The first digit of the expected answer, which stands behind the operands.
      std::size_t field = 0;
      for (std::size_t column = 0; column < stream.op->operands().size(); ++column) field = line.find(' ', field) + 1;
      line[field] = line[field] == '0' ? '1' : '0';
    }
    line += "\n";
    if (edit == 8) {
      // The last line is cut, with or without its last digit.
      const bool whole = pick(0, 1) == 1;
      stream.lines.back().pop_back();
      if (!whole) stream.lines.back().pop_back();
      if (!whole) return RC_ASSERT(is_refused(stream, text_of(stream)));
      return RC_ASSERT(checked(stream, text_of(stream)).verdict == CheckVerdict::passed);
    }
    RC_ASSERT(is_refused(stream, text_of(stream)));
  });
}

/// Few vectors at a time, whose right answers are often all the same.
Outcome constants_prove_nothing(const Law& law) {
  return check_property(law, [] {
    const Stream stream = pick_stream(static_cast<std::uint64_t>(pick(1, 3)));
    bool vary = false;
    for (std::size_t at = 0; at < stream.right.size(); ++at) {
      const std::vector<std::uint32_t> mask = mask_of(stream, at);
      for (std::size_t lane = 0; lane < mask.size(); ++lane) vary = vary || ((stream.right[at][lane] ^ stream.right[0][lane]) & mask[lane]) != 0;
    }
    RC_ASSERT(checked(stream, text_of(stream)).verdict == (vary ? CheckVerdict::passed : CheckVerdict::mistrusted));
  });
}

/// Bins that the report calls hit were met by a vector that came; a single vector meets one of each axis at most.
Outcome coverage_is_met(const Law& law) {
  return check_property(law, [] {
    Stream stream = pick_stream();
    stream.lines.resize(1);
    for (const golden::AxisCoverage& axis : checked(stream, text_of(stream)).coverage) RC_ASSERT(axis.hit <= 1);
  });
}

constexpr std::array kLaws{
    Law{"T1/checker-answers", "One wrong bit of one answer is one mismatch, and the stream has failed whatever else is wrong with it",
        answers_are_compared},
    Law{"T1/checker-free", "Bits that an operation leaves open may be anything", free_bits_are_free},
    Law{"T1/checker-set", "A stream passes when every vector of the set came once, in any order; with one missing, doubled or replaced it does not",
        sets_are_whole},
    Law{"T1/checker-lines", "A line that is no vector of this check is refused, and a last line without its end is a line", lines_are_read},
    Law{"T1/checker-constant", "A set whose right answers are all the same is no test: whoever says that answer alone would pass",
        constants_prove_nothing},
    Law{"T1/checker-coverage", "A bin that no vector met is not covered", coverage_is_met},
};

}  // namespace

std::span<const Law> checker_laws() { return kLaws; }

}  // namespace mx::props
