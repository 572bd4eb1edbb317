#include "props/layout/laws.hpp"

#include <array>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "model/layout/stage.hpp"

namespace mx::props {
namespace {

constexpr std::string_view kAddresses =
    "Every element has one address, image and padding fill the allocation, sizes are the padded ones, and without padding the digits are a bijection";
constexpr std::string_view kTags =
    "A unique tag in every unit of the checkpoint arrives at the address of the closed formula; everything else is zero";
constexpr std::string_view kDequantize =
    "Dequantizing through the packed layouts gives the checkpoint's values, and each scale lies where its weight's row has it";
constexpr std::string_view kPadding =
    "Whatever lies where the closed formulas have padding (0x00, 0x7F, 0xFF, random), restoring gives the same checkpoint";
constexpr std::string_view kRestore = "restore(convert(x)) = x, and compare finds no difference";
constexpr std::string_view kStageAddresses = "Of every building block at, inverse, gather and digits agree; image and padding fill the allocation";
constexpr std::string_view kStageFormulas = "Building blocks lie where their documents' formulas have them, and refuse what those do not cover";
constexpr std::string_view kCompare = "One changed bit anywhere in a packed tensor is one difference, at its place";

constexpr std::array<Law, 36> kLaws{{
    {"L1/programs", "Of any view program at, inverse, is_padding and gather agree; image and padding fill the allocation", law_addresses},
    {"L1/pieces", "An address map read in pieces is the whole map", law_map_in_pieces},
    {"L1/digits", "A digit normal form computes what the interpreter does; carry-free programs have one", law_digits_agree},
    {"L1/normal-form", "Two carry-free layouts are equal exactly when their digits are; steps that do nothing leave the digits alone",
     law_digits_are_normal},
    {"L1/is-bijection", "is_bijection says what counting says", law_bijection_test},
    {"L1/FLASHINFER_TRTLLM_MXFP4_BF16", kAddresses, law_backend_addresses},
    {"L1/FLASHINFER_TRTLLM_MXFP4_MXFP8", kAddresses, law_backend_addresses},
    {"L1/FLASHINFER_CUTLASS_MXFP4_MXFP8", kAddresses, law_backend_addresses},
    {"L1/XPU", kAddresses, law_backend_addresses},
    {"L1/EMULATION", kAddresses, law_backend_addresses},
    {"L2/FLASHINFER_TRTLLM_MXFP4_BF16", kTags, law_tags_arrive},
    {"L2/FLASHINFER_TRTLLM_MXFP4_MXFP8", kTags, law_tags_arrive},
    {"L2/FLASHINFER_CUTLASS_MXFP4_MXFP8", kTags, law_tags_arrive},
    {"L2/XPU", kTags, law_tags_arrive},
    {"L2/EMULATION", kTags, law_tags_arrive},
    {"L3/FLASHINFER_TRTLLM_MXFP4_BF16", kDequantize, law_dequantize_commutes},
    {"L3/FLASHINFER_TRTLLM_MXFP4_MXFP8", kDequantize, law_dequantize_commutes},
    {"L3/FLASHINFER_CUTLASS_MXFP4_MXFP8", kDequantize, law_dequantize_commutes},
    {"L3/XPU", kDequantize, law_dequantize_commutes},
    {"L3/EMULATION", kDequantize, law_dequantize_commutes},
    {"L4/FLASHINFER_TRTLLM_MXFP4_BF16", kPadding, law_padding_is_ignored},
    {"L4/FLASHINFER_TRTLLM_MXFP4_MXFP8", kPadding, law_padding_is_ignored},
    {"L4/FLASHINFER_CUTLASS_MXFP4_MXFP8", kPadding, law_padding_is_ignored},
    {"L4/XPU", kPadding, law_padding_is_ignored},
    {"L4/EMULATION", kPadding, law_padding_is_ignored},
    {"L7/apply", "Through any two layouts and back every byte is the same", law_apply_undone},
    {"L7/FLASHINFER_TRTLLM_MXFP4_BF16", kRestore, law_restore_converts_back},
    {"L7/FLASHINFER_TRTLLM_MXFP4_MXFP8", kRestore, law_restore_converts_back},
    {"L7/FLASHINFER_CUTLASS_MXFP4_MXFP8", kRestore, law_restore_converts_back},
    {"L7/XPU", kRestore, law_restore_converts_back},
    {"L7/EMULATION", kRestore, law_restore_converts_back},
    {"L10/FLASHINFER_TRTLLM_MXFP4_BF16", kCompare, law_compare_sees_every_change},
    {"L10/FLASHINFER_TRTLLM_MXFP4_MXFP8", kCompare, law_compare_sees_every_change},
    {"L10/FLASHINFER_CUTLASS_MXFP4_MXFP8", kCompare, law_compare_sees_every_change},
    {"L10/XPU", kCompare, law_compare_sees_every_change},
    {"L10/EMULATION", kCompare, law_compare_sees_every_change},
}};

/// Ids are made from the tables: a row that is added has laws at once.
std::vector<Law> joined() {
  static std::deque<std::string> ids;
  std::vector<Law> laws(kLaws.begin(), kLaws.end());
  std::set<std::string_view> libraries;
  for (const layout::StageLayout& stage : layout::all_stage_layouts()) libraries.insert(stage_library(stage.name));
  for (std::string_view library : libraries) {
    laws.push_back({ids.emplace_back("L1/stages/" + std::string(library)), kStageAddresses, law_stage_addresses});
    laws.push_back({ids.emplace_back("L2/stages/" + std::string(library)), kStageFormulas, law_stage_formulas});
  }
  return laws;
}

}  // namespace

std::span<const Law> layout_laws() {
  static const std::vector<Law> laws = joined();
  return laws;
}

}  // namespace mx::props
