#!/usr/bin/env bash
# Which lines and branches of model/ the tests run, counted in a build of its own (preset `coverage`). Branches that only exceptions take are not counted.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<'TEXT'
usage: tests/trust/coverage.sh [--as-it-is] [CTEST OPTIONS]

Builds, runs the tests (ctest takes the options), prints the share of lines and branches and every line that was not run, and leaves a page for each file below
build/coverage/pages. --as-it-is prints what the last run has counted.
exit status: 0 counted; 1 a test failed; 2 usage; 4 gcovr is not here
TEXT
}

[[ ${1:-} != --help ]] || { usage; exit 0; }
command -v gcovr >/dev/null || { echo "coverage: gcovr is not here (Debian's package gcovr)" >&2; exit 4; }
build=build/coverage
status=0
if [[ ${1:-} == --as-it-is ]]; then
  [[ -d $build/model ]] || { echo "coverage: nothing was counted yet in $build" >&2; exit 2; }
else
  [[ -f $build/build.ninja ]] || cmake --preset coverage >/dev/null
  cmake --build $build >/dev/null
  find $build -name '*.gcda' -delete
  ctest --test-dir $build --output-on-failure -j"$(nproc)" "$@" >$build/tests.txt || { status=1; tail -n 30 $build/tests.txt >&2; }
fi
mkdir -p $build/pages
gcovr --root . --filter model/ --exclude-throw-branches --exclude-unreachable-branches --object-directory $build --json $build/coverage.json \
  --html-details $build/pages/index.html --gcov-executable "${GCOV:-gcov}" $build/model >$build/gcovr.txt 2>&1 || { tail -n 5 $build/gcovr.txt >&2; exit 1; }
python3 - $build/coverage.json <<'PY'
import json
import sys

lines = run = branches = taken = 0
missing = []
for file in json.load(open(sys.argv[1]))["files"]:
    for line in file["lines"]:
        lines += 1
        run += line["count"] > 0
        if not line["count"]:
            missing.append(f"{file['file']}:{line['line_number']}: not run")
        counts = [branch["count"] for branch in line["branches"]]
        branches += len(counts)
        taken += sum(count > 0 for count in counts)
        if line["count"] and not all(counts):
            missing.append(f"{file['file']}:{line['line_number']}: {counts.count(0)} of {len(counts)} branches not taken")
print("\n".join(missing))
print(f"lines: {100 * run / lines:.2f} % ({run} of {lines})")
print(f"branches: {100 * taken / branches:.2f} % ({taken} of {branches})")
PY
exit $status
