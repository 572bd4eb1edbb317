// Formats of IEEE P3109 (draft 4.0 of June 2026): every value of the working group's public tables by digest, conversions as gfloat 0.5.2 has them,
// and saturations as section 4.7.5 of the document has them. Formats whose numbers fp32 does not hold are asked for apart.

#include <array>
#include <string>

#include "model/error.hpp"
#include "model/numerics/rules.hpp"
#include "model/numerics/wide_source.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;

constexpr std::uint64_t kStart = 0xCBF29CE484222325U, kPrime = 0x100000001B3U;  // FNV-1a

struct Digest {
  std::uint64_t value = kStart;
  void add(std::uint32_t one) { value = (value ^ one) * kPrime; }
  void add_bytes(std::uint32_t word) {
    for (int i = 0; i < 4; ++i) add(word >> (8 * i) & 0xFFU);
  }
};

std::string name_of(int bits, int precision, std::string_view kind) {
  return "binary" + std::to_string(bits) + "p" + std::to_string(precision) + std::string(kind);
}

/// Of github.com/P3109/Public 26df0d0, Value Tables/Hexadecimal: of all formats of these bits whose exponent field has at most 8 bits, by precision
/// and then se, sf, ue, uf, the fp32 bits of every code in order.
struct Tables {
  int bits, formats;
  std::uint64_t digest;
};
constexpr std::array kTables{Tables{3, 10, 0xCF96F55CFF34B3A5U},  Tables{4, 14, 0x16FA09E2083E1B41U},  Tables{5, 18, 0x1931176B7D18C309U},
                             Tables{6, 22, 0xF8D2D31C662B2D51U},  Tables{7, 26, 0x84A255E189F7DC35U},  Tables{8, 30, 0xA87B09D1DB0BDAC7U},
                             Tables{9, 32, 0xE38EC67E9E9E25D7U},  Tables{10, 32, 0x4218DB54E100C680U}, Tables{11, 32, 0x4E49FC00FFB0C47FU},
                             Tables{12, 32, 0x2302BE4F92C10644U}, Tables{13, 32, 0x31415245AE32EF33U}, Tables{14, 32, 0x0F454003604EA770U},
                             Tables{15, 32, 0xEC24A8D7217F0283U}};

/// Of the formats beyond, exactly: of every code class * 2 + sign as a byte, then the significand without factors of two and its power, 32 bits each.
constexpr std::array kTablesBeyond{Tables{9, 2, 0x7A3DB61577F8AD66U},   Tables{10, 6, 0xB24D16CEA2B29553U},  Tables{11, 10, 0xF8E472B624D36379U},
                                   Tables{12, 14, 0x89A150C6249B39C6U}, Tables{13, 18, 0x83E9159138FBFE86U}, Tables{14, 22, 0xF0DC0F929060A81BU},
                                   Tables{15, 26, 0xC5D1C86D307A36E1U}, Tables{16, 30, 0x042B6AF28EEE0F8EU}};

void add_exactly(Digest& digest, const Value& value) {
  const Value odd = canonical(value);
  const bool is_nan = value.cls == ValueClass::nan;
  digest.add((static_cast<std::uint32_t>(value.cls) << 1) | (odd.negative && !is_nan ? 1U : 0U));
  digest.add_bytes(static_cast<std::uint32_t>(odd.significand));
  digest.add_bytes(static_cast<std::uint32_t>(odd.exponent));
}

/// gfloat 0.5.2 round_ndarray and encode_ndarray of all 65536 bf16 numbers, of the 32768 without sign into formats without one: nearest even, nearest
/// away, toward zero, up, down, one after the other; with `sat` and without. (A negative number into a format without sign is no number there.)
struct Casts {
  std::string_view format;
  std::uint64_t saturating, overflowing;
};
constexpr std::array kCasts{
    Casts{"binary8p3se", 0x42715E7BB9F84F45U, 0xE01BCE9BA7F113E5U}, Casts{"binary8p4se", 0x721F7E57BFFE4455U, 0x6039B45F2609D885U},
    Casts{"binary8p1se", 0x662EC6EC0F399FA5U, 0x8DB7673441715DA5U}, Casts{"binary4p2sf", 0xC570166E8BAD392DU, 0x5175724D4D9D542DU},
    Casts{"binary8p1uf", 0x8F5778662B2581DBU, 0x29CE16576C62215AU}, Casts{"binary6p3ue", 0xDE1BC18485064CFBU, 0xC02B775B6DD8415BU},
    Casts{"binary3p1se", 0x0A837F016503A921U, 0x5BB16727EA890121U}, Casts{"binary12p5se", 0x38BF52835DB49EBDU, 0x70A6648DCB40C375U},
    Casts{"binary15p8sf", 0xEB64A4D5464B11C5U, 0x98AF0132AFCEAB65U}};

