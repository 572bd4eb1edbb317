// Formats and rules as text: what each word says is held by numbers from the documents, and what cannot be is told with its rule.

#include "model/numerics/rules.hpp"

#include <string>
#include <utility>

#include "model/error.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/ieee_flags.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;

std::string message(std::string_view text) {
  try {
    const Format& format = format_of_text(text);
    return "read as " + std::string(format.name);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
}

std::uint32_t into(std::string_view text, std::uint32_t f32) {
  const Format& to = format_named(text);
  return convert(f32, kF32, to, conversion(profile_named(kOcp), kF32, to));
}

constexpr std::uint32_t k1000 = 0x447A0000, kMinus1000 = 0xC47A0000, kInf = 0x7F800000, kNan = 0xFFC00000;

}  // namespace

TEST_CASE("a text without rules that says what a named format is gives the named one") {
  CHECK(&format_named("e4m3,bias=7,fn") == &format_named("E4M3 , fn"));
  CHECK(format_named("e4m3,bias=7,fn") == kE4m3fn);
  CHECK(format_named("e4m3,ieee") == kE4m3Ieee);
  CHECK(format_named("e3m4") == kE3m4);
  CHECK(format_named("ue8m0,fn,no-zero") == kE8m0);
  CHECK(format_named("s2f6") == kMxint8);
  CHECK(format_named("e4m3,fnuz").bias == 7);  // a named base keeps its bias
  CHECK(format_named("se4m3,fnuz") == kE4m3fnuz);
  CHECK(format_named("e8m10,ieee") == kTf32);
  CHECK(text_of(kE4m3b11fnuz) == "e4m3,bias=11,fnuz");
  CHECK(text_of(kE8m0) == "ue8m0,bias=127,fn,no-zero");
  CHECK(text_of(kUe5m3) == "ue5m3,bias=15,fn");
}

TEST_CASE("a format of no table is decoded by its fields") {
  // 1 + 3 + 3 bits, bias 5, all codes numbers: the largest is 2^(7 - 5) * 1.875, the least 2^(1 - 5 - 3).
  const Format& format = format_named("e3m3,bias=5,finite");
  CHECK(format.width == 7);
  CHECK(canonical(decode(format, 0x3F)) == Value{15, -1, ValueClass::finite, false});
  CHECK(canonical(decode(format, 0x41)) == Value{1, -7, ValueClass::finite, true});
  CHECK(max_exponent(format) == 2);
  CHECK(&format_named("e3m3, finite,bias=5") == &format);
}

TEST_CASE("one text says a format and all its rules") {
  constexpr std::string_view kText = "e4m3, bias=7, fn, overflow=ieee, round=rtz, tininess=after, nan=7f";
  const Format& format = format_named(kText);
  CHECK(format.name == "e4m3,bias=7,fn,round=rtz,overflow=ieee,nan=7f,tininess=after");
  CHECK(&format_named(format.name) == &format);
  CHECK(into(kText, k1000) == 0x7E);  // IEEE 754 7.4: toward zero gives the largest number
  CHECK(into(kText, kInf) == 0x7F);
  CHECK(into(kText, kNan) == 0x7F);
  CHECK(into("e4m3,fn,round=rup,overflow=ieee", k1000) == 0x7F);
  CHECK(into("e4m3,fn,round=rup,overflow=ieee", kMinus1000) == 0xFE);
  CHECK(into("e4m3,fn,round=odd,overflow=ieee", k1000) == 0x7E);
  CHECK(into("e4m3,fn,round=odd,overflow=ieee", 0x3F880000) == 0x39);  // 1.0625 lies between 0x38 and 0x39
  CHECK(into("e4m3,fn,round=odd,overflow=ieee", 0x3F980000) == 0x39);  // 1.1875 between 0x39 and 0x3A
  CHECK(into("e4m3,fn,round=rne,overflow=saturate,infinity=zero", kInf) == 0);
  CHECK(into("e4m3,fn,round=rne,overflow=saturate,zero-sign=positive", 0x80000001) == 0);
  CHECK(into("e4m3,fn,round=rne,overflow=saturate,zero-sign=positive-if-zero", 0x80000001) == 0x80);
  CHECK(into("e4m3,fn,round=rne,overflow=saturate,zero-sign=positive-if-zero", 0x80000000) == 0);
  CHECK(into("ue4m3,fn,round=rne,overflow=saturate,negative=zero", 0xBF800000) == 0);
  CHECK(into("ue4m3,fn,round=rne,overflow=saturate", 0xBF800000) == 0x7F);
  CHECK(into("e2m1,round=rne,overflow=ieee,nan=0", kMinus1000) == 0xF);  // neither Inf nor NaN
}

