#!/usr/bin/env bash
# Verbs on one layer of gpt-oss-20b's sizes, made from a seed. Prints a table of docs/measured/performance.json.
# usage: real_size.sh [PROGRAM]     (build/release/cli/mxact); needs 3 GB below TMPDIR
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mxact=$(realpath "${1:-$root/build/release/cli/mxact}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/bench/layer_checkpoint.py" "$work/model"
blocks=model.layers.0.mlp.experts.gate_up_proj_blocks

# row WHAT COMMAND...: seconds on the wall and of processors; an exit status of 1 is an answer.
row() {
  local what=$1 TIMEFORMAT='%1R %1U %1S' times wall user sys
  shift
  times=$({ time "$@" >"$work/out" 2>"$work/err" || [[ $? -eq 1 ]]; } 2>&1) || { cat "$work/err" >&2; echo "real_size.sh: $* failed" >&2; exit 1; }
  read -r wall user sys <<< "$times"
  printf '| %s | %s | %s |\n' "$what" "$wall" "$(awk "BEGIN { printf \"%.1f\", $user + $sys }")"
}

echo "Commit $(git -C "$root" describe --always --abbrev=12), $(date -u +%F), $(nproc) processors ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), load average $(cut -d' ' -f1-3 /proc/loadavg)."
echo
echo '| | seconds | seconds of processors |'
echo '|---|--:|--:|'
# The first run of all finds pages that nobody touched yet: it is not counted.
"$mxact" verify "$work/model" --platform SM100 --tp 1 > /dev/null
row '`verify --platform SM100 --tp 1`, 8 cells' "$mxact" verify "$work/model" --platform SM100 --tp 1
row 'the same, one thread' env OMP_NUM_THREADS=1 "$mxact" verify "$work/model" --platform SM100 --tp 1
both() { for _ in 1 2; do OMP_NUM_THREADS=1 "$@" & done; wait; }
row 'two of these side by side: the limit of the machine' both "$mxact" verify "$work/model" --platform SM100 --tp 1
row 'the same, `--no-execute`' "$mxact" verify "$work/model" --platform SM100 --tp 1 --no-execute
row '`cp` of the checkpoint' cp -r "$work/model" "$work/copy"
row '`convert --backend TRITON --platform sm90`' "$mxact" convert "$work/model" --backend TRITON --platform sm90 -o "$work/packed"
row '`restore` of it' "$mxact" restore "$work/packed" -o "$work/restored"
row '`layout identify` of w13 in it' "$mxact" layout identify "$work/model/model.safetensors:$blocks" "$work/packed/mxact-layer-00000.safetensors:${blocks%gate_up*}w13_weight"
row '`layout diff` of TRITON on sm90 and MARLIN, w13, 32 x 2880 x 2880' "$mxact" layout diff TRITON,platform=sm90 MARLIN --format mxfp4 --tensor w13_weight --shape 32x2880x2880
row '`compare torchao-floor torchao-rceil mxfp4`, 2^32 blocks' "$mxact" compare torchao-floor torchao-rceil mxfp4
row '`sim docs/examples/sim-b200.info --compare`' "$mxact" sim "$root/docs/examples/sim-b200.info" --compare

# Files that nobody holds are written anew each time, as a copy's are; of several turns the fastest, since the disk and others have theirs too.
best_cp=999 best_convert=999 peak=0
for _ in 1 2 3 4 5 6 7; do
  rm -rf "$work/copy" "$work/packed"
  seconds=$({ /usr/bin/time -f %e cp -r "$work/model" "$work/copy"; } 2>&1)
  best_cp=$(awk "BEGIN { print $seconds < $best_cp ? $seconds : $best_cp }")
  read -r seconds kilobytes <<< "$({ /usr/bin/time -f '%e %M' "$mxact" convert "$work/model" --backend TRITON --platform sm90 -o "$work/packed" > "$work/out"; } 2>&1)"
  best_convert=$(awk "BEGIN { print $seconds < $best_convert ? $seconds : $best_convert }")
  peak=$((kilobytes > peak ? kilobytes : peak))
done
echo
echo "Seven turns each, the fastest: \`cp\` $best_cp s, \`convert\` $best_convert s, which also brings its files to the disk; \`convert\` holds $((peak / 1024)) MiB."