std::uint64_t casts(const Format& to, std::string_view overflow) {
  Digest digest;
  for (const std::string_view rounding : {"rne", "rna", "rtz", "rup", "rdn"}) {
    const Profile& profile = profile_named("round=" + std::string(rounding) + ",overflow=" + std::string(overflow));
    const Conversion& how = conversion(profile, kBf16, to);
    for (std::uint32_t code = 0; code < (to.has_sign ? 0x10000U : 0x8000U); ++code) digest.add(convert(code, kBf16, to, how));
  }
  return digest.value;
}

}  // namespace

TEST_CASE("every value of every format of P3109 that fp32 holds is that of the working group's tables") {
  constexpr int kMostExponent = 8;
  for (const Tables& table : kTables) {
    Digest digest;
    int formats = 0;
    for (int precision = 1; precision <= table.bits; ++precision) {
      for (const std::string_view kind : {"se", "sf", "ue", "uf"}) {
        const int exponent = table.bits - precision + (kind.front() == 'u' ? 1 : 0);
        const std::string name = name_of(table.bits, precision, kind);
        if (exponent < 1) continue;
        if (exponent > kMostExponent) {
          CHECK_THROWS_AS(format_named(name), Error);
          continue;
        }
        const Format& format = format_named(name);
        REQUIRE(format.width == table.bits);
        for (std::uint32_t code = 0; code >> format.width == 0; ++code)
          digest.add_bytes(decode(format, code).cls == ValueClass::nan ? 0x7FC00000U : to_f32(code, format));
        CHECK(&format_named(text_of(format)) == &format);
        ++formats;
      }
    }
    INFO(table.bits << " bits");
    CHECK(formats == table.formats);
    CHECK(digest.value == table.digest);
  }
}

TEST_CASE("so is every value of those with numbers that fp32 does not hold, which go by exact values alone") {
  constexpr int kMostExponent = 8;
  for (const Tables& table : kTablesBeyond) {
    Digest digest;
    int formats = 0;
    for (int precision = 1; precision <= table.bits; ++precision) {
      for (const std::string_view kind : {"se", "sf", "ue", "uf"}) {
        if (table.bits - precision + (kind.front() == 'u' ? 1 : 0) <= kMostExponent) continue;
        const Format& format = any_format_named(name_of(table.bits, precision, kind));
        CHECK_FALSE(fits_f32(format));
        for (std::uint32_t code = 0; code >> format.width == 0; ++code) add_exactly(digest, decode(format, code));
        CHECK(&any_format_named(text_of(format)) == &format);
        ++formats;
      }
    }
    INFO(table.bits << " bits");
    CHECK(formats == table.formats);
    CHECK(digest.value == table.digest);
  }
}

TEST_CASE("fp64 is rounded once into formats beyond fp32") {
  const Format& to = any_format_named("binary12p2se");  // bias 512, least 2^-512
  const Conversion& how = conversion(profile_named("round=rne,saturation=none"), kF32, to);
  Flags flags;
  CHECK(convert_source(0x3FF0000000000000, kF64, to, how, flags) == 0x400);  // 1
  CHECK(convert_source(0x2000000000000000, kF64, to, how, flags) == 0x002);  // 2^-511, the least normal one
  CHECK(convert_source(0x1FF0000000000001, kF64, to, how, flags) == 0x001);  // just above 2^-512
  CHECK(convert_source(0x1FE0000000000000, kF64, to, how, flags) == 0x000);  // 2^-513: half of it
  CHECK(convert_source(0x5FF0000000000000, kF64, to, how, flags) == 0x7FF);  // 2^512: Inf
  CHECK(convert_source(0x5FE4000000000000, kF64, to, how, flags) == 0x7FE);  // 1.25 * 2^511: to the even 2^511
  CHECK_THROWS_AS(format_named("binary12p2se"), Error);
  CHECK_THROWS_AS(any_format_named("se17m1,finite"), Error);
}

TEST_CASE("conversions into formats of P3109 are gfloat's") {
  for (const Casts& row : kCasts) {
    INFO(row.format);
    const Format& to = format_named(row.format);
    CHECK(casts(to, "saturate") == row.saturating);
    CHECK(casts(to, "ieee") == row.overflowing);
  }
}

TEST_CASE("P3109's saturations, and a negative number where there is no sign, are rules") {
  const auto into = [](std::string_view text, std::uint32_t f32) {
    const Format& to = format_named(text);
    return convert(f32, kF32, to, conversion(profile_named(kOcp), kF32, to));
  };
  constexpr std::uint32_t kInf = 0x7F800000, kMinusInf = 0xFF800000, kLarge = 0x7F000000;
  // binary8p3se: largest 0x7E = 1.5 * 2^15 * ..., Inf 0x7F, -Inf 0xFF, NaN 0x80.
  CHECK(into("binary8p3se,round=rne,overflow=saturate", kInf) == 0x7E);                 // SatFinite
  CHECK(into("binary8p3se,round=rne,overflow=saturate,infinity=inf", kInf) == 0x7F);    // SatPropagate
  CHECK(into("binary8p3se,round=rne,overflow=saturate,infinity=inf", kLarge) == 0x7E);  //
  CHECK(into("binary8p3se,round=rne,overflow=ieee", kLarge) == 0x7F);                   // SatNone
  CHECK(into("binary8p3se,round=rtz,overflow=ieee", kLarge) == 0x7E);                   //
  CHECK(into("binary8p3se,round=rne,overflow=ieee", kMinusInf) == 0xFF);
  CHECK(into("binary8p3se,round=rne,overflow=ieee", 0x80000000) == 0);  // one zero
  CHECK(into("binary8p3se,round=rne,overflow=ieee", 0xFFC00000) == 0x80);
  CHECK(into("binary6p3ue,round=rne,overflow=ieee", 0xBF800000) == 0x3F);  // negative: NaN
  CHECK(into("binary6p3ue,round=rne,overflow=ieee", kInf) == 0x3E);
  CHECK(into("binary6p3ue,round=rne,overflow=nan", kLarge) == 0x3F);
  CHECK(format_named("se5m2,inf-top") == format_named("binary8p3se"));
}

