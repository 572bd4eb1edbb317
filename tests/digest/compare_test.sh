#!/usr/bin/env bash
# compare.sh must see a cell of another digest, wherever the difference is, and must not call nothing a success.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# write BUILD MODEL KERNELS...: the digest.txt of a build.
write() {
  local build=$1 model=$2
  shift 2
  mkdir -p "$work/$build"
  echo "model $model 20 results" >"$work/$build/digest.txt"
  printf 'kernels portable 1 %s 14 results\n' "$@" >>"$work/$build/digest.txt"
}
expect() {
  local want=$1 words=$2 got=0 said
  shift 2
  said=$("$here/compare.sh" "$@") || got=$?
  [[ $got -eq $want && $said == *"$words"* ]] || { echo "compare.sh $*: status $got, said: $said"; exit 1; }
}

write one aaaa 1111 1111
write same aaaa 1111
write model aaab 1111
write kernels aaaa 1111 1112
write alone aaaa 1111
mkdir "$work/empty" && : >"$work/empty/digest.txt"
expect 0 "3 cells of 2 builds, one digest: aaaa 1111" "$work/one" "$work/same"
expect 1 "WRONG: 3 cells of 2 builds have 2 digests" "$work/one" "$work/model"
expect 1 "WRONG: 2 cells of 1 builds have 2 digests" "$work/kernels"
expect 1 "nothing was compared" "$work/alone"
expect 1 "nothing was compared" "$work/empty"
expect 1 "nothing was compared"
