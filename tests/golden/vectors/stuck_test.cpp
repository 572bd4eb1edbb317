// Devices of which one result never moves: the code is named, and no constant difference.

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::CheckReport;
using mx::golden::FaultClass;
using mx::golden::Lanes;
using mx::golden::MutableLanes;

struct Stuck {
  const char* op;
  std::size_t first;  ///< lane from which the answer has that code alone
  std::uint32_t code;
  FaultClass cls;
  const char* name;
};

}  // namespace

TEST_CASE("a result that has one code whatever goes in is stuck at it") {
  for (const Stuck& stuck : {Stuck{"quantize_mxfp4", 1, 0, FaultClass::value, "elems stuck at 0x0"},
                             Stuck{"quantize_mxfp8_e4m3", 1, 0x7E, FaultClass::value, "elems stuck at 0x7e"},
                             Stuck{"scale_mxfp4", 0, 0x7F, FaultClass::scale, "scale stuck at 0x7f"}}) {
    const auto op = mx::tests::op_with(stuck.op, {});
    const auto answers = [&](Lanes operands, MutableLanes results) {
      op->evaluate(operands, results);
      std::ranges::fill(results.subspan(stuck.first), stuck.code);
    };
    const CheckReport report = mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, answers));
    INFO(stuck.name);
    REQUIRE_FALSE(report.explanations.empty());
    const mx::golden::Explanation& first = report.explanations.front();
    CHECK(first.name == stuck.name);
    CHECK(first.cls == stuck.cls);
    CHECK(first.fit() == mx::golden::Fit::matches);
    CHECK(first.is_whole());
    CHECK(
        std::ranges::none_of(report.explanations, [](const mx::golden::Explanation& one) { return one.name.starts_with("a constant difference"); }));
  }
}
