// Every family of operations: sets without repetitions, right devices that pass, wrong devices that are found and named.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/moe/activation.hpp"
#include "tests/catch.hpp"
#include "tests/counts.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::CheckReport;
using mx::golden::CheckVerdict;
using mx::golden::OpOptions;
using mx::golden::VectorOp;

struct Asked {
  std::string name;
  std::vector<mx::golden::OpSetting> options;
};

/// At least one operation of every family, and each shape of columns.
const std::vector<Asked>& asked() {
  static const std::vector<Asked> kAsked{
      {"f32_to_e4m3fn", {}},
      {"f32_to_e8m0", {{"profile", "cuda-e8m0-rp"}}},
      {"f32_to_e4m3fnuz", {{"profile", "hip-stochastic"}}},
      {"fp16_to_e3m2", {{"flags", "yes"}, {"flush", "both"}}},
      {"e2m1_to_bf16", {}},
      {"scale_mxfp4", {}},
      {"scale_mxfp8_e4m3", {{"profile", "torchao-rceil@36027d8"}, {"from", "bf16"}}},
      {"scale_nvfp4", {{"profile", "torchao-nvfp4"}}},
      {"quantize_mxfp4", {}},
      {"quantize_mxfp6_e2m3", {{"profile", "torchao-floor@36027d8"}}},
      {"quantize_mxint8", {{"from", "bf16"}}},
      {"quantize_nvfp4", {{"profile", "vllm-nvfp4"}}},
      {"quantize_block=8,element=e2m1,scale=ue5m3",
       {{"profile", "block=8,element=(e2m1,round=rna,overflow=saturate,nan=7),scale=ue5m3,rule=quotient,factor=quotient"}}},
      {"quantize_awq,block=16", {}},
      {"quantize_torchao-int4,block=8", {}},
      {"dequantize_compressed-tensors-int4-asym,block=8,scale=bf16_to_bf16", {}},
      {"Divide<Binary4p2sf,Binary4p2sf,Binary8p3se,(TowardZero,SatNone)>", {}},
      {"CompareLess<Binary8p3se,Binary4p2sf>", {}},
      {"dequantize_block=8,element=e3m2,scale=ue5m3_to_bf16", {}},
      {"dequantize_mxfp4_to_bf16", {}},
      {"dequantize_nvfp4_to_f32", {{"profile", "vllm-nvfp4"}}},
      {"product_e2m1_e4m3fn", {}},
      {"add_e3m2", {{"profile", "round=rna,overflow=saturate,nan=0"}}},
      {"sub_fp16", {{"profile", "ieee"}, {"flags", "ieee"}}},
      {"mul_e3m2,ieee_to_f32", {{"profile", "ieee"}, {"flags", "ieee"}}},
      {"fma_e5m2", {{"profile", "riscv"}, {"flags", "ieee"}}},
      {"div_bf16", {{"profile", "ieee"}, {"flags", "ieee"}}},
      {"sqrt_f32", {{"profile", "ieee"}, {"flags", "ieee"}}},
      {"minimum-number_e3m2,ieee", {{"profile", "ieee"}, {"nan", "free"}}},
      {"fma_e2m1_e3m2_e4m3fn_to_e4m3fn", {{"profile", "riscv"}, {"flags", "ieee"}}},
      {"mul_e2m1_fp16_to_e4m3fn", {}},
      {"quiet-less_e3m2,ieee", {{"flags", "ieee"}}},
      {"signalling-not-greater_e4m3fn_f32", {{"flags", "ieee"}}},
      {"f32_to_i32,round=rtz,overflow=riscv", {{"flags", "ieee"}}},
      {"f32_to_u8", {}},
      {"e5m2_to_q4.12", {{"flags", "ieee"}}},
      {"f32_to_i64,round=rne,overflow=x86", {{"flags", "ieee"}}},
      {"i64_to_f32", {{"profile", "ieee"}, {"flags", "ieee"}}},
      {"u32_to_e5m2", {{"profile", "ieee"}}},
      {"i8_to_e4m3fn", {}},
      {"dot_mxfp4_mxfp4", {}},
      {"dot_mxfp4_mxfp8_e4m3", {{"contract", "bf16-chain"}, {"length", "64"}}},
      {"dot_e4m3fn_e5m2", {{"contract", "hopper-fp8"}}},
      {"dot_mxfp4_mxfp4", {{"operand-c", "yes"}}},
      {"dot_bf16_mxfp4", {{"contract", "bf16-chain"}, {"operand-c", "yes"}}},
      {"dot_bf16_mxfp4", {{"contract", "bf16-pair"}, {"length", "64"}, {"operand-c", "yes"}}},
      {"dot_e4m3fn_e4m3fn", {{"contract", "hopper-fp8-promoted"}, {"length", "256"}, {"operand-c", "yes"}}},
      {"address_sf_128x4", {{"shape", "256x8"}}},
      {"element_sf_128x4", {{"shape", "100x6"}}},
      {"activation_swiglu_oai", {}},
      {"activation_silu_and_mul", {{"type", "bf16"}}},
      {"moe_layer", {}},
  };
  return kAsked;
}

