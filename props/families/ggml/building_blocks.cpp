// ggml's memory. Source: facts on numerics 4, ggml-common.h block_mxfp4, block_nvfp4, ggml-cpu/repack.cpp.

#include <array>

#include "props/families/block_formula.hpp"
#include "props/families/ggml/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::BlockRequest;
using layout::Layout;

/// No place of the matrix.
Spot nowhere(const BlockRequest& r) { return {r.rows, 0}; }

/// Nibbles of blocks of `size` elements in groups, whose first `scales` bytes are of the scales.
Memory codes(const BlockRequest& r, std::int64_t scales, std::int64_t size, std::int64_t group) {
  const std::int64_t stride = 2 * scales + size, blocks = 2 * r.cols / size;
  return gathered(r, 4, r.rows * blocks * stride, Layout::kPadUnwritten, [&](std::int64_t p) {
    const std::int64_t row = p / (blocks * stride), block = p / stride % blocks, nibble = p % stride - 2 * scales;
    if (nibble < 0) return nowhere(r);
    const std::int64_t byte = nibble / 2 % (group / 2), element = block * size + nibble / group * group + byte + nibble % 2 * (group / 2);
    return Spot{row, element / 2, element % 2};
  });
}

Memory scales(const BlockRequest& r, std::int64_t count, std::int64_t bytes) {
  const std::int64_t blocks = r.cols / count;
  return gathered(r, 8, r.rows * blocks * bytes, Layout::kPadUnwritten, [&](std::int64_t p) {
    if (p % bytes >= count) return nowhere(r);
    return Spot{p / (blocks * bytes), p / bytes % blocks * count + p % bytes};
  });
}

Memory repacked(const BlockRequest& r) {
  const std::int64_t n = r.param("rows_together"), blocks = r.cols / 17;
  return gathered(r, 8, r.rows * r.cols, Layout::kPadUnwritten, [&](std::int64_t p) {
    const std::int64_t group = p / (n * r.cols), block = p / (17 * n) % blocks, in = p % (17 * n);
    if (in < n) return Spot{group * n + in, 17 * block};
    const std::int64_t chunk = (in - n) / n, byte = (in - n) % n;
    return Spot{group * n + chunk % n, 17 * block + 1 + n * (chunk / n) + byte};
  });
}

void draw_bytes(BlockRequest& r, std::int64_t step) {
  r.unit_bits = 8;
  r.rows = pick(1, 9);
  r.cols = step * pick(1, 6);
}

bool takes_all(const BlockRequest&) { return true; }

constexpr std::array<BlockFormula, 5> kFormulas{{
    {"ggml.block_mxfp4.codes", [](BlockRequest& r) { draw_bytes(r, 16); }, [](const BlockRequest& r) { return r.cols % 16 == 0; },
     [](const BlockRequest& r) { return codes(r, 1, 32, 32); }},
    {"ggml.block_mxfp4.scales", [](BlockRequest& r) { draw_bytes(r, 1); }, takes_all, [](const BlockRequest& r) { return scales(r, 1, 17); }},
    {"ggml.block_nvfp4.codes", [](BlockRequest& r) { draw_bytes(r, 32); }, [](const BlockRequest& r) { return r.cols % 32 == 0; },
     [](const BlockRequest& r) { return codes(r, 4, 64, 16); }},
    {"ggml.block_nvfp4.scales", [](BlockRequest& r) { draw_bytes(r, 4); }, [](const BlockRequest& r) { return r.cols % 4 == 0; },
     [](const BlockRequest& r) { return scales(r, 4, 36); }},
    {"ggml.repack_mxfp4",
     [](BlockRequest& r) {
       draw_bytes(r, 17);
       r.params["rows_together"] = pick_of({4, 8});
       r.rows = r.param("rows_together") * pick(1, 4);
     },
     [](const BlockRequest& r) {
       const std::int64_t n = r.param("rows_together");
       return (n == 4 || n == 8) && r.rows % n == 0 && r.cols % 17 == 0;
     },
     repacked},
}};

constinit const std::span<const BlockFormula> kBlocks{kFormulas};

}  // namespace

constinit const FamilyFormulas kGgmlFormulas{.name = "ggml", .backends = {}, .blocks = &kBlocks};

}  // namespace mx::props
