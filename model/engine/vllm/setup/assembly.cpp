#include "model/engine/vllm/setup/assembly.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

/// When an exchange moves activations that are quantized to fp8 already.
enum class Fp8Dispatch : std::uint8_t {
  never,
  platform_block,  ///< the platform's fp8 in blocks
  deepep_block,    ///< the platform's fp8 in the exchange's own blocks of (128, 128)
  token_or_block   ///< any scale per token or per block
};

/// The prepare/finalize step for one kind of parallelism.
struct PrepareRow {
  bool (*holds)(const deployment::Parallel& parallel);
  std::string_view modular;     ///< class name
  std::string_view monolithic;  ///< the variant for experts that route by themselves; empty: none
  ActivationFormat format;
  Fp8Dispatch fp8_dispatch = Fp8Dispatch::never;
  std::span<const std::string_view> quant_dtypes = {};  ///< the only ones that it moves ("" is unquantized); empty: any
};

constexpr std::string_view kNaive = "MoEPrepareAndFinalizeNaiveDPEPModular";
constexpr std::string_view kNaiveMonolithic = "MoEPrepareAndFinalizeNaiveDPEPMonolithic";
constexpr std::array<Names, 3> kOneSidedDtypes = {"", "nvfp4", "mxfp8"};

/// First match wins; pplx and naive have none. DeepEP v2 as 7ca49fbe4 reads.
/// Source: vllm 7e1b45a09 fused_moe/all2all_utils.py maybe_make_prepare_finalize.
constexpr std::array<PrepareRow, 10> kPrepares = {{
    {[](const deployment::Parallel& p) { return !p.use_all2all_kernels() && p.dp_size > 1; }, kNaive, kNaiveMonolithic, ActivationFormat::standard},
    {[](const deployment::Parallel& p) { return !p.use_all2all_kernels(); }, "MoEPrepareAndFinalizeNoDPEPModular",
     "MoEPrepareAndFinalizeNoDPEPMonolithic", ActivationFormat::standard},
    {[](const deployment::Parallel& p) { return p.use_deepep_ht_kernels(); }, "DeepEPHTPrepareAndFinalize", "", ActivationFormat::standard},
    {[](const deployment::Parallel& p) { return p.use_deepep_v2_kernels(); }, "DeepEPV2PrepareAndFinalize", "", ActivationFormat::standard,
     Fp8Dispatch::platform_block},
    {[](const deployment::Parallel& p) { return p.use_deepep_ll_kernels(); }, "DeepEPLLPrepareAndFinalize", "", ActivationFormat::batched_experts,
     Fp8Dispatch::deepep_block},
    {[](const deployment::Parallel& p) { return p.use_mori_kernels(); }, "MoriPrepareAndFinalize", "", ActivationFormat::standard,
     Fp8Dispatch::token_or_block},
    {[](const deployment::Parallel& p) { return p.use_fi_nvl_two_sided_kernels(); }, "FlashInferNVLinkTwoSidedPrepareAndFinalize", "",
     ActivationFormat::standard},
    {[](const deployment::Parallel& p) { return p.use_fi_nvl_one_sided_kernels(); }, "FlashInferNVLinkOneSidedPrepareAndFinalize", "",
     ActivationFormat::standard, Fp8Dispatch::never, kOneSidedDtypes},
    {[](const deployment::Parallel& p) { return p.use_ag_rs_all2all_kernels(); }, kNaive, kNaiveMonolithic, ActivationFormat::standard},
    {[](const deployment::Parallel& p) { return p.use_nixl_ep_kernels(); }, "NixlEPPrepareAndFinalize", "", ActivationFormat::batched_experts,
     Fp8Dispatch::deepep_block},
}};

