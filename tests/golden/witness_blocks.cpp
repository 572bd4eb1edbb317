// Sets of quantized blocks and tensors: parameters that are optional, that must matter, and that no model covers.

#include "tests/golden/changes.hpp"

namespace mx::golden::test {
namespace {

TEST_CASE("an FP8 tensor's scales: a block is needed where nothing else says how long it is", "[witness]") {
  // Codes of 119 rows of 128, and their scales.
  check("fp8_scaled", "e4m3fn.row.torchao",
        {{"as written", [](Json&) {}, 0, "15351 values"},
         {"no block", [](Json& e) { e["params"].erase("block"); }, 0, "15351 values"},
         {"a block that is not the row", [](Json& e) { e["params"]["block"] = 64; }, 3, "rows of 128, block 64"},
         {"a block of nothing", [](Json& e) { e["params"]["block"] = 0; }, 5, "'block' is 0, outside 1..1048576"},
         {"no scale format", [](Json& e) { e["params"].erase("scale_format"); }, 5, "params has no 'scale_format'"},
         {"a granularity that takes the scale", [](Json& e) { e["params"]["granularity"] = "static"; }, 5, "granularity static with scale rule"}});
  check("fp8_scaled", "e4m3fn.group64.torchao",
        {{"as written", [](Json&) {}, 0, "15470 values"},
         {"no block", [](Json& e) { e["params"].erase("block"); }, 5, "granularity group without a block"}});
  check("fp8_scaled", "e4m3fn.tensor.torchao",
        {{"as written", [](Json&) {}, 0, "15233 values"},
         {"a block", [](Json& e) { e["params"]["block"] = 128; }, 0, "15233 values"},
         {"a block of nothing", [](Json& e) { e["params"]["block"] = 0; }, 5, "'block' is 0, outside 1..1048576"}});
  check("fp8_scaled", "e4m3fn.static.torchao",
        {{"as written", [](Json&) {}, 0, "15232 values"},
         {"a block", [](Json& e) { e["params"]["block"] = 128; }, 0, "15232 values"},
         {"no scale", [](Json& e) { e["params"].erase("scale"); }, 5, "params has no 'scale'"}});
}

TEST_CASE("a block's entry with a parameter missing is unmodelled", "[witness]") {
  check("block32", "f32.e2m1.floor.torchao_cpu",
        {{"as written", [](Json&) {}, 0, "values"},
         {"no block", [](Json& e) { e["params"].erase("block"); }, 5, "params has no 'block'"},
         {"no rule", [](Json& e) { e["params"].erase("scale_rule"); }, 5, "params has no 'scale_rule'"}});
}

}  // namespace
}  // namespace mx::golden::test
