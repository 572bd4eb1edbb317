#include "golden/vectors/files/set_rows.hpp"

#include <fmt/format.h>

#include <array>

#include "golden/vectors/families.hpp"
#include "model/numerics/releases.hpp"

namespace mx::golden {
namespace {

using Options = std::vector<OpSetting>;

constexpr SetChoice kDirected{SetKind::directed};
constexpr SetChoice kExhaustive{SetKind::exhaustive};
constexpr SetChoice random_set(std::uint64_t count) { return {SetKind::random, 1, count}; }

constexpr std::array<std::string_view, 10> kElements{"e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e2m3", "e3m2", "e2m1", "e8m0", "ue4m3", "mxint8"};
constexpr std::array<std::string_view, 10> kModes{"ocp",          "ocp-nosat", "ocp-rna",      "ocp-rna-nosat", "ocp-rz",
                                                  "ocp-rz-nosat", "ocp-ru",    "ocp-ru-nosat", "ocp-rd",        "ocp-rd-nosat"};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (std::string_view other : words) {
    if (word == other) return true;
  }
  return false;
}

void add_casts(std::vector<SetRow>& rows) {
  for (std::string_view from : {"f32", "bf16", "fp16"}) {
    for (std::string_view to : kElements) {
      for (std::string_view mode : kModes) {
        // The committed set: nearest even into every OCP format, every rounding and both overflow modes into E4M3 and E2M1.
        const bool common = from == "f32" && mode == "ocp" && is_one_of(to, {"e4m3fn", "e5m2", "e2m3", "e3m2", "e2m1", "e8m0", "ue4m3", "mxint8"});
        const bool modes = is_one_of(to, {"e2m1"}) && from == "bf16";
        const bool saturation = to == "e4m3fn" && from == "f32" && is_one_of(mode, {"ocp-nosat", "ocp-rz", "ocp-ru", "ocp-rd", "ocp-rna"});
        const bool overflow = to == "e5m2" && from == "fp16" && is_one_of(mode, {"ocp-nosat"});
        rows.push_back({fmt::format("{}_to_{}", from, to),
                        {{"profile", std::string(mode)}, {"flags", "yes"}},
                        kDirected,
                        common || modes || saturation || overflow});
      }
    }
  }
  for (std::string_view from : {"bf16", "fp16"}) {
    for (std::string_view to : {"e4m3fn", "e5m2", "e2m3", "e3m2", "e2m1", "e8m0"}) {
      rows.push_back({fmt::format("{}_to_{}", from, to), {{"profile", "ocp"}}, kExhaustive, false});
    }
  }
  for (const auto& [op, profile] :
       {std::pair{"f32_to_e8m0", "cuda-e8m0-rz"}, std::pair{"f32_to_e8m0", "cuda-e8m0-rp-satfinite"}, std::pair{"f32_to_e8m0", "ml_dtypes"},
        std::pair{"f32_to_bf16", "ocp"}, std::pair{"f32_to_fp16", "ocp"}, std::pair{"f32_to_e4m3fnuz", "hip-nosat"},
        std::pair{"f32_to_e4m3fn", "gfloat-stochastic"}, std::pair{"f32_to_e4m3fnuz", "hip-stochastic"}}) {
    rows.push_back(
        {op, {{"profile", profile}, {"flags", "yes"}}, kDirected, is_one_of(op, {"f32_to_bf16"}) || is_one_of(profile, {"cuda-e8m0-rp-satfinite"})});
  }
  for (const auto& [from, to] : {std::pair{"f32", "e4m3fn"}, std::pair{"f32", "e2m1"}}) {
    rows.push_back({fmt::format("{}_to_{}", from, to), {{"profile", "ocp"}, {"flush", "both"}, {"flags", "yes"}}, kDirected, false});
    rows.push_back({fmt::format("{}_to_{}", from, to), {{"profile", "ocp"}}, random_set(100000), false});
  }
}

void add_decodes(std::vector<SetRow>& rows) {
  for (std::string_view from : kElements) {
    for (std::string_view to : {"f32", "bf16", "fp16"})
      rows.push_back({fmt::format("{}_to_{}", from, to), {}, kExhaustive, to == "f32" || is_one_of(from, {"e2m1", "e8m0"})});
  }
  for (std::string_view block : {"mxfp4", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp8_e4m3", "mxfp8_e5m2", "mxint8"}) {
    for (std::string_view to : {"f32", "bf16", "fp16"})
      rows.push_back({fmt::format("dequantize_{}_to_{}", block, to), {}, kDirected, block == "mxfp4" && to == "bf16"});
  }
  for (std::string_view profile : {"vllm-nvfp4", "torchao-nvfp4"}) {
    rows.push_back({"dequantize_nvfp4_to_f32", {{"profile", std::string(profile)}}, kDirected, false});
  }
}

void add_blocks(std::vector<SetRow>& rows) {
  for (std::string_view block : {"mxfp4", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp8_e4m3", "mxfp8_e5m2"}) {
    for (std::string_view profile : {"ocp", "torchao-floor@36027d8", "torchao-ceil@36027d8", "torchao-rceil@36027d8", "torchao-even@36027d8"}) {
      const bool core = block == "mxfp4" && is_one_of(profile, {"ocp", "torchao-ceil@36027d8", "torchao-rceil@36027d8", "torchao-even@36027d8"});
      rows.push_back({fmt::format("scale_{}", block), {{"profile", std::string(profile)}, {"from", "bf16"}}, kDirected, core});
      rows.push_back({fmt::format("scale_{}", block), {{"profile", std::string(profile)}}, kDirected, core && profile == "ocp"});
      const bool block_core = is_one_of(block, {"mxfp4", "mxfp8_e4m3"}) && is_one_of(profile, {"ocp", "torchao-rceil@36027d8"});
      rows.push_back({fmt::format("quantize_{}", block), {{"profile", std::string(profile)}, {"from", "bf16"}}, kDirected, block_core});
      rows.push_back({fmt::format("quantize_{}", block), {{"profile", std::string(profile)}}, kDirected, false});
    }
  }
  rows.push_back({"quantize_mxint8", {{"from", "bf16"}}, kDirected, true});
  for (std::string_view profile :
       {"vllm-nvfp4", "torchao-nvfp4", "flashinfer-fast", "flashinfer-exact", "torchao-nvfp4-single", "triton-kernels-nvfp4"}) {
    rows.push_back(
        {"quantize_nvfp4", {{"profile", std::string(profile)}, {"from", "bf16"}}, kDirected, is_one_of(profile, {"vllm-nvfp4", "flashinfer-exact"})});
  }
  rows.push_back({"quantize_mxfp4", {{"profile", "ocp"}}, random_set(10000), false});
}

void add_arithmetic(std::vector<SetRow>& rows) {
  for (const auto& [a, b] : {std::pair{"e2m1", "e2m1"}, std::pair{"e2m1", "e4m3fn"}, std::pair{"e2m3", "e2m3"}, std::pair{"e3m2", "e4m3fn"},
                             std::pair{"e4m3fn", "e4m3fn"}, std::pair{"e4m3fn", "e5m2"}, std::pair{"mxint8", "mxint8"}}) {
    rows.push_back({fmt::format("product_{}_{}", a, b), {}, kExhaustive, is_one_of(a, {"e2m1"})});
  }
  for (const auto& [op, contract, length] : {std::tuple{"dot_mxfp4_mxfp4", "exact", "32"}, std::tuple{"dot_mxfp4_mxfp4", "f32-sequential", "64"},
                                             std::tuple{"dot_mxfp4_mxfp4", "bf16-chain", "64"}, std::tuple{"dot_mxfp8_e4m3_mxfp4", "exact", "64"},
                                             std::tuple{"dot_mxfp8_e4m3_mxfp4", "bf16-block", "64"}, std::tuple{"dot_nvfp4_nvfp4", "exact", "32"},
                                             std::tuple{"dot_bf16_mxfp4", "bf16-chain", "64"}, std::tuple{"dot_e4m3fn_e4m3fn", "hopper-fp8", "64"},
                                             std::tuple{"dot_e4m3fn_e4m3fn", "hopper-mma-fp8", "64"},
                                             std::tuple{"dot_bf16_bf16", "hopper-bf16", "32"}, std::tuple{"dot_mxint8_mxfp4", "int8-block", "64"}}) {
    const bool core = is_one_of(contract, {"exact", "f32-sequential", "bf16-chain"}) && is_one_of(op, {"dot_mxfp4_mxfp4", "dot_nvfp4_nvfp4"});
    rows.push_back({op, {{"contract", contract}, {"length", length}}, kDirected, core || is_one_of(contract, {"hopper-fp8"})});
  }
  for (const auto& [op, contract, length] :
       {std::tuple{"dot_mxfp4_mxfp4", "exact", "32"}, std::tuple{"dot_mxfp4_mxfp4", "exact", "64"},
        std::tuple{"dot_mxfp4_mxfp4", "f32-sequential", "64"}, std::tuple{"dot_mxfp4_mxfp4", "bf16-chain", "64"},
        std::tuple{"dot_mxfp8_e4m3_mxfp4", "bf16-block", "64"}, std::tuple{"dot_nvfp4_nvfp4", "exact", "32"},
        std::tuple{"dot_e4m3fn_e4m3fn", "hopper-fp8", "64"}, std::tuple{"dot_e4m3fn_e4m3fn", "hopper-fp8-promoted", "256"},
        std::tuple{"dot_e4m3fn_e4m3fn", "hopper-mma-fp8", "64"}, std::tuple{"dot_bf16_bf16", "hopper-bf16", "32"},
        std::tuple{"dot_fp16_fp16", "hopper-fp16", "32"}, std::tuple{"dot_mxint8_mxfp4", "int8-block", "64"}}) {
    const bool core = std::string_view(op) == "dot_mxfp4_mxfp4" && is_one_of(contract, {"exact", "f32-sequential"});
    rows.push_back({op, {{"contract", contract}, {"length", length}, {"operand-c", "yes"}}, kDirected, core, Edition::v1_1});
  }
  for (const auto& [name, core] : {std::pair{"swiglu_oai", true}, std::pair{"silu_and_mul", false}, std::pair{"swiglu_oai_uninterleave", false}}) {
    for (std::string_view type : {"f32", "bf16"}) {
      rows.push_back({fmt::format("activation_{}", name), {{"type", std::string(type)}}, kDirected, core});
    }
  }
  for (std::string_view contract : {"exact", "f32-sequential"})
    rows.push_back({"moe_layer", {{"contract", std::string(contract)}}, kDirected, contract == "exact"});
}

void add_layouts(std::vector<SetRow>& rows) {
  for (const auto& [op, shape, core] :
       {std::tuple{"sf_128x4", "256x8", true}, std::tuple{"sf_128x4", "100x6", true}, std::tuple{"sf_128x4", "129x5", false},
        std::tuple{"sf_8x4", "20x6", true}, std::tuple{"trtllm.shuffle_matrix_a", "256x16", true}}) {
    rows.push_back({fmt::format("address_{}", op), {{"shape", shape}}, kDirected, core});
    rows.push_back({fmt::format("element_{}", op), {{"shape", shape}}, kDirected, core && std::string_view(shape) == "100x6"});
  }
}

constexpr std::array kNotes{
    SetNote{"saturation-one-binade-early", "E4M3 saturated at 240, as if its top exponent held no numbers; the generator never emitted that band.",
            "https://github.com/ucb-bar/saturn-vectors/issues/101", "_to_e4m3fn"},
    SetNote{"sticky-bit-lost", "What lies below the half bit was forgotten: values just above a tie went to even.",
            "https://github.com/tenstorrent/tt-metal/issues/51971", "f32_to_"},
    SetNote{"scale-byte-zero", "Scale byte 0 is 2^-127, not zero: a decoder that shifts it into an exponent field has zero there.",
            "https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf", "dequantize_mx"},
    SetNote{"scale-rule", "floor, ceil, rceil and even part at mantissas that random data hardly meets.",
            "https://github.com/jax-ml/ml_dtypes/issues/298", "scale_"},
    SetNote{"nan-in-block", "A NaN in a block: some implementations propagate it into the scale, some ignore it.", "", "quantize_"},
    SetNote{"global-scale-lost", "The scale code of a block forgot the scale of the tensor.",
            "https://github.com/flashinfer-ai/flashinfer/issues/3548", "nvfp4"},
    SetNote{"nan-sign", "The sign and payload of a NaN result are policy: the mask column says what is compared.",
            "https://github.com/openhwgroup/cvw/issues/324", "_to_"},
    SetNote{"order-proof-sums", "Sums whose partial sums are exact in every order tell a wrong product from another order.", "", "dot_"},
    SetNote{"padding", "Addresses between rows and tiles that hold no element: a loader that skips them shifts everything behind.", "", "element_"},
};

constexpr std::array kDigests{
    DigestRow{"e4m3fn", "ocp"}, DigestRow{"e5m2", "ocp"}, DigestRow{"e2m1", "ocp"},      DigestRow{"e2m3", "ocp"},
    DigestRow{"e3m2", "ocp"},   DigestRow{"bf16", "ocp"}, DigestRow{"e4m3fn", "ocp-rz"}, DigestRow{"e4m3fn", "ocp-nosat"},
};

}  // namespace

const std::vector<SetRow>& all_set_rows() {
  static const std::vector<SetRow> kRows = [] {
    std::vector<SetRow> rows;
    for (const auto add : {add_casts, add_decodes, add_blocks, add_arithmetic, add_layouts}) add(rows);
    return rows;
  }();
  return kRows;
}

std::unique_ptr<VectorOp> op_of(const SetRow& row, Edition edition) {
  Options options = row.options;
  options.push_back({"edition", std::string(name_of(edition))});
  return op_named(row.op, OpOptions(std::move(options)));
}

std::string stem_of(const SetRow& row, const VectorOp& op) {
  // The first setting is the one that an operation cannot be without: profile, contract, shape or type.
  // Of a profile the version stands in the set, not in the names of its files.
  std::string variant(base_name(op.settings().front().value));
  for (const OpSetting& option : row.options) {
    if (option.key == op.settings().front().key || option.key == "flags") continue;
    variant += "-" + (option.value == "yes" || option.value == "both" ? option.key + "-" + option.value : option.value);
  }
  std::string set(name_of(row.choice.kind));
  if (row.choice.kind == SetKind::random) set += fmt::format("-{}", row.choice.seed);
  return fmt::format("{}/{}.{}.{}", op.family(), op.name(), variant, set);
}

std::span<const SetNote> all_set_notes() { return kNotes; }
std::span<const DigestRow> all_digest_rows() { return kDigests; }

}  // namespace mx::golden
