#pragma once
// The kernels that tests of products run.

#include <span>

#include "kernels/moe/gemm.hpp"

namespace mx::tests {

/// gemm_kernels(), and AMX's engine on tiles in plain code: of weights that plain code decodes, and of weights that vectors do.
std::span<const kernels::moe::GemmKernel> tested_kernels();

}  // namespace mx::tests