std::unique_ptr<VectorOp> op_of(const Asked& one) { return mx::golden::op_named(one.name, OpOptions(one.options)); }

}  // namespace

TEST_CASE("every family is asked for, and its names make operations of these names") {
  for (const mx::golden::OpFamily& family : mx::golden::all_op_families()) {
    INFO(family.name);
    CHECK(std::ranges::any_of(asked(), [&](const Asked& one) { return op_of(one)->family() == family.name; }));
    const std::vector<std::string> names = family.names();
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    for (const std::string& name : names) {
      INFO(name);
      // A name that the standard choices do not fit says what would.
      std::string made, refusal;
      try {
        made = mx::golden::op_named(name, {})->name();
      } catch (const mx::Error& error) {
        CHECK(error.code() == mx::ErrorCode::usage);
        refusal = error.what();
      }
      CHECK((made == name || refusal.size() > 20));
    }
  }
}

TEST_CASE("a right device passes on the directed set, each vector once, with all reachable bins met") {
  for (const Asked& one : asked()) {
    const auto op = op_of(one);
    INFO(op->name());
    std::set<std::vector<std::uint32_t>> seen;
    std::size_t count = 0;
    op->directed([&](mx::golden::Lanes operands) {
      seen.emplace(operands.begin(), operands.end());
      ++count;
    });
    CHECK(count >= 16);
    // Some directed blocks coincide; most do not.
    CHECK(seen.size() * 10 >= count * 9);
    const CheckReport report =
        mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, mx::tests::right_device(*op)));
    CHECK(report.verdict == CheckVerdict::passed);
    CHECK(report.checked == count);
    for (const auto& axis : report.coverage) {
      INFO(axis.name);
      CHECK(axis.hit == axis.reachable);
      CHECK(axis.missed.empty());
      CHECK(axis.reachable + axis.unreachable.size() == axis.total);
      // A narrow source may have none of the target's points; a floor looks at no bit of the mantissa; small formats have one sum in any order.
      CHECK((axis.reachable > 0 || axis.name == "point" || axis.name.starts_with("told from") || axis.name.starts_with("lowest source bit")));
      for (const auto& [bin, reason] : axis.unreachable) CHECK_FALSE(reason.empty());
    }
  }
}

TEST_CASE("random vectors meet no bin that the directed set misses") {
  for (const Asked& one : asked()) {
    const auto op = op_of(one);
    INFO(op->name());
    const mx::golden::SetChoice random{mx::golden::SetKind::random, 11, op->family() == "moe" ? 50U : 5000U};
    CHECK(mx::tests::missed(*op, mx::tests::coverage_of(*op, random), mx::tests::coverage_of(*op, mx::tests::kDirected)) == "");
  }
}

TEST_CASE("a right device passes on random vectors") {
  for (const Asked& one : asked()) {
    const auto op = op_of(one);
    INFO(op->name());
    const mx::golden::SetChoice choice{mx::golden::SetKind::random, 3, op->family() == "moe" ? 10U : 500U};
    CHECK(mx::tests::check(*op, choice, mx::tests::stream_of(*op, choice, mx::tests::right_device(*op))).verdict == CheckVerdict::passed);
  }
}