TEST_CASE("without a mantissa a tie goes to the even code") {
  // 3 = 2^1 * 1.5 between 2 (field 4 with bias 3) and 4 (field 5); 6 between 4 and 8 (field 6).
  CHECK(into("e4m0,bias=3,finite,round=rne,overflow=saturate,nan=0", 0x40400000) == 4);
  CHECK(into("e4m0,bias=3,finite,round=rne,overflow=saturate,nan=0", 0x40C00000) == 6);
}

TEST_CASE("rules stand where a profile does, for every format that they can be had for") {
  const Profile& rules = profile_named("round=rdn, overflow=ieee");
  CHECK(rules.name == "round=rdn,overflow=ieee");
  CHECK(convert(k1000, kF32, kE4m3fn, conversion(rules, kF32, kE4m3fn)) == 0x7E);
  CHECK(convert(0xC9742400, kF32, kE5m2, conversion(rules, kF32, kE5m2)) == 0xFC);  // a million, above 57344
  CHECK(convert(0x49742400, kF32, kE5m2, conversion(rules, kF32, kE5m2)) == 0x7B);
  CHECK(find_conversion(profile_named("round=rne,overflow=inf"), kF32, kE4m3fn) == nullptr);
  CHECK_THROWS_WITH(conversion(profile_named("round=rne,overflow=inf"), kF32, kE4m3fn), Catch::Contains("overflow=inf needs a format with Inf"));
  CHECK_THROWS_WITH(profile_for(profile_named("torch-cpu"), format_named("e4m3,fn,round=rne,overflow=ieee")),
                    Catch::Contains("says its own rules, and profile 'torch-cpu@2.13' others"));
  CHECK_THROWS_WITH(profile_named("e4m3,fn"), Catch::Contains("does not say how numbers are rounded"));
}

// Zvfofp8min (RISC-V), FPMR (Arm ARM A1.5.5), PTX ISA cvt, Intel SDM.
TEST_CASE("units of four kinds") {
  const auto by = [](std::string_view profile, const Format& to, std::uint32_t f32) {
    return convert(f32, kF32, to, conversion(profile_named(profile), kF32, to));
  };
  CHECK(by("riscv", kE5m2, kNan) == 0x7F);
  CHECK(by("riscv", kE4m3fn, kNan) == 0x7F);
  CHECK(by("riscv", kE4m3fn, k1000) == 0x7F);
  CHECK(by("riscv", kBf16, kNan) == 0x7FC0);
  CHECK(by("ieee", kE5m2, kNan) == 0x7E);
  CHECK(by("arm", kE5m2, kNan) == 0x7E);
  CHECK(by("arm", kE4m3fn, kInf) == 0x7F);
  CHECK(by("arm-sat", kE4m3fn, kInf) == 0x7E);
  CHECK(by("arm", kFp16, 0xFF812000) == 0xFE09);
  CHECK(by("ptx", kE2m3, kNan) == 0x1F);
  CHECK(by("ptx", kFp16, kNan) == 0x7FFF);
  CHECK(by("x86", kFp16, 0x7F802000) == 0x7E01);
  CHECK(by("x86", kBf16, 0x80000001) == 0x8000);
  CHECK_THROWS_WITH(conversion(profile_named("x86"), kF32, kE2m1), Catch::Contains("profile 'x86' does not define a conversion into e2m1"));
  CHECK(conversion(profile_named("riscv"), kF32, kE4m3fn).fine.tininess == Tininess::after);
  CHECK(conversion(profile_named("arm"), kF32, kE4m3fn).fine.tininess == Tininess::before);
}

