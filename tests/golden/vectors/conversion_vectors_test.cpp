// Sets and coverage of conversions: what the directed set reaches is what can be reached, held against all inputs of 16-bit sources.

#include <string>
#include <vector>

#include "golden/vectors/conversion_op.hpp"
#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::Coverage;
using mx::golden::VectorOp;
using mx::tests::coverage_of;
using mx::tests::missed;

}  // namespace

TEST_CASE("of every conversion from 16 bits, under every profile, the directed set meets every bin that any input meets") {
  int conversions = 0;
  for (const mx::Profile& profile : mx::all_profiles()) {
    for (const mx::Format& from : mx::all_formats()) {
      if (from.width != 16) continue;
      for (const mx::Format& to : mx::all_formats()) {
        const mx::Conversion* how = mx::find_conversion(profile, from, to);
        if (from == to || how == nullptr || how->nan_rule == mx::NanRule::refused || how->random_bits != 0 || how->before != mx::Preparation{} ||
            mx::reads_source_bits(how->rounding))
          continue;
        const auto op = mx::tests::op_with(std::string(from.name) + "_to_" + std::string(to.name), {{"profile", std::string(profile.name)}});
        INFO(op->name() << " " << profile.name);
        CHECK(missed(*op, coverage_of(*op, {mx::golden::SetKind::exhaustive}), coverage_of(*op, mx::tests::kDirected)) == "");
        ++conversions;
      }
    }
  }
  CHECK(conversions >= 250);
}

TEST_CASE("a bin of fp32's rounding that the directed set misses has a reason in the rules, and a million random inputs do not meet it") {
  int conversions = 0;
  for (const mx::Profile& profile : mx::all_profiles()) {
    for (const mx::Format& to : mx::all_formats()) {
      const mx::Conversion* how = mx::find_conversion(profile, mx::kF32, to);
      if (to == mx::kF32 || how == nullptr || how->nan_rule == mx::NanRule::refused || how->before != mx::Preparation{} ||
          mx::reads_source_bits(how->rounding))
        continue;
      const auto op = mx::tests::op_with("f32_to_" + std::string(to.name), {{"profile", std::string(profile.name)}});
      const Coverage directed = coverage_of(*op, mx::tests::kDirected);
      const Coverage random = coverage_of(*op, {mx::golden::SetKind::random, 7, 20000});
      INFO(op->name() << " " << profile.name);
      CHECK(missed(*op, random, directed) == "");
      const mx::golden::ConversionSubject subject{&mx::kF32, &to, *how, "", false, mx::golden::FlagSet::none};
      std::string without_reason;
      for (std::size_t bin = 0; bin < mx::golden::RoundingCell::kCount; ++bin) {
        if (directed.is_hit(0, bin)) continue;
        if (mx::golden::why_no_cell(mx::golden::RoundingCell::at(bin), subject).empty()) without_reason += op->axes()[0].bins[bin] + "; ";
      }
      CHECK(without_reason == "");
      ++conversions;
    }
  }
  CHECK(conversions >= 150);
}

TEST_CASE("a reason is given for no bin that is met") {
  for (const mx::Profile& profile : mx::all_profiles()) {
    for (const mx::Format& from : mx::all_formats()) {
      for (const mx::Format& to : mx::all_formats()) {
        const mx::Conversion* how = mx::find_conversion(profile, from, to);
        if (from == to || how == nullptr || how->nan_rule == mx::NanRule::refused || how->before != mx::Preparation{} ||
            mx::reads_source_bits(how->rounding))
          continue;
        const auto op = mx::tests::op_with(std::string(from.name) + "_to_" + std::string(to.name), {{"profile", std::string(profile.name)}});
        const Coverage directed = coverage_of(*op, mx::tests::kDirected);
        const mx::golden::ConversionSubject subject{&from, &to, *how, "", false, mx::golden::FlagSet::none};
        std::string wrong;
        for (std::size_t bin = 0; bin < mx::golden::RoundingCell::kCount; ++bin) {
          const std::string why = mx::golden::why_no_cell(mx::golden::RoundingCell::at(bin), subject);
          if (directed.is_hit(0, bin) && !why.empty()) wrong += op->axes()[0].bins[bin] + ": " + why + "; ";
        }
        INFO(op->name() << " " << profile.name);
        CHECK(wrong == "");
      }
    }
  }
}

