// Faults of layouts and conversions.

#include <array>

#include "props/faults/tables.hpp"

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    FaultRow{Fault::need_forgotten, "need_forgotten", "model/families/memory.cpp broken_needs", "the last of a converter's checks is not made",
             "L2/takes"},
    FaultRow{Fault::sf128x4_columns_swapped, "sf128x4_columns_swapped", "model/families/blocks.cpp sf128x4",
             "row quarter and column byte of the scale tile change places",
             "L2/blocks/sf_128x4 L2/blocks/trtllm L2/blocks/triton L2/trtllm L2/flashinfer_cutlass L2/b12x L2/vllm_cutlass L2/cutedsl"},
    FaultRow{Fault::sf128x4_rows_mixed, "sf128x4_rows_mixed", "model/families/blocks.cpp sf128x4", "tile rows split by 4 instead of 32",
             "L2/blocks/sf_128x4 L2/blocks/trtllm L2/blocks/triton L2/trtllm L2/flashinfer_cutlass L2/b12x L2/vllm_cutlass L2/cutedsl L3/trtllm "
             "L3/flashinfer_cutlass L3/b12x L3/vllm_cutlass L3/cutedsl"},
    FaultRow{Fault::sf8x4_columns_first, "sf8x4_columns_first", "model/families/blocks.cpp sf8x4",
             "rows run faster than columns within the scale tile", "L2/blocks/sf_8x4"},
    FaultRow{Fault::shuffle_a_wrong_stride, "shuffle_a_wrong_stride", "model/families/blocks.cpp shuffle_rows", "rows shuffled with stride 8",
             "L2/blocks/trtllm L2/trtllm"},
    FaultRow{Fault::gate_up_not_flipped, "gate_up_not_flipped", "model/families/blocks.cpp up_gate_interleaved, up_before_gate",
             "gate rows before up rows (vllm#52240)", "L2/trtllm L2/flashinfer_cutlass L8/trtllm L8/flashinfer_cutlass"},
    FaultRow{Fault::scale_rows_not_shuffled, "scale_rows_not_shuffled", "model/families/trtllm/memory.cpp build_mxfp4",
             "scales do not follow the rows of their weights", "L2/trtllm L3/trtllm"},
    FaultRow{Fault::pad_content_wrong, "pad_content_wrong", "model/layout/grains.cpp pad_grain", "padding holds 1 instead of 0",
             "L2/trtllm L2/flashinfer_cutlass L2/xpu L2/emulation L2/deepgemm L2/marlin"},
    FaultRow{Fault::inverse_ignores_padding, "inverse_ignores_padding", "model/layout/step.cpp Backward(Pad)", "padding is reported as an element",
             "L1/programs L1/trtllm L1/flashinfer_cutlass L1/b12x L1/vllm_cutlass L1/cutedsl L1/xpu L1/emulation L1/triton_kernels L1/marlin "
             "L1/aiter"},
    FaultRow{Fault::halves_padded_together, "halves_padded_together", "model/layout/tensor.cpp loaded",
             "standard w13 is padded after both halves: gate and up pair with an offset", "L2/xpu L2/emulation L2/deepgemm L8/xpu L8/emulation"},
    FaultRow{Fault::bias_cast_to_low_half, "bias_cast_to_low_half", "model/families/casts.cpp all_casts",
             "bf16 bits land in the low half of the fp32", "L2/trtllm L2/triton_kernels L2/aiter L2/cpu"},
    FaultRow{Fault::compare_skips_padding, "compare_skips_padding", "model/layout/packed.cpp compare", "wrong padding is never noticed",
             "L7/trtllm L7/flashinfer_cutlass L7/b12x L7/vllm_cutlass L7/cutedsl L7/xpu L7/emulation"},
    FaultRow{Fault::digit_flip_lost, "digit_flip_lost", "model/layout/digits.cpp Symbolic(Flip)", "the normal form forgets flips",
             "L1/digits L1/normal-form"},
    FaultRow{Fault::map_read_from_run_start, "map_read_from_run_start", "model/layout/address_map.cpp read",
             "a piece of an address map begins at its run's start", "L1/pieces"},
    FaultRow{Fault::bijection_accepts_gap, "bijection_accepts_gap", "model/layout/digits.cpp is_bijection",
             "digits that skip addresses count as one to one", "L1/is-bijection"},
    FaultRow{Fault::padding_before_elements, "padding_before_elements", "model/layout/tensor.cpp padded_tensor",
             "padding stands before the elements, so that every part agrees and the kernel does not",
             "L2/trtllm L2/xpu L2/emulation L2/aiter L4/trtllm L4/flashinfer_cutlass L4/xpu L4/emulation L4/triton_kernels L4/deepgemm L4/marlin "
             "L4/aiter L4/cpu"},
    FaultRow{Fault::restore_mixes_padding, "restore_mixes_padding", "model/layout/grains.cpp to_row_major",
             "what padding holds is or-ed into the first element",
             "L4/trtllm L4/flashinfer_cutlass L4/b12x L4/vllm_cutlass L4/cutedsl L4/xpu L4/emulation L4/triton_kernels L4/deepgemm L4/marlin "
             "L4/humming L4/aiter L4/cpu L7/apply"},
    FaultRow{Fault::split_by_outer_extent, "split_by_outer_extent", "model/layout/step.cpp Forward(Split)",
             "an index is cut by the number of parts instead of their length",
             "L1/blocks/aiter L1/blocks/cpu L1/blocks/cutlass_sm90_mixed L1/blocks/cutlass_w4a8 L1/blocks/deepgemm L1/blocks/ggml L1/blocks/humming "
             "L1/blocks/packing L1/blocks/marlin L1/blocks/nvfp4_moe L1/blocks/sf_128x4 L1/blocks/sf_8x4 L1/blocks/triton L1/blocks/trtllm L1/trtllm "
             "L1/flashinfer_cutlass L1/b12x L1/vllm_cutlass L1/cutedsl L1/triton_kernels L1/deepgemm L1/marlin L1/humming L1/aiter L1/cpu "
             "L1/cutlass_w4a8"},
    FaultRow{Fault::last_expert_first, "last_expert_first", "model/layout/tensor.cpp padded_tensor", "experts lie in reverse order",
             "L2/trtllm L2/xpu L2/emulation L2/aiter L6/trtllm L6/flashinfer_cutlass L6/b12x L6/vllm_cutlass L6/cutedsl L6/xpu L6/emulation "
             "L6/triton_kernels L6/deepgemm L6/marlin L6/humming L6/aiter L6/cpu L6/cutlass_w4a8"},
    FaultRow{Fault::up_loaded_as_gate, "up_loaded_as_gate", "model/layout/tensor.cpp padded_tensor",
             "gate and up change places as they are loaded (vllm#52240)",
             "L2/trtllm L2/flashinfer_cutlass L2/b12x L2/vllm_cutlass L2/cutedsl L2/xpu L2/emulation L2/triton_kernels L2/deepgemm L2/marlin "
             "L2/humming L2/aiter L2/cpu L2/cutlass_w4a8 L8/trtllm L8/flashinfer_cutlass L8/b12x L8/vllm_cutlass L8/cutedsl L8/xpu L8/emulation "
             "L8/triton_kernels L8/deepgemm L8/marlin L8/humming L8/aiter L8/cpu L8/cutlass_w4a8"},
    FaultRow{Fault::scale_groups_reversed, "scale_groups_reversed", "model/layout/tensor.cpp padded_tensor",
             "the scales of a row lie in reverse order",
             "L2/trtllm L2/xpu L2/emulation L2/aiter L3/trtllm L3/flashinfer_cutlass L3/b12x L3/vllm_cutlass L3/cutedsl L3/xpu L3/emulation "
             "L3/triton_kernels L3/deepgemm L3/marlin L3/humming L3/aiter L3/cpu L3/cutlass_w4a8 L6/cut/trtllm L6/cut/xpu L6/cut/emulation "
             "L6/cut/triton_kernels L6/cut/deepgemm L6/cut/aiter L6/cut/cpu"},
    FaultRow{Fault::compare_names_next_place, "compare_names_next_place", "model/layout/packed.cpp compare",
             "a difference is reported one unit further",
             "L10/trtllm L10/flashinfer_cutlass L10/b12x L10/vllm_cutlass L10/cutedsl L10/xpu L10/emulation L10/triton_kernels L10/deepgemm "
             "L10/marlin L10/humming L10/aiter L10/cpu L10/cutlass_w4a8"},
    FaultRow{Fault::any_backend_takes_any, "any_backend_takes_any", "model/families/convert.cpp require",
             "what is packed for one backend is read by another",
             "L7/trtllm L7/flashinfer_cutlass L7/b12x L7/vllm_cutlass L7/cutedsl L7/xpu L7/emulation L7/triton_kernels L7/deepgemm L7/marlin "
             "L7/humming L7/aiter L7/cpu L7/cutlass_w4a8"},
    FaultRow{Fault::restore_drops_last_unit, "restore_drops_last_unit", "model/layout/grains.cpp held_row_major",
             "the last element of a tensor is not restored",
             "L7/trtllm L7/flashinfer_cutlass L7/b12x L7/vllm_cutlass L7/cutedsl L7/xpu L7/emulation L7/triton_kernels L7/deepgemm L7/marlin "
             "L7/humming L7/aiter L7/cpu"},
    FaultRow{Fault::fp4word_nibbles_exchanged, "fp4word_nibbles_exchanged", "model/families/words.cpp fp4word",
             "low and high nibbles of a scattered word change places", "L2/blocks/triton L2/blocks/cutlass_sm90_mixed L2/flashinfer_cutlass"},
    FaultRow{Fault::hopper_padding_of_later_release, "hopper_padding_of_later_release", "model/families/triton_kernels/blocks.cpp hopper_padding",
             "values are padded as another release of triton_kernels pads them", "L2/blocks/triton"},
    FaultRow{Fault::cdna4_pairs_exchanged, "cdna4_pairs_exchanged", "model/families/triton_kernels/blocks.cpp cdna4_mx_scale",
             "row half and group half of a scale tile change places", "L2/blocks/triton L2/blocks/aiter L2/aiter L3/aiter"},
    FaultRow{Fault::hopper_scale_lanes_exchanged, "hopper_scale_lanes_exchanged", "model/families/triton_kernels/blocks.cpp hopper_mx_scale",
             "row half and group of a pair change places", "L2/blocks/triton"},
    FaultRow{Fault::deepgemm_words_row_major, "deepgemm_words_row_major", "model/families/deepgemm/building_blocks.cpp deepgemm_packed_ue8m0",
             "words of scales lie row by row", "L2/blocks/deepgemm L2/deepgemm L3/deepgemm"},
    FaultRow{Fault::fragment_halves_exchanged, "fragment_halves_exchanged", "model/families/fragments.cpp fragment_order",
             "the halves of K and of the rows change places (Humming's transposed mini block where there is none)",
             "L2/blocks/marlin L2/blocks/humming L2/marlin L2/humming L3/marlin L3/humming"},
    FaultRow{Fault::scale_fours_kept, "scale_fours_kept", "model/families/fragments.cpp swap_middle_of_four", "scales stay 0, 1, 2, 3 within fours",
             "L2/marlin L3/marlin"},
    FaultRow{Fault::marlin_shards_padded_together, "marlin_shards_padded_together", "model/families/marlin/memory.cpp pad_intermediate",
             "w13 is padded behind both shards", "L2/marlin L8/marlin"},
    FaultRow{Fault::humming_scales_padded_with_zero, "humming_scales_padded_with_zero", "model/families/humming/memory.cpp build",
             "padded scales are 2^-127 instead of 1", "L2/humming"},
    FaultRow{Fault::aiter_chunks_in_lanes, "aiter_chunks_in_lanes", "model/families/aiter/blocks.cpp aiter_weight",
             "a row's chunks of 16 bytes lie side by side", "L2/blocks/aiter L2/aiter L3/aiter"},
    FaultRow{Fault::pairs_not_separated, "pairs_not_separated", "model/families/row_blocks.cpp separate_pairs", "interleaved rows stay interleaved",
             "L2/aiter L8/aiter"},
    FaultRow{Fault::halves_not_swapped, "halves_not_swapped", "model/families/row_blocks.cpp swap_halves", "gate stays before up",
             "L2/trtllm L2/flashinfer_cutlass L2/b12x L2/cutedsl L8/trtllm L8/flashinfer_cutlass L8/b12x L8/cutedsl"},
    FaultRow{Fault::row_groups_of_one, "row_groups_of_one", "model/families/row_blocks.cpp alternate_halves",
             "single rows of the halves alternate instead of groups", "L2/blocks/nvfp4_moe L2/cutedsl L8/cutedsl"},
    FaultRow{Fault::cpu_scales_not_transposed, "cpu_scales_not_transposed", "model/families/cpu/blocks.cpp cpu_scale",
             "scales of a block lie row by row", "L2/blocks/cpu L2/cpu L3/cpu"},
    FaultRow{Fault::ggml_halves_are_neighbours, "ggml_halves_are_neighbours", "model/families/ggml/building_blocks.cpp codes_of",
             "neighbouring elements share a byte, as everywhere else", "L2/blocks/ggml"},
    FaultRow{Fault::packing_shifted_lies_low, "packing_shifted_lies_low", "model/families/packing/building_blocks.cpp a_byte_each",
             "codes that belong into the high bits of a byte stay in the low ones", "L2/blocks/packing"},
    FaultRow{Fault::padding_of_other_engine, "padding_of_other_engine", "model/families/memory.cpp padded_by",
             "a kernel is taken for one that the engine's other version padded for", "L9/padding"},
    FaultRow{Fault::block_scales_not_swapped, "block_scales_not_swapped", "model/families/matrix.cpp fp8_up_first",
             "scales of blocks keep gate before up where the weights change it", "L2/trtllm L2/flashinfer_cutlass L3/trtllm"},
    FaultRow{Fault::w4a8_nibbles_exchanged, "w4a8_nibbles_exchanged", "model/families/cutlass_w4a8/values.cpp w4a8_reorder",
             "row half and column half of a block change places", "L2/blocks/cutlass_w4a8 L2/cutlass_w4a8 L3/cutlass_w4a8"},
    FaultRow{Fault::w4a8_rows_padded, "w4a8_rows_padded", "model/families/cutlass_w4a8/memory.cpp build", "rows are padded where nothing can undo it",
             "L1/cutlass_w4a8 L4/cutlass_w4a8"},
    FaultRow{Fault::layout_table_loses_row, "layout_table_loses_row", "model/families/memory.cpp all_backend_layouts",
             "a backend that is chosen has no layout", "O5/layouts"},
    FaultRow{Fault::identity_scale_rows_flipped, "identity_scale_rows_flipped", "model/families/matrix.cpp as_loaded",
             "scale rows in another order than the rows of their weights", "L2/xpu L2/emulation L3/xpu L3/emulation"},
    FaultRow{Fault::sf128x4_pads_to_lanes, "sf128x4_pads_to_lanes", "model/families/blocks.cpp sf128x4",
             "fewer than 128 rows are padded to 32, not to a whole tile (rocm-libraries#12232, vllm#23140)",
             "L1/triton_kernels L2/b12x L2/vllm_cutlass L2/cutedsl L2/triton_kernels"},
    FaultRow{Fault::sf128x4_only_padded, "sf128x4_only_padded", "model/families/blocks.cpp sf128x4",
             "scales are padded and stay row by row (flashinfer#4087, torch-mlir#4598)",
             "L2/blocks/sf_128x4 L2/blocks/triton L2/blocks/trtllm L2/trtllm L2/flashinfer_cutlass L2/b12x L2/vllm_cutlass L2/cutedsl "
             "L2/triton_kernels L3/trtllm L3/flashinfer_cutlass L3/b12x L3/vllm_cutlass L3/cutedsl L3/triton_kernels"},
    FaultRow{Fault::deepgemm_scales_not_transposed, "deepgemm_scales_not_transposed",
             "model/families/deepgemm/building_blocks.cpp deepgemm_packed_ue8m0", "the transform of the scales is missing (DeepGEMM#403)",
             "L2/blocks/deepgemm L2/deepgemm L3/deepgemm"},
    FaultRow{Fault::ue8m0_cuts_mantissa, "ue8m0_cuts_mantissa", "model/families/deepgemm/values.cpp requantize",
             "a scale that is no power of two is cut to one (vllm#49783)", "L7/powers-of-two"},
    FaultRow{Fault::fnuz_where_units_move, "fnuz_where_units_move", "model/families/fnuz.cpp makes_fnuz",
             "codes become e4m3fnuz in one backend's conversion, not in front of all", "L2/fnuz"},
    FaultRow{Fault::bytes_count_elements, "bytes_count_elements", "model/layout/layout.cpp bytes",
             "memory is counted in elements where it has bytes (vllm-ascend#14869)",
             "L1/blocks/aiter L1/blocks/marlin L1/blocks/sf_128x4 L1/blocks/triton L1/trtllm L1/flashinfer_cutlass L1/b12x L1/vllm_cutlass "
             "L1/cutedsl L1/xpu L1/emulation L1/triton_kernels L1/deepgemm L1/marlin L1/humming L1/aiter L1/cpu L1/cutlass_w4a8"},
};

}  // namespace

std::span<const FaultRow> layouts_faults() { return kFaults; }

}  // namespace mx::props
