#pragma once
// The laws of layouts by topic; laws.cpp is their table.

#include "props/law.hpp"

namespace mx::props {

Outcome law_addresses(const Law& law);          ///< at, inverse and gather agree, image and padding fill the allocation
Outcome law_map_in_pieces(const Law& law);      ///< an address map read in pieces is the whole one
Outcome law_digits_agree(const Law& law);       ///< the normal form computes what the interpreter does
Outcome law_digits_are_normal(const Law& law);  ///< layouts are equal exactly when their normal forms are
Outcome law_bijection_test(const Law& law);     ///< is_bijection agrees with counting
Outcome law_apply_undone(const Law& law);       ///< apply there and back is the identity
Outcome law_one_fnuz(const Law& law);           ///< every backend is handed the same e4m3fnuz codes
Outcome law_powers_of_two(const Law& law);      ///< blocks whose scales become powers of two are quantized anew

Outcome law_takes(const Law& law);             ///< what each converter takes and refuses is what the documents say
Outcome law_sizes_are_padded(const Law& law);  ///< the matrices that a conversion makes have the sizes that its row says

// One law per library of building blocks: the id ends in "/LIBRARY".
Outcome law_block_addresses(const Law& law);             ///< at, inverse, gather and digits agree
Outcome law_block_formulas(const Law& law);              ///< addresses, padding and refusals are those of the documents
std::string_view block_library(std::string_view stage);  ///< "triton" of triton.StridedLayout

// One law per family of backends: the id ends in "/FAMILY".
Outcome law_backend_addresses(const Law& law);      ///< at, inverse, gather and digits agree, sizes are the documents'
Outcome law_tags_arrive(const Law& law);            ///< every unit lies where the documents' formulas have it
Outcome law_dequantize_commutes(const Law& law);    ///< what a kernel dequantizes is the checkpoint's number
Outcome law_padding_is_ignored(const Law& law);     ///< padding does not reach what is restored
Outcome law_experts_apart(const Law& law);          ///< an expert lies alone as it lies among others
Outcome law_ranks_cut(const Law& law);              ///< tensor parallel ranks hold their parts, padded and packed each by itself
Outcome law_restore_converts_back(const Law& law);  ///< restoring undoes converting, but for what is reported lost
Outcome law_gate_meets_up(const Law& law);          ///< a kernel multiplies gate row i with up row i
Outcome law_compare_sees_every_change(const Law& law);

}  // namespace mx::props
