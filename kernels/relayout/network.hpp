#pragma once
// Any rearrangement of the bytes of registers as steps that each take two registers and give one.

#include <cstdint>
#include <vector>

namespace mx::kernels::relayout {

/// One step: slot i of register `out` becomes the byte that index[i] names: below the width a slot of register `a`, from there on one of `b`;
/// negative: any byte.
struct Step2 {
  int out;
  int a;
  int b;
  std::vector<std::int16_t> index;
};

/// Bytes by number, one per slot; -1: any.
using Slots = std::vector<std::int32_t>;

/// Steps that make registers of the wanted slots. Registers 0, 1, .. hold bytes 0, 1, .. in order; others are numbered from `next` on, which is
/// advanced. results[i] is the register that holds wanted[i]; equal wishes share one.
struct Routes {
  std::vector<Step2> steps;
  std::vector<int> results;
};
/// The steps stand in groups of `group` that do not depend on each other; a group that is not full repeats its last step.
Routes route(int width, int first_register, const std::vector<Slots>& wanted, int group, int& next);

}  // namespace mx::kernels::relayout
