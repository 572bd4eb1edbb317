#pragma once
// What the engine does to a tensor on its way to triton_kernels, for the backends that take that way in part: AITER_MXFP4_BF16 on gfx1250.

#include "model/families/memory.hpp"

namespace mx::families {

/// Whether w13's last axis is interleaved before the swizzle: TRITON's conversion of checkpoints in standard order.
enum class LastAxis { kept, halves_interleaved };

/// Storage of a tensor for triton_kernels on the setting's device: biases fp32, weights and scales as loaded (up to LastAxis) and swizzled as the
/// device's row says, or not at all with Setting::before_swizzle.
/// Source: vllm-project/vllm, _swizzle_mxfp4 and its callers in oracle/mxfp4.py.
layout::TensorPlan triton_plan(layout::Role role, const Setting& setting, LastAxis last_axis);

}  // namespace mx::families