/// Backends of an oracle whose kernels never work in place; none named with `never`: all.
struct InplaceRow {
  Names oracle;
  bool never;
  std::span<const Names> except;
};
constexpr std::array<Names, 2> kTrtllm = {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kFlashinferCutlass = {"FLASHINFER_CUTLASS"};
constexpr std::array<InplaceRow, 10> kInplace = {{
    {"mxfp4", false, kTrtllm},
    {"mxfp4_deepseek_v4", false, kTrtllm},
    {"nvfp4", true, {}},
    {"fp8", false, kFlashinferCutlass},
    {"mxfp8", false, kFlashinferCutlass},  // assembled by fp8's function
    {"w4a8", false, {}},
    {"unquantized", false, {}},
    {"int_wna16", false, {}},
    {"int8", false, {}},
    {"w4a8_int8", false, {}},
}};

/// Backends whose experts read the layer's schemas.
constexpr std::array<Names, 1> kTakesLayer = {"HUMMING"};

bool names(std::span<const Names> list, Names name) { return std::find(list.begin(), list.end(), name) != list.end(); }

const KernelClass& class_named(deployment::Engine engine, Names name) {
  std::vector<Names> known;
  for (const KernelClass& row : kernel_classes(engine)) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  throw Error(ErrorCode::usage, unknown_name("kernel class", name, known));
}

bool works_in_place(const AssemblyRequest& request) {
  std::vector<Names> known;
  for (const InplaceRow& row : kInplace) {
    if (row.oracle == request.oracle) return !request.disable_inplace && !row.never && !names(row.except, request.backend);
    known.push_back(row.oracle);
  }
  throw Error(ErrorCode::usage, unknown_name("oracle", request.oracle, known));
}

bool moves_fp8(Fp8Dispatch rule, const AssemblyRequest& request) {
  switch (rule) {
    case Fp8Dispatch::never: return false;
    case Fp8Dispatch::platform_block:
      return request.quant.quant_dtype() == platform_fp8_dtype(request.hardware) && request.quant.block_shape().has_value();
    case Fp8Dispatch::deepep_block:
      return request.quant.quant_dtype() == platform_fp8_dtype(request.hardware) && request.quant.block_shape() == GroupShape{128, 128};
    case Fp8Dispatch::token_or_block: break;
  }
  return request.quant.per_act_token_quant() || request.quant.block_shape().has_value();
}

/// Processes that share the experts or the matrices.
std::int64_t world_size(const deployment::Parallel& parallel) { return parallel.use_ep ? parallel.ep_size : parallel.tp_size; }

/// The one-sided exchange pads MXFP8 columns itself; the other steps move what they get.
std::int64_t exchanged_hidden(const PrepareRow& row, const AssemblyRequest& request) {
  const std::int64_t unit = request.quant.mx_alignment;
  const bool pads = !row.quant_dtypes.empty() && request.quant.quant_dtype() == "mxfp8" && unit > 0;
  return pads ? (request.hidden + unit - 1) / unit * unit : request.hidden;
}

}  // namespace

Answer<Assembly> assemble(const AssemblyRequest& request) {
  const KernelClass& experts = class_named(request.parallel.engine, request.kernel_class);
  const bool inplace = works_in_place(request);
  const auto row = std::find_if(kPrepares.begin(), kPrepares.end(), [&](const PrepareRow& r) { return r.holds(request.parallel); });
  if (row == kPrepares.end()) return Refusal{"AssertionError", "no prepare step for all2all backend " + request.parallel.all2all_backend};
  if (!row->quant_dtypes.empty() && !names(row->quant_dtypes, request.quant.quant_dtype())) {
    return Refusal{"NotImplementedError", std::string(row->modular) + " cannot move " + request.quant.quant_dtype()};
  }
  if (experts.monolithic && row->monolithic.empty()) {
    return Refusal{"ValueError", std::string(row->modular) + " is modular, " + std::string(experts.name) + " monolithic"};
  }
  if (experts.monolithic && inplace) return Refusal{"AssertionError", std::string(experts.name) + " cannot work in place"};
  if (experts.format != row->format)
    return Refusal{"AssertionError", std::string(experts.name) + " takes another format than " + std::string(row->modular)};

  const bool batched = row->format == ActivationFormat::batched_experts;
  return Assembly{
      .prepare_class = experts.monolithic ? row->monolithic : row->modular,
      .format = row->format,
      .fp8_dispatch = moves_fp8(row->fp8_dispatch, request),
      .exchanged_hidden = exchanged_hidden(*row, request),
      .max_num_tokens = batched ? std::optional(request.max_num_tokens) : std::nullopt,
      .num_dispatchers = batched ? std::optional(world_size(request.parallel)) : std::nullopt,
      .inplace = inplace,
      .takes_layer = names(kTakesLayer, request.backend),
  };
}

}  // namespace mx::engine
