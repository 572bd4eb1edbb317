#include "sim/setting_keys.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>

#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::sim {
namespace {

using layout::Setting;
using Text = std::string_view;

bool yes_or_no(Text key, Text value) {
  if (same_name(value, "yes") || same_name(value, "true") || value == "1") return true;
  if (same_name(value, "no") || same_name(value, "false") || value == "0") return false;
  throw Error(ErrorCode::usage, fmt::format("'{}' is neither yes nor no", value), std::string(key));
}

std::string word(bool value) { return value ? "yes" : "no"; }

constexpr Text kYesNo = "yes or no";
constexpr int kMostRanks = 1 << 16;
constexpr int kMostWarps = 1 << 10;

constexpr std::array<Text, 2> kBools{"no", "yes"};
constexpr std::array<Text, 2> kOrders{"gpt_oss", "standard"};
constexpr std::array<Text, 2> kEngineTrials{"vllm@2026-05", "vllm@2026-08"};
constexpr std::array<Text, 15> kPlatforms{"sm75",   "sm80",   "sm89",  "sm90",  "sm100",   "sm110", "sm120", "gfx90a",
                                          "gfx942", "gfx950", "gfx11", "gfx12", "gfx1250", "xpu",   "cpu"};
constexpr std::array<Text, 4> kTritons{"engine", "triton_kernels-3.5", "triton_kernels-3.7", "triton_kernels-2026-08"};
constexpr std::array<Text, 3> kRanks{"1", "2", "8"};
constexpr std::array<Text, 5> kWarps{"1", "2", "4", "8", "16"};
constexpr std::array<Text, 1> kScaleBytes{"0"};
constexpr std::array<Text, 2> kParams{"bf16", "fp16"};
constexpr std::array<Text, 3> kInputs{"none", "float8_e4m3fn", "int8"};
constexpr std::array<Text, 3> kActivations{"SILU", "SWIGLUOAI", "SITU"};

constexpr std::array<SettingKey, 16> kKeys{{
    {"source-order", "gpt_oss or standard", "row order of w13 in the checkpoint", kOrders,
     [](Setting& s, Text v) { s.form.order = layout::source_order_named(v); }, [](const Setting& s) { return std::string(name_of(s.form.order)); }},
    {"not-gated", kYesNo, "w13 is one matrix, without gate and up", kBools, [](Setting& s, Text v) { s.form.gated = !yes_or_no("not-gated", v); },
     [](const Setting& s) { return word(!s.form.gated); }},
    {"engine", "vllm@2026-05 or vllm@2026-08, by month, release or commit", "version of the engine", kEngineTrials,
     [](Setting& s, Text v) { s.engine = layout::conversion_engine_named(v); }, [](const Setting& s) { return std::string(name_of(s.engine)); }},
    {"platform", "sm75 .. sm120, gfx90a .. gfx1250, xpu, cpu", "device", kPlatforms, [](Setting& s, Text v) { s.arch = layout::arch_named(v); },
     [](const Setting& s) { return std::string(name_of(s.arch)); }},
    {"triton-kernels", "triton_kernels-3.5, -3.7, -2026-08, or engine: the one it is built against", "release of triton_kernels", kTritons,
     [](Setting& s, Text v) {
       if (same_name(v, "engine")) {
         s.triton_kernels.reset();
       } else {
         s.triton_kernels = layout::triton_kernels_named(v);
       }
     },
     [](const Setting& s) { return s.triton_kernels ? std::string(name_of(*s.triton_kernels)) : std::string("engine"); }},
    {"torch-before-2-8-1", kYesNo, "torch is older than 2.8.1", kBools,
     [](Setting& s, Text v) { s.torch_before_2_8_1 = yes_or_no("torch-before-2-8-1", v); },
     [](const Setting& s) { return word(s.torch_before_2_8_1); }},
    {"tp", "1 or more", "tensor parallel size", kRanks,
     [](Setting& s, Text v) { s.tp_size = static_cast<int>(whole_number("tp", v, 1, kMostRanks)); },
     [](const Setting& s) { return std::to_string(s.tp_size); }},
    {"num-warps", "1 or more", "warps of the Hopper scale layout", kWarps,
     [](Setting& s, Text v) { s.num_warps = static_cast<int>(whole_number("num-warps", v, 1, kMostWarps)); },
     [](const Setting& s) { return std::to_string(s.num_warps); }},
    {"params-dtype", "bf16 or fp16", "dtype of the layer's parameters", kParams,
     [](Setting& s, Text v) { s.params_dtype = layout::params_dtype_named(v); },
     [](const Setting& s) { return std::string(name_of(s.params_dtype)); }},
    {"input-dtype", "none (16 bits), float8_e4m3fn or int8", "activation dtype asked of Marlin", kInputs,
     [](Setting& s, Text v) { s.input_dtype = layout::input_dtype_named(v); }, [](const Setting& s) { return std::string(name_of(s.input_dtype)); }},
    {"activation", "SILU (and every other), SWIGLUOAI or SITU", "activation", kActivations,
     [](Setting& s, Text v) { s.activation = layout::converter_activation_named(v); },
     [](const Setting& s) { return std::string(name_of(s.activation)); }},
    {"a8w4", kYesNo, "AITER's a8w4 switch, with SITU", kBools, [](Setting& s, Text v) { s.a8w4 = yes_or_no("a8w4", v); },
     [](const Setting& s) { return word(s.a8w4); }},
    {"has-bias", kYesNo, "both biases are given", kBools, [](Setting& s, Text v) { s.has_bias = yes_or_no("has-bias", v); },
     [](const Setting& s) { return word(s.has_bias); }},
    {"has-input-scale", kYesNo, "static input scales are given", kBools,
     [](Setting& s, Text v) { s.has_input_scale = yes_or_no("has-input-scale", v); }, [](const Setting& s) { return word(s.has_input_scale); }},
    {"before-swizzle", kYesNo, "stop before the layout of triton_kernels", kBools,
     [](Setting& s, Text v) { s.before_swizzle = yes_or_no("before-swizzle", v); }, [](const Setting& s) { return word(s.before_swizzle); }},
    {"largest-scale-byte", "0..255", "largest byte of the checkpoint's scales, which Marlin with 8-bit activations looks at", kScaleBytes,
     [](Setting& s, Text v) { s.largest_scale_byte = static_cast<int>(whole_number("largest-scale-byte", v, 0, 255)); },
     [](const Setting& s) { return std::to_string(s.largest_scale_byte); }},
}};

}  // namespace

std::span<const SettingKey> setting_keys() { return kKeys; }

const SettingKey* find_setting_key(std::string_view key) {
  for (const SettingKey& row : kKeys) {
    if (same_name(row.key, key)) return &row;
  }
  return nullptr;
}

std::string setting_text(const Setting& setting, const Setting& base) {
  std::string text;
  for (const SettingKey& row : kKeys) {
    const std::string value = row.get(setting);
    if (value != row.get(base)) text += fmt::format(",{}={}", row.key, value);
  }
  return text;
}

std::int64_t whole_number(std::string_view what, std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high) return value;
  throw Error(ErrorCode::usage, fmt::format("'{}' is not a whole number in {}..{}", text, low, high), std::string(what));
}

}  // namespace mx::sim
