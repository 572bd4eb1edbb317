#pragma once
// The operations of mxact-witness/1: each is a row of one table, with the evaluator that gives the model's outputs.

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/manifest.hpp"
#include "golden/witness/witness.hpp"
#include "model/numerics/convert.hpp"

namespace mx::golden {

/// Modelled, but not run this time: reported as nothing compared, with this reason.
class NotRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Digests of conversions that were swept in this run: entries that differ only in who ran share them.
using SweepCache = std::map<std::string, std::vector<std::uint64_t>>;

/// What an evaluator sees.
struct OpContext {
  const Manifest& manifest;
  const Entry& entry;
  const WitnessOptions& options;
  SweepCache& sweeps;

  Tensor input(const std::string& name) const { return load(entry.inputs.at(name), manifest.directory, entry.where); }
};

using ModelOutputs = std::map<std::string, ModelOutput>;

struct Op {
  std::string_view word;
  std::string_view inputs;   ///< names, separated by spaces; an evaluator sees exactly these
  std::string_view outputs;  ///< likewise
  ModelOutputs (*evaluate)(const OpContext&);
};

/// Throws Error(input) for a name of the list (separated by spaces) that is missing, Unmodelled for a tensor that is not in it. An empty list checks
/// nothing: the evaluator does.
void require_names(std::string_view list, const std::map<std::string, TensorSpec>& tensors, const std::string& what, const std::string& where);

/// Runs one entry of a numerics set.
EntryResult run_entry(const Manifest& manifest, const Entry& entry, const WitnessOptions& options, SweepCache& sweeps);

// Evaluators, by file. Each throws Unmodelled for parameters outside what the model claims and Error(input) for a contradiction.

// conversions.cpp
ModelOutputs evaluate_decode(const OpContext& context);
ModelOutputs evaluate_encode(const OpContext& context);
ModelOutputs evaluate_encode_stochastic(const OpContext& context);
ModelOutputs evaluate_sweep(const OpContext& context);
// compositions.cpp: encode with the words of mxact-witness/2
bool is_composed(const Entry& entry);
SignOfZero zero_sign_word(Fields& params);
// composed_blocks.cpp: block_quantize with them
bool is_composed_block(const Entry& entry);
ModelOutputs evaluate_composed_blocks(const OpContext& context);
bool is_composed_way_back(const Entry& entry);
ModelOutputs evaluate_composed_way_back(const OpContext& context);
ModelOutputs evaluate_hadamard(const OpContext& context);
// affine.cpp
ModelOutputs evaluate_affine_quantize(const OpContext& context);
// ggml.cpp
ModelOutputs evaluate_block_memory(const OpContext& context);
ModelOutputs evaluate_byte_permutation(const OpContext& context);
ModelOutputs evaluate_layout_choice(const OpContext& context);
ModelOutputs evaluate_composition(const OpContext& context);
// blocks.cpp
ModelOutputs evaluate_block_quantize(const OpContext& context);
ModelOutputs evaluate_block_scale(const OpContext& context);
ModelOutputs evaluate_encode_scale(const OpContext& context);
ModelOutputs evaluate_block_quantize_dequantize(const OpContext& context);
ModelOutputs evaluate_swizzle(const OpContext& context);
// nvfp4.cpp, fp8.cpp, dequantize.cpp
ModelOutputs evaluate_nvfp4(const OpContext& context);
ModelOutputs evaluate_fp8_quantize(const OpContext& context);
ModelOutputs evaluate_block_dequantize(const OpContext& context);
// gemm.cpp, instruction_sums.cpp
ModelOutputs evaluate_gemm(const OpContext& context);
ModelOutputs evaluate_mma_sync(const OpContext& context);
ModelOutputs evaluate_dot_accumulate(const OpContext& context);
// library_words.cpp
ModelOutputs evaluate_cast_pair(const OpContext& context);
ModelOutputs evaluate_atomic_add(const OpContext& context);
// route.cpp
ModelOutputs evaluate_router_logits(const OpContext& context);
ModelOutputs evaluate_route(const OpContext& context);
// moe.cpp
ModelOutputs evaluate_moe(const OpContext& context);
// moe_stage.cpp
ModelOutputs evaluate_moe_stage(const OpContext& context);
// moe_layer.cpp
ModelOutputs evaluate_moe_layer(const OpContext& context);
// kernel_stages.cpp
ModelOutputs evaluate_silu_quantize(const OpContext& context);
ModelOutputs evaluate_slot_sum(const OpContext& context);
ModelOutputs evaluate_fp8_requantize(const OpContext& context);

/// The conversion that the parameters of an encoding operation state.
struct EncodeParams {
  const Format* from;
  const Format* to;
  Conversion how;
  bool nan_stated;  ///< whether the entry says what becomes of a NaN
};

// Of `encode` and `sweep_digest`, and of `encode_stochastic`, in conversions.cpp. They throw Unmodelled.
EncodeParams read_encode(Fields& params);
EncodeParams read_encode_stochastic(Fields& params);

/// No extent among the parameters is larger.
inline constexpr std::int64_t kLargestExtent = std::int64_t{1} << 20;

// Words that several operations share, in conversions.cpp.

/// Reader of an entry's parameters: one that is missing makes the entry unmodelled. The entry must outlive it.
Fields params_of(const Entry& entry);
/// Format of a parameter. Throws Unmodelled.
const Format& format_word(Fields& params, std::string_view key);
/// fp32, bf16 or fp16 of `source` or `target`. Throws Unmodelled.
const Format& wide_format_word(Fields& params, std::string_view key);
Rounding rounding_word(Fields& params, const Format& to);
Overflow overflow_word(Fields& params, const Format& to);
/// Throws Error(input) unless the tensor has the type that the parameter says.
void require_dtype(const Tensor& tensor, std::string_view word, std::string_view name, const std::string& where);
/// "x[3] = 0x3F800000 = 1"
std::string element_text(std::string_view name, const Tensor& tensor, std::int64_t index);

}  // namespace mx::golden
