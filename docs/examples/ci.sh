#!/usr/bin/env bash
# For the continuous integration of an engine: holds recorded outputs, and programs of laws, against mxact.
# usage: ci.sh OUT RECORDED... [-- PROGRAM...]
#   OUT       directory for checks.xml (JUnit), report.html and the JSON of the run; made when it is not there
#   RECORDED  folder that mxact.record wrote, or a folder of such folders
#   PROGRAM   program made with mxact::props (docs/laws.md), with its arguments in one word: "build/my_laws N2 L1"
# Where GITHUB_ACTIONS is set, failures are shown beside the change. The exit status is 0 only when something was compared and nothing differed.
set -euo pipefail
mxact=${MXACT:-mxact}
[[ $# -ge 2 ]] || { sed -n '2,8s/^# //p' "$0" >&2; exit 2; }
out=$1
shift
recorded=()
while [[ $# -gt 0 && $1 != -- ]]; do recorded+=("$1"); shift; done
[[ $# -eq 0 ]] || shift
[[ ${#recorded[@]} -gt 0 || $# -gt 0 ]] || { echo "ci.sh: neither recorded outputs nor a program of laws is named" >&2; exit 2; }
mkdir -p "$out"
worst=0
keep() { (( $1 == 0 || worst == 1 )) || worst=$1; }

if [[ ${#recorded[@]} -gt 0 ]]; then
  status=0
  "$mxact" witness "${recorded[@]}" --json > "$out/witness.json" || status=$?
  keep "$status"
  # A set that cannot be read leaves no run to report; its error is on standard error.
  if [[ -s $out/witness.json ]]; then
    "$mxact" report "$out/witness.json" -o "$out/report.html" --force || true
    "$mxact" report "$out/witness.json" -o "$out/checks.xml" --force ${GITHUB_ACTIONS:+--annotate github} || true
  fi
fi

number=0
for program in "$@"; do
  number=$((number + 1))
  read -ra words <<< "$program"
  status=0
  "${words[@]}" --failures "$out/failures" --junit "$out/laws-$number.xml" || status=$?
  keep "$status"
done
exit "$worst"
