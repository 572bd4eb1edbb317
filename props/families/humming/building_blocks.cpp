// Humming's repack by its closed formula, and its orders of scales and biases. Source: spec layouts 8.3.

#include <array>
#include <vector>

#include "props/families/block_formula.hpp"
#include "props/families/humming/family.hpp"
#include "props/families/memory_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::BlockRequest;

/// The values of one lane, in the order of its list: places relative to its tile of 64 rows and its slab.
std::vector<Spot> values_of(std::int64_t a, std::int64_t th, bool transposed) {
  const std::int64_t st = 32 / a;
  std::vector<Spot> values;
  for (std::int64_t i2 = 0; i2 < 16 / a; ++i2) {
    for (std::int64_t i3 = 0; i3 < a / 4; ++i3) {
      for (std::int64_t outer = 0; outer < 2; ++outer) {
        for (std::int64_t inner = 0; inner < 2; ++inner) {
          const std::int64_t i4 = transposed ? inner : outer;
          const std::int64_t i5 = transposed ? outer : inner;
          for (std::int64_t i6 = 0; i6 < st; ++i6) {
            values.push_back({4 * a * i2 + 16 * i3 + 8 * i4 + th / 4, 128 / a * i5 + th % 4 * st + i6});
          }
        }
      }
    }
  }
  return values;
}

struct Padded {
  std::int64_t rows;
  std::int64_t cols;
};
Padded padded_of(const BlockRequest& r) {
  return {r.param("padded_n") == 0 ? r.rows : r.param("padded_n"), r.param("padded_k") == 0 ? r.cols : r.param("padded_k")};
}

/// hardware 14.7: the word at row 2y + i, column 64 W T + 32 W j + th W + q goes to row y, column 32 W (4T + 2j + q / hb) + th W + i hb + q % hb.
Memory with_k_packed(const Memory& from, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t kW = 4;
  constexpr std::int64_t kHalf = kW / 2;
  constexpr std::int64_t kUnits = 8;  // of a word
  const std::int64_t columns = rows * kW;
  const std::int64_t words = columns * cols / 32;
  Memory to = from;
  for (std::size_t unit = 0; unit < from.sources.size(); ++unit) {
    const auto place = static_cast<std::int64_t>(unit) / kUnits;
    const std::int64_t word = place % words;
    const std::int64_t row = word / columns;
    const std::int64_t column = word % columns;
    const std::int64_t tile = column / (64 * kW);
    const std::int64_t j = column / (32 * kW) % 2;
    const std::int64_t th = column / kW % 32;
    const std::int64_t q = column % kW;
    const std::int64_t packed = row / 2 * 2 * columns + 32 * kW * (4 * tile + 2 * j + q / kHalf) + th * kW + row % 2 * kHalf + q % kHalf;
    to.sources[static_cast<std::size_t>((place - word + packed) * kUnits) + unit % kUnits] = from.sources[unit];
  }
  return to;
}

/// The sign bits alone follow the order of units, u <- (u % 2) * 4 + u / 2; magnitudes stand by value.
Memory signs_apart(const Memory& units) {
  Memory bits = refined(units, 1);
  const Memory in_order = bits;
  for (std::size_t bit = 0; bit < bits.sources.size(); ++bit) {
    const std::size_t value = bit % 32 / 4;
    if (bit % 4 == 3) continue;
    bits.sources[bit] = in_order.sources[bit / 32 * 32 + (value % 4 * 2 + value / 4) * 4 + bit % 4];
  }
  return bits;
}

Memory repack(const BlockRequest& r) {
  const std::int64_t a = r.param("activation_bits");
  const std::int64_t w = r.param("weight_bits");
  const std::int64_t st = 32 / a;
  const std::int64_t per_word = 32 / w;
  const std::int64_t kb = 256 / a;
  const Padded size = padded_of(r);
  std::vector<std::vector<Spot>> lanes;
  for (std::int64_t th = 0; th < 32; ++th) lanes.push_back(values_of(a, th, r.param("transpose_mini_block") != 0));
  std::vector<Spot> spots(static_cast<std::size_t>(size.rows * size.cols));
  for (std::int64_t slab = 0; slab < size.cols / kb; ++slab) {
    for (std::int64_t tile = 0; tile < size.rows / 64; ++tile) {
      for (std::int64_t th = 0; th < 32; ++th) {
        const std::vector<Spot>& values = lanes[static_cast<std::size_t>(th)];
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); ++i) {
          const std::int64_t number = i / per_word;  // the lane's word number is jj*W + q
          const std::int64_t word = kb * 64 * tile * w / 32 + 32 * w * (number / w) + th * w + number % w;
          const std::int64_t unit = i % per_word;
          const Spot& value = values[static_cast<std::size_t>(number * per_word + unit % (per_word / st) * st + unit / (per_word / st))];
          const std::int64_t slab_units = size.rows * kb;
          spots[static_cast<std::size_t>(slab * slab_units + word * per_word + unit)] = {64 * tile + value.row, kb * slab + value.col};
        }
      }
    }
  }
  Memory memory =
      gathered(r, r.unit_bits, size.rows * size.cols, Layout::kPadZero, [&](std::int64_t p) { return spots[static_cast<std::size_t>(p)]; });
  if (r.param("packed_k") != 0) memory = with_k_packed(memory, size.rows, size.cols);
  return r.param("fused_scale") != 0 ? signs_apart(memory) : memory;
}

