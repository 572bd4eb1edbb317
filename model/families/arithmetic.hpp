#pragma once
// How a backend computes: one row per weight format and backend. What enters its products and in which memory, which unit of the device multiplies,
// where scales, bias and routing weight enter, what is rounded on the way, in which order slots are summed. `run_experts` (kernel.hpp) executes
// every row; a row that is not known from recorded outputs or a public source says so.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/setting.hpp"
#include "model/families/slot_sum.hpp"
#include "model/layout/plan.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::families {

/// What multiplies. A device's row (unit_on) says under which contract.
enum class MatrixUnit : std::uint8_t {
  bf16,                 ///< 16-bit operands; weights times their block scale, rounded to bf16
  bf16_blocks,          ///< 16-bit operands without scales; each block's sum times its scale
  fp8,                  ///< fp8 operands, no scale along k
  fp8_blocks,           ///< fp8 operands; v = fma(S, a * b, v) for each 128 of k
  fp8_blocks_in_order,  ///< likewise v = fma(S * a, b, v)
  block_scaled,         ///< block scales are applied inside the instruction: one for each 32 of k, powers of two; 8, 6 or 4 bits
  block_scaled_fp4,     ///< likewise, 4 bits by 4 bits
  block_scaled_nvfp4,   ///< 4 bits by 4 bits, a scale for each 16 of k
};

/// Where a real kernel was seen to contradict a row.
struct KnownDifference {
  bool (*on)(Arch arch);                                                       ///< null: every device
  std::string_view where;                                                      ///< for people: which layers, and what the kernel does instead
  std::string_view source;                                                     ///< whose outputs showed it
  deployment::Versions engines = deployment::since(deployment::kVllm2026_05);  ///< whose kernel does so
  bool of_8_bits = false;                                                      ///< with 8-bit activations in a 16-bit row's place alone
};

/// Whose unit multiplies what: a device, whether the codes of both operands are e4m3fnuz (has_fnuz of the layer's setting), and the side of the
/// squares of FP8 that have a scale.
struct Operation {
  Arch arch;
  bool fnuz = false;
  std::int64_t block = layout::kBlockSide;
  bool triton_kernels_3_6 = false;  ///< triton_kernels is 3.6 or later
  bool e8m0 = true;                 ///< VLLM_USE_DEEP_GEMM_E8M0
  bool of_8_bits = false;           ///< Setting::input_dtype asks Marlin or Humming for 8-bit activations
};

/// A unit on some devices.
struct UnitRow {
  MatrixUnit unit;
  bool (*on)(const Operation& operation);  ///< null: every device that no earlier row has
  Contract contract;
  Grounds grounds;  ///< run: of the contract's recordings, or of its own
  std::string_view source;
  std::span<const Recording> recordings = {};
};
std::span<const UnitRow> unit_rows();
/// First match.
const UnitRow& unit_on(MatrixUnit unit, const Operation& operation);

/// What a quantizer's scale belongs to.
enum class ScaleScope : std::uint8_t { none, block, token, tensor };

/// The number of the whole tensor that a quantizer needs.
enum class TensorNumber : std::uint8_t {
  none,
  decode,  ///< a calibrated scale
  encode,  ///< its reciprocal, beside block scales (NVFP4)
};

