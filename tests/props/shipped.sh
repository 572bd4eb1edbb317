#!/usr/bin/env bash
# Planted faults cost what is shipped nothing. shipped.sh FAULTY SHIPPED...: no library that is shipped has or wants the functions that know which fault is
# on or which rows stand in, so that no instruction asks; FAULTY, the model that can be made wrong, does.
set -u
faulty=$1
shift
[[ $# -gt 0 ]] || { echo "usage: shipped.sh FAULTY SHIPPED..."; exit 2; }

symbols() { nm -C "$1" 2>/dev/null | grep -E 'mx::fault::(active|set_active|stand_in|set_stand_in)\('; }

broken=0
# A check that finds nothing there would find nothing anywhere.
[[ -n $(symbols "$faulty") ]] || { echo "the check is blind: $faulty carries faults"; broken=1; }
for library in "$@"; do
  [[ -n $(nm "$library" 2>/dev/null) ]] || { echo "$library has no symbols to look at"; broken=1; continue; }
  found=$(symbols "$library") && { echo "$library carries faults:"; echo "$found"; broken=1; }
done
[[ $broken -eq 0 ]] && echo "$# libraries without faults"
exit $broken
