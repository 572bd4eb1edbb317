#!/usr/bin/env bash
# same_bytes.sh EDITION core|full MXACT...: each program writes the set with one thread and with two, on the machine's best instructions and on portable
# ones; the bytes must be the same everywhere. Prints the digest of SHA256SUMS, which holds those of all files. The full set sweeps 2^32 inputs
# eight times: it is written twice by each program, the core set in all four ways.
set -euo pipefail
edition=$1 part=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[[ $part == core || $part == full ]] || { echo "$part is neither core nor full"; exit 2; }
[[ $# -ge 3 ]] || { echo "no program"; exit 2; }
# Threads and instructions; none: the best.
options=() ways=("2 " "1 portable")
[[ $part == core ]] && options=(--core) ways=("1 " "2 " "1 portable" "2 portable")

first=
sets=0
for program in "${@:3}"; do
  for way in "${ways[@]}"; do
    read -r threads isa <<<"$way"
    rm -rf "$scratch/set"
    env OMP_NUM_THREADS="$threads" ${isa:+MXACT_ISA=$isa} "$program" vectors --edition "$edition" "${options[@]}" -o "$scratch/set" >"$scratch/log"
    (cd "$scratch/set/$edition" && sha256sum --quiet -c SHA256SUMS)
    digest=$(sha256sum <"$scratch/set/$edition/SHA256SUMS" | cut -d' ' -f1)
    first=${first:-$digest}
    sets=$((sets + 1))
    [[ $digest == "$first" ]] && continue
    echo "$program with $threads threads, ${isa:-best} instructions: $digest, before $first"
    exit 1
  done
done
echo "$sets sets ($edition, $part), one digest: $first"