TEST_CASE("directed vectors hold the known decisions of e4m3") {
  // OFP8 1.0: 464 is the tie above the largest value, 2^-10 the tie below the smallest; both sides of each must be there.
  const std::vector<std::uint32_t> codes = mx::golden::directed_codes(mx::kF32, mx::kE4m3fn);
  for (std::uint32_t code : {0x43E80000U, 0x43E7FFFFU, 0x43E80001U, 0x3A800000U, 0x3A7FFFFFU, 0x3A800001U, 0x7F800000U, 0xFF800000U, 0x7FC00000U,
                             0x7F800001U, 0x80000000U, 0x00000001U, 0x43E00000U}) {
    INFO(std::hex << code);
    CHECK(std::ranges::count(codes, code) == 1);
  }
}

TEST_CASE("options choose a profile, and a choice that does not fit is refused by name") {
  using mx::golden::op_named;
  const auto setting = [](const VectorOp& op, std::string_view key) {
    for (const auto& fact : op.settings()) {
      if (fact.key == key) return fact.value;
    }
    return std::string();
  };
  CHECK(setting(*op_named("f32_to_e4m3", {}), "profile") == "ocp");
  CHECK(op_named("F32_to_e4m3", {})->name() == "f32_to_e4m3fn");
  CHECK(setting(*mx::tests::op_with("f32_to_e4m3fn", {{"rounding", "toward_zero"}}), "profile") == "ocp-rz");
  CHECK(setting(*mx::tests::op_with("f32_to_e5m2", {{"rounding", "toward_positive"}, {"overflow", "inf"}}), "profile") == "ocp-ru-nosat");
  const auto refused = [](std::string_view name, std::vector<mx::golden::OpSetting> options, const std::string& part) {
    INFO(name << ": " << part);
    CHECK_THROWS_WITH(mx::tests::op_with(name, std::move(options)), Catch::Matchers::Contains(part));
  };
  refused("f32_to_e4m3x", {}, "unknown format 'e4m3x'");
  refused("quantise_mxfp4", {}, "did you mean quantize_mxfp4?");
  refused("f32_to_e4m3fn", {{"profile", "ocp"}, {"rounding", "toward_zero"}}, "not as asked");
  refused("f32_to_e4m3fn", {{"rounding", "nearest_evn"}}, "did you mean nearest_even?");
  refused("f32_to_e4m3fn", {{"contract", "exact"}}, "takes no --contract");
  refused("f32_to_e4m3fn", {{"flush", "all"}}, "unknown flush 'all'");
  refused("f32_to_e4m3fn", {{"nan", "any"}}, "'any' is neither free nor exact");
  refused("f32_to_e2m1", {{"profile", "gfloat-ties-to-even"}}, "refuses NaNs");
  refused("quantize_nvfp4", {}, "does not define a recipe for nvfp4");
  refused("dot_mxfp4_mxfp4", {{"length", "33"}}, "not a multiple of the block of 32");
  refused("dot_e2m1_e2m1", {{"contract", "hopper-fp8"}}, "operand a is e2m1");
  refused("address_sf_128x4", {{"shape", "128"}}, "is not ROWSxCOLUMNS");
}

TEST_CASE("random sets come from their seed, exhaustive ones hold every code once") {
  const auto op = mx::golden::op_named("f32_to_bf16", {});
  const auto drawn = [&](std::uint64_t seed) {
    mx::golden::VectorSet set(*op, {mx::golden::SetKind::random, seed, 100});
    std::vector<std::uint32_t> all, one(1);
    while (set.next(one)) all.push_back(one[0]);
    return all;
  };
  CHECK(drawn(1) == drawn(1));
  CHECK(drawn(1) != drawn(2));
  CHECK(drawn(1).size() == 100);
  const auto small = mx::golden::op_named("e5m2_to_f32", {});
  mx::golden::VectorSet set(*small, {mx::golden::SetKind::exhaustive});
  std::vector<std::uint32_t> one(1);
  for (std::uint32_t code = 0; code < 256; ++code) {
    REQUIRE(set.next(one));
    CHECK(one[0] == code);
  }
  CHECK_FALSE(set.next(one));
  CHECK_THROWS_WITH(mx::golden::VectorSet(*op, {mx::golden::SetKind::exhaustive}), Catch::Matchers::Contains("mxact sweep"));
  CHECK_THROWS_WITH(mx::golden::VectorSet(*op, {mx::golden::SetKind::random}), Catch::Matchers::Contains("--count is required"));
  CHECK_THROWS_WITH(mx::golden::VectorSet(*op, {mx::golden::SetKind::directed, 1, 5}), Catch::Matchers::Contains("--count 5"));
}
