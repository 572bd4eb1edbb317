// Shards against their definition on the checkpoint's bytes: rank r has rows of gate and up, and columns of w2, from r * I / tp on.

#include "checkpoint/shard.hpp"

#include <cstdint>
#include <vector>

#include "model/error.hpp"
#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"

namespace {

using mx::layout::CanonicalLayer;
using mx::layout::Role;
using mx::layout::Sizes;
using mx::layout::SourceOrder;

constexpr Sizes kSizes{2, 128, 64};

/// Every byte tells where it stands, modulo 251.
CanonicalLayer tagged_layer(SourceOrder order) {
  CanonicalLayer layer;
  layer.sizes = kSizes;
  layer.form = order;
  const std::int64_t e = kSizes.experts;
  const std::int64_t i = kSizes.intermediate;
  const std::int64_t h = kSizes.hidden;
  const std::int64_t bytes[6]{e * 2 * i * h / 2, e * 2 * i * h / 32, e * 2 * i * 2, e * h * i / 2, e * h * i / 32, e * h * 2};
  for (Role role : mx::layout::kRoles) {
    for (std::int64_t b = 0; b < bytes[static_cast<std::size_t>(role)]; ++b) layer[role].push_back(static_cast<std::uint8_t>(b * 7 % 251));
  }
  return layer;
}

}  // namespace

TEST_CASE("a shard is the rank's rows of w13 and columns of w2") {
  for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    const CanonicalLayer whole = tagged_layer(order);
    for (int rank = 0; rank < 4; ++rank) {
      const CanonicalLayer part = mx::checkpoint::shard(whole, {rank, 4, 32});
      CHECK(part.sizes == Sizes{2, 32, 64});
      std::int64_t checked = 0;
      for (Role role : {Role::w13_weight, Role::w13_weight_scale, Role::w13_bias}) {
        const std::int64_t row_bytes = role == Role::w13_weight ? 32 : 2;
        for (std::int64_t e = 0; e < 2; ++e) {
          for (std::int64_t row = 0; row < 64; ++row) {
            const std::int64_t source_row = order == SourceOrder::gpt_oss ? 64 * rank + row : row / 32 * 128 + 32 * rank + row % 32;
            for (std::int64_t b = 0; b < row_bytes; ++b) {
              const std::uint8_t got = part[role][static_cast<std::size_t>((e * 64 + row) * row_bytes + b)];
              const std::uint8_t want = whole[role][static_cast<std::size_t>((e * 256 + source_row) * row_bytes + b)];
              if (got != want) {
                INFO(name_of(role) << " expert " << e << " row " << row << " byte " << b);
                REQUIRE(got == want);
              }
              ++checked;
            }
          }
        }
      }
      for (Role role : {Role::w2_weight, Role::w2_weight_scale}) {
        const std::int64_t whole_bytes = role == Role::w2_weight ? 64 : 4;
        const std::int64_t part_bytes = whole_bytes / 4;
        for (std::int64_t row = 0; row < 2 * 64; ++row) {
          for (std::int64_t b = 0; b < part_bytes; ++b) {
            REQUIRE(part[role][static_cast<std::size_t>(row * part_bytes + b)] ==
                    whole[role][static_cast<std::size_t>(row * whole_bytes + rank * part_bytes + b)]);
            ++checked;
          }
        }
      }
      CHECK(part[Role::w2_bias] == whole[Role::w2_bias]);
      CHECK(checked == 2 * 64 * (32 + 2 + 2) + 2 * 64 * (16 + 1));
    }
  }
}

TEST_CASE("one rank has everything, and groups are never cut") {
  const CanonicalLayer whole = tagged_layer(SourceOrder::gpt_oss);
  CHECK(mx::checkpoint::shard(whole, {0, 1, 128}).tensors == whole.tensors);
  const auto part_of = [&](SourceOrder order, int tp) {
    return mx::checkpoint::rank_sizes(whole.sizes, {whole.form.format, order}, tp).intermediate;
  };
  CHECK_THROWS_AS(part_of(SourceOrder::standard, 8), mx::Error);
  CHECK_THROWS_AS(part_of(SourceOrder::gpt_oss, 3), mx::Error);
  // gpt-oss has four blocks of 32: four of eight ranks have one each.
  CHECK(part_of(SourceOrder::gpt_oss, 8) == 32);
}

TEST_CASE("the ranks together are the layer again") {
  for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    const CanonicalLayer whole = tagged_layer(order);
    for (int tp : {1, 2, 4}) {
      std::vector<CanonicalLayer> ranks;
      for (int rank = 0; rank < tp; ++rank) ranks.push_back(mx::checkpoint::shard(whole, {rank, tp, 128 / tp}));
      const CanonicalLayer joined = mx::checkpoint::join(ranks, whole.sizes);
      CHECK(joined.sizes == whole.sizes);
      CHECK(joined.form == whole.form);
      CHECK(joined.tensors == whole.tensors);
      if (tp == 1) continue;
      std::vector<CanonicalLayer> other = ranks;
      other.back()[Role::w2_bias][0] ^= 1;
      CHECK_THROWS_WITH(mx::checkpoint::join(other, whole.sizes), "w2_bias: is whole on every rank, but the ranks' differ");
      other = ranks;
      other.back()[Role::w13_weight].pop_back();
      CHECK_THROWS_WITH(mx::checkpoint::join(other, whole.sizes), "w13_weight: has not the same size on every rank");
    }
  }
}
