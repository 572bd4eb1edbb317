#pragma once
// The kernels of this folder by tier. For its .cpp files, and tests.

#include <span>

#include "kernels/dot/aligned_args.hpp"
#include "kernels/isa.hpp"

namespace mx::kernels::dot {

std::span<const KernelRow<AlignedFunction>> aligned_kernels();
std::span<const KernelRow<Fp4Function>> fp4_kernels();

}  // namespace mx::kernels::dot
