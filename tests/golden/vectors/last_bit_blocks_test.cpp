// Block quantizers and scale rules that lose one bit of an element or of the largest magnitude, and dot products that are added up in another way:
// each fails on the directed vectors of edition v1.1 alone, or is right for a reason that stands here.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "golden/vectors/dot_subject.hpp"
#include "golden/vectors/files/set_rows.hpp"
#include "model/numerics/block.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::Format;
using mx::golden::Lanes;
using mx::golden::VectorOp;

std::uint32_t low_bits(int count) { return (1U << count) - 1U; }

std::uint32_t cut_to(std::uint32_t code, int kept, const Format& from) { return code & ~low_bits(from.mantissa_bits - kept); }

std::uint32_t rounded_to(std::uint32_t code, int kept, const Format& from) {
  const int dropped = from.mantissa_bits - kept;
  return (code + low_bits(dropped - 1) + (code >> dropped & 1U)) & ~low_bits(dropped);
}

using Change = std::uint32_t (*)(std::uint32_t code, int kept, const Format& from);

bool is_finite(std::uint32_t code, const Format& format) { return !mx::is_nan_code(format, code) && !mx::is_inf_code(format, code); }

/// An operation with its directed vectors and the right answers.
struct Unit {
  std::unique_ptr<VectorOp> op;
  std::vector<std::uint32_t> operands, right;

  explicit Unit(const mx::golden::SetRow& row) : op(mx::golden::op_of(row, mx::golden::Edition::v1_1)) {
    std::vector<std::uint32_t> answer(mx::golden::lane_count(op->results()));
    op->directed([&](Lanes lanes) {
      op->evaluate(lanes, answer);
      operands.insert(operands.end(), lanes.begin(), lanes.end());
      right.insert(right.end(), answer.begin(), answer.end());
    });
  }
};

/// Whether a directed vector shows a device that changes the chosen lanes of x before it works rightly. `of_largest`: the lanes of the largest
/// magnitude, else all others.
bool is_caught(const Unit& unit, Change change, int kept, bool of_largest) {
  const VectorOp& op = *unit.op;
  const Format& source = *op.operands().front().format;
  const auto lanes = static_cast<std::size_t>(op.operands().front().lanes);
  const std::uint32_t magnitudes = low_bits(source.width - 1);
  std::vector<std::uint32_t> changed(mx::golden::lane_count(op.operands()));
  std::vector<std::uint32_t> answer(mx::golden::lane_count(op.results()));
  Lanes rights = unit.right;
  for (Lanes rest = unit.operands; !rest.empty(); rest = rest.subspan(changed.size()), rights = rights.subspan(answer.size())) {
    std::ranges::copy(rest.first(changed.size()), changed.begin());
    std::uint32_t largest = 0;
    for (std::uint32_t code : rest.first(lanes)) largest = std::max(largest, code & magnitudes);
    bool any = false;
    for (std::size_t i = 0; i < lanes; ++i) {
      if (((rest[i] & magnitudes) == largest) != of_largest || !is_finite(rest[i], source)) continue;
      const std::uint32_t other = change(rest[i], kept, source);
      if (is_finite(other, source)) changed[i] = other;
      any = any || changed[i] != rest[i];
    }
    if (!any) continue;
    op.evaluate(changed, answer);
    if (!std::ranges::equal(answer, rights.first(answer.size()))) return true;
  }
  return false;
}

/// Exact, of fp32 and narrower formats.
double magnitude(std::uint32_t code, const Format& format) {
  const mx::Value value = mx::decode(format, code);
  return value.cls == mx::ValueClass::finite ? std::ldexp(static_cast<double>(value.significand), value.exponent) : 0.0;
}

/// The code nearest to x * most / largest, ties to even; sums of neighbours are compared, not quotients, and they are exact.
std::uint32_t code_of(std::uint32_t x, const Format& source, double largest, const Format& element) {
  const std::uint32_t most = mx::max_finite_code(element);
  const double over = magnitude(x, source) * magnitude(most, element);
  std::uint32_t code = 0;
  while (code < most) {
    const double middle = (magnitude(code, element) + magnitude(code + 1, element)) / 2 * largest;
    if (over < middle || (over == middle && (code & 1U) == 0)) break;
    ++code;
  }
  return code | (x >> (source.width - 1)) << (element.width - 1);
}

std::string setting(const VectorOp& op, std::string_view key) {
  for (const auto& fact : op.settings()) {
    if (fact.key == key) return fact.value;
  }
  return {};
}

}  // namespace

TEST_CASE("a quantizer that loses a bit of its elements fails on the directed vectors") {
  int tables = 0;
  for (const mx::golden::SetRow& row : mx::golden::all_set_rows()) {
    if (!row.op.starts_with("quantize_") || row.choice.kind != mx::golden::SetKind::directed) continue;
    const Unit unit(row);
    const VectorOp* op = unit.op.get();
    std::string missed;
    for (int kept = 0; kept < op->operands().front().format->mantissa_bits; ++kept) {
      if (!is_caught(unit, cut_to, kept, false)) missed += "keeps " + std::to_string(kept) + " bits; ";
      if (!is_caught(unit, rounded_to, kept, false)) missed += "rounds to " + std::to_string(kept) + " bits first; ";
    }
    INFO(op->name() << " " << setting(*op, "profile"));
    CHECK(missed == "");
    ++tables;
  }
  CHECK(tables > 50);
}

