// Three faults in one device: what ver names first is borne out by the whole stream, counted here anew, case by case.

#include <algorithm>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "support/random.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::Fit;
using mx::golden::Lanes;
using mx::golden::MutableLanes;
using mx::golden::VectorOp;
using mx::golden::WrongRule;

/// The answer of a rule, or the right one where it has none.
void answer_of(const WrongRule& rule, Lanes operands, Lanes right, MutableLanes answer) {
  try {
    rule.answer(operands, right, answer);
  } catch (const mx::Error&) {
    std::ranges::copy(right, answer.begin());
  }
}

/// Each lane as the first of the faults that changes it has it.
void three_at_once(const std::vector<const WrongRule*>& faults, Lanes operands, Lanes right, MutableLanes results) {
  std::vector<std::uint32_t> other(right.size());
  std::ranges::copy(right, results.begin());
  for (const WrongRule* fault : faults) {
    answer_of(*fault, operands, right, other);
    for (std::size_t i = 0; i < other.size(); ++i) results[i] = results[i] == right[i] ? other[i] : results[i];
  }
}

std::vector<const WrongRule*> drawn(const std::vector<WrongRule>& rules, mx::support::SplitMix64& random) {
  std::vector<const WrongRule*> faults;
  while (faults.size() < 3) {
    const WrongRule* rule = &rules[random.next() % rules.size()];
    const bool says_all = rule->cls == mx::golden::FaultClass::dialect || rule->name == "stuck at zero";
    if (!says_all && std::ranges::find(faults, rule) == faults.end()) faults.push_back(rule);
  }
  return faults;
}

/// Of all vectors: wrong answers, those that the rule gives, and right ones against it.
struct Count {
  int wrong = 0, given = 0, against = 0;
};
Count counted(const VectorOp& op, const WrongRule& rule, const std::vector<const WrongRule*>& faults) {
  Count count;
  std::vector<std::uint32_t> right(mx::golden::lane_count(op.results())), device(right.size()), answer(right.size());
  op.directed([&](Lanes operands) {
    op.evaluate(operands, right);
    three_at_once(faults, operands, right, device);
    answer_of(rule, operands, right, answer);
    count.wrong += device != right ? 1 : 0;
    count.given += device != right && answer == device ? 1 : 0;
    count.against += device == right && answer != device ? 1 : 0;
  });
  return count;
}

struct Asked {
  const char* op;
  std::vector<mx::golden::OpSetting> options;
};

}  // namespace

TEST_CASE("of three faults at once, no cause that most of the stream speaks against is named first") {
  const std::vector<Asked> asked{{"f32_to_e4m3fn", {}},
                                 {"f32_to_e5m2", {{"profile", "ocp-nosat"}, {"flags", "yes"}}},
                                 {"bf16_to_e2m1", {}},
                                 {"fp16_to_e4m3fn", {{"profile", "ocp-rz"}}},
                                 {"e4m3fn_to_f32", {}},
                                 {"scale_mxfp8_e4m3", {}},
                                 {"quantize_mxfp4", {}},
                                 {"quantize_nvfp4", {{"profile", "vllm-nvfp4"}}},
                                 {"dequantize_mxfp4_to_f32", {}},
                                 {"dot_mxfp4_mxfp4", {{"length", "64"}}},
                                 {"dot_e4m3fn_e4m3fn", {{"contract", "hopper-fp8"}, {"operand-c", "yes"}}}};
  constexpr int kDevices = 8;
  mx::support::SplitMix64 random(3);
  int failed = 0, named = 0, planted = 0;
  for (const Asked& one : asked) {
    const auto op = mx::tests::op_with(one.op, one.options);
    const std::vector<WrongRule> rules = op->wrong_rules();
    for (int i = 0; i < kDevices; ++i) {
      const std::vector<const WrongRule*> faults = drawn(rules, random);
      const auto device = [&](Lanes operands, MutableLanes results) {
        std::vector<std::uint32_t> right(results.size());
        op->evaluate(operands, right);
        three_at_once(faults, operands, right, results);
      };
      const auto report = mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, device));
      if (report.mismatched == 0) continue;
      ++failed;
      if (report.explanations.empty() || report.explanations.front().fit() == Fit::in_part) continue;
      const mx::golden::Explanation& first = report.explanations.front();
      ++named;
      planted += std::ranges::any_of(faults, [&](const WrongRule* fault) { return first.name.find(fault->name) != std::string::npos; }) ? 1 : 0;
      INFO(one.op << ": " << faults[0]->name << " | " << faults[1]->name << " | " << faults[2]->name << "\nfirst: " << first.name);
      for (const WrongRule& rule : rules) {
        if (rule.name != first.name) continue;
        const Count count = counted(*op, rule, faults);
        INFO(count.given << " of " << count.wrong << " wrong answers, " << count.against << " right ones against");
        CHECK(2 * count.given >= count.wrong);
        CHECK(16 * count.against <= count.given);
      }
    }
  }
  CHECK(failed > 80);
  CHECK(named * 10 > failed * 9);
  CHECK(planted * 10 > named * 8);
}
