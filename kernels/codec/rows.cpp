// Which kernel runs on which tier.

#include <array>

#include "kernels/codec/plans.hpp"

namespace mx::kernels {
namespace {

#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
constexpr std::array<KernelRow<PowerQuantize>, 2> kPowerQuantizers{
    {{"portable", 0, power_quantize_portable}, {"avx512", kAvx512 | kAvx2 | kF16c, power_quantize_avx512}}};
constexpr std::array<KernelRow<Unpack>, 2> kUnpackers{{{"portable", 0, unpack_portable}, {"avx512", kAvx512, unpack_avx512}}};
#else
constexpr std::array<KernelRow<PowerQuantize>, 1> kPowerQuantizers{{{"portable", 0, power_quantize_portable}}};
constexpr std::array<KernelRow<Unpack>, 1> kUnpackers{{{"portable", 0, unpack_portable}}};
#endif

}  // namespace

std::span<const KernelRow<PowerQuantize>> power_quantizers() { return kPowerQuantizers; }
std::span<const KernelRow<Unpack>> unpackers() { return kUnpackers; }

}  // namespace mx::kernels
