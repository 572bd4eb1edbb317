// Calls of whole backends: layout names and params of layout-vectors/2 in terms of the model's Setting.

#include <algorithm>

#include "golden/witness/layout_call.hpp"
#include "model/families/setting_keys.hpp"

namespace mx::golden {

namespace {

using families::Arch;
using families::ConverterActivation;
using families::Setting;
using layout::SourceOrder;
using layout::WeightFormat;

/// A family of layout names: PREFIX BACKEND SUFFIX, or one whole name with its backend given.
struct WholeName {
  std::string_view prefix;
  std::string_view suffix;
  std::string_view backend;            ///< empty: what stands between prefix and suffix
  std::optional<WeightFormat> format;  ///< none: params state it as scale_mode
  SourceOrder order;
  ConverterActivation activation = ConverterActivation::silu;  ///< where params name none, it does not matter
};
// More specific suffixes first.
constexpr WholeName kWholeNames[] = {
    {"oracle.gpt_oss.", "", "", WeightFormat::mxfp4, SourceOrder::gpt_oss},
    {"oracle.standard.", "", "", WeightFormat::mxfp4, SourceOrder::standard},
    {"nvfp4_moe.", ".swigluoai", "", WeightFormat::nvfp4, SourceOrder::gpt_oss, ConverterActivation::swigluoai},
    {"nvfp4_moe.", "", "", WeightFormat::nvfp4, SourceOrder::standard},
    {"fp8_moe.", ".tensor", "", WeightFormat::fp8_tensor, SourceOrder::standard},
    {"fp8_moe.", ".channel", "", WeightFormat::fp8_channel, SourceOrder::standard},
    {"fp8_moe.", ".block", "", WeightFormat::fp8_block, SourceOrder::standard},
    {"fp8_moe.", ".block_e8m0", "", WeightFormat::fp8_block_e8m0, SourceOrder::standard},
    {"fp8_moe.", ".mxfp8", "", WeightFormat::mxfp8, SourceOrder::standard},
    {"marlin.nvfp4_moe", "", "MARLIN", WeightFormat::nvfp4, SourceOrder::standard},
    {"marlin.mxfp8_moe", "", "MARLIN", WeightFormat::mxfp8, SourceOrder::standard},
    {"marlin.fp8_moe", "", "MARLIN", std::nullopt, SourceOrder::standard},
    {"w4a8_moe.", "", "", WeightFormat::int4, SourceOrder::standard},
};

/// Whole conversions of one matrix by a library, with the engine's padding: it is w2 of a layer, of H rows and I columns.
struct MatrixName {
  std::string_view layout;
  std::string_view version;
  WeightFormat format;
  families::InputDtype activations = families::InputDtype::none;
  bool group_128 = false;
};
constexpr std::string_view kHumming0119 = "humming-0.1.19";
constexpr MatrixName kMatrixNames[] = {
    {"humming.mxfp4.a16", kHumming0119, WeightFormat::mxfp4},
    {"humming.mxfp4.a8t", kHumming0119, WeightFormat::mxfp4, families::InputDtype::float8_e4m3fn},
    {"humming.mxfp4.a8b", kHumming0119, WeightFormat::mxfp4, families::InputDtype::float8_e4m3fn, true},
    {"humming.nvfp4.a16", kHumming0119, WeightFormat::nvfp4},
    {"humming.fp8_block.a16", kHumming0119, WeightFormat::fp8_block},
    {"humming.fp8_block.a8b", kHumming0119, WeightFormat::fp8_block, families::InputDtype::float8_e4m3fn, true},
    {"humming.int4.a16", kHumming0119, WeightFormat::mxfp4},  // weights alone, which lie as any of 4 bits
};

constexpr EnumWord<WeightFormat> kScaleModes[] = {
    {"tensor", WeightFormat::fp8_tensor}, {"channel", WeightFormat::fp8_channel}, {"block", WeightFormat::fp8_block}, {"mxfp8", WeightFormat::mxfp8}};

/// A label, and the libraries that ran where they are not those that the engine asks for. What ran of a version without conversions of its own is
/// held to the version whose conversions it takes.
struct EngineLabel {
  std::string_view word;
  deployment::Engine engine;
  std::string_view flashinfer = "engine";
};
constexpr EngineLabel kEngineLabels[] = {{"vllm-2026-05", deployment::kVllm2026_05},    {"vllm-2026-08", deployment::kVllm2026_08, "0.6.18"},
                                         {"vllm-2026-08-22", deployment::kVllm2026_08}, {"vllm-0.22.1", deployment::kVllm2026_05},
                                         {"vllm-0.29.0", deployment::kVllm2026_08},     {"vllm-0.33.0", deployment::kVllm2026_08}};
constexpr EnumWord<families::ParamsDtype> kParamsDtypes[] = {{"bf16", families::ParamsDtype::bf16}, {"fp16", families::ParamsDtype::fp16}};
constexpr EnumWord<families::InputDtype> kInputDtypes[] = {
    {"none", families::InputDtype::none}, {"float8_e4m3fn", families::InputDtype::float8_e4m3fn}, {"int8", families::InputDtype::int8}};
constexpr EnumWord<ConverterActivation> kActivations[] = {
    {"SILU", ConverterActivation::silu}, {"SWIGLUOAI", ConverterActivation::swigluoai}, {"SITU", ConverterActivation::situ}};
// Where a word names several devices, conversions do not tell them apart.
constexpr EnumWord<Arch> kArchs[] = {{"any", Arch::sm100},
                                     {"sm75+", Arch::sm75},
                                     {"sm80", Arch::sm80},
                                     {"sm89+", Arch::sm89},
                                     {"sm90", Arch::sm90},
                                     {"sm90/sm100", Arch::sm90},
                                     {"sm100", Arch::sm100},
                                     {"sm100/sm120", Arch::sm100},
                                     {"sm120", Arch::sm120},
                                     {"gfx942", Arch::gfx942},
                                     {"gfx942/gfx950", Arch::gfx942},
                                     {"gfx950", Arch::gfx950},
                                     {"gfx1250", Arch::gfx1250},
                                     {"x86_amx", Arch::cpu},
                                     {"xpu", Arch::xpu}};

/// Roles of layout sets. NVFP4 and FP8 tensors have shorter names in ids only.
constexpr EnumWord<std::optional<layout::Role>> kRoles[] = {{"w13_weight", layout::Role::w13_weight},
                                                            {"w13_weight_scale", layout::Role::w13_weight_scale},
                                                            {"w13_bias", layout::Role::w13_bias},
                                                            {"w2_weight", layout::Role::w2_weight},
                                                            {"w2_weight_scale", layout::Role::w2_weight_scale},
                                                            {"w2_bias", layout::Role::w2_bias},
                                                            {"all", std::nullopt}};

/// What a key of params sets.
struct SettingWord {
  std::string_view key;
  void (*read)(Fields& params, BackendCall& call);
};
constexpr SettingWord kSettingWords[] = {
    {"E", [](Fields& p, BackendCall& c) { c.setting.sizes.experts = p.integer("E", 1, kLargestSize); }},
    {"intermediate", [](Fields& p, BackendCall& c) { c.setting.sizes.intermediate = p.integer("intermediate", 1, kLargestSize); }},
    {"hidden", [](Fields& p, BackendCall& c) { c.setting.sizes.hidden = p.integer("hidden", 1, kLargestSize); }},
    {"gated", [](Fields& p, BackendCall& c) { c.setting.form.gated = p.boolean("gated"); }},
    {"activation", [](Fields& p, BackendCall& c) { c.setting.activation = row_named(kActivations, "activation", p.text("activation")).value; }},
    {"a8w4", [](Fields& p, BackendCall& c) { c.setting.of<families::AiterParameters>().a8w4 = p.boolean("a8w4"); }},
    {"a16", [](Fields& p, BackendCall& c) { c.setting.of<families::B12xParameters>().a16 = p.boolean("a16"); }},
    {"deep_gemm_e8m0", [](Fields& p, BackendCall& c) { c.setting.of<families::DeepgemmParameters>().e8m0 = p.boolean("deep_gemm_e8m0"); }},
    {"params_dtype", [](Fields& p, BackendCall& c) { c.setting.params_dtype = row_named(kParamsDtypes, "dtype", p.text("params_dtype")).value; }},
    {"orig_dtype", [](Fields& p, BackendCall& c) { c.setting.params_dtype = row_named(kParamsDtypes, "dtype", p.text("orig_dtype")).value; }},
    {"input_dtype", [](Fields& p, BackendCall& c) { c.setting.input_dtype = row_named(kInputDtypes, "dtype", p.text("input_dtype")).value; }},
    {"has_bias", [](Fields& p, BackendCall& c) { c.setting.has_bias = p.boolean("has_bias"); }},
    {"input_scale_given", [](Fields& p, BackendCall& c) { c.setting.has_input_scale = p.boolean("input_scale_given"); }},
    {"scale_byte", [](Fields& p, BackendCall& c) { c.byte = static_cast<std::uint8_t>(p.integer("scale_byte", 0, 255)); }},
    {"num_warps",
     [](Fields& p, BackendCall& c) { c.setting.of<families::TritonParameters>().num_warps = static_cast<int>(p.integer("num_warps", 1, 1 << 20)); }},
};

const WholeName& whole_name(const LayoutEntry& entry) {
  for (const WholeName& row : kWholeNames) {
    if (!entry.layout.starts_with(row.prefix) || !entry.layout.ends_with(row.suffix)) continue;
    if (row.backend.empty() || entry.layout == row.prefix) return row;
  }
  no_model(entry);
}

WeightFormat format_of(const WholeName& name, Fields& params, const LayoutEntry& entry) {
  std::optional<WeightFormat> stated;
  if (params.has("scale_mode")) stated = row_named(kScaleModes, "scale_mode", params.text("scale_mode")).value;
  if (!stated && !name.format) broken("params do not say scale_mode", entry.where);
  if (stated && name.format && *stated != *name.format) broken("scale_mode is not that of " + entry.layout, entry.where);
  return stated ? *stated : *name.format;
}

}  // namespace

const families::BackendLayout* BackendCall::row() const {
  const families::BackendLayout* found = families::find_backend_layout(backend, setting.form.format, setting.engine);
  return found != nullptr && found->converts(setting.form, setting.engine) ? found : nullptr;
}

namespace {

/// A matrix as w2. What params say of the conversion must be what the model does.
BackendCall matrix_call(const MatrixName& name, const LayoutEntry& entry) {
  BackendCall call;
  call.backend = "HUMMING";
  if (entry.role == "weight") call.role = layout::Role::w2_weight;
  if (entry.role != "weight" && entry.role != "all") no_model(entry, " of role " + entry.role);
  families::Setting& setting = call.setting;
  setting.engine = deployment::kVllm2026_08;
  setting.of<families::HummingParameters>() = {families::Humming::v0_1_19, name.group_128};
  setting.input_dtype = name.activations;
  setting.arch = row_named(kArchs, "arch", entry.arch).value;
  setting.form = {name.format, SourceOrder::standard};
  setting.has_bias = false;
  Fields params(*entry.params, "params", entry.where);
  const auto size = [&](const char* key) { return params.integer(key, 1, kLargestSize); };
  setting.sizes = {size("E"), size("K"), size("N"), std::max<std::int64_t>(1, layout::group_of(name.format))};
  setting.padded = setting.sizes;
  const auto up_to = [](std::int64_t extent, std::int64_t multiple) { return (extent + multiple - 1) / multiple * multiple; };
  const bool is_8_bit = name.activations != families::InputDtype::none;
  const bool is_mxfp4 = name.format == WeightFormat::mxfp4;
  const bool fits = size("padded_n") == up_to(setting.sizes.hidden, 256) && size("padded_k") == up_to(setting.sizes.intermediate, 128) &&
                    size("weight_bits") == layout::unit_bits(layout::Role::w2_weight, name.format) &&
                    size("activation_bits") == (is_8_bit ? 8 : 16) && params.boolean("packed_k") == (is_mxfp4 && name.group_128) &&
                    params.boolean("fused_scale") == (is_mxfp4 && is_8_bit);
  if (!fits) no_model(entry, " with such params");
  size("group_size");
  params.finish();
  return call;
}

}  // namespace

BackendCall backend_call(const LayoutEntry& entry) {
  for (const MatrixName& name : kMatrixNames) {
    if (name.layout == entry.layout && name.version == entry.version) return matrix_call(name, entry);
  }
  const WholeName& name = whole_name(entry);
  BackendCall call;
  const std::size_t end = entry.layout.size() - name.suffix.size();
  call.backend = name.backend.empty() ? entry.layout.substr(name.prefix.size(), end - name.prefix.size()) : std::string(name.backend);
  call.role = row_named(kRoles, "role", entry.role).value;
  const auto label = std::ranges::find(kEngineLabels, std::string_view(entry.version), &EngineLabel::word);
  if (label == std::end(kEngineLabels)) no_model(entry, " at version " + entry.version);
  call.setting.engine = label->engine;
  families::find_setting_key("flashinfer")->set(call.setting, label->flashinfer);
  call.setting.arch = row_named(kArchs, "arch", entry.arch).value;
  call.setting.of<families::TritonParameters>().before_swizzle = entry.stage == "before_swizzle";
  call.setting.activation = name.activation;

  Fields params(*entry.params, "params", entry.where);
  call.setting.form = {format_of(name, params, entry), name.order};
  for (const char* key : {"E", "intermediate", "hidden"}) params.at(key);
  for (const SettingWord& word : kSettingWords) {
    if (params.has(word.key)) word.read(params, call);
  }
  if (params.has("backend") && params.text("backend") != call.backend) broken("params name another backend than the layout", entry.where);
  params.finish();
  // A converter gets its shapes as they are: nothing is rounded up before it.
  call.setting.sizes.group = std::max<std::int64_t>(1, layout::group_of(call.setting.form.format));
  call.setting.padded = call.setting.sizes;
  return call;
}

}  // namespace mx::golden
