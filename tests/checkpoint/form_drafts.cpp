#include "tests/checkpoint/form_drafts.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/execute/sample_layer.hpp"

namespace mx::tests {
namespace {

using Kind = FormTensor::Kind;
using Shape = std::vector<std::int64_t>;
using layout::Role;
using layout::WeightFormat;

Shape halved(std::int64_t n, std::int64_t k) { return {n, k / 2}; }
Shape full(std::int64_t n, std::int64_t k) { return {n, k}; }
Shape per_32(std::int64_t n, std::int64_t k) { return {n, k / 32}; }
Shape per_16(std::int64_t n, std::int64_t k) { return {n, k / 16}; }
Shape squares(std::int64_t n, std::int64_t k) { return {(n + 127) / 128, (k + 127) / 128}; }
Shape number(std::int64_t, std::int64_t) { return {}; }
Shape list_of_one(std::int64_t, std::int64_t) { return {1}; }

const std::vector<std::string> kNames{"gate_proj", "up_proj", "down_proj"};
const std::vector<std::string> kNumbers{"w1", "w3", "w2"};

std::vector<std::uint8_t> slice(const std::vector<std::uint8_t>& bytes, std::int64_t index, std::int64_t count) {
  const auto size = static_cast<std::ptrdiff_t>(bytes.size()) / count;
  return {bytes.begin() + index * size, bytes.begin() + (index + 1) * size};
}

Role role_of(Kind kind, bool w13) {
  switch (kind) {
    case Kind::weight: return w13 ? Role::w13_weight : Role::w2_weight;
    case Kind::scale: return w13 ? Role::w13_weight_scale : Role::w2_weight_scale;
    default: return w13 ? Role::w13_global_scale : Role::w2_global_scale;
  }
}

}  // namespace

const std::vector<FormCase>& form_cases() {
  static const std::vector<FormCase> cases{
      {"compressed-tensors MXFP4",
       WeightFormat::mxfp4,
       kNames,
       {{".weight_packed", "U8", Kind::weight, halved}, {".weight_scale", "U8", Kind::scale, per_32}},
       R"("quantization_config": {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "config_groups": {"group_0": {"weights":
          {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "symmetric": true, "scale_dtype": null}}}})",
       false,
       "FLASHINFER_TRTLLM_MXFP4_BF16",
       deployment::kVllm2026_08},
      {"compressed-tensors NVFP4",
       WeightFormat::nvfp4,
       kNames,
       {{".weight_packed", "U8", Kind::weight, halved},
        {".weight_scale", "F8_E4M3", Kind::scale, per_16},
        {".weight_global_scale", "F32", Kind::global, list_of_one},
        {".input_global_scale", "F32", Kind::input, list_of_one}},
       R"("quantization_config": {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "config_groups": {"group_0": {"weights":
          {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": true}}}})",
       true,
       "FLASHINFER_CUTLASS",
       deployment::kVllm2026_05},
      {"ModelOpt NVFP4",
       WeightFormat::nvfp4,
       kNames,
       {{".weight", "U8", Kind::weight, halved},
        {".weight_scale", "F8_E4M3", Kind::scale, per_16},
        {".weight_scale_2", "F32", Kind::global, number},
        {".input_scale", "F32", Kind::input, number}},
       R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"})",
       false,
       "FLASHINFER_TRTLLM",
       deployment::kVllm2026_05},
      {"ModelOpt FP8",
       WeightFormat::fp8_tensor,
       kNames,
       {{".weight", "F8_E4M3", Kind::weight, full}, {".weight_scale", "F32", Kind::scale, number}, {".input_scale", "F32", Kind::input, number}},
       R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8"})",
       false,
       "FLASHINFER_CUTLASS",
       deployment::kVllm2026_05},
      {"ModelOpt MXFP8",
       WeightFormat::mxfp8,
       kNames,
       {{".weight", "F8_E4M3", Kind::weight, full}, {".weight_scale", "U8", Kind::scale, per_32}},
       R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "MXFP8"})",
       false,
       "FLASHINFER_TRTLLM",
       deployment::kVllm2026_05},
      {"FP8 block",
       WeightFormat::fp8_block,
       kNames,
       {{".weight", "F8_E4M3", Kind::weight, full}, {".weight_scale_inv", "F32", Kind::scale, squares}},
       R"("quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]})",
       false,
       "FLASHINFER_TRTLLM",
       deployment::kVllm2026_05},
      {"DeepSeek-V4 MXFP4",
       WeightFormat::mxfp4,
       kNumbers,
       {{".weight", "I8", Kind::weight, halved}, {".scale", "F8_E8M0", Kind::scale, per_32}},
       R"("model_type": "deepseek_v4", "expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]})",
       false,
       "FLASHINFER_TRTLLM_MXFP4_MXFP8",
       deployment::kVllm2026_08},
      {"Quark MXFP4",
       WeightFormat::mxfp4,
       kNumbers,
       {{".weight", "U8", Kind::weight, halved}, {".weight_scale", "U8", Kind::scale, per_32}},
       R"("quantization_config": {"quant_method": "quark", "global_quant_config": {"weight":
          {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}}})",
       false,
       "MARLIN",
       deployment::kVllm2026_08},
  };
  return cases;
}

