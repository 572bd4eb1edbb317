#include "model/families/setting.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/devices.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/error.hpp"
#include "model/families/carried.hpp"
#include "model/names.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

using rows::Word;

constexpr std::array<Word<ParamsDtype>, 2> kParamsWords{{{ParamsDtype::bf16, "bf16"}, {ParamsDtype::fp16, "fp16"}}};
constexpr std::array<Word<InputDtype>, 3> kInputWords{
    {{InputDtype::none, "none"}, {InputDtype::float8_e4m3fn, "float8_e4m3fn"}, {InputDtype::int8, "int8"}}};
constexpr std::array<Word<ConverterActivation>, 3> kActivationWords{
    {{ConverterActivation::silu, "SILU"}, {ConverterActivation::swigluoai, "SWIGLUOAI"}, {ConverterActivation::situ, "SITU"}}};
constexpr std::array<Word<Arch>, 15> kArchWords{{
    {Arch::sm75, "sm75"},
    {Arch::sm80, "sm80"},
    {Arch::sm89, "sm89"},
    {Arch::sm90, "sm90"},
    {Arch::sm100, "sm100"},
    {Arch::sm110, "sm110"},
    {Arch::sm120, "sm120"},
    {Arch::gfx90a, "gfx90a"},
    {Arch::gfx942, "gfx942"},
    {Arch::gfx950, "gfx950"},
    {Arch::gfx11, "gfx11"},
    {Arch::gfx12, "gfx12"},
    {Arch::gfx1250, "gfx1250"},
    {Arch::xpu, "xpu"},
    {Arch::cpu, "cpu"},
}};

/// Keys of the engine. Source: vllm quantization/utils/quant_utils.py.
constexpr std::array<Word<layout::WeightFormat>, 7> kKeyWords{{
    {layout::WeightFormat::mxfp4, "kMxfp4Static"},
    {layout::WeightFormat::nvfp4, "kNvfp4Static"},
    {layout::WeightFormat::mxfp8, "kMxfp8Static"},
    {layout::WeightFormat::fp8_tensor, "kFp8StaticTensorSym"},
    {layout::WeightFormat::fp8_channel, "kFp8StaticChannelSym"},
    {layout::WeightFormat::fp8_block, "kFp8Static128BlockSym"},
    {layout::WeightFormat::int4, "kInt4Static"},
}};

/// Devices whose names stand for a row above.
struct Alias {
  std::string_view name;
  Arch arch;
};
constexpr std::array<Alias, 7> kAliases{{
    {"sm86", Arch::sm80},
    {"sm103", Arch::sm100},
    {"sm121", Arch::sm120},
    {"gfx1100", Arch::gfx11},
    {"gfx1151", Arch::gfx11},
    {"gfx1200", Arch::gfx12},
    {"gfx1201", Arch::gfx12},
}};

/// Sides of finer squares of FP8 that a kernel is known to take.
constexpr std::array<std::int64_t, 2> kFinerSides{64, 32};

std::optional<std::int64_t> side_of_key(std::string_view weight_key) {
  if (!weight_key.starts_with("FP8:")) return std::nullopt;
  const std::optional<deployment::KeyBlock> block = deployment::fp8_block_of_key(weight_key);
  if (!block || block->rows != block->columns || std::ranges::find(kFinerSides, block->rows) == kFinerSides.end()) return std::nullopt;
  return block->rows;
}

}  // namespace

std::optional<layout::WeightFormat> format_of_key(std::string_view weight_key) {
  const auto found = std::ranges::find(kKeyWords, weight_key, &Word<layout::WeightFormat>::name);
  if (found != kKeyWords.end()) return found->value;
  return side_of_key(weight_key) ? std::optional(layout::WeightFormat::fp8_block) : std::nullopt;
}

std::int64_t group_of_key(std::string_view weight_key) {
  if (const std::optional<std::int64_t> side = side_of_key(weight_key)) return *side;
  const std::optional<layout::WeightFormat> format = format_of_key(weight_key);
  return format ? std::max<std::int64_t>(1, layout::group_of(*format)) : 1;
}

bool has_conversions(deployment::Engine engine) { return std::ranges::find(kConversionEngines, engine) != kConversionEngines.end(); }

deployment::Engine conversion_engine_named(std::string_view name) { return standing_engine(deployment::engine_named(name)); }
std::string_view name_of(Arch arch) { return rows::word_of<Arch>(kArchWords, arch); }
std::string_view name_of(ParamsDtype dtype) { return rows::word_of<ParamsDtype>(kParamsWords, dtype); }
ParamsDtype params_dtype_named(std::string_view name) { return rows::named(kParamsWords, "parameter dtype", name).value; }
std::string_view name_of(InputDtype dtype) { return rows::word_of<InputDtype>(kInputWords, dtype); }
InputDtype input_dtype_named(std::string_view name) { return rows::named(kInputWords, "activation dtype", name).value; }
std::string_view name_of(ConverterActivation activation) { return rows::word_of<ConverterActivation>(kActivationWords, activation); }
ConverterActivation converter_activation_named(std::string_view name) { return rows::named(kActivationWords, "activation", name).value; }

Arch arch_named(std::string_view platform) {
  for (const Alias& alias : kAliases) {
    if (same_name(alias.name, platform)) return alias.arch;
  }
  if (deployment::find_device(platform) != nullptr) return arch_named(deployment::platform_named(platform).name);
  const auto* const row = std::ranges::find_if(kArchWords, [&](const Word<Arch>& word) { return same_name(word.name, platform); });
  if (row == std::end(kArchWords)) throw Error(ErrorCode::usage, deployment::unknown_platform(platform));
  return row->value;
}

deployment::PlatformKind platform_of(Arch arch) {
  if (arch == Arch::xpu) return deployment::PlatformKind::xpu;
  if (arch == Arch::cpu) return deployment::PlatformKind::cpu;
  return arch >= Arch::gfx90a && arch <= Arch::gfx1250 ? deployment::PlatformKind::rocm : deployment::PlatformKind::cuda;
}

Setting rounded_setting(layout::WeightFormat format, bool gated, layout::Sizes sizes, deployment::Engine engine) {
  sizes.group = std::max<std::int64_t>(1, layout::group_of(format));
  return {.sizes = sizes, .padded = sizes, .form = {format, layout::SourceOrder::standard, gated}, .engine = engine};
}

int largest_scale_byte_of(const Setting& setting) { return setting.of<MarlinParameters>().largest_scale_byte; }
void set_largest_scale_byte(Setting& setting, int byte) { setting.of<MarlinParameters>().largest_scale_byte = byte; }

TritonKernels triton_kernels_of(const Setting& setting) {
  if (setting.of<TritonParameters>().release) return *setting.of<TritonParameters>().release;
  return platform_of(setting.arch) == deployment::PlatformKind::rocm && setting.engine >= deployment::kVllm2026_08 ? TritonKernels::v3_7
                                                                                                                   : TritonKernels::v3_5;
}

}  // namespace mx::families
