#include "model/deployment/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "model/column.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::deployment {
namespace {

// In the order of the enumerators.
template <std::size_t n>
using NameList = std::array<std::string_view, n>;
constexpr NameList<12> kActivations = {"SILU",        "GELU",        "GELU_TANH",        "RELU2",        "SWIGLUOAI", "SWIGLUSTEP",
                                       "SILU_NO_MUL", "GELU_NO_MUL", "GELU_TANH_NO_MUL", "RELU2_NO_MUL", "SITU",      "SWIGLUOAI_UNINTERLEAVE"};
constexpr NameList<13> kRoutings = {"Default",  "Renormalize", "DeepSeekV3", "Llama4", "RenormalizeNaive", "TopK",   "SigmoidRenorm",
                                    "MiniMax2", "Unspecified", "DeepseekV4", "Custom", "Simulated",        "Sigmoid"};
constexpr NameList<41> kQuantKeys = {
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
    "kInt4Static32",
    "kInt4StaticAsym",
    "kInt4Static32Asym",
    "kInt8StaticTensorSym",
    "kInt8DynamicTensorSym",
    "kInt4W4A8StaticGroup128Sym",
    "kInt4W4A8StaticGroup64Sym",
    "kInt4W4A8StaticGroup32Sym",
    "kInt4W4A8StaticGroupSym",
    "kMxfp6E3M2Static",
    "kMxfp6E3M2Dynamic",
    "kMxfp6E2M3Static",
    "kMxfp6E2M3Dynamic",
    "kNvfp4DynamicToken",
    "kFp8Static128BlockE8M0Sym",
    "kInt8DynamicTokenAsym",
    "kInt8StaticTensorAsym",
    "kInt8DynamicTensorAsym",
    "kInt8Dynamic32Sym",
    "INT groups",
    "FP8 blocks",
    "built",
};
/// The rest of the names is built by callers, and read by quant_key_named alone.
constexpr std::size_t kNamedKeys = kQuantKeys.size() - 3;
static_assert(static_cast<std::size_t>(Activation::swigluoai_uninterleave) + 1 == kActivations.size());
static_assert(static_cast<std::size_t>(Routing::sigmoid) + 1 == kRoutings.size());
static_assert(static_cast<std::size_t>(QuantKey::built_other) + 1 == kQuantKeys.size());

/// quantization_config.moe.activation. Source: vllm config/quantization.py; the first four are the ways of leaving it out.
struct OverrideRow {
  std::string_view name;
  std::optional<QuantKey> key;
  Engine since = kVllm2026_05;
};
constexpr std::array<OverrideRow, 16> kOverrides = {{
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
    {"fp8_per_channel_static", QuantKey::fp8_static_channel, kVllm2026_08},
    {"nvfp4_per_token", QuantKey::nvfp4_dynamic_token, kVllm2026_11},
    {"int8_per_group_32", QuantKey::int8_dynamic_32, kVllm2026_11},
    {"int4_per_group_32", QuantKey::int4_static_32, kVllm2026_11},
}};
constexpr std::array kOverrideNames = column_of(kOverrides, &OverrideRow::name);

constexpr std::array<std::string_view, 3> kDtypes = {"bfloat16", "float16", "float32"};

/// A word and the versions that have it.
struct WordRow {
  std::string_view name;
  Versions versions;
};

// vllm config/parallel.py All2AllBackend. pplx and naive turn no kernel on.
constexpr Versions kAlways = since(kVllm2026_05);
constexpr std::array<WordRow, 15> kAll2allRows = {{
    {"allgather_reducescatter", kAlways},
    {"naive", kAlways},
    {"pplx", kAlways},
    {"deepep_high_throughput", kAlways},
    {"deepep_low_latency", kAlways},
    {"mori", before(kVllm2026_08)},
    {"nixl_ep", kAlways},
    {"flashinfer_all2allv", kAlways},
    {"flashinfer_nvlink_two_sided", kAlways},
    {"flashinfer_nvlink_one_sided", kAlways},
    {"deepep_v2", since(kVllm2026_08)},
    {"mori_high_throughput", since(kVllm2026_08)},
    {"mori_low_latency", since(kVllm2026_08)},
    {"moonep", since(kVllm2026_11)},
    {"passthrough", since(kVllm2026_11)},
}};
constexpr std::array kAll2all = column_of(kAll2allRows, &WordRow::name);

// vllm config/kernel.py MoEBackend; from flashinfer_trtllm_afp8 to cpu: names of oracle/mxfp4.py map_mxfp4_backend
// that are not among them; then those that 2026-08 (to hpc) and 2026-11 brought.
constexpr std::array<std::string_view, 30> kMoeBackends = {"auto",
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
                                                           "cpu",
                                                           "batched_triton",
                                                           "b12x",
                                                           "flydsl",
                                                           "hpc",
                                                           "flashinfer_moe_ep_cutedsl",
                                                           "flashinfer_moe_ep_mega_deep_gemm",
                                                           "aiter_mega_moe",
                                                           "aiter_triton_mxfp4_bf16",
                                                           "aiter_triton_mxfp4_mxfp4",
                                                           "rdna3"};

template <typename Word>
Word named(std::string_view what, std::string_view name, std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Word>(i);
  }
  throw Error(ErrorCode::usage, unknown_name(what, name, names));
}

