// Words for what Marlin's converters look at, and the record.

#include "model/families/marlin/family.hpp"

#include <array>

#include "model/families/kernel_form.hpp"
#include "model/families/setting_key_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array<std::string_view, 1> kScaleBytes{"0"};

constexpr std::array<SettingKey, 1> kKeys{{
    {"largest-scale-byte", "0..255", "largest byte of the checkpoint's scales, which Marlin with 8-bit activations looks at", kScaleBytes,
     [](Setting& s, std::string_view v) {
       s.of<MarlinParameters>().largest_scale_byte = static_cast<int>(whole_number("largest-scale-byte", v, 0, 255));
     },
     [](const Setting& s) { return std::to_string(s.of<MarlinParameters>().largest_scale_byte); }},
}};

/// Does not compile when the parameters get another field, which must then become a row of kKeys.
[[maybe_unused]] void check_fields(const MarlinParameters& parameters) { [[maybe_unused]] const auto& [largest_scale_byte] = parameters; }

}  // namespace

constinit const std::span<const SettingKey> kMarlinSettingKeys{kKeys};

namespace {

/// Words of 32 bits in tiles of 16 columns; scales by column. With activations of 8 bits those of MXFP4 alone were recorded.
constexpr std::string_view kMarlinTiles = "vllm marlin_utils.py, gptq_marlin_moe_repack: int32 [E, K / 16, 16 N / pack]";
constexpr std::string_view kMarlinScales = "vllm marlin_utils_fp4.py and marlin_utils.py, marlin_moe_permute_scales";
constexpr bool marlin_takes_16_bits(const Setting& setting) { return setting.input_dtype == InputDtype::none; }
constexpr std::array kMarlinFormRows{
    KernelFormRow{{}, {}, FormPart::weight, nullptr, "int32", form_of_tiles, kMarlinTiles},
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::scale, nullptr, "float8_e8m0fnu", form_of_scales, kMarlinScales},
    KernelFormRow{{}, layout::WeightFormat::mxfp8, FormPart::scale, marlin_takes_16_bits, "float8_e8m0fnu", form_of_scales, kMarlinScales},
    KernelFormRow{{}, layout::WeightFormat::nvfp4, FormPart::scale, marlin_takes_16_bits, "float8_e4m3fn", form_of_scales, kMarlinScales},
    KernelFormRow{{}, {}, FormPart::scale, marlin_takes_16_bits, kParamsDtype, form_of_scales, kMarlinScales},
    KernelFormRow{{}, {}, FormPart::scale, nullptr, {}, nullptr, {}},
};

}  // namespace

constinit const std::span<const KernelFormRow> kMarlinForms{kMarlinFormRows};

constinit const Family kMarlinFamily{
    .name = "marlin",
    .layouts = {&kMarlinLayouts, 9},
    .blocks = {&kMarlinBlocks, 8},
    .value_blocks = {&kMarlinValueBlocks},
    .inputs = {&kMarlinInputs},
    .needs = {&kMarlinNeeds},
    .classes = {&kMarlinClasses},
    .executions = {&kMarlinExecutions, 6},
    .forms = {&kMarlinForms},
    .setting_keys = {&kMarlinSettingKeys, 2},
};

}  // namespace mx::families
