// Each public rule lets pass what its text says and nothing more: outputs just inside and just outside.

#include "props/tolerances.hpp"

#include <limits>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"

namespace {

using mx::props::all_tolerances;

/// Hundred outputs of 10, of which some are wrong by an amount.
bool accepts(std::string_view suite, int wrong, float by) {
  const std::vector<float> expected(100, 10.0F);
  std::vector<float> actual = expected;
  for (int i = 0; i < wrong; ++i) actual[static_cast<std::size_t>(i)] += by;
  for (const mx::props::Tolerance& row : all_tolerances()) {
    if (row.suite == suite) return row.accepts(expected, actual);
  }
  FAIL("no tolerance " << suite);
  return false;
}

}  // namespace

TEST_CASE("a tolerance accepts what is just inside its rule and rejects what is just outside") {
  struct Edge {
    std::string_view suite;
    int wrong;
    float inside, outside;
  };
  // 4.25 is within 0.3 of 14.25, 4.3 is not within 0.3 of 14.3; the sums of squares for 1 - 2xy / (xx + yy) and for decibels by hand.
  constexpr Edge kEdges[] = {{"vllm ocp_mx", 100, 4.25F, 4.3F},
                             {"vllm modular", 1, 0.32F, 0.34F},
                             {"flashinfer trtllm", 100, 8.5F, 8.7F},
                             {"flashinfer cutlass", 100, 0.9F, 1.1F},
                             {"flashinfer cutlass", 1, 2.9F, 3.1F},
                             {"flashinfer fuzzer", 1, 9.9F, 10.1F},
                             {"aiter", 6, 0.1F, 0.12F},
                             {"deepgemm fp8", 100, 0.44F, 0.47F},
                             {"deepgemm fp4", 100, 2.1F, 2.4F},
                             {"torchao mxfp8", 100, 0.55F, 0.57F},
                             {"torchao mxfp4", 100, 2.5F, 2.53F},
                             {"bits", 1, 0.0F, 1e-6F}};
  for (const Edge& edge : kEdges) {
    INFO(edge.suite);
    CHECK(accepts(edge.suite, edge.wrong, edge.inside));
    CHECK_FALSE(accepts(edge.suite, edge.wrong, edge.outside));
  }
}

TEST_CASE("a share of wrong outputs passes where the rule has one") {
  CHECK(accepts("vllm ocp_mx", 20, 1000));
  CHECK_FALSE(accepts("vllm ocp_mx", 21, 1000));
  CHECK(accepts("flashinfer trtllm", 20, 1000));
  CHECK_FALSE(accepts("flashinfer trtllm", 21, 1000));
  CHECK(accepts("aiter", 5, 1000));
  CHECK_FALSE(accepts("aiter", 6, 1000));
}

TEST_CASE("no tolerance accepts outputs that are not numbers") {
  for (const mx::props::Tolerance& row : all_tolerances()) {
    INFO(row.suite);
    CHECK_FALSE(accepts(row.suite, 100, std::numeric_limits<float>::quiet_NaN()));
  }
}
