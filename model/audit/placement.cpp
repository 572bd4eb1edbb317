#include "model/audit/placement.hpp"

#include <algorithm>
#include <array>

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/setup/hidden_roundup.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

/// A quantization method that does something else with the answer.
struct MethodRow {
  Names method;
  Names oracle;
  Names asks_nobody_for;               ///< this class is taken on these devices, whatever the oracle says; empty: the oracle is asked
  int major;                           ///< of the devices
  bool first_class;                    ///< the first class of the backend replaces the chosen one
  std::span<const Names> not_rounded;  ///< backends whose sizes stay as they are
};

constexpr std::array<Names, 1> kEmulation = {"EMULATION"};
constexpr std::array kMethods = {
    // vllm quark/quark_moe.py QuarkOCP_MX_MoEMethod: backend_to_kernel_cls(backend)[0]; EMULATION skips the rounding.
    MethodRow{"quark", "mxfp4", "", 0, true, kEmulation},
    // vllm compressed_tensors_moe_w4a4_mxfp4.py: the class follows from the device.
    MethodRow{"compressed_tensors", "mxfp4", "CutlassExpertsMxfp4", 10, false, {}},
};

/// Sizes that a method pads when it prepares weights of an oracle that rounds nothing; the first row that matches.
struct PaddingRow {
  Names oracle;
  std::span<const Names> backends;
  Names weight_key;
  bool gated;
  std::int64_t hidden;
  std::int64_t intermediate;
};

constexpr std::array<Names, 1> kTrtllm = {"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 2> kFlashinfer = {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS"};
constexpr std::array<Names, 4> kTiled = {"FLASHINFER_CUTLASS", "FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_B12X", "VLLM_CUTLASS"};
// Source: vllm quantization/utils/flashinfer_fp4_moe.py, flashinfer_utils.py.
constexpr std::array kPaddings = {
    PaddingRow{"nvfp4", kTrtllm, "kNvfp4Static", true, 256, 16},          PaddingRow{"nvfp4", kTrtllm, "kNvfp4Static", false, 256, 128},
    PaddingRow{"nvfp4", kTiled, "kNvfp4Static", false, 1, 128},           PaddingRow{"fp8", kFlashinfer, "kFp8StaticTensorSym", true, 1, 16},
    PaddingRow{"fp8", kFlashinfer, "kFp8StaticTensorSym", false, 1, 128},
};

bool listed(std::span<const Names> names, Names name) { return std::find(names.begin(), names.end(), name) != names.end(); }

std::int64_t up(std::int64_t size, std::int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

const MethodRow* method_of(const OracleTables& tables, const Deployment& deployment) {
  for (const MethodRow& row : kMethods) {
    if (row.method == deployment.quant_method && row.oracle == tables.name) return &row;
  }
  return nullptr;
}

/// The exchange rounds first. A hidden size that it cannot round stays as it is: a need of the exchange says so.
std::int64_t exchanged_hidden(const Deployment& deployment) {
  const auto rounded = hidden_for_exchange(deployment.layer.hidden, deployment.layer.in_dtype, derive(deployment.parallel));
  const std::int64_t* const hidden = std::get_if<std::int64_t>(&rounded);
  return hidden != nullptr ? *hidden : deployment.layer.hidden;
}

RoundedSizes sizes_of(const OracleTables& tables, const Deployment& deployment, Names backend, Names weight_key, const MethodRow* method) {
  const RoundedSizes given{exchanged_hidden(deployment), deployment.layer.intermediate_per_partition};
  if (method != nullptr && listed(method->not_rounded, backend)) return given;
  for (const PaddingRow& row : kPaddings) {
    if (row.oracle != tables.name || !listed(row.backends, backend) || row.weight_key != weight_key) continue;
    if (row.gated == deployment.layer.is_act_and_mul) return {up(given.hidden, row.hidden), up(given.intermediate, row.intermediate)};
  }
  return round_up(tables, backend, deployment, given);
}

Names weight_key_of(const OracleTables& tables, const Deployment& deployment) {
  return tables.weight_key ? name_of(*tables.weight_key) : name_of(quant_key_named(deployment.weight_key));
}

}  // namespace

Placement place(const OracleTables& tables, const Deployment& deployment, std::string_view backend, std::string_view kernel_class) {
  const BackendRow& row = backend_named(tables, backend);
  const MethodRow* method = method_of(tables, deployment);
  const auto chosen = std::find(row.classes.begin(), row.classes.end(), kernel_class);
  const bool replaced = method != nullptr && method->first_class && !row.classes.empty();
  const Names weight_key = weight_key_of(tables, deployment);
  const RoundedSizes sizes = sizes_of(tables, deployment, row.name, weight_key, method);
  const Names used = replaced ? row.classes.front() : chosen == row.classes.end() ? Names() : *chosen;
  return {deployment, tables.engine, tables.name, row.name, used, sizes.hidden, sizes.intermediate, weight_key};
}

std::optional<Placement> place(const OracleTables& tables, const Deployment& deployment, const Decision& decision) {
  const MethodRow* method = method_of(tables, deployment);
  if (method != nullptr && !method->asks_nobody_for.empty()) {
    const Hardware& hardware = deployment.hardware;
    if (hardware.platform != PlatformKind::cuda || hardware.capability.value_or(0) / 10 != method->major) return std::nullopt;
    const LayerConfig& layer = deployment.layer;
    return Placement{deployment,
                     tables.engine,
                     tables.name,
                     kNotAsked,
                     method->asks_nobody_for,
                     exchanged_hidden(deployment),
                     layer.intermediate_per_partition,
                     weight_key_of(tables, deployment)};
  }
  if (!decision.choice || decision.choice->kernel_class.empty()) return std::nullopt;
  return place(tables, deployment, decision.choice->backend, decision.choice->kernel_class);
}

}  // namespace mx::oracle
