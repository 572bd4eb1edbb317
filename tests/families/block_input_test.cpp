// What converters ask of a tensor before its sizes. Expected refusals: spec of the converters' assertions ("swizzle_blockscale expects the input
// tensor to be in torch.float8_e4m3fn format", "Expected a 2-D or 3-D tensor for block scales", "Input dtype must be uint8 or bfloat16", "scale must
// be a 2D tensor", "weight must be 3D").

#include "model/families/block_input.hpp"

#include <algorithm>

#include "model/families/value_block.hpp"
#include "tests/catch.hpp"

namespace {

using mx::families::broken_inputs;

std::string quantities(std::string_view block, std::string_view version, std::int64_t rank, std::string_view dtype) {
  std::string text;
  for (const mx::families::BlockNeed& need : broken_inputs(block, version, rank, dtype))
    text += (text.empty() ? "" : " ") + std::string(need.quantity);
  return text;
}

TEST_CASE("axes and dtypes that converters refuse", "[layout]") {
  struct Case {
    std::string_view block, version;
    std::int64_t rank;
    std::string_view dtype, quantities;
  };
  const Case cases[] = {
      {"sf_128x4", "vllm-2026-08", 2, "float8_e4m3fn", ""},
      {"sf_128x4", "vllm-2026-08", 3, "uint8", "dtype"},
      {"sf_128x4", "vllm-2026-08", 4, "float8_e4m3fn", "rank"},
      {"sf_128x4", "vllm-2026-08", 1, "float32", "dtype rank"},
      {"sf_128x4", "flashinfer-2026-08", 1, "bfloat16", ""},
      {"sf_128x4", "flashinfer-2026-08", 2, "float8_e4m3fn", "dtype"},
      {"aiter.shuffle_scale_a16w4", "aiter-2026-08", 3, "uint8", "rank"},
      {"cutlass_sm90_mixed.weight.fp4", "flashinfer-2026-08", 2, "uint8", "rank"},
      {"cutlass_sm90_mixed.weight.fp4", "flashinfer-2026-08", 3, "float8_e4m3fn", "dtype"},
      {"triton.StridedLayout", "triton_kernels-3.5", 5, "float64", ""},
  };
  for (const Case& one : cases) {
    INFO(one.block << " " << one.version << " " << one.rank << " " << one.dtype);
    CHECK(quantities(one.block, one.version, one.rank, one.dtype) == one.quantities);
  }
}

TEST_CASE("rules of inputs belong to known blocks and say something", "[layout]") {
  for (const mx::families::BlockInput& row : mx::families::all_block_inputs()) {
    INFO(row.block);
    const auto versions_of = [&](const auto& rows) {
      std::vector<std::string_view> versions;
      for (const auto& known : rows) {
        if (known.name == row.block) versions.insert(versions.end(), known.versions.begin(), known.versions.end());
      }
      return versions;
    };
    std::vector<std::string_view> versions = versions_of(mx::families::all_building_blocks());
    const std::vector<std::string_view> of_values = versions_of(mx::families::all_value_blocks());
    versions.insert(versions.end(), of_values.begin(), of_values.end());
    CHECK_FALSE(versions.empty());
    CHECK((row.version.empty() || std::ranges::find(versions, row.version) != versions.end()));
    CHECK_FALSE((row.ranks.empty() && row.dtypes.empty()));
    CHECK_FALSE((row.why.empty() || row.source.symbol.empty() || row.source.commit.size() != 40U));
  }
}

}  // namespace
