#pragma once
// What the codes of a weight are: by its dtype, by how many a byte holds, and where neither tells by its form.

#include <cstdint>
#include <span>

#include "checkpoint/expert_tensors.hpp"
#include "model/numerics/format.hpp"

namespace mx::checkpoint {

enum class CodeKind : std::uint8_t { e2m1, e2m3, e3m2, e4m3, int4, int8, plain };

struct CodeKindRow {
  CodeKind kind;
  int bits;                ///< of a code; of plain numbers 0: the dtype's
  std::uint8_t magnitude;  ///< bits of a byte that are 0 only where its codes are
  const Format* element;   ///< null: integers, or numbers as they are
};
/// Total.
const CodeKindRow& row_of(CodeKind kind);

/// Of a weight that has shapes.
CodeKind code_kind_of(const SourceForm& form, const FoundTensor& weight);
inline const CodeKindRow& codes_of(const SourceForm& form, const FoundTensor& weight) { return row_of(code_kind_of(form, weight)); }

/// Four codes of 6 bits in three bytes, the first in the lowest bits: a byte each. Source: amd-quark 0.13 quark/torch/utils/pack.py Pack_fp6;
/// vllm-project/compressed-tensors, format mxfp6-pack-quantized.
void unpack_six(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> codes);

}  // namespace mx::checkpoint