const FormCase& form_case(const std::string& title) {
  const auto found = std::ranges::find(form_cases(), title, &FormCase::title);
  if (found == form_cases().end()) throw std::logic_error("no case of " + title);
  return *found;
}

layout::CanonicalLayer form_layer(const FormCase& form, int layer) {
  const layout::Sizes sizes{kFormExperts, kFormIntermediate, kFormHidden, std::max<std::int64_t>(layout::group_of(form.format), 1)};
  layout::CanonicalLayer made = sim::sample_layer(sizes, {form.format, layout::SourceOrder::standard}, false, 7 + static_cast<std::uint64_t>(layer));
  // Numbers whose inverses are usual factors: from 2^12 on.
  for (const Role role : {Role::w13_global_scale, Role::w2_global_scale}) {
    for (std::size_t at = 0; form.inverse && at < made[role].size(); at += 4) {
      made[role][at + 2] = static_cast<std::uint8_t>((made[role][at + 2] & 0x7FU) | 0x80U);
      made[role][at + 3] = 0x45;
    }
  }
  return made;
}

std::string form_tensor_name(const FormCase& form, int layer, int expert, int projection, const std::string& suffix) {
  return "model.layers." + std::to_string(layer) + ".mlp.experts." + std::to_string(expert) + "." +
         form.projections[static_cast<std::size_t>(projection)] + suffix;
}

Draft form_draft(const FormCase& form, int layers) {
  Draft draft;
  for (int layer = 0; layer < layers; ++layer) {
    const layout::CanonicalLayer canonical = form_layer(form, layer);
    for (int expert = 0; expert < kFormExperts; ++expert) {
      std::vector<support::TensorData>& shard = draft.shards[layer + 1 == layers && expert > 0 ? kSecondShard : kFirstShard];
      for (int projection = 0; projection < 3; ++projection) {
        const bool w13 = projection < 2;
        const std::int64_t rows = w13 ? kFormIntermediate : kFormHidden, columns = w13 ? kFormHidden : kFormIntermediate;
        for (const FormTensor& row : form.tensors) {
          support::TensorData tensor{form_tensor_name(form, layer, expert, projection, row.suffix), row.dtype, row.shape(rows, columns), {}};
          const bool is_number = tensor.shape.size() < 2;
          if (row.kind == Kind::input) {
            tensor.bytes = {0, 0, static_cast<std::uint8_t>(expert), static_cast<std::uint8_t>(form.inverse ? 0x43 : 0x3C)};
          } else if (is_number) {
            tensor.bytes = slice(canonical[role_of(row.kind, w13)], expert, kFormExperts);
          } else if (w13) {
            tensor.bytes = slice(canonical[role_of(row.kind, w13)], 2 * expert + projection, 2 * kFormExperts);
          } else {
            tensor.bytes = slice(canonical[role_of(row.kind, w13)], expert, kFormExperts);
          }
          shard.push_back(std::move(tensor));
        }
      }
    }
    draft.shards[kFirstShard].push_back({"model.layers." + std::to_string(layer) + ".mlp.gate.weight",
                                         "BF16",
                                         {kFormExperts, kFormHidden},
                                         std::vector<std::uint8_t>(kFormExperts * kFormHidden * 2, 3)});
  }
  draft.config = "{" + form.quantization + R"(, "hidden_size": 256, "moe_intermediate_size": 128, "intermediate_size": 999, "num_experts": 3,
      "num_experts_per_tok": 2, "num_hidden_layers": )" +
                 std::to_string(layers) + "}";
  return draft;
}

}  // namespace mx::tests
