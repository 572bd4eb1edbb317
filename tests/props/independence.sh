#!/usr/bin/env bash
# T2: what laws compare with shares no code with what they judge. independence.sh OBJECTS: the object files of props/ that restate the model may refer to
# none of its functions, but for the names of enumerators, questions about a tensor's role, and the error type.
set -u
objects=$1
restated="checkpoint/list_cases engine/vllm/restated engine/vllm/restated_backends engine/vllm/restated_classes engine/vllm/restated_rules engine/vllm/restated_verdict engine/vllm/facts moe/restated
  numerics/grid numerics/scale_facts numerics/recipe_facts numerics/mx_programs numerics/scaled_programs numerics/back_programs numerics/dyadic families/block_formula families/memory_formula families/restated_takes
  families/matrix_formula families/trtllm/building_blocks families/flashinfer_cutlass/sm90_mixed_building_blocks families/cutedsl/building_blocks"
for family in aiter cpu cutlass_w4a8 deepgemm humming marlin triton_kernels; do restated+=" families/$family/memory families/$family/building_blocks families/$family/takes"; done
for family in b12x cutedsl emulation flashinfer_cutlass trtllm vllm_cutlass xpu; do restated+=" families/$family/memory families/$family/takes"; done
allowed='^mx::(props::|Error::|layout::is_(scale|weight|w13|bias)\(|(layout|families|deployment|engine|audit)::name_of\()'

# The model's functions that an object refers to.
shared() { nm -C --undefined-only "$objects/$1.cpp.o" | sed 's/^ *U //' | grep '^mx::' | grep -vE "$allowed"; }

broken=0
for name in $restated; do
  [[ -f "$objects/$name.cpp.o" ]] || { echo "no object of $name"; broken=1; continue; }
  found=$(shared "$name") && { echo "$name restates the model and calls it:"; echo "$found"; broken=1; }
done
# A check that finds nothing in a law itself would find nothing anywhere.
[[ -n $(shared numerics/code_laws) ]] || { echo "the check is blind: numerics/code_laws calls the model"; broken=1; }
[[ $broken -eq 0 ]] && echo "what laws compare with stands alone"
exit $broken
