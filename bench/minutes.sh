#!/usr/bin/env bash
# How long a newcomer waits: a fresh clone, no compiler cache, `./harness run`, then `./harness test`. Prints the table of docs/performance.md. Packages are to be
# there already: how long they take is the network's matter.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone -q "$root" "$clone/mxact"
cd "$clone/mxact"
export CCACHE_DISABLE=1

# timed NAME COMMAND...: runs it with its output in NAME.log; seconds on the wall and of processors go to NAME.time.
timed() {
  local name=$1 TIMEFORMAT='%0R %0U %0S'
  shift
  { time "$@" >"$clone/$name.log" 2>&1; } 2>"$clone/$name.time" || { tail -n 40 "$clone/$name.log" >&2; echo "minutes.sh: $* failed" >&2; exit 1; }
}
objects() { awk -F '\t' '$4 ~ /\.(o|gch)$/ { print $4 }' build/release/.ninja_log | sort -u | wc -l; }
# row WHAT NAME OBJECTS
row() {
  local wall user sys
  read -r wall user sys < "$clone/$2.time"
  printf '| %s | %d:%02d | %d | %s |\n' "$1" $((wall / 60)) $((wall % 60)) $((user + sys)) "$3"
}

timed run ./harness run --no-install
first=$(objects)
timed test ./harness test --no-install
tests=$(sed -n 's/^Total Test time (real) = *\([0-9]*\).*/\1/p' "$clone/test.log")
count=$(sed -n 's/.* tests failed out of \([0-9]*\)$/\1/p' "$clone/test.log")

echo "Commit $(git describe --always --abbrev=12), $(date -u +%F), $(nproc) processors ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), load average $(cut -d' ' -f1-3 /proc/loadavg) at the end."
echo
echo '| | minutes | seconds of processors | objects built |'
echo '|---|--:|--:|--:|'
row "first verdict (\`./harness run\`)" run "$first"
row "green tests after it (\`./harness test\`)" test "$(($(objects) - first))"
printf '| of these the tests, %s of them | %d:%02d | | |\n' "$count" $((tests / 60)) $((tests % 60))
