#!/usr/bin/env bash
# Which lines and branches of model/ the tests run, counted by clang in a build of its own (preset `coverage`).
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<'TEXT'
usage: tests/trust/coverage.sh [--as-it-is] [CTEST OPTIONS]

Builds, runs the tests (ctest takes the options), prints every line that was not run, every branch that was not taken, and the shares of both. --as-it-is prints
what the last run has counted.
exit status: 0 counted; 1 a test failed; 2 usage
TEXT
}

[[ ${1:-} != --help ]] || { usage; exit 0; }
build=build/coverage
status=0
if [[ ${1:-} == --as-it-is ]]; then
  [[ -d $build/profiles ]] || { echo "coverage: nothing was counted yet in $build" >&2; exit 2; }
else
  [[ -f $build/build.ninja ]] || cmake --preset coverage >/dev/null
  cmake --build $build >/dev/null
  rm -rf $build/profiles
  mkdir $build/profiles
  # A file for each program, into which all its processes add. Left out: what other programs build with our libraries, whose linker would need clang's;
  # what times or draws; what counts the calls of the C library, the counters' file being one more; and planted faults, which are not this library's.
  LLVM_PROFILE_FILE=$PWD/$build/profiles/%m.profraw \
    ctest --test-dir $build -E 'installed|verilator|iverilog|browser|house|recipes|fast-math|^crash|^fuzz|^faults' --output-on-failure -j"$(nproc)" "$@" >$build/tests.txt || { status=1; tail -n 30 $build/tests.txt >&2; }
fi
"${LLVM_PROFDATA:-llvm-profdata-16}" merge -sparse $build/profiles/*.profraw -o $build/all.profdata
tests/trust/coverage.py $build $build/all.profdata
exit $status
