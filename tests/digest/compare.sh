#!/usr/bin/env bash
# compare.sh FOLDER...: the cells of the builds in these folders, as mxact_digest wrote them into digest.txt, and whether they have one digest. Fails
# where they differ, and where there is nothing to compare.
set -euo pipefail

# Lines of digest.txt: "model DIGEST COUNT results" and "kernels TIER THREADS DIGEST COUNT results".
digests=()
for folder in "$@"; do
  model=$(awk '$1 == "model" { print $2 }' "$folder/digest.txt")
  while read -r tier threads kernels; do
    printf '%-12s %-12s %s threads  %s %s\n' "$(basename "$folder")" "$tier" "$threads" "$model" "$kernels"
    digests+=("$model $kernels")
  done < <(awk '$1 == "kernels" { print $2, $3, $4 }' "$folder/digest.txt")
done
[[ ${#digests[@]} -gt 1 ]] || { echo "${#digests[@]} cells: nothing was compared"; exit 1; }
different=$(printf '%s\n' "${digests[@]}" | sort -u | wc -l)
if [[ $different -ne 1 ]]; then echo "WRONG: ${#digests[@]} cells of $# builds have $different digests"; exit 1; fi
echo "${#digests[@]} cells of $# builds, one digest: ${digests[0]}"
