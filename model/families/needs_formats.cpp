// What a format needs, whatever computes it.

#include <array>

#include "model/families/facts.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 2> kFlashinferMembers = {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS"};

constexpr std::array<Names, 8> kGroupQuantizers = {
    "TritonExperts",          "BatchedTritonExperts",   "TritonOrDeepGemmExperts",    "DeepGemmExperts",
    "BatchedDeepGemmExperts", "TritonOrCutlassExperts", "TrtLlmFp8ExpertsMonolithic", "TrtLlmFp8ExpertsModular"};

constexpr std::array kMxfp4 = {
    need(
        "hidden_blocks", {}, {}, engine, silent, read, "H holds whole blocks of 32", "the scales of the last block are cut off",
        [](const Placement& p) { return p.hidden % 32 == 0; }, "OCP MX v1.0 section 5; vllm quantization/mxfp4.py: H // 32 scales"),
    need(
        "intermediate_blocks", {}, {}, engine, silent, read, "I holds whole blocks of 32", "the scales of the last block are cut off",
        [](const Placement& p) { return p.intermediate % 32 == 0; }, "OCP MX v1.0 section 5; vllm quantization/mxfp4.py: I // 32 scales"),
};

constexpr std::array kNvfp4 = {
    need(
        "blocks", {}, {}, engine, error, read, "H and I hold whole blocks of 16", "the scales of the checkpoint do not fit",
        [](const Placement& p) { return both_divide(p, 16); }, "vllm quantization/modelopt.py: group size 16"),
};

constexpr std::array kFp8 = {
    need(
        "blocks", {}, {}, engine, error, read, "block-scaled weights have whole blocks of 128 rows in I", "ValueError when the weights are made",
        [](const Placement& p) { return !is_block(p) || p.intermediate % 128 == 0; }, "vllm quantization/fp8.py Fp8MoEMethod.create_weights"),
    need(
        "activation_groups", kGroupQuantizers, {}, engine, error, read, "H holds whole groups of 128: activations are quantized by groups",
        "AssertionError: the last dimension of x must be divisible by group_size",
        [](const Placement& p) { return !is_block(p) || p.hidden % 128 == 0; }, "vllm quantization/utils/fp8_utils.py per_token_group_quant_fp8"),
    need(
        "mx_blocks", {}, {}, engine, error, read, "MXFP8 weights have whole blocks of 32 in H and I", "the scales of the checkpoint do not fit",
        [](const Placement& p) { return !is_mxfp8(p) || both_divide(p, 32); }, "OCP MX v1.0 section 5"),
    need(
        "shard_padding", {}, kFlashinferMembers, converter, silent, run,
        "a gated I of per-tensor weights is a multiple of 16: the padding goes behind both shards", "gate and up rows pair with an offset",
        [](const Placement& p) { return !is_per_tensor(p) || !is_gated(p) || p.deployment.layer.intermediate_per_partition % 16 == 0; },
        "vllm quantization/utils/flashinfer_utils.py; seen with I = 96 and I = 40"),
};

constexpr std::array kFormats = {NeedTable{kMxfp4Oracles, false, kMxfp4}, NeedTable{kNvfp4Oracles, false, kNvfp4},
                                 NeedTable{kFp8Oracles, false, kFp8}};

}  // namespace

std::span<const NeedTable> format_needs() { return kFormats; }

}  // namespace mx::families
