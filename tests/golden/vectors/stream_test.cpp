// Streams of devices: what is tolerated, what is refused and where, and that nothing passes by accident.

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::CheckReport;
using mx::golden::CheckVerdict;
using mx::tests::check;
using mx::tests::kDirected;

struct Stream {
  std::unique_ptr<mx::golden::VectorOp> op = mx::golden::op_named("bf16_to_e2m1", {});
  std::string text = mx::tests::stream_of(*op, kDirected, mx::tests::right_device(*op));

  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line + "\n");
    return all;
  }
  CheckReport checked(const std::string& stream) const { return check(*op, kDirected, stream); }
  std::string refusal(const std::string& stream) const {
    try {
      checked(stream);
    } catch (const mx::Error& error) {
      CHECK(error.code() == mx::ErrorCode::input);
      const std::string message = error.what();
      const std::string where = "device stream: ";
      CHECK(message.starts_with(where));
      return message.substr(where.size());
    }
    return "not refused";
  }
};

/// What the lines of a stream say, in any order: the numbers of each line that is no comment.
std::multiset<std::vector<std::uint64_t>> numbers_of(const std::string& stream) {
  std::multiset<std::vector<std::uint64_t>> all;
  std::istringstream lines(stream);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("- ") || line.find("//") != std::string::npos || line.find_first_not_of(" \t\r") == std::string::npos) continue;
    for (char& c : line) c = c == '_' || c == '\r' ? ' ' : c;
    std::istringstream fields(line);
    std::vector<std::uint64_t> numbers;
    for (std::string field; fields >> field;) numbers.push_back(std::stoull(field, nullptr, 16));
    all.insert(numbers);
  }
  return all;
}

/// The stream with one to three bytes or lines changed, doubled, exchanged or lost.
std::string damaged(std::string stream, mx::support::SplitMix64& random) {
  constexpr std::string_view kBytes = "0123456789abcdefABCDEFxz \n\r\t_-/%.";
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random.next() % bound); };
  const auto line_at = [&] {
    const std::size_t begin = stream.rfind('\n', below(stream.size()));
    const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
    return std::pair{from, std::min(stream.find('\n', from), stream.size() - 1) + 1};
  };
  for (std::size_t times = 1 + below(3); times > 0 && !stream.empty(); --times) {
    const auto [from, to] = line_at();
    const std::string line = stream.substr(from, to - from);
    switch (below(7)) {
      case 0: stream[below(stream.size())] = kBytes[below(kBytes.size())]; break;
      case 1: stream.insert(below(stream.size()), 1, kBytes[below(kBytes.size())]); break;
      case 2: stream.erase(below(stream.size()), 1); break;
      case 3: stream.erase(from, to - from); break;
      case 4: stream.insert(from, line); break;
      case 5: stream.erase(from, to - from).insert(stream.size(), line); break;
      default: stream.resize(below(stream.size())); break;
    }
  }
  return stream;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace

TEST_CASE("harmless differences in a stream change nothing") {
  const Stream right;
  std::string upper = right.text.substr(right.text.find("\n", right.text.find("// cols")) + 1);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string crlf = right.text;
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) crlf.insert(at, "\r");
  std::string underscores = upper;
  std::ranges::replace(underscores, ' ', '_');
  auto shuffled = right.lines();
  std::ranges::reverse(shuffled);
  const std::string chatter =
      "VCD info: dumpfile out.vcd opened for output.\n" + right.text + "- dut.sv:17: Verilog $finish\ndut.sv:17: $finish called at 0 (1s)\n\n  \n";
  for (const std::string& stream : {right.text, upper, crlf, underscores, joined(shuffled), chatter}) {
    const CheckReport report = right.checked(stream);
    INFO(stream.substr(0, 100));
    CHECK(report.verdict == CheckVerdict::passed);
    CHECK(report.checked == report.expected);
    CHECK(report.mismatched == 0);
  }
  CHECK(right.checked(joined(shuffled)).reordered_from.has_value());
  CHECK_FALSE(right.checked(right.text).reordered_from.has_value());
}

TEST_CASE("a stream that came in pieces of any size is the same stream") {
  const Stream right;
  for (std::size_t size : {1U, 7U, 4096U}) {
    mx::golden::StreamChecker checker(*right.op, mx::golden::VectorSet(*right.op, kDirected), 5, false);
    for (std::size_t at = 0; at < right.text.size(); at += size) checker.take(std::string_view(right.text).substr(at, size));
    CHECK(checker.finish().verdict == CheckVerdict::passed);
  }
}

TEST_CASE("what is missing, doubled or replaced is never a pass") {
  const Stream right;
  const auto lines = right.lines();
  CHECK(right.checked("").verdict == CheckVerdict::mistrusted);
  CHECK(right.checked("// nothing\n").verdict == CheckVerdict::mistrusted);
  auto fewer = lines;
  fewer.pop_back();
  CHECK(right.checked(joined(fewer)).verdict == CheckVerdict::mistrusted);
  auto hole = lines;
  hole.erase(hole.begin() + 10);
  const CheckReport with_hole = right.checked(joined(hole));
  CHECK(with_hole.verdict == CheckVerdict::mistrusted);
  CHECK(with_hole.why_mistrusted.find("line 11") != std::string::npos);
  auto doubled = lines;
  doubled[12] = doubled[11];
  const CheckReport with_double = right.checked(joined(doubled));
  CHECK(with_double.verdict == CheckVerdict::mistrusted);
  CHECK(with_double.why_mistrusted.find("line 13") != std::string::npos);
  auto more = lines;
  more.push_back(lines.back());
  CHECK(right.refusal(joined(more)).find("line " + std::to_string(more.size()) + ": a vector more than") == 0);
  auto twice = lines;
  twice.insert(twice.begin() + 12, lines[11]);
  CHECK(right.refusal(joined(twice)).find(" at line 13, where the set has ") != std::string::npos);
}

