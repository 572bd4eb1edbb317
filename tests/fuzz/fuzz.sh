#!/usr/bin/env bash
# Fuzz targets from their seeds on, with clang's libFuzzer and the sanitizers; prints executions and findings of each, and the sums over all runs so far.
# usage: fuzz.sh MINUTES [--jobs N] [--build DIRECTORY] [TARGET...]          so long for each target, one after the other
#        fuzz.sh --runs NUMBER [--jobs N] [--build DIRECTORY] [TARGET...]    so many executions of each
# Processes at a time: as many as there are cores. New inputs are kept in build/fuzz/corpus/TARGET, so that a later run goes on; what ends a process is
# kept in build/fuzz/findings/TARGET; sums are in build/fuzz/totals.json. DIRECTORY holds programs that are built already. Exit status 1 after a finding.
set -euo pipefail
cd "$(dirname "$0")/../.."
usage() { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
number() { [[ ${1:-} =~ ^[0-9]{1,12}$ && $1 -gt 0 ]] || usage; }

jobs=$(nproc) programs= targets=()
if [[ ${1:-} == --runs ]]; then
  number "${2:-}"; amount=$2; shift 2
  limit() { echo "-runs=$(((amount + jobs - 1) / jobs))"; }
else
  number "${1:-}"; amount=$1; shift
  limit() { echo "-max_total_time=$((amount * 60))"; }
fi
while [[ $# -gt 0 ]]; do
  case $1 in
    --jobs) number "${2:-}"; jobs=$2; shift 2 ;;
    --build) programs=${2:?}; shift 2 ;;
    -*) usage ;;
    *)
      [[ -d tests/fuzz/seeds/$1 ]] || { echo "fuzz.sh: unknown target '$1' (known: $(ls tests/fuzz/seeds | xargs))" >&2; exit 2; }
      targets+=("$1"); shift ;;
  esac
done
[[ ${#targets[@]} -gt 0 ]] || mapfile -t targets < <(ls tests/fuzz/seeds)
if [[ -z $programs ]]; then
  [[ -f build/fuzz/build.ninja ]] || cmake --preset fuzz
  cmake --build build/fuzz --target "${targets[@]/#/fuzz_}"
  programs=build/fuzz/tests/fuzz
fi

# Without the stacks of allocations and with real stack frames inputs go two to three times as fast; a finding's replay without these options shows the stacks.
export ASAN_OPTIONS=malloc_context_size=0:detect_stack_use_after_return=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

found=0
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target logs=build/fuzz/logs/$target kept=build/fuzz/findings/$target
  rm -rf "$logs"
  mkdir -p "$corpus" "$logs" "$kept"
  # Longer inputs than a few times the longest seed find little and cost much.
  longest=$(find "tests/fuzz/seeds/$target" -type f -printf '%s\n' | sort -n | tail -1)
  started=$SECONDS processes=()
  for ((job = 0; job < jobs; ++job)); do
    "$programs/fuzz_$target" "$(limit)" -max_len=$((4 * longest + 64)) -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 -artifact_prefix="$kept/" \
      "$corpus" "tests/fuzz/seeds/$target" > /dev/null 2> "$logs/$job.log" &
    processes+=($!)
  done
  findings=0
  for process in "${processes[@]}"; do
    status=0
    wait "$process" || status=$?
    # libFuzzer ends so when somebody stops it.
    [[ $status -eq 0 || $status -eq 72 ]] || findings=$((findings + 1))
  done
  found=$((found + findings))
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs"/*.log | awk '{ sum += $1 } END { print sum + 0 }')
  # A process that executed nothing has tried nothing.
  if [[ $executions -eq 0 ]]; then
    echo "fuzz.sh: fuzz_$target executed nothing: $logs" >&2
    exit 5
  fi
  inputs=$(find "$corpus" -type f | wc -l)
  printf '%-14s %12s executions  %s findings  %s inputs kept\n' "$target" "$executions" "$findings" "$inputs"
  tests/fuzz/totals.py build/fuzz/totals.json add "$target" "$executions" $((jobs * (SECONDS - started))) "$findings" "$inputs"
done
tests/fuzz/totals.py build/fuzz/totals.json show
((found == 0))
