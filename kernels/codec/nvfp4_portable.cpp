// NVFP4 blocks, compiled for this file's instruction sets.

#include "kernels/codec/nvfp4_loops.hpp"

namespace mx::kernels {

void nvfp4_quantize_portable(const Nvfp4Plan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  quantize<LoopedBatch>(plan, elements, blocks, codes, scales, irregular);
}

}  // namespace mx::kernels