TEST_CASE("a device that follows a wrong rule fails, and a rule that gives the same answers is named first") {
  mx::tests::EveryNth picked(7);
  for (const Asked& one : asked()) {
    const auto op = op_of(one);
    for (const mx::golden::WrongRule& rule : op->wrong_rules()) {
      if (!picked()) continue;
      INFO(op->name() << ": " << rule.name);
      const auto device = [&](mx::golden::Lanes operands, mx::golden::MutableLanes results) {
        std::vector<std::uint32_t> right(results.size());
        op->evaluate(operands, right);
        try {
          rule.answer(operands, right, results);
        } catch (const mx::Error&) {
          std::ranges::copy(right, results.begin());
        }
      };
      const CheckReport report = mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, device));
      if (report.mismatched == 0) continue;  // under these choices the rule says the same
      CHECK(report.verdict == CheckVerdict::failed);
      REQUIRE_FALSE(report.explanations.empty());
      const auto& first = report.explanations.front();
      CHECK(first.explained == first.mismatches);
      CHECK(first.contradicted == 0);
    }
  }
}

TEST_CASE("answers late by one vector are recognized") {
  const auto op = mx::golden::op_named("bf16_to_e4m3fn", {});
  std::uint32_t last = 0;
  const auto device = [&](mx::golden::Lanes operands, mx::golden::MutableLanes results) {
    std::vector<std::uint32_t> right(1);
    op->evaluate(operands, right);
    results[0] = std::exchange(last, right[0]);
  };
  const CheckReport report = mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, device));
  REQUIRE_FALSE(report.explanations.empty());
  CHECK(report.explanations.front().name == "answers late by one vector");
  CHECK(report.explanations.front().explained == report.explanations.front().mismatches);
}

TEST_CASE("what a layer answers on its way fits together") {
  const auto op = mx::golden::op_named("moe_layer", {});
  std::vector<std::uint32_t> results(mx::golden::lane_count(op->results()));
  const auto columns = op->results();
  REQUIRE(columns.size() == 5);
  REQUIRE(columns[2].name == "gate_up");
  REQUIRE(columns[3].name == "act");
  const auto half = static_cast<std::size_t>(columns[3].lanes) / 2;  // rows of gate, and of up, of each of two experts
  const std::size_t gates = 4;
  const std::size_t acts = gates + 4 * half;
  int vectors = 0;
  op->directed([&](mx::golden::Lanes operands) {
    op->evaluate(operands, results);
    CHECK(results[0] != results[1]);
    for (std::size_t slot = 0; slot < 2; ++slot) {
      for (std::size_t i = 0; i < half; ++i) {
        const std::uint32_t gate = results[gates + 2 * half * slot + i];
        const std::uint32_t up = results[gates + 2 * half * slot + half + i];
        CHECK(results[acts + half * slot + i] == mx::moe::swiglu_oai(gate, up, {}));
      }
    }
    ++vectors;
  });
  CHECK(vectors >= 16);
}

TEST_CASE("known answers from the documents") {
  const auto answer = [](const char* name, std::vector<std::uint32_t> operands) {
    const auto op = mx::golden::op_named(name, {});
    std::vector<std::uint32_t> results(mx::golden::lane_count(op->results()));
    op->evaluate(operands, results);
    return results;
  };
  // OFP8 1.0: 448 is 0x7E, 1 is 0x38. MX 1.0 section 5.3.3: 6 is code 7.
  CHECK(answer("f32_to_e4m3fn", {0x43E00000}) == std::vector<std::uint32_t>{0x7E});
  CHECK(answer("f32_to_e2m1", {0x40C00000}) == std::vector<std::uint32_t>{7});
  // MX 1.0 section 6.3: amax 12 = 1.5 * 2^3 with emax 2 gives 2^1.
  CHECK(answer("scale_mxfp4", {0x41400000}) == std::vector<std::uint32_t>{128});
  // 1.5 * 6 = 9.
  CHECK(answer("product_e2m1_e2m1", {3, 7}) == std::vector<std::uint32_t>{0x41100000});
  // The 128x4 tile: (r % 32) * 16 + (r / 32) * 4 + c % 4; row 33, column 5 of 256x8 lies in the second tile.
  CHECK(answer("address_sf_128x4", {33, 5}) == std::vector<std::uint32_t>{512 + 16 + 4 + 1});
}