TEST_CASE("a stream that was damaged anywhere passes only when it says the same") {
  const auto op = mx::golden::op_named("e2m1_to_bf16", {});
  const std::string right = mx::tests::stream_of(*op, kDirected, mx::tests::right_device(*op));
  const auto said = numbers_of(right);
  REQUIRE(said.size() == 16);
  mx::support::SplitMix64 random(1);
  int passed = 0, failed = 0, mistrusted = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::string stream = damaged(right, random);
    INFO(stream);
    try {
      switch (check(*op, kDirected, stream).verdict) {
        case CheckVerdict::passed:
          ++passed;
          CHECK(numbers_of(stream) == said);
          break;
        case CheckVerdict::failed: ++failed; break;
        case CheckVerdict::mistrusted: ++mistrusted; break;
      }
    } catch (const mx::Error& error) {
      ++refused;
      CHECK(error.code() == mx::ErrorCode::input);
    }
  }
  for (int count : {passed, failed, mistrusted, refused}) CHECK(count > 100);
}

TEST_CASE("malformed lines are refused with their number and what was expected") {
  struct Row {
    std::string line;
    std::string part;
  };
  const Stream right;
  const auto lines = right.lines();
  for (const Row& row : std::vector<Row>{{"3f80\n", "1 field, expected 2: a:16, the device's r:4"},
                                         {"3f80 2 0\n", "3 fields, expected 2"},
                                         {"3f80 x\n", "digits x or z"},
                                         {"3f80 g\n", "is no hex number"},
                                         {"3f80 12\n", "more than the 1 digit of 4 bits"},
                                         {"3f80 0x2\n", "more than the 1 digit of"},
                                         {"Segmentation fault\n", "is no vector: expected a:16, the device's r:4"},
                                         {std::string("3f80\0 2\n", 8), "is no vector"},
                                         {"%Error: dut.sv:3: assertion\n", "is no vector"},
                                         {std::string(4000, '0') + "\n", "1 field, expected 2"}}) {
    auto broken = lines;
    broken[5] = row.line;
    const std::string refusal = right.refusal(joined(broken));
    INFO(refusal);
    CHECK(refusal.starts_with("line 6: "));
    CHECK(refusal.find(row.part) != std::string::npos);
    CHECK(refusal.find('\n') == std::string::npos);
  }
  CHECK(right.refusal(right.text.substr(0, right.text.size() - 2)).find("field") != std::string::npos);
  CHECK(right.refusal(std::string(std::size_t{1} << 20U, 'a')).find("longer than") != std::string::npos);
}

TEST_CASE("a stream that ends within its last line is refused, though the rest would be a number") {
  const auto op = mx::golden::op_named("bf16_to_e4m3fn", {});
  std::string text = mx::tests::stream_of(*op, kDirected, mx::tests::right_device(*op));
  text.resize(text.size() - 2);
  CHECK_THROWS_WITH(check(*op, kDirected, text), Catch::Matchers::Contains("the stream ends within a line"));
  // The line feed alone may be missing.
  CHECK(check(*op, kDirected, mx::tests::stream_of(*op, kDirected, mx::tests::right_device(*op)).substr(0, text.size() + 1)).verdict ==
        CheckVerdict::passed);
}

TEST_CASE("a header of another operation, set or version is refused at its line") {
  const Stream right;
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = right.text;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return right.refusal(text.replace(at, from.size(), to));
  };
  CHECK(replaced("op=bf16_to_e2m1", "op=fp16_to_e2m1") == "line 1: the stream has op=fp16_to_e2m1, this check is of op=bf16_to_e2m1");
  CHECK(replaced("rounding=nearest_even", "rounding=toward_zero").find("rounding=toward_zero") != std::string::npos);
  CHECK(replaced("set=directed", "set=random").find("set=random") != std::string::npos);
  CHECK(replaced("mxact-vectors 1.1", "mxact-vectors 2.0").find("of version '2.0', this check is of 1.1") != std::string::npos);
  CHECK(replaced(" flush=none", " flash=none").find("unknown fact 'flash=none'") != std::string::npos);
  CHECK(replaced("a:16", "a:32").starts_with("line 2: the stream has columns 'a:32'"));
}

TEST_CASE("a stream with expected columns is held against them too") {
  const auto op = mx::golden::op_named("bf16_to_e2m1", {});
  mx::golden::VectorSet set(*op, kDirected);
  std::string text = mx::golden::header_text(*op, set, mx::golden::file_columns(*op));
  std::string own;
  std::vector<std::uint32_t> operands(1);
  std::vector<std::uint32_t> lanes;
  while (set.next(operands)) {
    mx::golden::file_lanes(*op, operands, lanes);
    mx::golden::append_fields(text, mx::golden::file_columns(*op), lanes, ' ');
    own = text + "\n";
    mx::golden::append_fields(text, op->results(), std::span(lanes).subspan(1, 1), ' ');
    text += '\n';
  }
  CHECK(check(*op, kDirected, text).verdict == CheckVerdict::passed);
  // Without a device the line has no answer: its expected column is not one.
  CHECK_THROWS_WITH(check(*op, kDirected, own), Catch::Matchers::Contains("expected 5"));
  std::string other = text;
  const std::size_t first = other.find("\n", other.find("// cols")) + 1;
  other[first + 5] = '7';
  CHECK_THROWS_WITH(check(*op, kDirected, other), Catch::Matchers::Contains("is not one of this check's"));
}