constexpr std::string_view kBuiltInt = "INT:";
constexpr std::string_view kBuiltFp8 = "FP8:";

/// Parts between marks.
std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(mark); end != std::string_view::npos; end = text.find(mark)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

/// Rows and columns of a scale's group, "1,32"; -1 is all of them.
struct Group {
  int rows;
  int columns;
};
Group group_of(std::string_view text, std::string_view key) {
  Group group{};
  const std::vector<std::string_view> parts = split(text, ',');
  const auto read = [&](std::string_view part, int& to) {
    return std::from_chars(part.data(), part.data() + part.size(), to).ptr == part.data() + part.size() && !part.empty() && to >= -1 && to != 0;
  };
  if (parts.size() == 2 && read(parts[0], group.rows) && read(parts[1], group.columns)) return group;
  throw Error(ErrorCode::usage, "quantization key '" + std::string(key) + "' has group '" + std::string(text) + "', must be like 1,32 or -1,1");
}

/// Integer types of weights that a caller may build a key of. Source: vllm scalar_type.py.
constexpr NameList<9> kBuiltTypes = {"uint2b2", "uint3b4", "uint4", "uint4b8", "uint5b16", "uint6b32", "uint7b64", "uint8", "uint8b128"};
constexpr std::string_view kSigned = "int8";

/// Named keys, as a caller would build them.
struct BuiltRow {
  std::string_view built;
  QuantKey key;
};
constexpr std::array<BuiltRow, 14> kEqualKeys = {{
    {"INT:uint4b8:float16:1,-1:sym", QuantKey::int4_static},
    {"INT:uint8b128:float16:1,-1:sym", QuantKey::int8_static},
    {"INT:uint4b8:float16:1,32:sym", QuantKey::int4_static_32},
    {"INT:uint4:float16:1,-1:asym", QuantKey::int4_static_asym},
    {"INT:uint4:float16:1,32:asym", QuantKey::int4_static_32_asym},
    {"INT:int8:float32:-1,1:sym", QuantKey::int8_static_channel},
    {"INT:int8:float32:-1,-1:sym", QuantKey::int8_static_tensor},
    {"INT:int8:bfloat16:1,128:sym", QuantKey::int4_w4a8_group_128},
    {"INT:int8:bfloat16:1,64:sym", QuantKey::int4_w4a8_group_64},
    {"INT:int8:bfloat16:1,32:sym", QuantKey::int4_w4a8_group_32},
    {"INT:int8:bfloat16:1,-1:sym", QuantKey::int4_w4a8_group},
    {"FP8:float32:128,128", QuantKey::fp8_static_128_block},
    {"FP8:float32:-1,1", QuantKey::fp8_static_channel},
    {"FP8:float32:-1,-1", QuantKey::fp8_static_tensor},
}};

