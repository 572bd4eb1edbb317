// Pictures: every cell, line and bar that the data asks for, as files that stand alone.

#include <string>

#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"
#include "tests/report/markup.hpp"
#include "tests/report/sample_runs.hpp"

namespace {

using namespace mx::tests;
using mx::golden::as_file;
using mx::golden::picture_of;
using mx::test::refuses;

std::string picture(Json json) { return as_file(picture_of(named("run.json", std::move(json)))); }

}  // namespace

TEST_CASE("every picture is one file, for light and dark") {
  for (const Json& json : {verify_json(), bench_json(), study_json(), formats_json(), codes_json(), quantize_json(), layout_json()}) {
    const std::string svg = picture(json);
    INFO(svg.substr(0, 300));
    CHECK(is_well_formed(svg));
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(svg.find("prefers-color-scheme:dark") != std::string::npos);
    for (const char* outside : {"href=", "src=", "@import", "<script"}) CHECK(svg.find(outside) == std::string::npos);
  }
}

TEST_CASE("the verdicts: a mark for each cell, a frame for each choice of the engine") {
  const std::string svg = picture(failed_verify_json());
  // The legend has one of each mark, and a framed one that passed.
  CHECK(times(svg, ">\u2713</text>") == 1 + 2);
  CHECK(times(svg, ">\u2717</text>") == 2 + 1);
  CHECK(times(svg, ">\u2013</text>") == 1 + 1);
  CHECK(times(svg, "class=\"own\"") == 3 + 1);
  CHECK(times(svg, ">no backend</text>") == 1);
}

TEST_CASE("number lines: a line for each positive value") {
  const std::string svg = picture(formats_json());
  // OCP MX 1.0: e2m1 has 0.5 and six normal values. OFP8: e4m3fn has 7 subnormal and 15 * 8 - 1 normal values. e8m0 from 2^-17 to 2^16: 34.
  // The legend has one of each; f32 is too wide.
  CHECK(times(svg, "<line class=\"second\"") == 1 + 7 + 1);
  CHECK(times(svg, "<line class=\"first\"") == 6 + 119 + 34 + 1);
  CHECK(times(svg, ">f32</text>") == 0);
  CHECK(times(svg, ">0.5 to 6</text>") == 1);
  CHECK(times(svg, ">2^-9 to 448</text>") == 1);
  CHECK(times(svg, ">2^-127 to 2^127</text>") == 1);
  CHECK(times(svg, ">2 zeros, no Inf, 2 NaN</text>") == 1);
}

TEST_CASE("a code map: the value of every code") {
  const std::string svg = picture(codes_json());
  for (const char* value : {"0", "0.5", "1", "1.5", "2", "3", "4", "6"}) {
    INFO(value);
    CHECK(times(svg, std::string(">") + value + "</text>") == 1);
    CHECK(times(svg, std::string(">-") + value + "</text>") == 1);
  }
  // 0.5 and -0.5 are subnormal.
  CHECK(times(svg, "class=\"second-fill\"") == 2);
}

TEST_CASE("a quantized block: input, code and what it stands for") {
  const std::string svg = picture(quantize_json());
  CHECK(times(svg, "element 0: 2 becomes 0x2 = 2, error 0") == 2);
  CHECK(times(svg, "element 1: -13 becomes 0xf = -12, error 1") == 2);
  CHECK(times(svg, ">block 0: scale 0x80 = 2</text>") == 1);
  Json wide = quantize_json();
  wide["blocks"][0]["elements"] = Json::array();
  CHECK(refuses(mx::ErrorCode::input, "a picture shows blocks with codes", [&] { picture(wide); }));
}

TEST_CASE("the heat map: a number and a colour for each combination") {
  const std::string svg = picture(study_json());
  CHECK(times(svg, ">18.5</text>") == 1);
  CHECK(times(svg, ">19.25</text>") == 1);
  CHECK(times(svg, "saturated 1 %, flushed 20 %") == 1);
  CHECK(times(svg, "tiny") == 0);
  // The lowest and the highest have the ends of the scale.
  CHECK(times(svg, "#440154") == 1);
  CHECK(times(svg, "#fde725") == 1);
}

TEST_CASE("deployments: a number for each that was executed") {
  const std::string svg = picture(sim_json());
  CHECK(times(svg, ">30.5</text>") == 1);
  CHECK(times(svg, ">2</text>") == 1);
  CHECK(times(svg, ">XPU</text>") == 0);
}

TEST_CASE("long names are cut between letters") {
  CHECK(mx::golden::shortened("abc", 3) == "abc");
  CHECK(mx::golden::shortened("abcd", 3) == "abc\u2026");
  CHECK(mx::golden::shortened("\u00e4\u00f6\u00fc", 2) == "\u00e4\u00f6\u2026");
}

TEST_CASE("a run without a picture says which have one") {
  CHECK(refuses(mx::ErrorCode::usage, "a run of mxact-doctor/1 has no picture of its own (these have: mxact-verify", [] { picture(doctor_json()); }));
  Json bench = bench_json();
  bench["benchmarks"] = {bench["benchmarks"][5]};
  CHECK(refuses(mx::ErrorCode::input, "there is nothing to draw", [&] { picture(bench); }));
}