/// How activations are quantized in front of a product.
struct Quantizer {
  std::string_view name;
  std::string_view profile;   ///< of device_recipes() or of the numerics profiles; empty with scope none
  const BlockFormat* format;  ///< null with scope none
  ScaleScope scope;
  TensorNumber tensor;
  bool back_to_bf16;  ///< dequantized again: the product sees 16-bit numbers
  Grounds grounds;
  std::string_view source;
  std::span<const Recording> recordings = {};  ///< of rows that were run
  std::span<const KnownDifference> differences = {};
  bool (*on)(Arch arch) = nullptr;  ///< null: every device that no earlier row of the name has
  deployment::Versions engines = deployment::since(deployment::kVllm2026_05);
};
/// The recipe of a quantizer that has a profile: one of sm_90, or the profile's.
const Recipe& recipe_of(const Quantizer& quantizer);
std::span<const Quantizer> all_quantizers();
/// The first of the name. Throws Error(usage) with the nearest known one.
const Quantizer& quantizer_named(std::string_view name);
/// What quantizes in groups of another length, as long as the squares of the weights; itself where they are of 128, and where it makes no such
/// groups.
const Quantizer& in_groups_of(const Quantizer& quantizer, std::int64_t block, Arch arch, deployment::Engine engine);
/// The one of that name that a version of the engine runs on the device. Throws Error(usage) likewise.
const Quantizer& quantizer_on(std::string_view name, Arch arch, deployment::Engine engine);
/// The quantizer of an activation key of the fp8 oracles ("kFp8DynamicTokenSym"), null when the key is none of them.
const Quantizer* quantizer_of_key(std::string_view activation_key);

/// How the block scales of a product's first operand lie in memory.
enum class ScaleMemory : std::uint8_t { row_major, tile_128x4 };
std::string_view name_of(ScaleMemory memory);

/// Who quantizes what enters the first product.
enum class QuantizedBy : std::uint8_t {
  prepare,  ///< the prepare step, before or after an exchange
  kernel,   ///< the experts themselves, right where they read it
};

/// What an activation of the model becomes in a backend.
struct ActivationUse {
  std::string_view row;  ///< of the activation table; empty: the backend does not take this activation
  moe::ActivationConstants constants;
  bool takes_alpha;  ///< the model's own constant replaces that of `constants`, where the engine hands it on
  bool takes_beta;   ///< and of SiTU its second one
  bool takes_limit;
  std::string_view limited_row = {};  ///< of a model with a limit; empty: `row`
};

/// Another activation that a backend takes, by the engine's name: GELU_TANH, RELU2_NO_MUL. Gate's rows lie as those of SILU do.
struct NamedActivation {
  std::string_view name;
  ActivationUse use;
};

/// Where a tensor's, token's, channel's and global scales meet the fp32 sum d; a of the activations, w of the weights.
enum class EpilogueScale : std::uint8_t {
  product,          ///< d * (a * w)
  weight_first,     ///< (d * w) * a
  activation_first  ///< (d * a) * w
};

/// Where a checkpoint's scale of a whole expert (NVFP4) enters.
enum class GlobalScale : std::uint8_t {
  epilogue,  ///< with the other scales behind the sum
  operand,   ///< multiplied into the block scales exactly
  refolded,  ///< multiplied into the block scales, which are rounded to their format again
};

enum class BiasEntry : std::uint8_t {
  dropped,     ///< never read
  f32,         ///< one fp32 addition behind the scales
  after_bf16,  ///< the sum is rounded to bf16, and again after the addition
};

/// From a slot's second product (with its bias) to its share in the token's sum; w is the routing weight.
enum class SlotRule : std::uint8_t {
  weighted_rounded,       ///< bf16(y * w)
  rounded,                ///< bf16(y), the weight enters the sum by a fused multiply-add
  rounded_weighted_again  ///< bf16(bf16(y) * w)
};
enum class SlotOrder : std::uint8_t { position, expert };  ///< ascending

/// How a kernel finds a global expert among the rank's own under expert parallelism.
enum class ExpertAddress : std::uint8_t {
  map,      ///< by the expert map
  offset,   ///< ep_rank * local experts and on
  ignored,  ///< the global number indexes the local experts
  refused,  ///< the kernel asserts that it has all experts
};
std::string_view name_of(ExpertAddress address);

/// Where a row was compared, with its launch.
struct HeldOn {
  bool (*on)(Arch arch);
  Grounds grounds;  ///< run, or run by parts: stage by stage
  std::span<const Recording> recordings;
};