/// The named key that a built one equals, else the kind of it that classes tell apart.
QuantKey built_key(std::string_view name) {
  for (const BuiltRow& row : kEqualKeys) {
    if (row.built == name) return row.key;
  }
  const std::vector<std::string_view> parts = split(name, ':');
  if (name.starts_with(kBuiltFp8)) {
    if (parts.size() != 3) throw Error(ErrorCode::usage, "quantization key '" + std::string(name) + "' must be like FP8:float32:64,64");
    const Group group = group_of(parts[2], name);
    return parts[1] == "float32" && group.rows > 1 && group.columns > 1 ? QuantKey::built_fp8_blocks : QuantKey::built_other;
  }
  if (parts.size() != 5 || (parts[4] != "sym" && parts[4] != "asym")) {
    throw Error(ErrorCode::usage, "quantization key '" + std::string(name) + "' must be like INT:uint3b4:float16:1,32:sym");
  }
  const bool is_unsigned = std::ranges::find(kBuiltTypes, parts[1]) != kBuiltTypes.end();
  if (!is_unsigned && parts[1] != kSigned) throw Error(ErrorCode::usage, unknown_name("integer type", parts[1], kBuiltTypes));
  const Group group = group_of(parts[3], name);
  const bool grouped = (group.rows == -1 && group.columns == 1) || (group.rows == 1 && group.columns > 0);
  return grouped && is_unsigned ? QuantKey::built_unsigned_groups : QuantKey::built_other;
}

[[noreturn]] void no_such_word(Engine engine, std::string_view what, std::string_view name) {
  throw Error(ErrorCode::unsupported, std::string(what) + " " + std::string(name) + " is none of " + std::string(name_of(engine)));
}

/// Words that came later than the first version.
template <typename Word>
struct AddedRow {
  Mask words;
  Versions versions;
};
template <typename Word>
bool has_word(Engine engine, Word word, std::span<const AddedRow<Word>> rows) {
  return std::ranges::none_of(rows, [&](const AddedRow<Word>& row) { return contains(row.words, word) && !row.versions.has(engine); });
}
/// Versions add words behind those that they find.
template <typename Word>
std::span<const std::string_view> words_of(Engine engine, std::span<const std::string_view> names, std::span<const AddedRow<Word>> rows) {
  std::size_t count = 0;
  while (count < names.size() && has_word(engine, static_cast<Word>(count), rows)) ++count;
  return names.first(count);
}

constexpr std::array kAddedActivations = {AddedRow<Activation>{set_of(Activation::situ, Activation::swigluoai_uninterleave), since(kVllm2026_08)}};
constexpr std::array kAddedRoutings = {AddedRow<Routing>{bit(Routing::sigmoid), since(kVllm2026_08)}};
constexpr std::array kAddedKeys = {
    AddedRow<QuantKey>{
        set_of(QuantKey::int4_static_32, QuantKey::int4_static_asym, QuantKey::int4_static_32_asym, QuantKey::int8_static_tensor,
               QuantKey::int8_dynamic_tensor, QuantKey::int4_w4a8_group_128, QuantKey::int4_w4a8_group_64, QuantKey::int4_w4a8_group_32,
               QuantKey::int4_w4a8_group, QuantKey::mxfp6_e3m2_static, QuantKey::mxfp6_e3m2_dynamic, QuantKey::mxfp6_e2m3_static,
               QuantKey::mxfp6_e2m3_dynamic, QuantKey::built_unsigned_groups, QuantKey::built_fp8_blocks, QuantKey::built_other),
        since(kVllm2026_08)},
    AddedRow<QuantKey>{set_of(QuantKey::nvfp4_dynamic_token, QuantKey::fp8_static_128_block_e8m0, QuantKey::int8_dynamic_token_asym,
                              QuantKey::int8_static_tensor_asym, QuantKey::int8_dynamic_tensor_asym, QuantKey::int8_dynamic_32),
                       since(kVllm2026_11)},
};

}  // namespace

std::string_view name_of(Activation activation) { return kActivations[static_cast<std::size_t>(activation)]; }
std::string_view name_of(Routing routing) { return kRoutings[static_cast<std::size_t>(routing)]; }
std::string_view name_of(QuantKey key) { return kQuantKeys[static_cast<std::size_t>(key)]; }

bool has_text_form(QuantKey key) { return !contains(set_of(QuantKey::int4_static, QuantKey::int8_static), key); }

Activation activation_named(std::string_view name) { return named<Activation>("activation", name, kActivations); }
Routing routing_named(std::string_view name) { return named<Routing>("routing method", name, kRoutings); }

/// Names of the engine's for a value that has another name too.
struct SameKey {
  std::string_view name;
  QuantKey key;
};
constexpr std::array kSameKeys = {SameKey{"kInt4W4A8StaticChannelSym", QuantKey::int8_static_channel}};

QuantKey quant_key_named(std::string_view name) {
  for (const SameKey& same : kSameKeys) {
    if (same.name == name) return same.key;
  }
  if (name.starts_with(kBuiltInt) || name.starts_with(kBuiltFp8)) return built_key(name);
  return named<QuantKey>("quantization key", name, std::span(kQuantKeys).first(kNamedKeys));
}

