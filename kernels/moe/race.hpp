#pragma once
// Which of two instructions is the faster one here.

namespace mx::kernels::moe {

/// Whether two 512-bit multiply-adds of fp32 take this processor less time than one VDPBF16PS, which makes as many bf16 products: measured, in some
/// 50 microseconds. Processors differ by a factor of six. Only where there are both (kAvx512Bf16).
bool multiply_adds_win_avx512_bf16();

}  // namespace mx::kernels::moe
