// Pictures: every cell, line and bar that the data asks for, as files that stand alone.

#include <string>

#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"
#include "tests/verbs/report/markup.hpp"
#include "tests/verbs/report/sample_runs.hpp"

namespace {

using namespace mx::tests;
using mx::tests::refuses;
using mx::verbs::as_file;
using mx::verbs::picture_of;

std::string picture(Json json) { return as_file(picture_of(named("run.json", std::move(json)))); }

}  // namespace

TEST_CASE("every picture is one file, for light and dark") {
  for (const Json& json : {verify_json(), bench_json(), study_json(), formats_json(), codes_json(), quantize_json(), layout_json(), coverage_json(),
                           needs_json(), rules_json(), line_json(), diff_json(), power_json()}) {
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

TEST_CASE("a comparison: a dot for each kernel, green where the comparison is right about it, its tolerance as a line") {
  const std::string svg = picture(power_json());
  CHECK(times(svg, "class=\"passed\"") == 2 + 1);
  CHECK(times(svg, "class=\"failed\"") == 1 + 1);
  CHECK(times(svg, "<line class=\"axis\"") == 1);
  CHECK(times(svg, "every output is 0: 0.5, passes") == 1);
  CHECK(times(svg, "every output is NaN: no number, fails") == 1);
  Json measured = power_json();
  measured["power"]["unit"] = "by the measure";
  CHECK(times(picture(measured), "<line class=\"axis\"") == 0);
  Json none = power_json();
  none.erase("power");
  CHECK(refuses(mx::ErrorCode::input, "no comparison was held", [&] { picture(none); }));
  Json below = power_json();
  below["power"]["wrong"][0]["error"] = -1;
  CHECK(refuses(mx::ErrorCode::input, "must be an error of 0 or more", [&] { picture(below); }));
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

TEST_CASE("bins of golden vectors: a bar for each family and axis, its tables together") {
  const std::string svg = picture(coverage_json());
  CHECK(times(svg, ">3 of 4 reachable, 2 tables</text>") == 1);
  CHECK(times(svg, ">all 2 reachable, 1 tables</text>") == 1);
  // Of 6 bins of cast/rounding 3 are hit: half of 420 pixels, and two thirds are reachable.
  CHECK(times(svg, "class=\"first-fill\"") == 2 + 1);
  CHECK(times(svg, "width=\"210\"") == 1);
  CHECK(times(svg, "width=\"280\"") == 1);
  Json none = vectors_json();
  CHECK(refuses(mx::ErrorCode::input, "says nothing of bins", [&] { picture(none); }));
}

TEST_CASE("the constraint matrix: a mark for each need of each kernel") {
  const std::string svg = picture(needs_json());
  // The legend has one of each.
  CHECK(times(svg, "class=\"on-mistrusted\"") == 1 + 1);
  CHECK(times(svg, "class=\"on-failed\"") == 1 + 1);
  CHECK(times(svg, "class=\"on-unmodelled\"") == 1 + 1);
  CHECK(times(svg, "class=\"on-refused\"") == 1 + 0);
  CHECK(times(svg, "class=\"blank\"") == 2 * 2);
  CHECK(times(svg, ">sizes</text>") == 1);
  CHECK(times(svg, "H divides by 64; otherwise: it raises") == 1);
}

TEST_CASE("scale rules: a strip for each, cut where the scale changes") {
  const std::string svg = picture(rules_json());
  CHECK(times(svg, ">2^-2</text>") == 2);
  CHECK(times(svg, ">2^-1</text>") == 1);
  CHECK(times(svg, ">from 1.5</text>") == 1);
  CHECK(times(svg, ">all the way</text>") == 1);
  // The whole of 480 pixels, and two halves.
  CHECK(times(svg, "width=\"480\"") == 1);
  CHECK(times(svg, "width=\"240\"") == 2);
}

TEST_CASE("the error along the real line: a box for each bin that has another height") {
  const std::string svg = picture(line_json());
  CHECK(times(svg, "class=\"third-fill\"") == 1);
  CHECK(times(svg, "class=\"first-fill\"") == 3);
  CHECK(times(svg, "e2m1: up to 12.5 % from 1 on") == 1);
  Json few = line_json();
  few["formats"][0]["worst"].erase(0);
  CHECK(refuses(mx::ErrorCode::input, "has 3 bins, not 2 for each of 2 powers of two", [&] { picture(few); }));
}

TEST_CASE("two layouts: what both hold at an address is blank in both") {
  // 8 x 8 scales: in tiles of 8 x 4 they fill 64 addresses, in tiles of 128 x 4 they need 1024.
  const std::string svg = picture(diff_json());
  CHECK(times(svg, ">a: memory, 64 addresses of 8 bits</text>") == 1);
  CHECK(times(svg, ">b: memory, 1024 addresses of 8 bits</text>") == 1);
  // off = row * 4 + column in one, row * 16 + column in the other: the first row of the first tile lies at 0..3 in both.
  CHECK(times(svg, "fill=\"url(#same)\"") == 2 * 4 + 1);
  Json equal = diff_json();
  equal["b"] = equal["a"];
  CHECK(times(picture(equal), "fill=\"url(#same)\"") == 2 * 64 + 1);
}

TEST_CASE("scales of a checkpoint: a bar for each power of two, as high as its share of the most") {
  const std::string svg = picture(inspect_json());
  CHECK(times(svg, "class=\"first-fill\"") == 4);
  // Of 200 the highest has 60 pixels, so 20 have 6 and 76 have 22.
  CHECK(times(svg, "height=\"60\"") == 2);
  CHECK(times(svg, "height=\"6\"") == 1);
  CHECK(times(svg, "height=\"22\"") == 1);
  CHECK(refuses(mx::ErrorCode::input, "is -1, must be above 0", [] { picture(with(inspect_json(), "/groups/0/scales/0/binades/2/exponent", -1)); }));
  CHECK(
      refuses(mx::ErrorCode::input, "is 5000, must be above", [] { picture(with(inspect_json(), "/groups/0/scales/0/binades/2/exponent", 5000)); }));
  CHECK(refuses(mx::ErrorCode::input, "there is nothing to draw", [] { picture(with(inspect_json(), "/groups", Json::array())); }));
}

TEST_CASE("deployments: a number for each that was executed") {
  const std::string svg = picture(sim_json());
  CHECK(times(svg, ">30.5</text>") == 1);
  CHECK(times(svg, ">2</text>") == 1);
  CHECK(times(svg, ">XPU</text>") == 0);
}

TEST_CASE("long names are cut between letters") {
  CHECK(mx::support::shortened("abc", 3) == "abc");
  CHECK(mx::support::shortened("abcd", 3) == "abc\u2026");
  CHECK(mx::support::shortened("\u00e4\u00f6\u00fc", 2) == "\u00e4\u00f6\u2026");
}

TEST_CASE("a run without a picture says which have one") {
  CHECK(refuses(mx::ErrorCode::usage, "a run of mxact-doctor/1 has no picture of its own (these have: mxact-verify", [] { picture(doctor_json()); }));
  Json bench = bench_json();
  bench["benchmarks"] = Json::array({bench["benchmarks"][5]});
  CHECK(refuses(mx::ErrorCode::input, "there is nothing to draw", [&] { picture(bench); }));
}

TEST_CASE("speed over the number of rows has a bar for each number, and is asked for by name") {
  Json bench = bench_json();
  bench["benchmarks"] = Json::array();
  const auto add = [&](const std::string& name, double rate) {
    bench["benchmarks"].push_back({{"name", name}, {"run_name", name}, {"repetitions", 1}, {"real_time", 1.0}, {"rate", rate}});
  };
  add("moe_gemm/ours/w:mxfp4/N:64/M:1/threads:1", 1e9);
  add("moe_gemm/ours/w:mxfp4/N:64/M:16/threads:1", 4e9);
  add("moe_gemm/peer/w:bf16/N:64/M:16/threads:1", 2e9);
  add("moe_layer/ours/tokens:8/threads:1/manual_time", 3e9);
  const auto speed = [&] { return mx::verbs::as_file(mx::verbs::picture_of(mx::verbs::run_of("bench.json", bench), "speed")); };
  const std::string picture = speed();
  // A full bar has 30 pixels; the slower ones their share of it.
  for (const char* part : {"moe_gemm N:64 threads:1", ">ours w:mxfp4<", ">peer w:bf16<", "height=\"30\"", "height=\"15\"", "height=\"8\"", ">4 G/s<",
                           ">2 G/s<", ">1 G/s<"}) {
    INFO(part);
    CHECK(picture.find(part) != std::string::npos);
  }
  CHECK(picture.find("moe_layer") == std::string::npos);
  bench["benchmarks"].erase(0);
  CHECK(refuses(mx::ErrorCode::input, "there is nothing to draw", speed));
  const mx::verbs::Run verify = mx::verbs::run_of("verify.json", verify_json());
  CHECK(refuses(mx::ErrorCode::usage, "one picture at most", [&] { mx::verbs::picture_of(verify, "speed"); }));
}