struct LaunchFacts;
struct Launched;

struct ExecutionRow {
  layout::WeightFormat format;
  std::string_view backend;
  std::string_view layout;  ///< backend of the layout table; empty: weights stay as they were loaded
  MatrixUnit unit;
  std::string_view first;   ///< quantizer of what enters the first product
  std::string_view second;  ///< of what enters the second
  bool keyed;               ///< the activation key decides on both instead
  QuantizedBy by;
  ScaleMemory scales;  ///< that the kernel reads behind a prepare step
  EpilogueScale epilogue;
  GlobalScale global;
  BiasEntry bias;
  bool rounds_h13;  ///< the first product is rounded to bf16 in front of the activation
  ActivationUse swiglu_oai;
  ActivationUse silu;
  std::span<const NamedActivation> others = {};  ///< beside these two
  layout::SourceOrder oai_order;                 ///< row order of w13 that the kernel expects its layout to start from
  layout::SourceOrder silu_order;
  bool bf16_weights;  ///< routing weights are rounded to bf16
  SlotRule slot;
  SlotSum sum;  ///< moe_sum: the engine's, by version, on NVIDIA (slot_sum_on)
  SlotOrder order;
  ExpertAddress address;
  /// What the checkpoint's scales become on the way to the kernel, where it reads others; null: nothing.
  void (*prepare_scales)(layout::LayerUnits& units, const layout::Sizes& sizes) = nullptr;
  bool callback = false;          ///< its activations are the engine's own functions or triton_kernels': activation_on() has those of the device
  bool hands_routing_on = false;  ///< to these functions, which skip the slots of other ranks
  /// What a launch changes, launch.hpp; null: nothing.
  void (*launch)(const LaunchFacts& facts, Launched& made) = nullptr;
  Grounds grounds;  ///< of everything but the unit and the quantizers, which have their own
  std::string_view source;
  std::span<const Recording> recordings = {};  ///< of rows that were run
  std::span<const KnownDifference> differences = {};
  std::span<const HeldOn> held = {};  ///< devices on which more was compared than `grounds` says
  /// What a launch computes otherwise from a version on: modelled, and named where two versions are compared.
  std::span<const KnownDifference> changes = {};
};

/// Every row, those of one format together.
std::span<const ExecutionRow> execution_rows();

/// Throws Error(usage) with the nearest known name of the format's.
const ExecutionRow& execution_of(layout::WeightFormat format, std::string_view backend);
const ExecutionRow* find_execution(layout::WeightFormat format, std::string_view backend);

/// How a row's slots are summed on a device by a version of the engine.
SlotSum slot_sum_on(const ExecutionRow& row, Arch arch, deployment::Engine engine);

/// Whether a backend's products have one contract, on the same grounds, in both places.
bool sums_alike(layout::WeightFormat format, std::string_view backend, const Operation& a, const Operation& b);

/// The weakest grounds of a row on a device: its own, its unit's and its quantizers'.
Grounds grounds_of(const ExecutionRow& row, const Operation& operation, const Quantizer& first, const Quantizer& second);
/// Where the row, its quantizers and its unit's contract are known to differ on a device from a version's kernel; each once.
std::vector<KnownDifference> differences_of(const ExecutionRow& row, const Operation& operation, deployment::Engine engine, const Quantizer& first,
                                            const Quantizer& second);
/// "tiles of 16 or 32 tokens: operands are exchanged, since vllm@2026-08": the place, and since when where an earlier version's kernel does not.
std::string where_text(const KnownDifference& difference);
/// "read", or "read, known to differ".
std::string grounds_text(Grounds grounds, std::span<const KnownDifference> differences);

/// One line for people: what enters, the unit and contract, where the rest goes.
std::string_view name_of(MatrixUnit unit);
std::string_view name_of(BiasEntry entry);
std::string_view name_of(SlotRule rule);
std::string_view name_of(SlotOrder order);

}  // namespace mx::families
