// Every family of the second opinion: the one place outside of their folders that names them.

#include <array>
#include <cstddef>

#include "props/families/aiter/family.hpp"
#include "props/families/b12x/family.hpp"
#include "props/families/cpu/family.hpp"
#include "props/families/cutedsl/family.hpp"
#include "props/families/cutlass_w4a8/family.hpp"
#include "props/families/deepgemm/family.hpp"
#include "props/families/emulation/family.hpp"
#include "props/families/flashinfer_cutlass/family.hpp"
#include "props/families/ggml/family.hpp"
#include "props/families/humming/family.hpp"
#include "props/families/marlin/family.hpp"
#include "props/families/packing/family.hpp"
#include "props/families/triton_kernels/family.hpp"
#include "props/families/trtllm/family.hpp"
#include "props/families/vllm_cutlass/family.hpp"
#include "props/families/xpu/family.hpp"

namespace mx::props {
namespace {

constexpr std::array<const FamilyFormulas*, 16> kFamilies{
    &kTrtllmFormulas,    &kFlashinferCutlassFormulas, &kB12xFormulas,     &kVllmCutlassFormulas, &kCutedslFormulas, &kXpuFormulas,
    &kEmulationFormulas, &kTritonKernelsFormulas,     &kDeepgemmFormulas, &kMarlinFormulas,      &kHummingFormulas, &kAiterFormulas,
    &kCpuFormulas,       &kCutlassW4a8Formulas,       &kGgmlFormulas,     &kPackingFormulas,
};

}  // namespace

std::span<const FamilyFormulas* const> all_family_formulas() { return kFamilies; }

int one_of(std::mt19937& random, std::initializer_list<int> values) {
  return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
}

}  // namespace mx::props
