// bf16-chain and bf16-pair of weights in e4m3 by fused multiply-adds of 512 bits.

#include "kernels/moe/avx512_columns_e4m3.hpp"
#include "kernels/moe/avx512_scaled_e4m3.hpp"
#include "kernels/moe/avx512_vbmi_vectors.hpp"
#include "kernels/moe/fma_chain.hpp"

namespace mx::kernels::moe {
namespace {

/// Codes of which a fold makes products.
struct UndecodedE4m3 {
  static constexpr size_t kInDword = E4m3::kInDword;
  template <size_t Byte>
  struct Weight {
    Dwords codes;
  };
  template <size_t I>
  MXACT_INLINE static Weight<E4m3::kByte<I>> weight(const uint8_t* dwords) {
    return {load_dwords(dwords)};
  }
};

/// One scale for all columns.
struct OneFold {
  static constexpr size_t kBytes = sizeof(float);
  E4m3Table products;

  MXACT_INLINE static OneFold of(const Job&, const uint8_t* at) { return {scaled_e4m3(first_scale(at))}; }
  template <size_t Byte>
  MXACT_INLINE Floats operator()(size_t, UndecodedE4m3::Weight<Byte> weight) const {
    return decoded_byte<Byte>(weight.codes, products);
  }
};

/// One for each.
struct ColumnsFold {
  static constexpr size_t kBytes = sizeof(float);
  PanelScales scales;

  MXACT_INLINE static ColumnsFold of(const Job&, const uint8_t* at) { return {PanelScales::of(at)}; }
  template <size_t Byte>
  MXACT_INLINE Floats operator()(size_t v, UndecodedE4m3::Weight<Byte> weight) const {
    __m512i pairs[2];
    scales.decode(v, weight.codes, pairs);
    return one_of<Byte>(pairs);
  }
};
static_assert(kColumns == kPanelColumns);

constexpr Kind kFp8{E4m3::kBits,
                    sizeof(float),
                    {way<UndecodedE4m3, OneFold>(one_by_one<are_one<kColumns>, sizeof(float)>),
                     way<UndecodedE4m3, ColumnsFold>(one_by_one<are_of_columns, sizeof(float)>), kF32Kind<E4m3>.ways[0], kF32Kind<E4m3>.ways[1]},
                    nullptr,
                    nullptr,
                    nullptr};

}  // namespace

void bf16_chain_mxfp8_avx512(const TileArgs& args) { run_chains(args, kE8m0Kind<E4m3>); }
void bf16_chain_fp8_avx512(const TileArgs& args) { run_chains(args, kFp8); }

void bf16_pair_mxfp8_avx512(const TileArgs& args) { run_pairs(args, kE8m0Kind<E4m3>); }
void bf16_pair_fp8_avx512(const TileArgs& args) { run_pairs(args, kFp8); }

}  // namespace mx::kernels::moe
