// Numbers typed at the door are rounded once. Expected codes: the numbers of the reports beside them, worked out by hand from the neighbours in the
// target.

#include <string>
#include <vector>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "verbs/numbers/codes_document.hpp"
#include "verbs/numbers/numbers.hpp"
#include "verbs/quantize/quantize_document.hpp"

namespace {

using namespace mx::verbs;

struct TypedCase {
  const char* format;
  const char* text;
  const char* value;
  bool inexact;
};

/// The one result of encode.
Json result_of(const char* format, const std::string& text, const std::string& source = "f32") {
  EncodeRequest request;
  request.format = format;
  request.source = source;
  request.values = {text};
  return body_json(encode_document(request))["results"][0];
}

}  // namespace

TEST_CASE("what is typed is rounded once, into the target") {
  const TypedCase cases[] = {
      // jax-ml/ml_dtypes#401: 16973823 lies 65535 above 16908288 and 65537 below 17039360, its neighbours in bf16.
      {"bf16", "16973823", "16908288", true},
      {"bf16", "-16973823", "-16908288", true},
      // Above -432, the midpoint of -416 and -448.
      {"e4m3fn", "-431.99999999999994", "-416", true},
      {"e4m3fn", "-432", "-448", true},
      // The midpoint of 2048 and 2050 is 2049.
      {"fp16", "2049.0000000001", "2050", true},
      {"fp16", "2049", "2048", true},
      {"fp16", "2048.9999999999", "2048", true},
      // Beyond 2^24 every second integer is no fp32: the tie goes to even.
      {"f32", "16777217", "16777216", true},
      {"f32", "16777217.000001", "16777218", true},
      {"f32", "16777218", "16777218", false},
      // The midpoints of 192 and 208, and of 0 and 0.5.
      {"e4m3fn", "200.000001", "208", true},
      {"e4m3fn", "200", "192", true},
      {"e2m1", "0.250000001", "0.5", true},
      {"e2m1", "0.25", "0", true},
      // Hexadecimal floats; without a point or an exponent they are bits.
      {"e4m3fn", "0x1p-3", "0.125", false},
      {"e4m3fn", "0x1.8p-3", "0.1875", false},
      {"e4m3fn", "-0x1.900000001p7", "-208", true},
      {"e4m3fn", "0x3f800000", "1", false},
      {"e4m3fn", "inf", "448", true},
  };
  for (const TypedCase& one : cases) {
    INFO(one.format << " " << one.text);
    const Json result = result_of(one.format, one.text);
    CHECK(result["value"].text() == one.value);
    if (std::string(one.text) != "inf") CHECK((result["flags"].text().find("inexact") != std::string::npos) == one.inexact);
  }
}

TEST_CASE("random digits around midpoints go to the side that they lie on") {
  // Midpoints of neighbours in bf16 with 30 more digits behind: up for every tail but zeros, to even without one.
  std::uint64_t state = 7;
  for (int i = 0; i < 200; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto low = static_cast<std::uint32_t>(128 + (state >> 40U) % 128);
    const double midpoint = low + 0.5;
    const std::string plain = std::to_string(low) + ".5";
    INFO(plain << " " << midpoint);
    CHECK(result_of("bf16", plain)["value"].text() == std::to_string(low % 2 == 0 ? low : low + 1));
    CHECK(result_of("bf16", plain + "000000000000000000000001")["value"].text() == std::to_string(low + 1));
    CHECK(result_of("bf16", std::to_string(low) + ".499999999999999999999999")["value"].text() == std::to_string(low));
  }
}

TEST_CASE("a block says which of its numbers was rounded into the source") {
  const auto notes_of = [](const std::string& first) {
    std::vector<std::string> words(32, "1");
    words.front() = first;
    const mx::verbs::QuantizeRequest request{&mx::profile_named("ocp"), &mx::block_format_named("mxfp4"), &mx::kF32, 1, {}, {}};
    const Json said = body_json(quantize_document(request, words, mx::verbs::scale_layout_named("linear")));
    return said.contains("notes") ? said["notes"].dump() : std::string();
  };
  CHECK(notes_of("16777217").find("16777217 is 16777216, the nearest") != std::string::npos);
  CHECK(notes_of("0x1.000001p24").find("is 16777216") != std::string::npos);
  CHECK(notes_of("16777216").empty());
  CHECK(notes_of("0x4b800000").empty());
}

TEST_CASE("a source of few bits takes no number that it does not hold, however near") {
  CHECK(mx::verbs::parse_code("1.5", mx::kBf16) == 0x3FC0);
  CHECK(mx::verbs::parse_code("-0", mx::kBf16) == 0x8000);
  CHECK(mx::verbs::parse_code("inf", mx::kBf16) == 0x7F80);
  for (const char* text : {"1.00000000000000000001", "0.1", "257.5"}) CHECK_THROWS_AS(mx::verbs::parse_code(text, mx::kBf16), mx::Error);
}