std::optional<KeyBlock> fp8_block_of_key(std::string_view name) {
  const QuantKey key = quant_key_named(name);
  if (key == QuantKey::fp8_static_128_block) return KeyBlock{128, 128};
  if (key != QuantKey::built_fp8_blocks) return std::nullopt;
  const Group group = group_of(split(name, ':').back(), name);
  return KeyBlock{group.rows, group.columns};
}

std::string key_of_fp8_block(const KeyBlock& block) {
  if (block.rows == 128 && block.columns == 128) return std::string(name_of(QuantKey::fp8_static_128_block));
  return "FP8:float32:" + std::to_string(block.rows) + "," + std::to_string(block.columns);
}

bool is_gated(Activation activation) { return !name_of(activation).ends_with("_NO_MUL"); }

void require_word(Engine engine, Activation activation) {
  if (!has_word<Activation>(engine, activation, kAddedActivations)) no_such_word(engine, "activation", name_of(activation));
}
void require_word(Engine engine, Routing routing) {
  if (!has_word<Routing>(engine, routing, kAddedRoutings)) no_such_word(engine, "routing method", name_of(routing));
}
void require_word(Engine engine, QuantKey key) {
  if (!has_word<QuantKey>(engine, key, kAddedKeys)) no_such_word(engine, "quantization key", name_of(key));
}

std::span<const std::string_view> activation_names(Engine engine) { return words_of<Activation>(engine, kActivations, kAddedActivations); }
std::span<const std::string_view> routing_names(Engine engine) { return words_of<Routing>(engine, kRoutings, kAddedRoutings); }
std::span<const std::string_view> quant_key_names(Engine engine) { return words_of<QuantKey>(engine, quant_key_names(), kAddedKeys); }

std::span<const std::string_view> override_names(Engine engine) {
  return std::span(kOverrideNames).first(static_cast<std::size_t>(std::ranges::count_if(kOverrides, [&](const OverrideRow& row) {
    return row.since <= engine;
  })));
}

std::span<const std::string_view> all2all_names(Engine engine) {
  static const std::map<Engine, std::vector<std::string_view>> all = [] {
    std::map<Engine, std::vector<std::string_view>> names;
    for (Engine known : known_engines()) {
      for (const WordRow& row : kAll2allRows) {
        if (row.versions.has(known)) names[known].push_back(row.name);
      }
    }
    return names;
  }();
  return all.at(engine);
}

/// Exchanges that another one took the place of.
struct RenamedExchange {
  std::string_view before;
  std::string_view name;
  Versions versions;
};
constexpr std::array kRenamedExchanges = {RenamedExchange{"mori", "mori_high_throughput", since(kVllm2026_08)}};

std::string_view all2all_of(Engine engine, std::string_view name) {
  for (const RenamedExchange& renamed : kRenamedExchanges) {
    if (renamed.versions.has(engine) && renamed.before == name) return renamed.name;
  }
  return name;
}

void require_override(Engine engine, std::string_view name) {
  const auto row = std::ranges::find(kOverrides, name, &OverrideRow::name);
  if (row != kOverrides.end() && row->since > engine) no_such_word(engine, "quantization override", name);
}

void require_all2all(Engine engine, std::string_view name) {
  for (const WordRow& row : kAll2allRows) {
    if (row.name == name && !row.versions.has(engine)) no_such_word(engine, "all2all backend", name);
  }
}

std::optional<QuantKey> override_key_named(std::string_view name) {
  for (const OverrideRow& row : kOverrides) {
    if (row.name == name) return row.key;
  }
  throw Error(ErrorCode::usage, unknown_name("quantization override", name, kOverrideNames));
}

std::span<const std::string_view> activation_names() { return kActivations; }
std::span<const std::string_view> routing_names() { return kRoutings; }
std::span<const std::string_view> quant_key_names() { return std::span(kQuantKeys).first(kNamedKeys); }
std::span<const std::string_view> override_names() { return kOverrideNames; }
std::span<const std::string_view> dtype_names() { return kDtypes; }
std::span<const std::string_view> all2all_names() { return kAll2all; }
std::span<const std::string_view> moe_backend_names() { return kMoeBackends; }

}  // namespace mx::deployment
