// The table of operations, and how one entry of mxact-witness/1 is run.

#include <algorithm>
#include <iterator>
#include <sstream>

#include "golden/witness/ledger.hpp"
#include "golden/witness/ops.hpp"

namespace mx::golden {

namespace {

constexpr Op kOps[] = {
    {"decode", "codes", "values", evaluate_decode},
    {"encode", "x", {}, evaluate_encode},
    {"encode_stochastic", "x random", "codes", evaluate_encode_stochastic},
    {"sweep_digest", "x", "digests", evaluate_sweep},
    {"block_quantize", {}, "scales codes", evaluate_block_quantize},
    {"block_scale", "x", "scales", evaluate_block_scale},
    {"encode_scale", "x", "scales", evaluate_encode_scale},
    {"block_quantize_dequantize", "x", "values", evaluate_block_quantize_dequantize},
    {"block_dequantize", "codes scales", "values", evaluate_block_dequantize},
    {"fp8_quantize", {}, {}, evaluate_fp8_quantize},
    {"affine_quantize", "x", "scales zeros codes values", evaluate_affine_quantize},
    {"block_memory", "scales codes", "bytes", evaluate_block_memory},
    {"byte_permutation", {}, "source", evaluate_byte_permutation},
    {"layout_choice", "features cols rows", "layout", evaluate_layout_choice},
    {"hadamard", "x", "values", evaluate_hadamard},
    {"swizzle", "matrix", "swizzled", evaluate_swizzle},
    {"gemm", {}, "d", evaluate_gemm},
    {"mma_sync", "a b c", "d", evaluate_mma_sync},
    {"dot_accumulate", {}, "d", evaluate_dot_accumulate},
    {"cast_pair", "x", "y", evaluate_cast_pair},
    {"atomic_add", "old x", "new", evaluate_atomic_add},
    {"router_logits", {}, {}, evaluate_router_logits},
    {"route", {}, {}, evaluate_route},
    {"moe", {}, {}, evaluate_moe},
    {"moe_stage", {}, {}, evaluate_moe_stage},
    {"moe_layer", {}, {}, evaluate_moe_layer},
    {"silu_quantize", {}, {}, evaluate_silu_quantize},
    {"slot_sum", {}, "out", evaluate_slot_sum},
    {"fp8_requantize", "codes scales", "codes_out scales_out", evaluate_fp8_requantize},
};

const Op& op_named(const std::string& word) { return row_named(kOps, "operation", word); }

Recorded recorded_output(const OpContext& context, const std::string& name, const TensorSpec& spec) {
  const Entry& entry = context.entry;
  Recorded recorded{name, load(spec, context.manifest.directory, entry.where), entry.relations.at(name), {}, context.manifest.row_names, {}};
  if (const auto skip = entry.skips.find(name); skip != entry.skips.end()) {
    std::optional<Tensor> x;
    const bool reads_x = skip->second.abs_below_pow2 || skip->second.input_nan;
    if (reads_x && entry.inputs.contains("x")) x = context.input("x");
    recorded.skipped = skipped_elements(skip->second, spec, x ? &*x : nullptr, context.manifest.directory, entry.where);
  }
  return recorded;
}

void evaluate(const OpContext& context, EntryResult& result) {
  const Entry& entry = context.entry;
  if (!entry.unmodelled.empty()) throw Unmodelled(entry.unmodelled);
  const Op& op = op_named(entry.op);
  require_names(op.inputs, entry.inputs, "input", entry.where);
  require_names(op.outputs, entry.outputs, "output", entry.where);
  const ModelOutputs model = op.evaluate(context);
  for (const auto& [name, spec] : entry.outputs) {
    const auto output = model.find(name);
    if (output == model.end()) throw Unmodelled("no model of output '" + name + "'");
    Recorded recorded = recorded_output(context, name, spec);
    const std::vector<Excuse> excuses = excuses_for(entry, name, [&context] { return context.input("x"); });
    recorded.excuses = excuses;
    const std::int64_t before = result.compared;
    compare(recorded, output->second, context.options.max_differences, entry.where, result);
    if (result.compared == before && result.reason.empty()) result.reason = "every value of '" + name + "' is skipped";
  }
}

void unmodelled(EntryResult& result, const std::string& reason) {
  result.status = EntryStatus::unmodelled;
  result.reason = reason;
  result.compared = result.differing = result.excused = result.skipped = 0;
  result.differences.clear();
  result.excuses.clear();
}

}  // namespace

void require_names(std::string_view list, const std::map<std::string, TensorSpec>& tensors, const std::string& what, const std::string& where) {
  if (list.empty()) return;
  std::istringstream words{std::string(list)};
  const std::vector<std::string> names{std::istream_iterator<std::string>(words), {}};
  for (const std::string& name : names) {
    if (!tensors.contains(name)) broken("no " + what + " '" + name + "'", where);
  }
  for (const auto& [name, spec] : tensors) {
    if (std::find(names.begin(), names.end(), name) == names.end()) throw Unmodelled("unknown " + what + " '" + name + "'");
  }
}

EntryResult run_entry(const Manifest& manifest, const Entry& entry, const WitnessOptions& options, SweepCache& sweeps) {
  EntryResult result;
  result.id = entry.id;
  result.level = entry.level;
  result.what = entry.op;
  try {
    evaluate({manifest, entry, options, sweeps}, result);
    // An output that is skipped whole says nothing: the entry is not equal on the strength of the others.
    result.status = result.differing > 0 ? EntryStatus::differs : result.reason.empty() ? EntryStatus::equal : EntryStatus::nothing_compared;
    if (result.status == EntryStatus::equal && result.compared > 1 && !result.discriminates) {
      result.status = EntryStatus::mistrusted;
      result.reason = "the recorded values could not have failed: one and the same value everywhere agrees with all of them";
    }
  } catch (const Unmodelled& unknown) {
    unmodelled(result, unknown.what());
  } catch (const NotRun& skipped) {
    result.reason = skipped.what();
  } catch (const Error& error) {
    // The model refuses what its interface does not cover; a broken file stays an error.
    if (error.code() != ErrorCode::usage && error.code() != ErrorCode::unsupported) throw;
    unmodelled(result, std::string("the model refuses: ") + error.what());
  }
  return result;
}

}  // namespace mx::golden