Memory flat(const BlockRequest& r) {
  const Padded size = padded_of(r);
  return gathered(r, r.unit_bits, size.rows * size.cols, Layout::kPadZero, [&](std::int64_t p) {
    return Spot{p / 16 % size.rows, p / 16 / size.rows * 16 + p % 16};
  });
}

bool takes_repack(const BlockRequest& r) {
  const Padded size = padded_of(r);
  return size.rows % 64 == 0 && size.cols % (512 / r.param("activation_bits")) == 0 && size.rows >= r.rows && size.cols >= r.cols;
}

template <int weight_bits, std::int64_t activation_bits>
void draw_repack(BlockRequest& r) {
  constexpr std::int64_t kPairOfSlabs = 512 / activation_bits;
  r.unit_bits = weight_bits;
  r.params["weight_bits"] = weight_bits;
  r.params["activation_bits"] = activation_bits;
  r.params["transpose_mini_block"] = pick(0, 1);
  const bool may_fuse = weight_bits == 4 && activation_bits == 8;
  r.params["packed_k"] = may_fuse ? pick(0, 1) : 0;
  r.params["fused_scale"] = may_fuse ? pick(0, 1) : 0;
  if (r.params["packed_k"] + r.params["fused_scale"] > 0) r.params["transpose_mini_block"] = 0;  // of wgmma without fused scales
  const bool pads = pick(0, 1) == 1;
  r.rows = pick_near(pads ? 1 : 64, 64);
  r.cols = pick_near(pads ? 1 : kPairOfSlabs, kPairOfSlabs);
  r.params["padded_n"] = pads ? round_up(r.rows, 64) : 0;
  r.params["padded_k"] = pads ? round_up(r.cols, kPairOfSlabs) : 0;
}

/// One list of all batches, in blocks; spot(i) is the i-th of a batch.
template <class SpotOf>
Memory in_blocks(const BlockRequest& r, std::int64_t (*source)(std::int64_t), SpotOf spot) {
  Memory memory{r.unit_bits, {}};
  const std::int64_t units = r.rows * r.cols;
  for (std::int64_t p = 0; p < r.batch * units; ++p) {
    const Spot from = spot(source(p) % units);
    memory.sources.push_back(source(p) / units * units + from.row * r.cols + from.col);
  }
  return memory;
}

constexpr std::array<BlockFormula, 8> kFormulas{{
    {"humming.repack.w4a16", draw_repack<4, 16>, takes_repack, repack},
    {"humming.repack.w4a8", draw_repack<4, 8>, takes_repack, repack},
    {"humming.repack.w4a4", draw_repack<4, 4>, takes_repack, repack},
    {"humming.repack.w8a16", draw_repack<8, 16>, takes_repack, repack},
    {"humming.repack.w8a8", draw_repack<8, 8>, takes_repack, repack},
    {"humming.flat.w8a8", draw_repack<8, 8>, takes_repack, flat},
    {"humming.scale",
     [](BlockRequest& r) {
       r.unit_bits = static_cast<int>(pick_of({8, 16}));
       r.params["to_apply_on_c"] = pick(0, 1);
       const bool runs_on = pick(0, 3) == 0;  // rows that are no whole blocks
       r.rows = runs_on ? 16 * pick(1, 9) : pick_near(64, 64);
       r.cols = runs_on ? 4 : pick(1, 9);
     },
     [](const BlockRequest& r) { return r.batch * r.rows * r.cols % (r.param("to_apply_on_c") == 1 ? 32 : 64) == 0; },
     [](const BlockRequest& r) {
       return in_blocks(r, r.param("to_apply_on_c") == 1 ? block_of_32 : block_of_64, [&](std::int64_t i) { return Spot{i % r.rows, i / r.rows}; });
     }},
    {"humming.bias",
     [](BlockRequest& r) {
       r.unit_bits = static_cast<int>(pick_of({16, 32}));
       r.rows = pick_near(32, 64);
       r.cols = pick(1, 3);
     },
     [](const BlockRequest& r) { return r.batch * r.rows * r.cols % 32 == 0; },
     [](const BlockRequest& r) { return in_blocks(r, block_of_32, [&](std::int64_t i) {
                                   return Spot{i / r.cols, i % r.cols};
                                 }); }},
}};

}  // namespace

constinit const std::span<const BlockFormula> kHummingBlocks{kFormulas};

}  // namespace mx::props
