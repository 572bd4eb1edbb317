// The operations of kernels around the products: `silu_quantize`, `slot_sum`, `fp8_requantize`.

#include <fmt/format.h>

#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "golden/witness/numbers.hpp"
#include "golden/witness/stage_tensors.hpp"
#include "model/families/between.hpp"
#include "model/families/device_rows.hpp"
#include "model/families/requantize.hpp"
#include "model/families/slot_sum.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

/// Gates and ups of rows: halves of `h13`, or one gate of each row at its first place with an up of 1, all else 0.
struct GateAndUp {
  std::vector<std::uint32_t> gate, up;  ///< bf16 codes, [rows][columns]
  std::size_t rows, columns;
};

GateAndUp read_gates(const OpContext& context, std::int64_t columns) {
  constexpr std::uint32_t kOne = 0x3F80;
  const auto width = static_cast<std::size_t>(columns);
  const auto recorded = context.entry.inputs.find("h13");
  if (recorded == context.entry.inputs.end()) {
    require_names("gate", context.entry.inputs, "input", context.entry.where);
    const Tensor gates = context.input("gate");
    require_dtype(gates, "bf16", "gate", context.entry.where);
    const auto rows = static_cast<std::size_t>(gates.size());
    GateAndUp read{std::vector<std::uint32_t>(rows * width), std::vector<std::uint32_t>(rows * width), rows, width};
    for (std::size_t row = 0; row < rows; ++row) {
      read.gate[row * width] = word_at(gates, static_cast<std::int64_t>(row));
      read.up[row * width] = kOne;
    }
    return read;
  }
  require_names("h13", context.entry.inputs, "input", context.entry.where);
  if (recorded->second.shape.size() != 2) broken("'h13' must have rows of gates and ups", context.entry.where);
  const std::int64_t rows = recorded->second.shape[0];
  const Tensor h13 = input_of(context, "h13", "bf16", {rows, 2 * columns});
  GateAndUp read{{}, {}, static_cast<std::size_t>(rows), width};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < columns; ++i) {
      read.gate.push_back(word_at(h13, row * 2 * columns + i));
      read.up.push_back(word_at(h13, row * 2 * columns + columns + i));
    }
  }
  return read;
}

/// The activation of every gate and up under a limit (0: none) by a version of the engine, fp32 bits.
std::vector<std::uint32_t> activated(const families::Between& kernel, std::uint32_t limit, deployment::Engine engine, const GateAndUp& read) {
  const moe::Activation& activation = families::activation_of(kernel, limit);
  const moe::ActivationConstants constants = families::constants_of(kernel, limit);
  const bool adds_zero = kernel.adds_zero.has(engine);
  std::vector<std::uint32_t> act;
  for (std::size_t i = 0; i < read.gate.size(); ++i) {
    const std::uint32_t up = to_f32(read.up[i], kBf16);
    act.push_back(moe::activate(activation, *kernel.type, to_f32(read.gate[i], kBf16), adds_zero ? f32::add(up, 0) : up, constants));
  }
  return act;
}

std::uint32_t limit_of(Fields& params, const families::Between& kernel) {
  if (!params.has("limit")) return 0;
  if (kernel.limited.empty()) throw Unmodelled(fmt::format("kernel {} with a limit", kernel.name));
  return static_cast<std::uint32_t>(params.hex("limit", 8));
}

void read_scale_words(Fields& params, const families::Between& kernel) {
  if (params.has("source") && params.text("source") != "bf16") throw Unmodelled("silu_quantize of another source than bf16");
  if (params.has("format") && params.text("format") != "e4m3fn") throw Unmodelled("silu_quantize into another format than e4m3fn");
  // These two say once more what the kernel's recipe says.
  if (params.has("scale_rule") && params.text("scale_rule") != "amax_div_max_inverted")
    throw Unmodelled(fmt::format("kernel {} with another scale rule", kernel.name));
  if (params.has("scale_floor")) {
    const auto* how = std::get_if<Fp8Recipe>(&families::device_recipe(kernel.recipe).how);
    if (how == nullptr || how->least_scale != params.hex("scale_floor", 8))
      throw Unmodelled(fmt::format("kernel {} with another scale_floor", kernel.name));
  }
}

/// Rows of one number's bits each.
ModelOutput scales_output(const OpContext& context, const std::vector<std::uint32_t>& scales) {
  const auto recorded = context.entry.outputs.find("scales");
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(scales.size())};
  if (recorded != context.entry.outputs.end() && recorded->second.elements == shape[0]) shape = recorded->second.shape;
  return output_of("f32", std::move(shape), scales);
}

}  // namespace

ModelOutputs evaluate_silu_quantize(const OpContext& context) {
  constexpr std::int64_t kGroup = 128;
  Fields params = params_of(context.entry);
  const families::Between& kernel = families::between_named(params.text("kernel"));
  if (params.has("block") && params.integer("block") != kGroup) throw Unmodelled("silu_quantize of groups that are not of 128");
  const std::int64_t columns = params.has("intermediate") ? params.integer("intermediate", 1, kLargestExtent) : kGroup;
  const bool powers = params.has("ue8m0") && params.integer("ue8m0", 0, 1) == 1;
  const std::uint32_t limit = limit_of(params, kernel);
  // The first sets, which do not say it, are of the first version.
  const deployment::Engine engine = params.has("engine") ? engine_of(params) : deployment::kVllm2026_05;
  read_scale_words(params, kernel);
  params.finish();
  if (columns % kGroup != 0) throw Unmodelled(fmt::format("{} columns are not whole groups of {}", columns, kGroup));
  if (powers && kernel.power_of_two.empty()) throw Unmodelled(fmt::format("kernel {} with scales that are powers of two", kernel.name));
  const GateAndUp read = read_gates(context, columns);
  const std::vector<std::uint32_t> act = activated(kernel, limit, engine, read);
  ModelOutputs outputs;
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(read.rows), columns};
  if (kernel.recipe.empty()) {
    outputs.emplace("act", output_of("bf16", shape, narrowed_all(act)));
    return outputs;
  }
  const families::QuantizedRow made = families::quantize_between(kernel, powers, act);
  outputs.emplace("scales", scales_output(context, made.scales));
  outputs.emplace("codes", output_of("u8", shape, made.codes));
  return outputs;
}

