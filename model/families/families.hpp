#pragma once
// Every family: the one place outside of their folders that names them.

#include <array>
#include <tuple>

#include "model/families/aiter/family.hpp"
#include "model/families/b12x/family.hpp"
#include "model/families/cpu/family.hpp"
#include "model/families/cutedsl/family.hpp"
#include "model/families/cutlass_w4a8/family.hpp"
#include "model/families/deepgemm/family.hpp"
#include "model/families/emulation/family.hpp"
#include "model/families/flashinfer_cutlass/family.hpp"
#include "model/families/ggml/family.hpp"
#include "model/families/hpc/family.hpp"
#include "model/families/humming/family.hpp"
#include "model/families/marlin/family.hpp"
#include "model/families/moonep/family.hpp"
#include "model/families/packing/family.hpp"
#include "model/families/triton_kernels/family.hpp"
#include "model/families/triton_moe/family.hpp"
#include "model/families/trtllm/family.hpp"
#include "model/families/vllm_cutlass/family.hpp"
#include "model/families/xpu/family.hpp"

namespace mx::families {

/// What one family alone looks at, for each that looks at something.
using FamilyParameters =
    std::tuple<TritonParameters, AiterParameters, MarlinParameters, DeepgemmParameters, FlashinferParameters, B12xParameters, HummingParameters>;

/// Needs, classes and value blocks are joined in this order.
inline constexpr std::array<const Family*, 19> kFamilies{
    &kTrtllmFamily,        &kFlashinferCutlassFamily, &kCutedslFamily,     &kB12xFamily, &kDeepgemmFamily, &kMarlinFamily,
    &kTritonKernelsFamily, &kTritonMoeFamily,         &kAiterFamily,       &kXpuFamily,  &kCpuFamily,      &kEmulationFamily,
    &kHummingFamily,       &kVllmCutlassFamily,       &kCutlassW4a8Family, &kHpcFamily,  &kMoonepFamily,   &kGgmlFamily,
    &kPackingFamily,
};

}  // namespace mx::families