TEST_CASE("what no text can say is told with the rule") {
  struct Row {
    std::string_view text, says;
  };
  for (const Row& row : {
           Row{"e4m3,finit", "unknown word 'finit' (did you mean finite?); known:"},
           {"e3m3", "e3m3 does not say what its last codes are: ieee (Inf and NaN), fn (one NaN)"},
           {"e4m3,fn,round=rnz2,overflow=ieee", "unknown round 'rnz2' (did you mean rnz?); known: rne rna"},
           {"e4m3,fn,rond=rne", "unknown word 'rond' (did you mean round?); known: round random"},
           {"e4m3,fn,round=rne", "it does not say what overflows become"},
           {"e1m3,ieee", "ieee needs E of 2 and more"},
           {"e4m0,ieee", "M of 1 and more"},
           {"ue4m3,fnuz", "fnuz needs a sign"},
           {"e4m3,no-zero", "no-zero is of powers of two alone"},
           {"e8m23,bias=200,ieee", "numbers that fp32 does not hold"},
           {"e9m3,ieee", "numbers that fp32 does not hold"},
           {"e17m3,ieee", "E from 1 to 16"},
           {"e5m24,ieee", "M from 0 to 23"},
           {"e8m23,finite,bias=128", "numbers that fp32 does not hold"},
           {"e1m0,fn", "no code is a positive number"},
           {"e4m3,bias=7,bias=8,fn", "bias is said twice"},
           {"e4m3,fn,fnuz", "a format is one of ieee, fn, fnuz, inf-top, finite"},
           {"s2f6,bias=1", "fixed point has no bias"},
           {"s0f6", "sIfF has I of 1 and more"},
           {"e4m3,fn,round=rne,overflow=saturate,overflow=nan", "overflow is said twice"},
           {"e4m3,fn,round=stochastic-floor,overflow=saturate", "stochastic roundings and random=N go together"},
           {"e4m3,fn,round=rne,overflow=saturate,random=8", "stochastic roundings and random=N go together"},
           {"e4m3,fn,round=rne,overflow=saturate,random=33", "random=33: a whole number from 1 to 32"},
           {"e4m3,fn,round=rne,overflow=saturate,nan=17f", "nan is a code of the format"},
           {"e4m3,fn,round=rne,overflow=saturate,nan=xyz", "nan=xyz: hexadecimal digits"},
           {"e4m3,fn,round=rne,overflow=saturate,nan=quiet", "need the NaNs of IEEE 754"},
           {"e2m1,round=rne,overflow=nan", "overflow=nan needs a format with NaN"},
           {"e2m1,round=rne,overflow=saturate,infinity=as-nan", "infinity=as-nan needs a code of NaNs: nan=7f"},
           {"e4m3,fn,round=nearest-up,overflow=nan", "this rounding is of formats of powers alone"},
           {"e4m3,fn,round=rne,overflow=nan,negative=zero", "negative is of formats without sign"},
           {"e4m3,fn,round=rne,overflow=nan,through=e4", "through=e4: the name of a format"},
           {"e4m3,fn,round=rne,overflow=nan,range=43f80000..43f00000:7e", "nothing lies from the first magnitude on and below the second"},
           {"e4m3,fn,round=rne,overflow=nan,range=43f00000..7fc00000:7e", "range=7fc00000: fp32 bits without a sign, and of no NaN"},
           {"e4m3,fn,round=rne,overflow=nan,range=c3f00000..43f80000:7e", "range=c3f00000: fp32 bits without a sign"},
           {"e4m3,fn,round=rne,overflow=nan,least-input=bf800000", "least-input=bf800000: fp32 bits without a sign"},
           {"e4m3,,fn", "an empty word"},
           {"e4m3,fn)", "a ')' without its '('"},
           {"round=rne,overflow=ieee", "a format is named: it is the first word"},
           {"round=rne,e4m3", "the format is the first word"},
           {"e4m3,\tfn", "a byte 9 at 5"},
       }) {
    INFO(row.text);
    CHECK_THAT(message(row.text), Catch::Contains(std::string(row.says)));
  }
}

