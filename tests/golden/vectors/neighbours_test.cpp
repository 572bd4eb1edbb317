// Vectors made for the record that is asked: each neighbour of it fails on the directed set or has a reason, and ver prints the record of a device.

#include <string>
#include <vector>

#include "golden/vectors/dot_neighbours.hpp"
#include "golden/vectors/explain.hpp"
#include "model/error.hpp"
#include "model/numerics/dot.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::Lanes;
using mx::golden::VectorOp;

struct Asked {
  std::string op, contract, length;
  bool c;
};

std::unique_ptr<VectorOp> made(const Asked& asked, const std::string& contract) {
  std::vector<mx::golden::OpSetting> options{{"contract", contract}};
  if (!asked.length.empty()) options.push_back({"length", asked.length});
  if (asked.c) options.push_back({"operand-c", "yes"});
  return mx::tests::op_with(asked.op, options);
}

const Asked kAsked[] = {
    {"dot_bf16_bf16", "step=aligned:cast=bf16:group=8:align=20:keep=20:zero=plus", "", true},
    {"dot_bf16_bf16", "step=aligned:cast=bf16:group=8:align=20:keep=20:zero=plus", "", false},
    {"dot_fp16_fp16", "ampere-f16", "", true},
    {"dot_tf32_tf32", "ampere-tf32", "", true},
    {"dot_bf16_bf16", "blackwell-bf16", "", true},
    {"dot_e4m3fn_e5m2", "ada-fp8", "", true},
    {"dot_e4m3fn_e4m3fn", "hopper-fp8-f16", "64", false},
    {"dot_mxfp8_e4m3_mxfp8_e4m3", "blackwell-mxf8f6f4", "64", true},
    {"dot_nvfp4_nvfp4", "blackwell-nvf4", "128", true},
    {"dot_fp16_fp16", "cdna3-f16", "", true},
    {"dot_e4m3fnuz_e5m2fnuz", "cdna3-fp8", "", true},
    {"dot_bf16_bf16", "cdna2-bf16-1k", "", true},
    {"dot_bf16_bf16", "cdna1-bf16", "", true},
    {"dot_bf16_bf16", "bf16-pair", "64", true},
    {"dot_bf16_bf16", "bf16-pair", "64", false},
    {"dot_mxfp8_e4m3_mxfp4", "bf16-pair", "64", true},
};

std::vector<std::vector<std::uint32_t>> directed(const VectorOp& op) {
  std::vector<std::vector<std::uint32_t>> vectors;
  op.directed([&](Lanes operands) { vectors.emplace_back(operands.begin(), operands.end()); });
  return vectors;
}

std::uint32_t answer_of(const VectorOp& op, Lanes operands) {
  std::uint32_t answer = 0;
  op.evaluate(operands, {&answer, 1});
  return answer;
}

TEST_CASE("each neighbour of a record fails on the record's directed vectors, or a reason says why it is right everywhere") {
  for (const Asked& asked : kAsked) {
    const std::unique_ptr<VectorOp> op = made(asked, asked.contract);
    const auto vectors = directed(*op);
    std::vector<std::uint32_t> right;
    std::vector<std::size_t> by_bins(op->axes().size());
    std::vector<std::uint8_t> bins(op->axes().size());
    for (const auto& operands : vectors) {
      right.push_back(answer_of(*op, operands));
      op->bins(operands, {&right.back(), 1}, bins);
      for (std::size_t axis = 0; axis < bins.size(); ++axis) by_bins[axis] += bins[axis];
    }
    int told = 0, reasons = 0;
    for (std::size_t axis = 0; axis < op->axes().size(); ++axis) {
      const std::string& name = op->axes()[axis].name;
      if (!name.starts_with("told from ") || name.find('=') == std::string::npos) continue;
      const std::string change = name.substr(std::string("told from ").size());
      INFO(asked.op << " " << asked.contract << (asked.c ? " with C: " : ": ") << change);
      // What the coverage calls told is a device of that record that fails there, and the other way round.
      if (asked.contract.find('=') == std::string::npos) {
        const std::unique_ptr<VectorOp> device = made(asked, asked.contract + ":" + change);
        std::size_t by_device = 0;
        for (std::size_t i = 0; i < vectors.size(); ++i) by_device += answer_of(*device, vectors[i]) != right[i] ? 1U : 0U;
        CHECK(by_bins[axis] == by_device);
      }
      const std::string why = op->why_unreachable(axis, 0);
      INFO(why);
      CHECK_FALSE(why.empty());
      if (by_bins[axis] == 0) CHECK(why.find("was found") == std::string::npos);
      (by_bins[axis] > 0 ? told : reasons) += 1;
      // Widths and roundings are always told.
      const bool width = change.starts_with("align=") || change.starts_with("keep=") || change.starts_with("round=");
      if (width && !asked.contract.starts_with("cdna3")) CHECK(by_bins[axis] > 0);
    }
    INFO(asked.op << " " << asked.contract);
    CHECK(told >= 2 * reasons);
  }
}

TEST_CASE("ver prints the record of a device with one other field, and with two") {
  const Asked& asked = kAsked[0];
  const std::unique_ptr<VectorOp> op = made(asked, asked.contract);
  const auto best = [&](const std::string& contract) {
    const std::unique_ptr<VectorOp> device = made(asked, contract);
    mx::golden::Evidence evidence(*op);
    const std::uint32_t all = 0xFFFFFFFFU;
    for (const auto& operands : directed(*op)) {
      const std::uint32_t right = answer_of(*op, operands);
      const std::uint32_t answer = answer_of(*device, operands);
      evidence.add(operands, {&right, 1}, {&all, 1}, {&answer, 1}, answer == right);
    }
    const std::vector<mx::golden::Explanation> found = evidence.explanations();
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().is_whole());
    CHECK(found.front().fit() == mx::golden::Fit::matches);
    return found.front().name;
  };
  for (const std::string other :
       {"step=aligned:cast=bf16:group=8:align=19:keep=20:zero=plus", "step=aligned:cast=bf16:group=8:align=20:keep=21:zero=plus",
        "step=aligned:cast=bf16:group=16:align=20:keep=20:zero=plus", "step=aligned:cast=bf16:group=8:align=20:keep=20:c=last:zero=plus",
        "step=aligned:cast=bf16:group=8:align=20:keep=19:round=nearest:zero=plus", "step=aligned:cast=bf16:group=4:align=21:keep=20:zero=plus"}) {
    INFO(other);
    CHECK(best(other).ends_with(": record " + other));
  }
}

TEST_CASE("a column of C is fp32: contracts with another C have no vectors with one") {
  CHECK_THROWS_WITH(made({"dot_e4m3fn_e4m3fn", "", "", true}, "hopper-fp8-f16"), Catch::Contains("C of contract hopper-fp8-f16 is fp16"));
}

}  // namespace
