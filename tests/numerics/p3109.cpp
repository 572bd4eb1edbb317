// Formats of IEEE P3109 (draft 4.0 of June 2026): every value of the working group's public tables by digest, and conversions as gfloat 0.5.2 has
// them. Formats whose numbers fp32 does not hold are refused.

#include <array>
#include <string>

#include "model/error.hpp"
#include "model/numerics/rules.hpp"
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
