// What the emulations need: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>
#include <optional>

#include "model/deployment/vocabulary.hpp"
#include "model/families/emulation/family.hpp"
#include "model/families/facts.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

/// What the caller or the user's configuration asks for; they agree, or selection has refused.
Names requested_key(const Placement& p) {
  const std::optional<deployment::QuantKey> key = deployment::override_key_named(p.deployment.quantization_override);
  return key ? deployment::name_of(*key) : p.deployment.activation_key;
}

namespace mxfp4 {

constexpr std::array<Names, 1> kEmulation = {"OCP_MXQuantizationEmulationTritonExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kEmulation, {}, kernel_class, error, read, "cuda, rocm or xpu: Triton", "no Triton",
        [](const Placement& p) { return !is_on(p, deployment::PlatformKind::cpu); }, "E/triton_moe.py"),
    need(
        "scheme", kEmulation, {}, kernel_class, error, read, "16-bit, MXFP4, MXFP6 or FP8 per tensor activations: the schemes that are emulated",
        "an assertion on ocp_mx_scheme",
        [](const Placement& p) {
          return is_one_of(requested_key(p), {"None", "kMxfp4Dynamic", "kFp8StaticTensorSym", "kFp8DynamicTensorSym"});
        },
        "E/ocp_mx_emulation_moe.py", "vllm issues 46752, 46629"),
};

}  // namespace mxfp4

namespace nvfp4 {

constexpr std::array<Names, 1> kEmulation = {"Nvfp4QuantizationEmulationTritonExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kEmulation, {}, kernel_class, error, read, "cuda, rocm or xpu: Triton", "no Triton",
        [](const Placement& p) { return !is_on(p, deployment::PlatformKind::cpu); }, "E/triton_moe.py"),
};

}  // namespace nvfp4

constexpr std::array kClasses = {
    KernelClassFacts{"OCP_MXQuantizationEmulationTritonExperts", ClassKind::plain, ExpertIds::map, WeightOnInput::heeded},
    KernelClassFacts{"Nvfp4QuantizationEmulationTritonExperts", ClassKind::plain, ExpertIds::map, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kNvfp4Oracles, false, nvfp4::kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kEmulationNeeds{kTables};
constinit const std::span<const KernelClassFacts> kEmulationClasses{kClasses};

}  // namespace mx::families
