#include "model/deployment/vocabulary.hpp"

#include <array>
#include <string>

#include "model/column.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::oracle {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 10> kActivations = {"SILU",        "GELU",        "GELU_TANH",        "RELU2",       "SWIGLUOAI", "SWIGLUSTEP",
                                                           "SILU_NO_MUL", "GELU_NO_MUL", "GELU_TANH_NO_MUL", "RELU2_NO_MUL"};
constexpr std::array<std::string_view, 12> kRoutings = {"Default",       "Renormalize", "DeepSeekV3",  "Llama4",     "RenormalizeNaive", "TopK",
                                                        "SigmoidRenorm", "MiniMax2",    "Unspecified", "DeepseekV4", "Custom",           "Simulated"};
constexpr std::array<std::string_view, 19> kQuantKeys = {
    "None",
    "kFp8StaticTensorSym",
    "kFp8DynamicTensorSym",
    "kFp8StaticTokenSym",
    "kFp8DynamicTokenSym",
    "kFp8StaticChannelSym",
    "kFp8Static128BlockSym",
    "kFp8Dynamic128Sym",
    "kFp8Dynamic64Sym",
    "kMxfp8Static",
    "kMxfp8Dynamic",
    "kMxfp4Static",
    "kMxfp4Dynamic",
    "kNvfp4Static",
    "kNvfp4Dynamic",
    "kInt4Static",
    "kInt8Static",
    "kInt8StaticChannelSym",
    "kInt8DynamicTokenSym",
};
static_assert(static_cast<std::size_t>(Activation::relu2_no_mul) + 1 == kActivations.size());
static_assert(static_cast<std::size_t>(Routing::simulated) + 1 == kRoutings.size());
static_assert(static_cast<std::size_t>(QuantKey::int8_dynamic_token) + 1 == kQuantKeys.size());

/// quantization_config.moe.activation. Source: vllm config/quantization.py; the first four are the ways of leaving it out.
struct OverrideRow {
  std::string_view name;
  std::optional<QuantKey> key;
};
constexpr std::array<OverrideRow, 12> kOverrides = {{
    {"unset", std::nullopt},
    {"no_args", std::nullopt},
    {"moe_none", std::nullopt},
    {"null", std::nullopt},
    {"fp8_per_tensor_static", QuantKey::fp8_static_tensor},
    {"fp8_per_tensor_dynamic", QuantKey::fp8_dynamic_tensor},
    {"fp8_per_token", QuantKey::fp8_dynamic_token},
    {"fp8_per_block_static", QuantKey::fp8_static_128_block},
    {"fp8_per_block_dynamic", QuantKey::fp8_dynamic_128},
    {"mxfp8", QuantKey::mxfp8_dynamic},
    {"mxfp4", QuantKey::mxfp4_dynamic},
    {"int8_per_channel_static", QuantKey::int8_static_channel},
}};
constexpr std::array kOverrideNames = column_of(kOverrides, &OverrideRow::name);

constexpr std::array<std::string_view, 3> kDtypes = {"bfloat16", "float16", "float32"};

// vllm config/parallel.py All2AllBackend. pplx and naive turn no kernel on.
constexpr std::array<std::string_view, 10> kAll2all = {"allgather_reducescatter",
                                                       "naive",
                                                       "pplx",
                                                       "deepep_high_throughput",
                                                       "deepep_low_latency",
                                                       "mori",
                                                       "nixl_ep",
                                                       "flashinfer_all2allv",
                                                       "flashinfer_nvlink_two_sided",
                                                       "flashinfer_nvlink_one_sided"};

// vllm config/kernel.py MoEBackend; from flashinfer_trtllm_afp8 on: names of oracle/mxfp4.py map_mxfp4_backend that are not among them.
constexpr std::array<std::string_view, 20> kMoeBackends = {"auto",
                                                           "triton",
                                                           "deep_gemm",
                                                           "deep_gemm_mega_moe",
                                                           "cutlass",
                                                           "flashinfer_trtllm",
                                                           "flashinfer_cutlass",
                                                           "flashinfer_cutedsl",
                                                           "flashinfer_b12x",
                                                           "marlin",
                                                           "humming",
                                                           "triton_unfused",
                                                           "aiter",
                                                           "emulation",
                                                           "flashinfer_trtllm_afp8",
                                                           "flashinfer_cutlass_afp8",
                                                           "aiter_mxfp4_fp8",
                                                           "aiter_mxfp4_mxfp4",
                                                           "xpu",
                                                           "cpu"};

template <typename Word>
Word named(std::string_view what, std::string_view name, std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Word>(i);
  }
  throw Error(ErrorCode::usage, unknown_name(what, name, names));
}

}  // namespace

std::string_view name_of(Activation activation) { return kActivations[static_cast<std::size_t>(activation)]; }
std::string_view name_of(Routing routing) { return kRoutings[static_cast<std::size_t>(routing)]; }
std::string_view name_of(QuantKey key) { return kQuantKeys[static_cast<std::size_t>(key)]; }

bool has_text_form(QuantKey key) { return !contains(set_of(QuantKey::int4_static, QuantKey::int8_static), key); }

Activation activation_named(std::string_view name) { return named<Activation>("activation", name, kActivations); }
Routing routing_named(std::string_view name) { return named<Routing>("routing method", name, kRoutings); }
QuantKey quant_key_named(std::string_view name) { return named<QuantKey>("quantization key", name, kQuantKeys); }

std::optional<QuantKey> override_key_named(std::string_view name) {
  for (const OverrideRow& row : kOverrides) {
    if (row.name == name) return row.key;
  }
  throw Error(ErrorCode::usage, unknown_name("quantization override", name, kOverrideNames));
}

std::span<const std::string_view> activation_names() { return kActivations; }
std::span<const std::string_view> routing_names() { return kRoutings; }
std::span<const std::string_view> quant_key_names() { return kQuantKeys; }
std::span<const std::string_view> override_names() { return kOverrideNames; }
std::span<const std::string_view> dtype_names() { return kDtypes; }
std::span<const std::string_view> all2all_names() { return kAll2all; }
std::span<const std::string_view> moe_backend_names() { return kMoeBackends; }

}  // namespace mx::oracle
