#pragma once
// What DeepGEMM's converters may look at besides what every converter sees.

namespace mx::families {

struct DeepgemmParameters {
  bool e8m0 = true;  ///< VLLM_USE_DEEP_GEMM_E8M0, on by default: scales of FP8 blocks become powers of two
};

}  // namespace mx::families