// Section 4.7.5, line by line: extended or not, with a sign or without, in and out of the range.
TEST_CASE("a saturation of P3109 says what is too large, what is infinite and what is below 0, by the format") {
  struct Line {
    std::string_view format, rounding, saturation;
    std::uint32_t f32, code;
  };
  constexpr std::uint32_t kInf = 0x7F800000, kMinusInf = 0xFF800000, kLarge = 0x7F000000, kMinusLarge = 0xFF000000, kMinusOne = 0xBF800000,
                          kMinusTiny = 0x80800000;
  const Line lines[] = {
      // binary8p3se: 0x7E the largest, 0x7F Inf; the negative ones 0xFE, 0xFF.
      {"binary8p3se", "rne", "finite", kInf, 0x7E},
      {"binary8p3se", "rne", "finite", kMinusInf, 0xFE},
      {"binary8p3se", "rne", "propagate", kInf, 0x7F},
      {"binary8p3se", "rne", "propagate", kMinusInf, 0xFF},
      {"binary8p3se", "rup", "propagate", kLarge, 0x7E},
      {"binary8p3se", "rne", "none", kLarge, 0x7F},
      {"binary8p3se", "rdn", "none", kLarge, 0x7E},
      {"binary8p3se", "rdn", "none", kMinusLarge, 0xFF},
      {"binary8p3se", "rup", "none", kMinusLarge, 0xFE},
      {"binary8p3se", "odd", "none", kLarge, 0x7F},  // 0x7E is even
      {"binary8p3se", "odd", "none", kMinusLarge, 0xFF},
      // binary4p2sf: 0x7 the largest, no Inf.
      {"binary4p2sf", "rne", "none", kInf, 0x7},
      {"binary4p2sf", "rne", "none", kLarge, 0x7},
      {"binary4p2sf", "rup", "none", kMinusLarge, 0xF},
      {"binary4p2sf", "rne", "propagate", kMinusInf, 0xF},
      // binary6p3ue: 0x3D the largest, 0x3E Inf, 0x3F NaN.
      {"binary6p3ue", "rne", "finite", kMinusInf, 0},
      {"binary6p3ue", "rne", "propagate", kMinusInf, 0},
      {"binary6p3ue", "rne", "propagate", kInf, 0x3E},
      {"binary6p3ue", "rdn", "propagate", kMinusOne, 0},
      {"binary6p3ue", "rne", "none", kMinusInf, 0x3F},
      {"binary6p3ue", "rup", "none", kMinusInf, 0x3F},
      {"binary6p3ue", "rne", "none", kMinusOne, 0x3F},
      {"binary6p3ue", "rtz", "none", kMinusOne, 0},
      {"binary6p3ue", "rup", "none", kMinusOne, 0},
      {"binary6p3ue", "rne", "none", kMinusTiny, 0},
      {"binary6p3ue", "rdn", "none", kMinusTiny, 0x3F},
      {"binary6p3ue", "odd", "none", kMinusTiny, 0x3F},
      {"binary6p3ue", "odd", "none", kLarge, 0x3D},  // which is odd
      // binary6p3uf: 0x3E the largest, 0x3F NaN.
      {"binary6p3uf", "odd", "none", kLarge, 0x3E},
      {"binary6p3uf", "rne", "none", kInf, 0x3E},
      {"binary6p3uf", "rne", "none", kMinusOne, 0x3F},
      {"binary6p3uf", "rne", "finite", kMinusOne, 0},
  };
  for (const Line& line : lines) {
    const std::string rules = "round=" + std::string(line.rounding) + ",saturation=" + std::string(line.saturation);
    INFO(line.format << " " << rules << " " << line.f32);
    const Format& to = format_named(line.format);
    CHECK(convert(line.f32, kF32, to, conversion(profile_named(rules), kF32, to)) == line.code);
    // The format with its rules says the same, in words of its own.
    const Format& own = format_named(std::string(line.format) + "," + rules);
    CHECK(convert(line.f32, kF32, own, conversion(profile_named(kOcp), kF32, own)) == line.code);
    CHECK(&format_named(own.name) == &own);
  }
  CHECK_THROWS_AS(profile_named("round=rne,saturation=none,overflow=ieee"), Error);
  CHECK_THROWS_AS(profile_named("round=rne,saturation=some"), Error);
}