TEST_CASE("a range that ends at Inf has all finite numbers from its first on") {
  // Of e4m3 whose codes are all numbers 480 is the largest; the range takes it, and what is above, to 448. Inf is none of them.
  constexpr std::string_view kFrom480 = "e4m3,bias=7,finite,round=rne,overflow=saturate,nan=00,range=43f00000..7f800000:7e";
  CHECK(into(kFrom480, 0x43EFFFFF) == 0x7F);
  CHECK(into(kFrom480, 0x43F00000) == 0x7E);
  CHECK(into(kFrom480, 0xFF7FFFFF) == 0xFE);
  CHECK(into(kFrom480, kInf) == 0x7F);
}

TEST_CASE("overflow=wrap drops the carry: the code of a wider exponent without its top bits") {
  // 512 is 1.0 * 2^9, whose exponent field 9 + 7 has five bits; 576 has the mantissa 001. 65536 = 2^16 has the field of Inf in e5m2, 131072 field 0.
  constexpr std::string_view kE4m3Wrap = "e4m3,bias=7,fn,round=rne,overflow=wrap,nan=7f",
                             kE5m2Wrap = "e5m2,bias=15,ieee,round=rne,overflow=wrap,nan=7e";
  CHECK(into(kE4m3Wrap, 0x44000000) == 0x00);
  CHECK(into(kE4m3Wrap, 0x44100000) == 0x01);
  CHECK(into(kE4m3Wrap, 0xC4100000) == 0x81);
  CHECK(into(kE4m3Wrap, 0x43F00000) == 0x7F);  // 480 has NaN's code
  CHECK(into(kE4m3Wrap, 0x43E80000) == 0x7E);  // 464, a tie, is 448
  CHECK(into(kE4m3Wrap, kInf) == 0x7F);
  CHECK(into(kE5m2Wrap, 0x47800000) == 0x7C);
  CHECK(into(kE5m2Wrap, 0xC8000000) == 0x80);
  CHECK(into(kE5m2Wrap, kInf) == 0x7C);
  // Two's complement: 2 is -2 in eight bits with six behind the point, -129/64 is 127/64.
  CHECK(into("s2f6,round=rne,overflow=wrap,nan=0", 0x40000000) == 0x80);
  CHECK(into("s2f6,round=rne,overflow=wrap,nan=0", 0xC0010000) == 0x7F);
  CHECK(into("s2f6,round=rne,overflow=wrap,nan=0", 0x7F000000) == 0x00);
  CHECK(into("e8m0,round=rtz,overflow=wrap,nan=ff,zero-code=0,negative=magnitude", kInf) == 0xFF);
  // Every fp32 number that a format with two more exponent bits holds, one in 65521.
  for (const auto& [narrow, wide] : {std::pair{"e4m3,bias=7,fn", "e6m3,bias=7,finite"}, std::pair{"e2m3,bias=1,finite", "e4m3,bias=1,finite"},
                                     std::pair{"e5m2,bias=15,ieee", "e7m2,bias=15,finite"}, std::pair{"e3m4,bias=3,ieee", "e5m4,bias=3,finite"}}) {
    for (const std::string round : {"rne", "rup", "rtz"}) {
      const Format &to = format_named(std::string(narrow) + ",round=" + round + ",overflow=wrap,nan=0"),
                   &held = format_named(std::string(wide) + ",round=" + round + ",overflow=ieee,nan=0");
      const Conversion &how = conversion(profile_named(kOcp), kF32, to), &counted = conversion(profile_named(kOcp), kF32, held);
      int wrong = 0, beyond = 0;
      for (std::uint64_t at = 0; at < std::uint64_t{1} << 32; at += 65521) {
        const auto f32 = static_cast<std::uint32_t>(at);
        IeeeFlags flags, unused;
        const std::uint32_t code = convert_ieee(f32, kF32, held, counted, unused);
        if (unused.overflow || (f32 & 0x7FFFFFFFU) >= kInf) continue;
        const std::uint32_t sign = f32 >> 31 << (to.width - 1), low = code & magnitude_mask(to);
        wrong += convert_ieee(f32, kF32, to, how, flags) != (sign | low) ? 1 : 0;
        const bool above = (code & magnitude_mask(held)) > max_finite_code(to);
        wrong += flags.overflow != above || (above && (flags.underflow || !flags.inexact)) ? 1 : 0;
        beyond += above ? 1 : 0;
      }
      INFO(narrow << " " << round);
      CHECK(wrong == 0);
      CHECK(beyond > 100);
    }
  }
}
