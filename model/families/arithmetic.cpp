#include <algorithm>
#include <array>
#include <vector>

#include "model/error.hpp"
#include "model/families/arithmetic_rows.hpp"
#include "model/families/device_rows.hpp"
#include "model/families/family.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/rows.hpp"
#include "model/stand_in.hpp"

namespace mx::families {
namespace {

using mx::families::Arch;

constexpr std::string_view kRecorded = "outputs of an H200, reproduced bit for bit";
constexpr std::string_view kOthersOutputs = "recorded outputs of others' devices, reproduced bit for bit (MATLAB-tensor-core b12b5a7)";
constexpr std::string_view kSimulated = "a simulator that its authors held against the device (mmasim 2.1.1, arXiv 2511.10909)";
constexpr std::string_view kSimulatedBlocks =
    "the sum of a block is that of a simulator (mmasim 2.1.1, arXiv 2511.10909) or of recorded outputs; that its scales enter as on an H200 is taken";
constexpr std::string_view kFinerBlocks =
    "taken as blocks of 128 are, with a chain for each scale: vllm's kernel takes steps of k of the block's side; recorded on an H200 alone";
constexpr std::array kFinerRuns{Recording{"golden/witness/hardware/fp8_squares_h200", "x64"}};
constexpr std::string_view kLikeHopper = "taken as the H200's; no sum of bf16 on this device is published";
constexpr std::string_view kUnpublished = "neither the width nor the order of this unit's sums is published: taken as one rounding of the exact sum";
constexpr std::string_view kVectorFma = "not published: taken as fp32 fused multiply-adds in ascending k";
constexpr std::string_view kAmx =
    "taken as VDPBF16PS, by which few rows go; more than 4 may go by AMX (read: vllm 2092f832, csrc/cpu/sgl-kernels/gemm.h), a TDPBF16PS for each 32 "
    "of "
    "k in ascending order, which is bf16-pair (read: oneDNN 3f27bec2, src/cpu/x64/brgemm/jit_brgemm_amx_uker.cpp)";

bool in_ampere(const Operation& operation) { return operation.arch == Arch::sm80; }
bool in_ada(const Operation& operation) { return operation.arch == Arch::sm89; }
bool in_hopper(const Operation& operation) { return on_sm90(operation.arch); }
bool in_blackwell(const Operation& operation) { return operation.arch == Arch::sm100 || operation.arch == Arch::sm120; }
bool in_nvidia(const Operation& operation) { return on_nvidia(operation.arch); }
bool in_cdna2(const Operation& operation) { return operation.arch == Arch::gfx90a; }
bool in_cdna3(const Operation& operation) { return operation.arch == Arch::gfx942; }
/// Its FP8 instructions read e4m3fnuz and e5m2fnuz.
bool in_cdna3_fp8(const Operation& operation) { return in_cdna3(operation) && operation.fnuz; }
/// Squares of another side than those whose outputs were recorded.
template <bool (*device)(const Operation&)>
bool finer(const Operation& operation) {
  return operation.block != layout::kBlockSide && device(operation);
}
bool in_processors(const Operation& operation) { return on_cpu(operation.arch); }

/// The rows, worked out once: those of tensor cores have their contracts by name.
std::span<const UnitRow> own_units() {
  static const std::array kUnits{
      UnitRow{MatrixUnit::bf16, in_hopper, Contract::hopper_bf16, Grounds::run, kRecorded},
      UnitRow{MatrixUnit::bf16, in_ampere, contract_named("ampere-bf16"), Grounds::run, kOthersOutputs},
      UnitRow{MatrixUnit::bf16, in_ada, contract_named("ada-bf16"), Grounds::run, kOthersOutputs},
      UnitRow{MatrixUnit::bf16, in_blackwell, contract_named("blackwell-bf16"), Grounds::published, kSimulated},
      UnitRow{MatrixUnit::bf16, in_nvidia, Contract::hopper_bf16, Grounds::assumed, kLikeHopper},
      UnitRow{MatrixUnit::bf16, in_cdna2, contract_named("cdna2-bf16-1k"), Grounds::published, kSimulated},
      UnitRow{MatrixUnit::bf16, in_cdna3, contract_named("cdna3-bf16"), Grounds::published, kSimulated},
      UnitRow{MatrixUnit::bf16, in_processors, Contract::bf16_chain, Grounds::assumed, kAmx},
      UnitRow{MatrixUnit::bf16, nullptr, Contract::f32_sequential, Grounds::assumed, kVectorFma},
      UnitRow{MatrixUnit::bf16_blocks, nullptr, Contract::bf16_block, Grounds::assumed, kAmx},
      UnitRow{MatrixUnit::fp8, in_hopper, Contract::hopper_fp8, Grounds::run, kRecorded},
      UnitRow{MatrixUnit::fp8, in_ada, contract_named("ada-fp8"), Grounds::run, kOthersOutputs},
      UnitRow{MatrixUnit::fp8, in_blackwell, contract_named("blackwell-f8f6f4"), Grounds::published, kSimulated},
      UnitRow{MatrixUnit::fp8, in_cdna3_fp8, contract_named("cdna3-fp8"), Grounds::published, kSimulated},
      UnitRow{MatrixUnit::fp8, nullptr, Contract::exact, Grounds::assumed, kUnpublished},
      UnitRow{MatrixUnit::fp8_blocks, in_hopper, Contract::hopper_fp8_block_128x128, Grounds::run, kRecorded},
      UnitRow{MatrixUnit::fp8_blocks, in_ada, contract_named("ada-fp8-block-128x128"), Grounds::assumed, kSimulatedBlocks},
      UnitRow{MatrixUnit::fp8_blocks, in_blackwell, contract_named("blackwell-f8f6f4-block-128x128"), Grounds::assumed, kSimulatedBlocks},
      UnitRow{MatrixUnit::fp8_blocks, in_cdna3_fp8, contract_named("cdna3-fp8-block-128x128"), Grounds::assumed, kSimulatedBlocks},
      UnitRow{MatrixUnit::fp8_blocks, nullptr, Contract::exact, Grounds::assumed, kUnpublished},
      UnitRow{MatrixUnit::fp8_blocks_in_order, finer<in_hopper>, contract_named("hopper-fp8-block-1x128:restart=scales"), Grounds::run, kRecorded,
              kFinerRuns},
      UnitRow{MatrixUnit::fp8_blocks_in_order, finer<in_ada>, contract_named("ada-fp8-block-1x128:restart=scales"), Grounds::assumed, kFinerBlocks},
      UnitRow{MatrixUnit::fp8_blocks_in_order, finer<in_blackwell>, contract_named("blackwell-f8f6f4-block-1x128:restart=scales"), Grounds::assumed,
              kFinerBlocks},
      UnitRow{MatrixUnit::fp8_blocks_in_order, finer<in_cdna3_fp8>, contract_named("cdna3-fp8-block-1x128:restart=scales"), Grounds::assumed,
              kFinerBlocks},
      UnitRow{MatrixUnit::fp8_blocks_in_order, in_hopper, Contract::hopper_fp8_block_1x128, Grounds::run, kRecorded},
      UnitRow{MatrixUnit::fp8_blocks_in_order, in_ada, contract_named("ada-fp8-block-1x128"), Grounds::assumed, kSimulatedBlocks},
      UnitRow{MatrixUnit::fp8_blocks_in_order, in_blackwell, contract_named("blackwell-f8f6f4-block-1x128"), Grounds::assumed, kSimulatedBlocks},
      UnitRow{MatrixUnit::fp8_blocks_in_order, in_cdna3_fp8, contract_named("cdna3-fp8-block-1x128"), Grounds::assumed, kSimulatedBlocks},
      UnitRow{MatrixUnit::fp8_blocks_in_order, nullptr, Contract::exact, Grounds::assumed, kUnpublished},
      UnitRow{MatrixUnit::block_scaled, in_blackwell, contract_named("blackwell-mxf8f6f4"), Grounds::published, kSimulated},
      UnitRow{MatrixUnit::block_scaled, nullptr, Contract::exact, Grounds::assumed, kUnpublished},
      UnitRow{MatrixUnit::block_scaled_fp4, in_blackwell, contract_named("blackwell-mxf4"), Grounds::published, kSimulated},
      UnitRow{MatrixUnit::block_scaled_fp4, nullptr, Contract::exact, Grounds::assumed, kUnpublished},
      UnitRow{MatrixUnit::block_scaled_nvfp4, in_blackwell, contract_named("blackwell-nvf4"), Grounds::published, kSimulated},
      UnitRow{MatrixUnit::block_scaled_nvfp4, nullptr, Contract::exact, Grounds::assumed, kUnpublished},
  };
  return kUnits;
}

constexpr Quantizer quantizer(std::string_view name, std::string_view profile, const BlockFormat& format, ScaleScope scope, TensorNumber tensor,
                              Grounds grounds, std::string_view source, std::span<const Recording> recordings = {},
                              std::span<const KnownDifference> differences = {}) {
  return {name, profile, &format, scope, tensor, false, grounds, source, recordings, differences};
}
constexpr Quantizer dequantized(Quantizer row) {
  row.back_to_bf16 = true;
  return row;
}

constexpr std::string_view kVllmFp8 = "vllm csrc/quantization/w8a8/fp8/common.cu (read)";
constexpr std::string_view kVllmGroup = "vllm per_token_group_quant_fp8, outputs recorded on an H200";

constexpr std::string_view kBlockSet = "golden/witness/numerics/block32";
constexpr std::array kMxfp8Runs{Recording{kBlockSet, "bf16.e4m3fn.rceil.flashinfer"}};
constexpr std::array kQuarkRuns{Recording{kBlockSet, "bf16.e2m1.qdq_even.vllm_ref"}};
constexpr std::array kGroupRuns{Recording{kBlockSet, "f32.e4m3fn.group128.group_amax.vllm_triton_gpu"}};
constexpr std::array kGroupPowerRuns{Recording{kBlockSet, "f32.e4m3fn.group128.group_pow2_log2.vllm_triton_gpu"}};
constexpr std::array kNvfp4Runs{Recording{kBlockSet, ".exact.flashinfer"}};
constexpr std::array kNvfp4EmulatedRuns{Recording{kBlockSet, "bf16.e2m1.nvfp4.g336.vllm_ref"}};

constexpr std::string_view kGroupSet = "golden/witness/hardware/fp8_quant_h100";
constexpr std::array kCudaGroupRuns{Recording{kGroupSet, "group128.cuda.amax_div_max"}};
constexpr std::array kCudaGroupPowerRuns{Recording{kGroupSet, "group128.cuda.amax_div_max_pow2"}};
constexpr std::string_view kVllmCudaGroup = "vllm per_token_group_quant_fp8, the CUDA kernel that contiguous activations meet: outputs of an H100";

constexpr std::string_view kGroupsSet = "golden/witness/hardware/fp8_groups_h200";
constexpr std::array kDivided64{Recording{kGroupsSet, "group64.divided"}}, kDivided32{Recording{kGroupsSet, "group32.divided"}},
    kPower64{Recording{kGroupsSet, "group64.power"}}, kPower32{Recording{kGroupsSet, "group32.power"}},
    kTriton64{Recording{kGroupsSet, "group64.triton"}}, kTriton32{Recording{kGroupsSet, "group32.triton"}},
    kTimes128{Recording{kGroupsSet, "group128.times_reciprocal"}}, kTimes64{Recording{kGroupsSet, "group64.times_reciprocal"}},
    kTimes32{Recording{kGroupsSet, "group32.times_reciprocal"}};
constexpr std::string_view kShorterGroups = "vllm per_token_group_quant_fp8 of such groups: outputs of an H200";
constexpr std::string_view kNovemberGroups = "vllm 0.33.0 per_token_group_quant_fp8, the CUDA kernel: outputs of an H200";

/// A row of some devices alone.
constexpr Quantizer on(bool (*devices)(Arch), Quantizer row) {
  row.on = devices;
  return row;
}

/// In groups along a row, each with a scale of its own; outputs were recorded.
constexpr Quantizer groups(std::string_view name, std::string_view profile, const BlockFormat& format, std::string_view source,
                           std::span<const Recording> recordings) {
  return quantizer(name, profile, format, ScaleScope::block, TensorNumber::none, Grounds::run, source, recordings);
}
/// What the CUDA kernel is from 0.33.0 on.
constexpr Quantizer since_november(Quantizer row) {
  row = on(on_nvidia, row);
  row.engines = deployment::since(deployment::kVllm2026_11);
  return row;
}

constexpr std::array kQuantizers{
    Quantizer{"none", {}, nullptr, ScaleScope::none, TensorNumber::none, false, Grounds::definition, "16-bit activations"},
    quantizer("mxfp8", "flashinfer-mx", kMxfp8E4m3, ScaleScope::block, TensorNumber::none, Grounds::run_by_parts,
              "flashinfer mxfp8_quantize, its device functions run on an H200 without the kernel around them", kMxfp8Runs),
    quantizer("mxfp4", "vllm-quark-even", kMxfp4, ScaleScope::block, TensorNumber::none, Grounds::assumed,
              "aiter dynamic_mxfp4_quant: its scale rule is Even; its codes are taken as Quark's"),
    dequantized(quantizer("mxfp4-emulated", "vllm-quark-even", kMxfp4, ScaleScope::block, TensorNumber::none, Grounds::run,
                          "vllm qdq_mxfp4_torch, outputs recorded", kQuarkRuns)),
    quantizer("fp8-static", "vllm-fp8-static", kFp8E4m3, ScaleScope::tensor, TensorNumber::decode, Grounds::read, kVllmFp8),
    quantizer("fp8-tensor", "vllm-fp8-tensor", kFp8E4m3, ScaleScope::tensor, TensorNumber::none, Grounds::read, kVllmFp8),
    quantizer("fp8-token", "vllm-fp8-token", kFp8E4m3, ScaleScope::token, TensorNumber::none, Grounds::read, kVllmFp8),
    since_november(groups("fp8-group128", "vllm-group-cuda-times-reciprocal", kFp8Group128, kNovemberGroups, kTimes128)),
    on(on_nvidia, groups("fp8-group128", "vllm-group-cuda", kFp8Group128, kVllmCudaGroup, kCudaGroupRuns)),
    groups("fp8-group128", "vllm-group", kFp8Group128, kVllmGroup, kGroupRuns),
    on(on_nvidia, groups("fp8-group128-ue8m0", "vllm-group-cuda-ue8m0", kFp8Group128, kVllmCudaGroup, kCudaGroupPowerRuns)),
    groups("fp8-group128-ue8m0", "vllm-group-ue8m0", kFp8Group128, kVllmGroup, kGroupPowerRuns),
    quantizer("fp8-group128-inside", "vllm-group-cuda", kFp8Group128, ScaleScope::block, TensorNumber::none, Grounds::assumed,
              "the kernel's own: taken as vllm's before 0.33.0"),
    on(on_nvidia, groups("fp8-group64-ue8m0", "vllm-group-cuda-g64-ue8m0", kFp8Group64, kShorterGroups, kPower64)),
    on(on_nvidia, groups("fp8-group32-ue8m0", "vllm-group-cuda-g32-ue8m0", kFp8Group32, kShorterGroups, kPower32)),
    since_november(groups("fp8-group64", "vllm-group-cuda-times-reciprocal-g64", kFp8Group64, kNovemberGroups, kTimes64)),
    on(on_nvidia, groups("fp8-group64", "vllm-group-cuda-g64", kFp8Group64, kShorterGroups, kDivided64)),
    groups("fp8-group64", "vllm-group-triton-g64", kFp8Group64, kShorterGroups, kTriton64),
    since_november(groups("fp8-group32", "vllm-group-cuda-times-reciprocal-g32", kFp8Group32, kNovemberGroups, kTimes32)),
    on(on_nvidia, groups("fp8-group32", "vllm-group-cuda-g32", kFp8Group32, kShorterGroups, kDivided32)),
    groups("fp8-group32", "vllm-group-triton-g32", kFp8Group32, kShorterGroups, kTriton32),
    quantizer("nvfp4", "flashinfer-exact", kNvfp4, ScaleScope::block, TensorNumber::encode, Grounds::run_by_parts,
              "flashinfer nvfp4 quantization, its device functions run on an H200 without the kernel around them", kNvfp4Runs),
    dequantized(quantizer("nvfp4-emulated", "vllm-nvfp4", kNvfp4, ScaleScope::block, TensorNumber::encode, Grounds::run,
                          "vllm ref_nvfp4_quant, outputs recorded", kNvfp4EmulatedRuns)),
};

/// Groups of activations go with the weights' squares.
struct GroupRow {
  std::int64_t block;
  std::string_view of_128;
  std::string_view quantizer;
};
/// Source: vllm fused_moe/utils.py _fp8_quantize: the group is the columns of block_shape.
constexpr std::array kGroups{GroupRow{64, "fp8-group128", "fp8-group64"}, GroupRow{32, "fp8-group128", "fp8-group32"},
                             GroupRow{64, "fp8-group128-ue8m0", "fp8-group64-ue8m0"}, GroupRow{32, "fp8-group128-ue8m0", "fp8-group32-ue8m0"}};

struct KeyRow {
  std::string_view key;
  std::string_view quantizer;
};
/// Source: vllm fused_moe/config.py, the fp8 quant keys.
constexpr std::array kKeys{
    KeyRow{"kFp8StaticTensorSym", "fp8-static"},
    KeyRow{"kFp8DynamicTensorSym", "fp8-tensor"},
    KeyRow{"kFp8DynamicTokenSym", "fp8-token"},
    KeyRow{"kFp8Dynamic128Sym", "fp8-group128"},
};

constexpr rows::Word<ScaleMemory> kMemories[] = {{ScaleMemory::row_major, "row-major"}, {ScaleMemory::tile_128x4, "128x4 tile"}};
constexpr rows::Word<ExpertAddress> kAddresses[] = {{ExpertAddress::map, "expert map"},
                                                    {ExpertAddress::offset, "offset of the rank"},
                                                    {ExpertAddress::ignored, "global numbers"},
                                                    {ExpertAddress::refused, "all experts only"}};
constexpr rows::Word<MatrixUnit> kUnitWords[] = {{MatrixUnit::bf16, "bf16"},
                                                 {MatrixUnit::bf16_blocks, "bf16, scales per block"},
                                                 {MatrixUnit::fp8, "fp8"},
                                                 {MatrixUnit::fp8_blocks, "fp8, scales per 128"},
                                                 {MatrixUnit::fp8_blocks_in_order, "fp8, scales per 128 one by one"},
                                                 {MatrixUnit::block_scaled, "block-scaled"},
                                                 {MatrixUnit::block_scaled_fp4, "block-scaled, 4 bits"},
                                                 {MatrixUnit::block_scaled_nvfp4, "block-scaled, 4 bits by 16"}};
constexpr rows::Word<BiasEntry> kBiases[] = {
    {BiasEntry::dropped, "dropped"}, {BiasEntry::f32, "fp32 addition"}, {BiasEntry::after_bf16, "bf16 addition"}};
constexpr rows::Word<SlotRule> kSlotRules[] = {
    {SlotRule::weighted_rounded, "bf16(y * w)"}, {SlotRule::rounded, "bf16(y), fma with w"}, {SlotRule::rounded_weighted_again, "bf16(bf16(y) * w)"}};
constexpr rows::Word<SlotOrder> kOrders[] = {{SlotOrder::position, "by slot"}, {SlotOrder::expert, "by expert"}};

/// Adds those of a row that are seen on the device, each once.
void add_differences(std::vector<KnownDifference>& to, std::span<const KnownDifference> rows, const Operation& operation, deployment::Engine engine) {
  for (const KnownDifference& row : rows) {
    if ((row.on != nullptr && !row.on(operation.arch)) || !row.engines.has(engine) || (row.of_8_bits && !operation.of_8_bits)) continue;
    if (std::ranges::find(to, row.where, &KnownDifference::where) == to.end()) to.push_back(row);
  }
}

}  // namespace

std::span<const UnitRow> unit_rows() { return fault::rows_of<UnitRow>(fault::Table::units, own_units()); }

const UnitRow& unit_on(MatrixUnit unit, const Operation& operation) {
  return *std::ranges::find_if(unit_rows(), [&](const UnitRow& row) { return row.unit == unit && (row.on == nullptr || row.on(operation)); });
}

std::span<const Quantizer> all_quantizers() { return kQuantizers; }
const Quantizer& quantizer_named(std::string_view name) { return rows::named(kQuantizers, "quantizer", name); }

const Quantizer& quantizer_on(std::string_view name, Arch arch, deployment::Engine engine) {
  const auto* const row = std::ranges::find_if(
      kQuantizers, [&](const Quantizer& one) { return one.name == name && (one.on == nullptr || one.on(arch)) && one.engines.has(engine); });
  return row == kQuantizers.end() ? quantizer_named(name) : *row;
}

const Quantizer& in_groups_of(const Quantizer& quantizer, std::int64_t block, Arch arch, deployment::Engine engine) {
  if (fault::planted(fault::Fault::groups_of_128_beside_finer_squares)) return quantizer;
  const auto* const row = std::ranges::find_if(kGroups, [&](const GroupRow& one) { return one.block == block && one.of_128 == quantizer.name; });
  return row == kGroups.end() ? quantizer : quantizer_on(row->quantizer, arch, engine);
}

const Recipe& recipe_of(const Quantizer& quantizer) {
  const auto own = std::ranges::find(device_recipes(), quantizer.profile, &DeviceRecipe::name);
  return own == device_recipes().end() ? recipe(profile_named(quantizer.profile), *quantizer.format, kBf16) : own->recipe;
}

SlotSum slot_sum_on(const ExecutionRow& row, Arch arch, deployment::Engine engine) {
  if (row.sum != SlotSum::moe_sum) return row.sum;
  return on_nvidia(arch) ? moe_sum_of(engine) : SlotSum::bf16;
}

const Quantizer* quantizer_of_key(std::string_view activation_key) {
  const auto* row = std::ranges::find(kKeys, activation_key, &KeyRow::key);
  return row == kKeys.end() ? nullptr : &quantizer_named(row->quantizer);
}

std::span<const ExecutionRow> execution_rows() {
  static const std::vector<ExecutionRow> all = [] {
    std::vector<ExecutionRow> rows = joined(&Family::executions);
    std::ranges::stable_sort(rows, {}, [](const ExecutionRow& row) { return row.format; });
    return rows;
  }();
  return all;
}

const ExecutionRow* find_execution(layout::WeightFormat format, std::string_view backend) {
  for (const ExecutionRow& row : execution_rows()) {
    if (row.format == format && same_name(row.backend, backend)) return &row;
  }
  return nullptr;
}

const ExecutionRow& execution_of(layout::WeightFormat format, std::string_view backend) {
  if (const ExecutionRow* row = find_execution(format, backend)) return *row;
  std::vector<std::string_view> known;
  for (const ExecutionRow& row : execution_rows()) {
    if (row.format == format) known.push_back(row.backend);
  }
  throw Error(ErrorCode::usage, unknown_name("backend", backend, known), std::string(layout::name_of(format)));
}

bool sums_alike(layout::WeightFormat format, std::string_view backend, const Operation& a, const Operation& b) {
  const ExecutionRow* const row = find_execution(format, backend);
  if (row == nullptr) return true;
  const UnitRow &first = unit_on(row->unit, a), &second = unit_on(row->unit, b);
  return first.contract == second.contract && first.grounds == second.grounds;
}

Grounds grounds_of(const ExecutionRow& row, const Operation& operation, const Quantizer& first, const Quantizer& second) {
  const auto held = std::ranges::find_if(row.held, [&](const HeldOn& one) { return one.on(operation.arch); });
  const Grounds own = held == row.held.end() ? row.grounds : held->grounds;
  return weaker(weaker(own, unit_on(row.unit, operation).grounds), weaker(first.grounds, second.grounds));
}

std::vector<KnownDifference> differences_of(const ExecutionRow& row, const Operation& operation, deployment::Engine engine, const Quantizer& first,
                                            const Quantizer& second) {
  std::vector<KnownDifference> differences;
  for (const auto rows : {row.differences, first.differences, second.differences}) add_differences(differences, rows, operation, engine);
  const UnitRow& unit = unit_on(row.unit, operation);
  const ContractRow& contract = row_of(unit.contract);
  if (needs_recording(unit.grounds) && !contract.known_to_differ.empty()) differences.push_back({nullptr, contract.known_to_differ, kH100});
  return differences;
}

std::string where_text(const KnownDifference& difference) {
  const std::string where(difference.where);
  return difference.engines.since == deployment::kVllm2026_05 ? where
                                                              : where + ", since " + std::string(deployment::name_of(difference.engines.since));
}

std::string grounds_text(Grounds grounds, std::span<const KnownDifference> differences) {
  std::string text(name_of(grounds));
  return differences.empty() ? text : text + ", " + std::string(kKnownToDiffer);
}

std::string_view name_of(ScaleMemory memory) { return rows::word_of<ScaleMemory>(kMemories, memory); }
std::string_view name_of(ExpertAddress address) { return rows::word_of<ExpertAddress>(kAddresses, address); }
std::string_view name_of(MatrixUnit unit) { return rows::word_of<MatrixUnit>(kUnitWords, unit); }
std::string_view name_of(BiasEntry entry) { return rows::word_of<BiasEntry>(kBiases, entry); }
std::string_view name_of(SlotRule rule) { return rows::word_of<SlotRule>(kSlotRules, rule); }
std::string_view name_of(SlotOrder order) { return rows::word_of<SlotOrder>(kOrders, order); }

}  // namespace mx::families
