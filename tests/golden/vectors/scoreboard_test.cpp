// A scoreboard says of answers in a loop what `ver` says of the same answers in a stream, and nothing that was not checked passes.

#include "golden/vectors/scoreboard.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "golden/vectors/describe.hpp"
#include "golden/vectors/distance.hpp"
#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::CheckVerdict;
using mx::golden::Lanes;
using mx::golden::Scoreboard;
using mx::golden::ScoreKind;
using mx::golden::ScoreReport;
using Words = std::vector<std::uint32_t>;

constexpr std::size_t kShow = 20;

Scoreboard board_of(const char* name, std::vector<mx::golden::OpSetting> options = {}, std::uint32_t flags = ~0U) {
  return {mx::tests::op_with(name, std::move(options)), kShow, flags};
}

bool says(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("a scoreboard explains wrong answers as ver does, line by line") {
  for (const char* rounding : {"nearest_away", "toward_zero"}) {
    const auto asked = mx::tests::op_with("f32_to_e4m3fn", {}), device = mx::tests::op_with("f32_to_e4m3fn", {{"rounding", rounding}});
    const mx::golden::CheckReport report =
        mx::tests::check(*asked, mx::tests::kDirected, mx::tests::stream_of(*asked, mx::tests::kDirected, mx::tests::right_device(*device)));
    Scoreboard board = board_of("f32_to_e4m3fn");
    mx::golden::VectorSet set(*asked, mx::tests::kDirected);
    Words operands(1), answer(1);
    while (set.next(operands)) {
      device->evaluate(operands, answer);
      board.check(operands, answer);
    }
    const std::vector<std::string> lines = board.report(report.expected).text();
    std::vector<std::string> wanted = mx::golden::describe(report.explanations, report.compositions);
    wanted.push_back(mx::golden::verdict_text(report.verdict, report.checked, report.expected, report.mismatched, report.why_mistrusted));
    REQUIRE(lines.size() > wanted.size());
    CHECK(std::equal(wanted.rbegin(), wanted.rend(), lines.rbegin()));
    CHECK(says(wanted, std::string("matches rounding ") + rounding));
  }
}

TEST_CASE("a wrong answer is said with both codes and numbers, the exact number, and how far each is off") {
  // 2^-10 lies in the middle between 0 and 2^-9, the smallest number of E4M3.
  Scoreboard board = board_of("f32_to_e4m3fn");
  CHECK(board.check(Words{0x3A800000}, Words{0x01}, {}, "cycle 7") == ScoreKind::value);
  CHECK_FALSE(board.check(Words{0x3F800000}, Words{0x38}));
  const ScoreReport report = board.report();
  CHECK(report.verdict == CheckVerdict::failed);
  REQUIRE(report.first.size() == 1);
  CHECK(report.first[0].place == "cycle 7");
  INFO(joined(report.first[0].text));
  CHECK(says(report.first[0].text, "r: device 0x01 = 0 0000 001 = 0.001953125"));
  CHECK(says(report.first[0].text, "r: right  0x00 = 0 0000 000 = 0"));
  CHECK(says(report.first[0].text, "r: exact 0.0009765625; the device is 0.5 ulp off, the right answer 0.5 ulp"));
  CHECK(report.text().back() == "FAILED: 2 of 2 vectors checked, 1 wrong");
}

TEST_CASE("exact results and distances are those of whole numbers and fractions") {
  struct Case {
    const char* op;
    Words operands;
    std::uint32_t answer;
    const char* text;
  };
  const Case cases[] = {
      // 1000 beyond 448, whose unit is 32.
      {"f32_to_e4m3fn", {0x447A0000}, 0x7D, "exact 1000; the device is 18.25 ulp off, the right answer 17.25 ulp"},
      {"f32_to_e4m3fn", {0x447A0000}, 0x7F, "exact 1000; the right answer 17.25 ulp off"},
      {"f32_to_e4m3fn", {0x80000000}, 0x00, "exact -0; the device is 0 ulp off, the right answer 0 ulp"},
      // 1.5 / 1.25 = 1.2, between 1.125 and 1.25, an eighth apart.
      {"div_e4m3fn", {0x3C, 0x3A}, 0x39, "exact about 1.2; the device is about 0.6 ulp off, the right answer about 0.4 ulp"},
      {"sqrt_e4m3fn", {0x40}, 0x39, "exact about 1.4142135623730951; the device is about 2.3137084989847603 ulp off"},
      // 448 * 448 + 2^-9 has 28 bits.
      {"fma_e4m3fn_to_f32", {0x7E, 0x7E, 0x01}, 0x48440001, "exact 200704.001953125; the device is 0.875 ulp off, the right answer 0.125 ulp"},
      {"product_e4m3fn_e4m3fn", {0x01, 0x01}, 0x36800001, "exact 3.814697265625e-06; the device is 1 ulp off, the right answer 0 ulp"},
      {"mxint8_to_e2m1", {0x70}, 0x5, "exact 1.75; the device is 2.5 ulp off, the right answer 0.5 ulp"},
  };
  for (const Case& one : cases) {
    Scoreboard board = board_of(one.op);
    REQUIRE(board.check(one.operands, Words{one.answer}).has_value());
    INFO(one.op << "\n" << joined(board.report().first[0].text));
    CHECK(says(board.report().first[0].text, one.text));
  }
}

TEST_CASE("wrong answers are counted by kind, x and z are a kind of their own") {
  Scoreboard board = board_of("f32_to_e4m3fn", {{"flags", "ieee"}});
  CHECK_FALSE(board.check(Words{0x3F800000}, Words{0x38, 0}));
  CHECK(board.check(Words{0x3F800000}, Words{0x39, 0}) == ScoreKind::value);
  CHECK(board.check(Words{0x7FC00000}, Words{0x00, 0}) == ScoreKind::nan);
  CHECK(board.check(Words{0x80000000}, Words{0x00, 0}) == ScoreKind::sign_of_zero);
  CHECK(board.check(Words{0x3F800000}, Words{0x38, 1}) == ScoreKind::flags);
  CHECK(board.check(Words{0x3F800000}, Words{0x28, 0}, Words{0, 0x10, 0}) == ScoreKind::unresolved);
  CHECK(board.check(Words{0}, Words{0x38, 0}, Words{1, 0, 0}) == ScoreKind::unresolved);
  const ScoreReport report = board.report();
  CHECK(report.checked == 7);
  CHECK(report.wrong == 6);
  REQUIRE(report.kinds.size() == 5);
  CHECK(report.kinds.front() == std::pair<std::string, std::uint64_t>{"x or z", 2});
  CHECK(says(report.text(), "r: device 0b001x1000: a bit that is x or z"));
  CHECK(says(report.text(), "an operand has a bit that is x or z"));
}

TEST_CASE("flags that the device has not are not compared") {
  constexpr std::uint32_t kInvalidAlone = 16;
  // 1 + 2^-23 is inexact: a device without that flag is right, one that says invalid is not; an x on a flag that is not there is none.
  Scoreboard board = board_of("f32_to_e4m3fn", {{"flags", "ieee"}}, kInvalidAlone);
  CHECK_FALSE(board.check(Words{0x3F800001}, Words{0x38, 0}));
  CHECK_FALSE(board.check(Words{0x3F800001}, Words{0x38, 0}, Words{0, 0, 1}));
  CHECK(board.check(Words{0x3F800001}, Words{0x38, 16}) == ScoreKind::flags);
}

TEST_CASE("nothing checked, too few, too many and constant answers are mistrusted, never passed") {
  Scoreboard board = board_of("f32_to_e4m3fn");
  CHECK(board.report().verdict == CheckVerdict::mistrusted);
  CHECK(board.report().text().back() == "MISTRUSTED: 0 of 0 vectors checked, 0 wrong; no vector came");
  board.check(Words{0x3F800000}, Words{0x38});
  CHECK(board.report().verdict == CheckVerdict::mistrusted);
  CHECK(says(board.report().text(), "every right answer is the same"));
  board.check(Words{0x40000000}, Words{0x40});
  CHECK(board.report().verdict == CheckVerdict::passed);
  CHECK(board.report(2).verdict == CheckVerdict::passed);
  CHECK(board.report(3).text().back() == "MISTRUSTED: 2 of 3 vectors checked, 0 wrong; 2 of 3 vectors came");
  CHECK(board.report(1).verdict == CheckVerdict::mistrusted);
}

TEST_CASE("lanes that are too many, too few or too large are refused, and not counted") {
  Scoreboard board = board_of("f32_to_e4m3fn");
  CHECK_THROWS_WITH(board.check(Words{1, 2}, Words{0}), Catch::Contains("2 numbers"));
  CHECK_THROWS_WITH(board.check(Words{1}, Words{}), Catch::Contains("0 numbers"));
  CHECK_THROWS_WITH(board.check(Words{1}, Words{0x100}), Catch::Contains("r 0x100 does not fit 8 bits"));
  CHECK_THROWS_WITH(board.check(Words{1}, Words{0}, Words{0}), Catch::Contains("1 masks"));
  CHECK(board.report().checked == 0);
}

TEST_CASE("blocks are held as vectors have them: scale and elements, each element in units of its scale") {
  // 12 under the scale 2 is 6; 7 is 3.5, a tie between 3 and 4.
  Words block(32);
  block[0] = 0x41400000;
  block[1] = 0x40E00000;
  Words answer(33);
  answer[0] = 0x80;
  answer[1] = 0x7;
  answer[2] = 0x6;
  Scoreboard board = board_of("quantize_mxfp4");
  CHECK_FALSE(board.check(block, answer));
  answer[2] = 0x5;
  CHECK(board.check(block, answer) == ScoreKind::value);
  INFO(joined(board.report().text()));
  CHECK(says(board.report().text(), "elems[1]: exact 3.5; the device is 0.5 ulp off, the right answer 0.5 ulp"));
}
