#!/usr/bin/env bash
# T2: what laws compare with shares no code with what they judge. independence.sh FOLDER: the objects of mxact_restated below it, which state the model once
# more, may refer to none of its functions, but for the names of enumerators, questions about a tensor's role, and the error type.
set -u
folder=$1
allowed='^mx::(props::|Error::|layout::is_(scale|weight|w13|bias)\(|(layout|families|deployment|engine|audit)::name_of\()'

objects() { find "$folder/$1.dir" -name '*.cpp.o'; }
# The model's functions that an object refers to.
shared() { nm -C --undefined-only "$1" | sed 's/^ *U //' | grep '^mx::' | grep -vE "$allowed"; }

broken=0 looked=0
while read -r object; do
  looked=$((looked + 1))
  found=$(shared "$object") && { echo "$object restates the model and calls it:"; echo "$found"; broken=1; }
done < <(objects mxact_restated)
[[ $looked -gt 0 ]] || { echo "no object of mxact_restated is below $folder"; broken=1; }
# A check that finds nothing in a law itself would find nothing anywhere.
[[ -n $(objects mxact_props | while read -r object; do shared "$object"; done) ]] || { echo "the check is blind: laws call the model"; broken=1; }
[[ $broken -eq 0 ]] && echo "what laws compare with stands alone"
exit $broken
