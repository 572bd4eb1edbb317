#pragma once
// How scales are folded into decoded weights by the kernels of bf16-chain and bf16-pair by fused multiply-adds.

#include "kernels/moe/fma_decode.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kProducts = 256;  // that a kind may prepare

/// What a kernel is given, and what its kind of weights has prepared for all panels of it.
struct Job {
  const TileArgs& args;
  const uint16_t* products;
};

/// Powers of two: exact but for overflow, and what is subnormal counts as zero where it is used.
struct E8m0Fold {
  static constexpr size_t kBytes = 1;
  Floats scales[2];

  MXACT_INLINE static E8m0Fold of(const Job&, const uint8_t* at) { return {{scale_values(at), scale_values(at + kWidth)}}; }
  MXACT_INLINE Floats operator()(size_t v, Floats weight) const { return product(weight, scales[v]); }
};

using Product = Floats(Floats weight, Floats scale);

/// Exact products with the block's scale, rounded ones with the expert's.
struct AnyE4m3Fold {
  static constexpr size_t kBytes = 1;
  Floats scales[2];
  Floats expert;

  MXACT_INLINE static AnyE4m3Fold of(const Job& job, const uint8_t* at) {
    return {{e4m3_scales(at), e4m3_scales(at + kWidth)}, all(job.args.expert_scale)};
  }
  MXACT_INLINE Floats operator()(size_t v, Floats weight) const { return any_product(product(weight, scales[v]), expert); }
};

/// Of an expert's scale that is moderate: the scales and one and a half of them are rounded once for their block, of which powers of two are exact.
struct E4m3Fold {
  static constexpr size_t kBytes = 1;
  Floats once[2];
  Floats one_and_a_half[2];

  MXACT_INLINE static E4m3Fold of(const Job& job, const uint8_t* at) {
    E4m3Fold fold;
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const Floats scales = e4m3_scales(at + v * kWidth);
      fold.once[v] = moderate_product(scales, all(job.args.expert_scale));
      fold.one_and_a_half[v] = moderate_product(product(scales, all(1.5F)), all(job.args.expert_scale));
    }
    return fold;
  }
  /// One of the two products is zero.
  MXACT_INLINE Floats operator()(size_t v, const SplitE2m1::Weight& weight) const {
    return fused(weight.power_of_one_and_a_half, one_and_a_half[v], product(weight.power, once[v]));
  }
};

template <Product* Rounded>
struct F32Fold {
  static constexpr size_t kBytes = 4;
  Floats scales[2];

  MXACT_INLINE static F32Fold of(const Job&, const uint8_t* at) { return {{f32_scales(at), f32_scales(at + kWidth * sizeof(float))}}; }
  MXACT_INLINE Floats operator()(size_t v, Floats weight) const { return Rounded(weight, scales[v]); }
};

}  // namespace
}  // namespace mx::kernels::moe
