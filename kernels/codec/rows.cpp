// Which kernel runs on which tier.

#include <algorithm>
#include <array>

#include "kernels/codec/plans.hpp"

namespace mx::kernels {
namespace {

#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
constexpr std::uint32_t kAvx2Tier = kAvx2 | kF16c;
constexpr std::array<KernelRow<PowerQuantize>, 3> kPowerQuantizers{{
    {"portable", 0, power_quantize_portable},
    {"avx2", kAvx2Tier, power_quantize_avx2},
    {"avx512", kAvx2Tier | kAvx512, power_quantize_avx512},
}};
constexpr std::array<KernelRow<Nvfp4Quantize>, 1> kNvfp4Quantizers{{{"avx512", kAvx512, nvfp4_quantize_avx512}}};
constexpr std::array<KernelRow<LargestMagnitudes>, 3> kLargestMagnitudes{{
    {"portable", 0, largest_magnitudes_portable},
    {"avx2", kAvx2Tier, largest_magnitudes_avx2},
    {"avx512", kAvx512, largest_magnitudes_avx512},
}};
constexpr std::array<KernelRow<ScaledEncode>, 3> kScaledEncoders{{
    {"portable", 0, scaled_encode_portable},
    {"avx2", kAvx2Tier, scaled_encode_avx2},
    {"avx512", kAvx512, scaled_encode_avx512},
}};
constexpr std::array<KernelRow<Unpack>, 3> kUnpackers{{
    {"portable", 0, unpack_portable},
    {"avx2", kAvx2, unpack_avx2},
    {"avx512", kAvx512, unpack_avx512},
}};
constexpr std::array<KernelRow<ProductUnpack>, 3> kProductUnpackers{{
    {"portable", 0, product_unpack_portable},
    {"avx2", kAvx2Tier, product_unpack_avx2},
    {"avx512", kAvx512, product_unpack_avx512},
}};
#elif defined(__AARCH64EL__) && !defined(MXACT_PORTABLE)
constexpr std::array<KernelRow<PowerQuantize>, 2> kPowerQuantizers{{{"portable", 0, power_quantize_portable}, {"neon", kNeon, power_quantize_neon}}};
constexpr std::array<KernelRow<Nvfp4Quantize>, 0> kNvfp4Quantizers{};
constexpr std::array<KernelRow<LargestMagnitudes>, 2> kLargestMagnitudes{
    {{"portable", 0, largest_magnitudes_portable}, {"neon", kNeon, largest_magnitudes_neon}}};
constexpr std::array<KernelRow<ScaledEncode>, 2> kScaledEncoders{{{"portable", 0, scaled_encode_portable}, {"neon", kNeon, scaled_encode_neon}}};
constexpr std::array<KernelRow<Unpack>, 2> kUnpackers{{{"portable", 0, unpack_portable}, {"neon", kNeon, unpack_neon}}};
constexpr std::array<KernelRow<ProductUnpack>, 2> kProductUnpackers{{{"portable", 0, product_unpack_portable}, {"neon", kNeon, product_unpack_neon}}};
#else
constexpr std::array<KernelRow<PowerQuantize>, 1> kPowerQuantizers{{{"portable", 0, power_quantize_portable}}};
constexpr std::array<KernelRow<Nvfp4Quantize>, 0> kNvfp4Quantizers{};
constexpr std::array<KernelRow<LargestMagnitudes>, 1> kLargestMagnitudes{{{"portable", 0, largest_magnitudes_portable}}};
constexpr std::array<KernelRow<ScaledEncode>, 1> kScaledEncoders{{{"portable", 0, scaled_encode_portable}}};
constexpr std::array<KernelRow<Unpack>, 1> kUnpackers{{{"portable", 0, unpack_portable}}};
constexpr std::array<KernelRow<ProductUnpack>, 1> kProductUnpackers{{{"portable", 0, product_unpack_portable}}};
#endif

}  // namespace

std::span<const KernelRow<PowerQuantize>> power_quantizers() { return kPowerQuantizers; }
const KernelRow<Nvfp4Quantize>* nvfp4_quantizer(const IsaTier& tier) {
  const auto it = std::ranges::find_if(kNvfp4Quantizers, [&](const auto& row) { return (row.needs & ~tier.needs) == 0; });
  return it == kNvfp4Quantizers.end() ? nullptr : &*it;
}
std::span<const KernelRow<LargestMagnitudes>> largest_magnitudes() { return kLargestMagnitudes; }
std::span<const KernelRow<ScaledEncode>> scaled_encoders() { return kScaledEncoders; }
std::span<const KernelRow<Unpack>> unpackers() { return kUnpackers; }
std::span<const KernelRow<ProductUnpack>> product_unpackers() { return kProductUnpackers; }

}  // namespace mx::kernels
