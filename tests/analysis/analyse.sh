#!/usr/bin/env bash
# What other programs find in the code: static analysis, sanitizers, valgrind. Each part prints what it looked at and what it found, and fails on a finding.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<'TEXT'
usage: tests/analysis/analyse.sh [--jobs N] PART [ARGUMENT...]

  tidy [FILE...]      clang-tidy 16 with the checks of .clang-tidy, over the files (all of model/ kernels/ checkpoint/ sim/ golden/ cli/ props/)
  cppcheck [FILE...]  cppcheck, less the findings of tests/analysis/cppcheck.txt, over the same
  asan [CTEST...]     preset asan-ubsan: builds everything, runs ctest with the arguments (AddressSanitizer, its leaks, UndefinedBehaviorSanitizer)
  tsan [CTEST...]     preset tsan: builds what starts threads and runs its tests
  msan                preset msan: mxact_digest, the model and the portable kernels
  valgrind [TEST...]  preset release: memcheck over the test programs (those of `ctest -L fast`), kernels of avx2

exit status: 0 nothing found; 1 a finding, or a build that failed; 2 usage; 4 a program that is not here; 5 nothing was looked at
TEXT
}

folders=(model kernels checkpoint sim golden cli props)
jobs=$(nproc)
[[ ${1:-} == --jobs ]] && { jobs=${2:?--jobs needs a number}; shift 2; }
part=${1:-}
[[ $# -eq 0 ]] || shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT

need() { command -v "$1" >/dev/null || { echo "analyse.sh: $part needs $1" >&2; exit 4; }; }

# sources FILE...: the files, or all .cpp files of the folders.
sources() { if [[ $# -gt 0 ]]; then printf '%s\n' "$@"; else git ls-files "${folders[@]/%//*.cpp}"; fi; }

# verdict LOOKED_AT WHAT FINDINGS
verdict() {
  echo "$part: $1 $2, $3 findings"
  [[ $3 -eq 0 ]] || exit 1
  [[ $1 -gt 0 ]] || { echo "analyse.sh: nothing was looked at" >&2; exit 5; }
}

# configured PRESET, built PRESET TARGET...: what the preset says, as far as it is needed.
configured() { cmake --preset "$1" >"$log" 2>&1 || { cat "$log"; exit 1; }; }
built() {
  configured "$1"
  cmake --build "build/$1" --parallel "$jobs" --target "${@:2}" >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
}

# tested PRESET CTEST...: runs the tests; failed ones are the findings.
tested() {
  ctest --test-dir "build/$1" -j "$jobs" --timeout 3000 --output-on-failure --no-tests=ignore "${@:2}" | tee "$log" | grep -vE ' Passed |  Start ' || true
  local ran failed
  ran=$(grep -cE '^ *[0-9]+/[0-9]+ +Test' "$log" || true)
  failed=$(grep -E '^ *[0-9]+/[0-9]+ +Test' "$log" | grep -cvE ' Passed |Skipped' || true)
  verdict "$ran" "tests" "$failed"
}

tidy() {
  need clang-tidy-16
  configured clang
  local files findings file status=0
  # Files of another processor's tiers are in no build here.
  mapfile -t files < <(for file in $(sources "$@"); do
    if grep -qF "$PWD/$file\"" build/clang/compile_commands.json; then echo "$file"; else echo "left out, as no part of this build: $file" >&2; fi
  done)
  [[ ${#files[@]} -gt 0 ]] || verdict 0 "files" 0
  printf '%s\n' "${files[@]}" | xargs -P "$jobs" -n 1 clang-tidy-16 -p build/clang --quiet >"$log" 2>/dev/null || status=$?
  # A header's finding is told by every file that includes it; a library's header is not ours.
  findings=$(grep -E ': (error|warning): ' "$log" | grep -v '^/usr/' | sort -u || true)
  [[ -z $findings ]] || echo "$findings"
  # It fails without a word where it cannot run.
  [[ -n $findings || $status -eq 0 ]] || { cat "$log"; echo "analyse.sh: clang-tidy failed" >&2; exit 1; }
  verdict "${#files[@]}" "files" "$(grep -c . <<<"$findings" || true)"
}

check_cpp() {
  need cppcheck
  local files
  mapfile -t files < <(sources "$@")
  printf '%s\n' "${files[@]}" | cppcheck --file-list=- -j "$jobs" --enable=warning,performance,portability --std=c++20 --inline-suppr -I. \
    --suppressions-list=tests/analysis/cppcheck.txt --quiet --template='{file}:{line}: {severity}: {message} [{id}]' 2>"$log" || { cat "$log"; exit 1; }
  sort -u "$log"
  verdict "${#files[@]}" "files" "$(sort -u "$log" | wc -l)"
}

# Programs whose work is done by several threads; OpenMP's barriers are seen through archer, which the runtime loads by itself.
threaded=(mxact_digest test_kernels test_checkpoint test_checkpoint_sources test_sim_verify)
threads() {
  built tsan "${threaded[@]}"
  # No instrumented copy of the OpenMP runtime exists: what it does inside itself is its own.
  export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 ${TSAN_OPTIONS:-}" OMP_NUM_THREADS=4
  if [[ $# -eq 0 ]]; then set -- -R '^(digest: one|(kernels|checkpoint|checkpoint_sources|sim_verify):)'; fi
  tested tsan "$@"
}

memory() {
  built msan mxact_digest
  build/msan/tests/digest/mxact_digest >"$log" 2>&1 && found=0 || found=1
  cat "$log"
  verdict "$(awk '$NF == "results" { sum += $(NF - 1) } END { print sum + 0 }' "$log")" "results" "$found"
}

check_memory() {
  need valgrind
  local programs=("$@") program found=0
  [[ $# -gt 0 ]] || programs=(test_engine test_support test_moe)
  built release "${programs[@]}"
  for program in "${programs[@]}"; do
    # valgrind 3.19 knows no AVX-512, and never flushes subnormals, which one test asks for.
    MXACT_ISA=avx2 OMP_NUM_THREADS=2 valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
      "$(find build/release/tests -name "$program" -type f -executable)" "~outside the default floating-point environment*" >"$log" 2>&1 || { tail -n 40 "$log"; found=$((found + 1)); }
    echo "$program: $(grep -E 'All tests passed|test cases:' "$log" | tail -n 1)"
  done
  verdict "${#programs[@]}" "programs" "$found"
}

case $part in
  tidy) tidy "$@" ;;
  cppcheck) check_cpp "$@" ;;
  asan) built asan-ubsan all; tested asan-ubsan "$@" ;;
  tsan) threads "$@" ;;
  msan) memory ;;
  valgrind) check_memory "$@" ;;
  --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