namespace {

struct SumWord {
  std::string_view word;
  bool weighs;  ///< input `weights`, in the sum
  bool skips;   ///< input `ids`: slots of -1 are left out
  families::SlotSum sum;
};
constexpr SumWord kSumWords[] = {
    {"moe_sum", false, false, families::SlotSum::moe_sum},
    {"moe_sum_in_order", false, false, families::SlotSum::f32},
    {"fma_in_order", true, false, families::SlotSum::f32},
    {"fma_in_order_valid", true, true, families::SlotSum::f32},
};

}  // namespace

ModelOutputs evaluate_slot_sum(const OpContext& context) {
  Fields params = params_of(context.entry);
  const std::int64_t top_k = params.integer("top_k", 1, kLargestExtent);
  const SumWord& rule = row_named(kSumWords, "rule", params.text("rule"));
  params.finish();
  const std::string& where = context.entry.where;
  require_names(std::string("y") + (rule.weighs ? " weights" : "") + (rule.skips ? " ids" : ""), context.entry.inputs, "input", where);
  const std::vector<std::int64_t>& shape = context.entry.inputs.at("y").shape;
  if (shape.size() != 3 || shape[1] != top_k) broken(fmt::format("'y' is not [tokens][{}][columns]", top_k), where);
  const Tensor y = input_of(context, "y", "bf16", shape);
  std::optional<Tensor> weights, ids;
  if (rule.weighs) weights = input_of(context, "weights", "f32", {shape[0], top_k});
  if (rule.skips) ids = input_of(context, "ids", "i32", {shape[0], top_k});
  constexpr std::uint32_t kSkipped = 0xFFFFFFFFU;
  std::vector<std::uint32_t> out;
  std::vector<std::uint32_t> shares, factors;
  for (std::int64_t token = 0; token < shape[0]; ++token) {
    for (std::int64_t n = 0; n < shape[2]; ++n) {
      shares.clear();
      factors.clear();
      for (std::int64_t slot = token * top_k; slot < (token + 1) * top_k; ++slot) {
        if (ids && word_at(*ids, slot) == kSkipped) continue;
        shares.push_back(f32_at(y, slot * shape[2] + n));
        if (weights) factors.push_back(word_at(*weights, slot));
      }
      out.push_back((rule.weighs ? families::fused_sum_of_slots(shares, factors) : families::sum_of_slots(rule.sum, shares)) >> 16U);
    }
  }
  ModelOutputs outputs;
  outputs.emplace("out", output_of("bf16", {shape[0], shape[2]}, out));
  return outputs;
}

ModelOutputs evaluate_fp8_requantize(const OpContext& context) {
  constexpr std::int64_t kBlock = 128;
  constexpr std::uint32_t kTenToMinus4 = 0x38D1B717U;
  Fields params = params_of(context.entry);
  if (params.text("format") != "e4m3fn" || params.integer("block") != kBlock || params.text("scale_rule") != "amax_div_max_pow2" ||
      params.hex("amax_floor", 8) != kTenToMinus4)
    throw Unmodelled("fp8_requantize by another rule than DeepGEMM's preparation");
  params.finish();
  const std::string& where = context.entry.where;
  const std::vector<std::int64_t>& shape = context.entry.inputs.at("codes").shape;
  if (shape.size() != 3 || shape[1] % kBlock != 0 || shape[2] % kBlock != 0) broken("'codes' are not [experts][rows][k] of whole blocks", where);
  Tensor codes = input_of(context, "codes", "u8", shape);
  Tensor scales = input_of(context, "scales", "f32", {shape[0], shape[1] / kBlock, shape[2] / kBlock});
  std::vector<std::uint8_t> block(kBlock * kBlock);
  const std::int64_t across = shape[2] / kBlock;
  for (std::int64_t i = 0; i < scales.size(); ++i) {
    const std::int64_t first = i / across * kBlock * shape[2] + i % across * kBlock;
    const auto byte = [&](std::int64_t at) -> std::uint8_t& {
      return codes.bytes[static_cast<std::size_t>(first + at / kBlock * shape[2] + at % kBlock)];
    };
    for (std::int64_t at = 0; at < kBlock * kBlock; ++at) block[static_cast<std::size_t>(at)] = byte(at);
    scales.set_word(i, families::requantize_block(block, word_at(scales, i)));
    for (std::int64_t at = 0; at < kBlock * kBlock; ++at) byte(at) = block[static_cast<std::size_t>(at)];
  }
  ModelOutputs outputs;
  outputs.emplace("codes_out", ModelOutput{std::move(codes), &kE4m3fn, false, {}});
  outputs.emplace("scales_out", ModelOutput{std::move(scales), nullptr, false, {}});
  return outputs;
}

}  // namespace mx::golden
