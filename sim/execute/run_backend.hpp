#pragma once
// A converted layer, executed as its backend computes, beside the checkpoint's own form executed in the same way: the bits must agree.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "model/moe/routing.hpp"
#include "sim/execute/kernel.hpp"
#include "sim/execute/weights.hpp"

namespace mx::sim {

/// What both are executed on.
struct BackendInput {
  std::string_view activation;                ///< the engine's name of the model's: SILU
  std::string_view activation_key;            ///< of the oracles, decides on the quantizer where the backend leaves it to the checkpoint
  std::span<const std::uint32_t> x;           ///< bf16 codes [tokens, hidden]
  std::vector<std::vector<moe::Slot>> slots;  ///< by token
  moe::ActivationConstants constants = {};    ///< the model's; 0 where it gives none
  families::LaunchChoice launch = {};
};

/// What it is executed from and by whom.
struct BackendSource {
  const layout::CanonicalLayer& layer;
  SharedUnits units;  ///< of the layer
  SumsBy sums = SumsBy::model;
  std::optional<Contract> contract = {};  ///< of the products in the place of the device's own
};

/// Calibrated scales of the activations under which generated tokens use the range of what the format's kernels quantize to.
StaticScales usual_scales(layout::WeightFormat format);

/// Rows of gate and up, and output columns, that are computed at most, at equal distances; everything along k always is.
inline constexpr std::int64_t kComputedRows = 128;

struct BackendRun {
  std::string how;                                    ///< "fp8-group128 x hopper-fp8-promoted, read": quantizers, contract, grounds
  std::optional<Grounds> grounds = {};                ///< of the backend's arithmetic; none under a contract that was asked for
  std::vector<families::KnownDifference> known = {};  ///< likewise: where a real kernel was seen to contradict it
  std::int64_t compared = 0;
  std::int64_t differing = 0;
  std::string first;                ///< of the differences
  std::vector<std::string> unseen;  ///< exchanges that left every output: nothing wrong of their kind could have shown
  std::int64_t not_finite = 0;      ///< of the second products that were compared
  bool all_equal = false;           ///< every output has the same bits: they could not have shown a wrong weight
  std::string unknown;              ///< why its products are not known; then nothing was compared
  std::string refused;              ///< why the kernel cannot run on this layer; then nothing was compared
};

/// Executes `packed` and, in the checkpoint's form, the layer it was made from. `arch` is the device. None when the backend has no row in the table
/// of executions, or takes no such activation. Throws Error as Weights::of_packed does.
std::optional<BackendRun> run_backend(const BackendSource& source, const families::PackedLayer& packed, families::Arch arch,
                                      const BackendInput& input);

struct KernelOutputs {
  std::vector<std::uint16_t> out;  ///< bf16 codes [tokens, hidden of the checkpoint]
  std::string how;                 ///< as in BackendRun
};

/// What the backend's kernels make of packed tensors, whoever packed them, on one rank with every expert. Throws
/// Error(unsupported) where its arithmetic is not known or takes no such activation, Error as Weights::of_packed and run_slots do.
KernelOutputs run_kernel(const families::PackedLayer& packed, const BackendInput& input);

/// Whether the backend quantizes what enters its products; true where that is not known.
bool quantizes_activations(layout::WeightFormat format, std::string_view backend);

}  // namespace mx::sim
