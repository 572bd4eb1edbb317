#pragma once
// Everything besides the tensors that a converter may look at: sizes, form, device, versions, options. Plain data without hidden defaults
// where the answer matters; the fields that only some converters read say which.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"
#include "model/families/families.hpp"
#include "model/layout/tensor.hpp"

namespace mx::families {

/// Versions of the engine whose conversions are known. Source: vllm-project/vllm at the commits of engine_named.
inline constexpr std::array<deployment::Engine, 2> kConversionEngines{deployment::kVllm2026_05, deployment::kVllm2026_08};
bool has_conversions(deployment::Engine engine);
/// One of them, as engine_named reads it and throws; for a version whose conversions are not known the newest before it (carried.hpp).
deployment::Engine conversion_engine_named(std::string_view name);

/// The format of weights with a quantization key of the engine; none for keys of other formats.
std::optional<layout::WeightFormat> format_of_key(std::string_view weight_key);
/// Sizes::group of such weights: the side of finer squares of FP8, 1 where nothing is grouped along K.
std::int64_t group_of_key(std::string_view weight_key);

/// The devices that conversions tell apart.
enum class Arch { sm75, sm80, sm89, sm90, sm100, sm110, sm120, gfx90a, gfx942, gfx950, gfx11, gfx12, gfx1250, xpu, cpu };
std::string_view name_of(Arch arch);  ///< "sm100"
/// The nearest row at or below a platform's name: SM103 is sm100, SM121 sm120, gfx1201 gfx12. Throws Error(usage) on an unknown name.
Arch arch_named(std::string_view platform);
deployment::PlatformKind platform_of(Arch arch);

/// The dtype of the layer's parameters.
enum class ParamsDtype { bf16, fp16 };
std::string_view name_of(ParamsDtype dtype);
ParamsDtype params_dtype_named(std::string_view name);

/// Activation dtype asked of Marlin (VLLM_MARLIN_INPUT_DTYPE) and of Humming; `none` is 16 bits.
enum class InputDtype { none, float8_e4m3fn, int8 };
std::string_view name_of(InputDtype dtype);
InputDtype input_dtype_named(std::string_view name);

/// The activations that conversions tell apart; `silu` stands for every other one too.
enum class ConverterActivation { silu, swigluoai, situ };
std::string_view name_of(ConverterActivation activation);
ConverterActivation converter_activation_named(std::string_view name);

/// One conversion's surroundings. `sizes` are the checkpoint's (this rank's), `padded` what the engine rounded its buffers up to. Behind what every
/// converter sees stands what one family looks at.
struct Setting {
  layout::Sizes sizes;
  layout::Sizes padded;
  layout::Form form;
  deployment::Engine engine = deployment::kDefaultEngine;  ///< whose conversions stand
  Arch arch = Arch::sm100;
  int tp_size = 1;
  ParamsDtype params_dtype = ParamsDtype::bf16;
  InputDtype input_dtype = InputDtype::none;
  ConverterActivation activation = ConverterActivation::swigluoai;
  bool has_bias = true;
  bool has_input_scale = true;  ///< static input scales are given
  bool leaves_e4m3fn = false;   ///< the layer's method hands FP8 codes on as they are, whatever the device reads (fnuz.hpp)
  std::optional<deployment::Engine> served_by = std::nullopt;  ///< a version that has no conversions of its own; none: engine
  FamilyParameters parameters = {};

  /// The version whose kernels compute.
  deployment::Engine computes() const { return served_by.value_or(engine); }

  /// What one family looks at, by its type: setting.of<MarlinParameters>().
  template <class Parameters>
  Parameters& of() {
    return std::get<Parameters>(parameters);
  }
  template <class Parameters>
  const Parameters& of() const {
    return std::get<Parameters>(parameters);
  }
};

/// The setting of a layer whose sizes the engine has rounded already, with the groups of its format and its rows in the standard order. What else a
/// converter looks at has its default, which breaks no precondition.
Setting rounded_setting(layout::WeightFormat format, bool gated, layout::Sizes sizes, deployment::Engine engine);

/// The largest scale byte of the layer that a setting is of, 0..255; 0 where no family asks for it.
int largest_scale_byte_of(const Setting& setting);
void set_largest_scale_byte(Setting& setting, int byte);

/// The release of triton_kernels that applies: the one asked for, else the engine's own for the device.
/// Source: vllm requirements and cmake/external_projects: v3.5.1 on cuda for both engines; on ROCm v3.5.1, later a branch of 3.6.
TritonKernels triton_kernels_of(const Setting& setting);

}  // namespace mx::families
