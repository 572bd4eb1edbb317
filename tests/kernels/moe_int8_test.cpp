// int8-block at the ends of the words that kernels sum its products in.

#include <string>
#include <vector>

#include "kernels/moe/gemm.hpp"
#include "tests/catch.hpp"

using namespace mx;
using namespace mx::kernels;
using namespace mx::kernels::moe;

namespace {
constexpr std::size_t kK = 64;
}

TEST_CASE("int8-block sums the largest products of either sign without loss") {
  // By the numbers themselves: codes of e2m1 are 6 or -6, activations a multiple of 1/64, scales 1.
  std::size_t held = 0;
  for (const GemmKernel& kernel : gemm_kernels()) {
    if (kernel.contract != Contract::int8_block || (kernel.needs & ~isa_of_processor()) != 0) continue;
    const bool nvfp4 = kernel.kind == PanelKind::nvfp4;
    const PanelFormat& format = panel_format_of(nvfp4 ? layout::WeightFormat::nvfp4 : layout::WeightFormat::mxfp4);
    const std::vector<float> one{1};
    for (const int code : {0x77, 0xFF}) {  // two of them in a byte
      const std::vector<std::uint8_t> codes(kK / 2, static_cast<std::uint8_t>(code));
      const std::vector<std::uint8_t> scales(kK / (nvfp4 ? 16 : 32), static_cast<std::uint8_t>(nvfp4 ? 0x38 : 127));
      const PanelMatrix panels =
          pack({.experts = 1, .halves = 1, .columns = 1, .k = kK}, format, layout::SourceOrder::standard,
               {.codes = codes, .scales = scales, .expert_scales = nvfp4 ? std::span<const float>(one) : std::span<const float>(), .bias = {}});
      for (const int x : {-128, 127}) {
        const float expected = static_cast<float>(x) / 64 * (code == 0x77 ? 6.0F : -6.0F) * kK;
        for (const std::size_t rows : {1U, 2U, 3U, 6U, 7U, 8U}) {
          const std::vector<std::int8_t> rows_of_x(rows * kK, static_cast<std::int8_t>(x));
          const std::vector<std::uint8_t> row_scales(rows * kK / 32, 127);
          std::vector<float> out(rows);
          gemm(kernel, panels, 0, Int8Rows{rows_of_x, row_scales}, out, 1);
          INFO(kernel.name << ", " << x << " times codes " << code << ", " << rows << " rows");
          for (const float sum : out) CHECK(sum == expected);
          ++held;
        }
      }
    }
  }
  CHECK(held >= 48);
}
