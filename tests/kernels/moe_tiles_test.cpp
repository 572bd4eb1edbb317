// AMX: plain tiles are the contract, the processor's are plain ones, and a tier that cannot run says why.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/isa.hpp"
#include "kernels/moe/gemm.hpp"
#include "kernels/moe/pair_tiles.hpp"
#include "kernels/moe/plain_tiles.hpp"
#include "model/error.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/moe_kernels.hpp"
#include "tests/numerics/pair_inputs.hpp"
#include "tests/skip.hpp"

using namespace mx;
using namespace mx::kernels;
using namespace mx::kernels::moe;
using namespace mx::tests;

namespace {

/// Outputs that were compared, and the first that differs.
struct Compared {
  std::size_t outputs = 0;
  std::string different;
};

std::uint32_t pair_of(const std::array<std::uint32_t, 2 * kMostPairs>& codes, std::size_t pair) {
  return codes[2 * pair] | codes[2 * pair + 1] << 16;
}

/// 16 rows of sums by both halves of a panel: row i has the factors a of the i-th sum, column j the factors b of the j-th one.
void hold_tile(const Inputs& inputs, Draw& draw, std::size_t height, Compared& compared) {
  std::vector<Sum> sums;
  for (std::size_t i = 0; i < kPanelColumns; ++i) sums.push_back(drawn(inputs, draw, kMostPairs));
  std::vector<std::uint32_t> rows, weights(kBlockPairs * kPanelColumns), totals;
  for (std::size_t m = 0; m < height; ++m) {
    for (std::size_t pair = 0; pair < kBlockPairs; ++pair) rows.push_back(pair_of(sums[m].a, pair));
    totals.insert(totals.end(), kPanelColumns, sums[m].c);
  }
  for (std::size_t n = 0; n < kPanelColumns; ++n) {
    for (std::size_t pair = 0; pair < kBlockPairs; ++pair) weights[pair * kPanelColumns + n] = pair_of(sums[n].b, pair);
  }
  std::vector<float> found(totals.size());
  std::memcpy(found.data(), totals.data(), totals.size() * sizeof(float));
  PlainTiles tiles;
  const TwoTiles tile{0, height, 0};
  tiles.shape(tile.shapes());
  multiply_stretch<false>(tiles, tile, 1, weights.data(), rows.data(), nullptr, found.data(), [](std::size_t) {});
  for (std::size_t m = 0; m < height; ++m) {
    for (std::size_t n = 0; n < kPanelColumns; n += 5) {
      Sum one = sums[m];
      one.b = sums[n].b;
      const std::uint32_t model = modelled(one);
      const auto bits = std::bit_cast<std::uint32_t>(found[m * kPanelColumns + n]);
      ++compared.outputs;
      if (bits != model && !(f32::is_nan(bits) && f32::is_nan(model))) compared.different = f32::text(bits) + ", model " + f32::text(model);
    }
  }
}

}  // namespace

TEST_CASE("plain tiles compute bf16-pair, of every height") {
  for (const Inputs& inputs : pair_inputs()) {
    INFO(inputs.what);
    Draw draw(11);
    Compared compared;
    for (std::size_t height = 1; height <= kTileOfRows; ++height) hold_tile(inputs, draw, height, compared);
    CHECK(compared.different == "");
    CHECK(compared.outputs == 7 * 136);
  }
}

TEST_CASE("plain tiles sum signed bytes as integers do, wrapping at 32 bits") {
  constexpr std::size_t kBlock = kernels::moe::kScaleBlock;
  std::array<std::int8_t, kTileOfRows * kBlock> rows;
  std::array<std::int8_t, kBlock * 16> weights;  // [quad of K][column][4]
  std::array<std::int32_t, kTileOfRows * 16> sums;
  Draw draw(5);
  for (std::int8_t& byte : rows) byte = static_cast<std::int8_t>(static_cast<int>(draw.below(256)) - 128);
  for (std::int8_t& byte : weights) byte = static_cast<std::int8_t>(static_cast<int>(draw.below(256)) - 128);
  for (std::int32_t& sum : sums) sum = INT32_MAX - static_cast<std::int32_t>(draw.below(1000));
  TileShapes shapes;
  shapes.set(0, kTileOfRows, kTileBytes);
  shapes.set(4, kTileOfRows, kBlock);
  shapes.set(6, kBlock / 4, kTileBytes);
  PlainTiles tiles;
  tiles.shape(shapes);
  tiles.load<0>(sums.data(), kTileBytes);
  tiles.load<4>(rows.data(), kBlock);
  tiles.load<6>(weights.data(), kTileBytes);
  tiles.add_quads<0, 4, 6>();
  std::array<std::int32_t, kTileOfRows * 16> found;
  tiles.store<0>(found.data(), kTileBytes);
  int wrapped = 0;
  for (std::size_t m = 0; m < kTileOfRows; ++m) {
    for (std::size_t n = 0; n < 16; ++n) {
      std::int64_t exact = sums[m * 16 + n];
      for (std::size_t k = 0; k < kBlock; ++k) exact += rows[m * kBlock + k] * weights[(k / 4 * 16 + n) * 4 + k % 4];
      wrapped += exact > INT32_MAX ? 1 : 0;
      CHECK(found[m * 16 + n] == static_cast<std::int32_t>(static_cast<std::uint32_t>(exact)));
    }
  }
  CHECK(wrapped > 50);
}

TEST_CASE("this processor's tiles give the bits of plain ones") {
  if ((isa_of_processor() & kAmx) == 0) {
    skip_without("processor feature: AMX that the operating system grants");
    return;
  }
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
  CHECK(tiles_sum_pairs());
  CHECK(tiles_sum_quads());
#endif
}

TEST_CASE("AMX runs, or is refused with the reason") {
  const auto known = isa_tiers();
  const auto tier = std::ranges::find(known, "amx", &IsaTier::name);
  if (tier == known.end()) {
    CHECK_THROWS_AS(isa_tier_named("amx"), Error);
    return;
  }
  if (runs_here(*tier)) {
    CHECK_NOTHROW(require_runs_here(*tier, "MXACT_ISA"));
    return;
  }
  CHECK_THROWS_WITH(require_runs_here(*tier, "MXACT_ISA"), Catch::Matchers::Contains("this processor cannot run the instruction sets 'amx'"));
  if ((tier->needs & ~isa_of_processor()) != kAmx) return;  // it lacks more than tiles
  try {
    require_runs_here(*tier, "MXACT_ISA");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unsupported);
    const std::string words = error.what();
    const bool says = words.find("the processor has no AMX") != std::string::npos || words.find("grants no tile data") != std::string::npos ||
                      words.find("computes other sums than") != std::string::npos;
    CHECK(says);
  }
}
