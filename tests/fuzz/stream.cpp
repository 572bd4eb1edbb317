// A device's stream: nothing but the whole set with right answers passes.

#include "golden/vectors/checker.hpp"
#include "golden/vectors/families.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto op = mx::golden::op_named("e2m1_to_bf16", {});
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
    mx::golden::StreamChecker checker(*op, mx::golden::VectorSet(*op, {.kind = mx::golden::SetKind::directed}), 4, false);
    // The bytes come in two parts: a line may be cut anywhere.
    const std::string_view text = mx::tests::text_of(data, size);
    checker.take(text.substr(0, size / 2));
    checker.take(text.substr(size / 2));
    const mx::golden::CheckReport report = checker.finish();
    const bool passed = report.verdict == mx::golden::CheckVerdict::passed;
    mx::tests::require(!passed || (report.checked == report.expected && report.mismatched == 0), "a pass has checked every vector");
  });
  return 0;
}
