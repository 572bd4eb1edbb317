#!/usr/bin/env bash
# Builds mxact_digest with every compiler, optimization and processor that is here, runs it, and compares: a cell is a build, an instruction set and a
# number of threads, and all cells must have one digest.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<'TEXT'
usage: tests/digest/matrix.sh [--jobs N] [--folder DIR] [BUILD...]

Builds: gcc, clang, aarch64 and s390x, each with -O0, -O2 and -O3 (gcc-O0, ...); without names all of those whose compiler and emulator are here.
Each builds into DIR/BUILD (build/matrix) and leaves its digests in DIR/BUILD/digest.txt.
exit status: 0 one digest; 1 digests differ, or a build or a run failed; 2 usage; 4 a build that was asked for cannot be made here
TEXT
}

declare -A configure=(
  [gcc]="-DCMAKE_CXX_COMPILER=g++"
  [clang]="-DCMAKE_CXX_COMPILER=clang++-16"
  [aarch64]="--toolchain cmake/aarch64.cmake"
  [s390x]="--toolchain cmake/s390x.cmake"
)
declare -A emulator=([gcc]="" [clang]="" [aarch64]="qemu-aarch64 -L /usr/aarch64-linux-gnu" [s390x]="qemu-s390x -L /usr/s390x-linux-gnu")
declare -A needs=([gcc]="g++" [clang]="clang++-16" [aarch64]="aarch64-linux-gnu-g++ qemu-aarch64" [s390x]="s390x-linux-gnu-g++ qemu-s390x")

all=()
for family in gcc clang aarch64 s390x; do for level in O0 O2 O3; do all+=("$family-$level"); done; done

# What a build needs and this machine lacks.
missing() {
  local program
  for program in ${needs[${1%-*}]}; do command -v "$program" >/dev/null || echo "$program"; done
}

jobs=$(nproc)
folder=build/matrix
asked=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --jobs) jobs=${2:?--jobs needs a number}; shift 2 ;;
    --folder) folder=${2:?--folder needs a name}; shift 2 ;;
    --help) usage; exit 0 ;;
    *)
      [[ " ${all[*]} " == *" $1 "* ]] || { usage >&2; echo "matrix: no build '$1'" >&2; exit 2; }
      [[ -z $(missing "$1") ]] || { echo "matrix: $1 needs" $(missing "$1") >&2; exit 4; }
      asked+=("$1"); shift ;;
  esac
done
[[ ${#asked[@]} -gt 0 ]] || asked=("${all[@]}")

# Threads that wait give the processor away: there are more of them than cores.
export OMP_WAIT_POLICY=passive
failed=()
left_out=()
built=()
for build in "${asked[@]}"; do
  if [[ -n $(missing "$build") ]]; then left_out+=("$build (no" $(missing "$build")")"); continue; fi
  family=${build%-*}
  here=$folder/$build
  mkdir -p "$here"
  rm -f "$here/digest.txt"
  echo "matrix: $build" >&2
  # shellcheck disable=SC2086
  if cmake -S . -B "$here" -G Ninja ${configure[$family]} -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-${build#*-}" -DMXACT_CORE=ON \
      >"$here/log.txt" 2>&1 && cmake --build "$here" --target mxact_digest --parallel "$jobs" >>"$here/log.txt" 2>&1 &&
    ${emulator[$family]} "$here/tests/digest/mxact_digest" >"$here/digest.new" 2>>"$here/log.txt"; then
    mv "$here/digest.new" "$here/digest.txt"
    built+=("$build")
  else
    failed+=("$build")
    tail -n 20 "$here/log.txt" >&2
  fi
done

[[ ${#left_out[@]} -eq 0 ]] || echo "left out: ${left_out[*]}"
[[ ${#failed[@]} -eq 0 ]] || echo "FAILED: ${failed[*]}"
status=0
tests/digest/compare.sh "${built[@]/#/$folder/}" || status=1
[[ ${#failed[@]} -eq 0 ]] || status=1
exit $status
