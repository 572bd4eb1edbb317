#!/usr/bin/env bash
# modes_test.sh MXACT_DIGEST: the digests are the same whatever floating-point mode the host's threads were born under. Without the guard of the doors they
# are not, so a mode that did nothing would be noticed.
set -euo pipefail
digest=$1
wanted=$("$digest" --mode ordinary)
for mode in ftz daz ftz-daz zero down up; do
  found=$("$digest" --mode "$mode")
  [[ $found == "$wanted" ]] || { echo "WRONG: under $mode"; echo "$found"; echo "ordinary"; echo "$wanted"; exit 1; }
  unguarded=$("$digest" --mode "$mode" --unguarded 2>&1) || true
  [[ $unguarded == model* && $unguarded != "$(head -n 1 <<<"$wanted")" ]] || { echo "WRONG: $mode changes nothing without the guard"; exit 1; }
done
echo "the same under six modes:"
echo "$wanted"
