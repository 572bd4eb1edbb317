#pragma once
// What rows of families/*/memory.cpp say of themselves beside the conversion: what of it was run, and whose library it calls. A row that says nothing
// was run, in every form that it converts.

#include <string_view>

#include "model/families/memory.hpp"

namespace mx::families {

/// The row whose conversion was run with stand-ins for a device's own code, or without some of its tensors.
constexpr BackendLayout by_parts(BackendLayout row, std::string_view stand_ins) {
  row.ran.grounds = Grounds::run_by_parts;
  row.ran.stand_ins = stand_ins;
  return row;
}
/// The row that was read in its source alone.
constexpr BackendLayout read_alone(BackendLayout row) {
  row.ran.standard = row.ran.gpt_oss = false;
  return row;
}
/// The row whose conversion was run for one order of rows alone.
constexpr BackendLayout run_in_standard_order(BackendLayout row) {
  row.ran.gpt_oss = false;
  return row;
}
constexpr BackendLayout run_in_gpt_oss_order(BackendLayout row) {
  row.ran.standard = false;
  return row;
}
/// The row whose conversion was run for gate and up alone.
constexpr BackendLayout run_gated(BackendLayout row) {
  row.ran.not_gated = false;
  return row;
}
/// The row whose converter calls a library's.
constexpr BackendLayout of_library(BackendLayout row, std::string_view library) {
  row.calls_library = library;
  return row;
}

/// The row whose conversion vllm 0.33.0 (2026-11) has otherwise. Q/ is vllm/model_executor/layers/quantization/utils/.
constexpr BackendLayout changed_in_november(BackendLayout row, std::string_view what, std::string_view source) {
  row.changed = {what, source, deployment::kVllm2026_11};
  return row;
}

/// Of FP8 with a scale a tensor, for FlashInfer's kernels.
inline constexpr std::string_view kEachHalfPadded = "gate and up are padded each";
inline constexpr std::string_view kEachHalfSource = "Q/flashinfer_utils.py align_moe_weights_for_fi";

/// What stood in for a device's own code. Each is recorded by itself, as a building block, unless it says so.
inline constexpr std::string_view kTileStandIn = "the 128x4 tile of the scales";
inline constexpr std::string_view kMarlinStandIn = "gptq_marlin_repack";
inline constexpr std::string_view kDeepGemmStandIn = "DeepGEMM's transform of the scales";
inline constexpr std::string_view kLastLayoutStandIn = "the last layout of triton_kernels";

}  // namespace mx::families