TEST_CASE("a scale rule that loses a bit of the largest magnitude fails on the directed vectors, unless it looks at the exponent alone") {
  int tables = 0;
  for (const mx::golden::SetRow& row : mx::golden::all_set_rows()) {
    if (!row.op.starts_with("scale_")) continue;
    const Unit unit(row);
    const VectorOp* op = unit.op.get();
    const std::string rule = setting(*op, "scale-rule");
    std::string missed;
    for (int kept = 0; kept < op->operands().front().format->mantissa_bits; ++kept) {
      // What is cut off has no part in a floor, and of the nearest only what lies above the middle has.
      const bool cuts_alike = rule == "floor" || rule == "even";
      if (!cuts_alike && !is_caught(unit, cut_to, kept, true)) missed += "keeps " + std::to_string(kept) + " bits; ";
      // "even" is such a rounding itself.
      const bool is_the_rule = rule == "even" && kept == mx::block_format_named(row.op.substr(6)).element->mantissa_bits;
      if (!is_the_rule && !is_caught(unit, rounded_to, kept, true)) missed += "rounds to " + std::to_string(kept) + " bits first; ";
    }
    INFO(op->name() << " " << setting(*op, "profile") << " " << rule);
    CHECK(missed == "");
    ++tables;
  }
  CHECK(tables > 40);
}

TEST_CASE("sums in another order, in groups or cut off fail on the directed vectors, or the formats say why they are the same") {
  int caught = 0;
  for (const char* name : {"dot_mxfp4_mxfp4", "dot_mxfp8_e4m3_mxfp8_e4m3", "dot_mxfp8_e5m2_mxfp8_e5m2", "dot_mxfp8_e4m3_mxfp4", "dot_nvfp4_nvfp4",
                           "dot_mxfp6_e3m2_mxfp6_e3m2", "dot_bf16_bf16", "dot_e4m3fn_e4m3fn"}) {
    for (const char* contract : {"exact", "f32-sequential"}) {
      for (const char* length : {"32", "64", "128"}) {
        const auto op = mx::tests::op_with(name, {{"contract", contract}, {"length", length}});
        const mx::golden::Coverage coverage = mx::golden::directed_coverage(*op);
        for (std::size_t axis = 0; axis < op->axes().size(); ++axis) {
          if (!op->axes()[axis].name.starts_with("told from")) continue;
          INFO(name << " " << contract << " " << length << ": " << op->axes()[axis].name);
          if (coverage.is_hit(axis, 0)) {
            ++caught;
          } else {
            CHECK(op->why_unreachable(axis, 0).find("was found") == std::string::npos);
          }
        }
      }
    }
  }
  CHECK(caught > 500);
}

TEST_CASE("a quantizer whose scale is rounded after the codes were made fails on the directed vectors and is named") {
  int tables = 0;
  for (const mx::golden::SetRow& row : mx::golden::all_set_rows()) {
    if (!row.op.starts_with("quantize_") || row.choice.kind != mx::golden::SetKind::directed) continue;
    const Unit unit(row);
    const VectorOp& op = *unit.op;
    const mx::golden::Column& x = op.operands().front();
    const Format& element = *op.results()[1].format;
    // An fp32 scale is the quotient itself.
    if (op.results()[0].format->mantissa_bits > 7 || element.encoding != mx::Encoding::floating) continue;
    mx::golden::Evidence evidence(op);
    std::vector<std::uint32_t> answer(mx::golden::lane_count(op.results())), mask(answer.size());
    const std::size_t lanes = mx::golden::lane_count(op.operands());
    std::size_t wrong = 0;
    Lanes rights = unit.right;
    for (Lanes rest = unit.operands; !rest.empty(); rest = rest.subspan(lanes), rights = rights.subspan(answer.size())) {
      const Lanes right = rights.first(answer.size());
      std::ranges::copy(right, answer.begin());
      const Lanes block = rest.first(static_cast<std::size_t>(x.lanes));
      double largest = 0;
      for (const std::uint32_t code : block) largest = is_finite(code, *x.format) ? std::max(largest, magnitude(code, *x.format)) : HUGE_VAL;
      if (largest > 0 && largest < HUGE_VAL) {
        for (std::size_t i = 0; i < block.size(); ++i) answer[1 + i] = code_of(block[i], *x.format, largest, element);
      }
      op.mask(rest.first(lanes), right, mask);
      bool is_match = true;
      for (std::size_t i = 0; i < answer.size(); ++i) is_match = is_match && ((answer[i] ^ right[i]) & mask[i]) == 0;
      wrong += is_match ? 0U : 1U;
      evidence.add(rest.first(lanes), right, mask, answer, is_match);
    }
    INFO(op.name() << " " << setting(op, "profile"));
    CHECK(wrong > 0);
    const auto explanations = evidence.explanations();
    const auto named = std::ranges::find(explanations, "codes follow the scale before it was rounded", &mx::golden::Explanation::name);
    REQUIRE(named != explanations.end());
    const auto& first = explanations.front();
    INFO(named->explained << " of " << named->mismatches << ", against " << named->contradicted << " of " << named->matches << "; first "
                          << first.name << ": " << first.explained << ", " << first.contradicted);
    CHECK(named == explanations.begin());
    ++tables;
  }
  CHECK(tables > 40);
}
