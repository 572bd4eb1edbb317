#pragma once
// What a converter sees of a layer, put together in one place: verify, convert, plan, run, merge, sim and mxact.pack of a checkpoint ask here.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/checkpoint.hpp"
#include "model/families/setting.hpp"

namespace mx::checkpoint {

/// The converters' view of an activation by the engine's name: two are told apart, every other one is as SILU. SWIGLUOAI_UNINTERLEAVE has gate before
/// up, so no converter separates its rows.
/// Source: vllm at 7ca49fbe4 fused_moe/oracle/mxfp4.py convert_weight_to_mxfp4_moe_kernel_format (SITU);
/// layers/quantization/utils/flashinfer_fp4_moe.py prepare_nvfp4_moe_layer_for_flashinfer_cutedsl (SWIGLUOAI).
families::ConverterActivation converter_activation(std::string_view activation);

/// A converter's surroundings by themselves: no layer yet, whatever else has its default. `libraries` as families::choose_libraries takes them and
/// throws, `variables` as families::set_by_variables.
families::Setting surroundings(deployment::Engine engine, families::Arch arch, int tp_size, std::span<const std::string> libraries,
                               const std::map<std::string, std::string>& variables);

/// One layer's conversion.
struct Conversion {
  layout::Form form;
  layout::Sizes sizes;     ///< of one rank: its share of I, or what it was loaded with, in the squares that it was loaded in
  std::string activation;  ///< the engine's name; one that it has not counts as any that no converter asks for
  bool has_bias;
  families::Setting around = {};            ///< engine, device, ranks, dtypes, releases, options: what no layer says
  std::string method = "own";               ///< of quantization: Deployment::quant_method
  std::optional<layout::Sizes> whole = {};  ///< of the layer that the ranks share; none: `sizes` is what a rank was loaded with

  /// What the converter sees of buffers that the engine has rounded up to `padded`.
  families::Setting setting(const layout::Sizes& padded) const;
  /// As setting(sizes): of a checkpoint whose buffers are not rounded, or were before.
  families::Setting setting() const { return setting(sizes); }
  /// What the engine rounds the buffers up to, by this version's rule. Throws as engine::rounded_up does.
  layout::Sizes rounded(std::string_view backend, deployment::Engine engine) const;
};

/// Sizes::group of a rank's share of a layer: where the share cuts squares of FP8, the side of the finer ones that the engine makes of them; else the
/// layer's.
std::int64_t loaded_group(const layout::Form& form, const layout::Sizes& whole, int tp, deployment::Engine engine);

/// Of the checkpoint's layers, on one rank of `around.tp_size`. Throws Error(usage) as rank_sizes does, Error(input) as Checkpoint::activation does.
Conversion conversion_of(const Checkpoint& checkpoint, families::Setting around);

/// What the converter of a backend sees of it, rounded as the engine rounds a layer of that form. Throws as Conversion::rounded does.
families::Setting setting_for(const Checkpoint& checkpoint, const Conversion& conversion, std::string_view backend);

}  // namespace mx::checkpoint
