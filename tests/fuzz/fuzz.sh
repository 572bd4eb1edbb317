#!/usr/bin/env bash
# Every fuzz target for a time, from its seeds on, with clang's libFuzzer and the sanitizers; prints executions and findings of each.
# usage: fuzz.sh MINUTES [TARGET...]   (targets one after the other, as many processes as there are cores; new inputs are kept in build/fuzz/corpus/TARGET, so that a later run goes on)
set -euo pipefail
cd "$(dirname "$0")/../.."
[[ $# -ge 1 && $1 =~ ^[0-9]+$ && $1 -gt 0 ]] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
minutes=$1
shift
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || mapfile -t targets < <(ls tests/fuzz/seeds)
for target in "${targets[@]}"; do
  [[ -d tests/fuzz/seeds/$target ]] || { echo "fuzz.sh: unknown target '$target' (known: $(ls tests/fuzz/seeds | xargs))" >&2; exit 2; }
done
[[ -f build/fuzz/build.ninja ]] || cmake --preset fuzz
cmake --build build/fuzz --target "${targets[@]/#/fuzz_}"
found=0
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target logs=build/fuzz/logs/$target
  rm -rf "$logs"
  mkdir -p "$corpus" "$logs"
  for ((job = 0; job < $(nproc); ++job)); do
    build/fuzz/tests/fuzz/fuzz_"$target" -max_total_time=$((minutes * 60)) -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 -artifact_prefix="$logs/finding-" \
      "$corpus" "tests/fuzz/seeds/$target" > /dev/null 2> "$logs/$job.log" &
  done
  wait
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs"/*.log | awk '{ sum += $1 } END { print sum }')
  findings=$(find "$logs" -name 'finding-*' | wc -l)
  found=$((found + findings))
  printf '%-14s %12s executions  %s findings  %s inputs kept\n' "$target" "${executions:-0}" "$findings" "$(find "$corpus" -type f | wc -l)"
done
((found == 0))
