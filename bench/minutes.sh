#!/usr/bin/env bash
# minutes.sh [CHECKOUT...]: how long a newcomer waits: a fresh clone, no compiler cache, `./harness run`, then `./harness test`. Prints the table of docs/performance.md. Other checkouts of the project
# (git clone, git checkout COMMIT) are measured in the same run, by turns, and stand first. Packages are to be there already: how long they take is the network's matter.
set -euo pipefail
checkouts=("$@" "$(cd "$(dirname "$0")/.." && pwd)")
clones=$(mktemp -d)
trap 'rm -rf "$clones"' EXIT
export CCACHE_DISABLE=1

# timed CLONE NAME COMMAND...: runs it there with its output in NAME.log; seconds on the wall and of processors go to NAME.time.
timed() {
  local clone=$1 name=$2 TIMEFORMAT='%0R %0U %0S'
  shift 2
  cd "$clone/mxact"
  { time "$@" >"$clone/$name.log" 2>&1; } 2>"$clone/$name.time" || { tail -n 40 "$clone/$name.log" >&2; echo "minutes.sh: $* failed" >&2; exit 1; }
}
objects() { awk -F '\t' '$4 ~ /\.(o|gch)$/ { print $4 }' "$1/mxact/build/release/.ninja_log" | sort -u | wc -l; }
processors() { awk '{ print $2 + $3 }' "$1.time"; }
# row COMMIT WHAT CLONE NAME OBJECTS: with the share that it takes of the first checkout's time of processors.
row() {
  local wall
  read -r wall _ <"$3/$4.time"
  printf '| %s | %s | %d:%02d | %d (%s) | %s |\n' "$1" "$2" $((wall / 60)) $((wall % 60)) "$(processors "$3/$4")" \
    "$(awk -v now="$(processors "$3/$4")" -v first="$(processors "$clones/0/$4")" 'BEGIN { printf "%.2f", now / first }')" "$5"
}

for i in "${!checkouts[@]}"; do
  mkdir "$clones/$i"
  git clone -q "${checkouts[i]}" "$clones/$i/mxact"
done
for i in "${!checkouts[@]}"; do
  timed "$clones/$i" run ./harness run --no-install
  objects "$clones/$i" >"$clones/$i/first"
done
for i in "${!checkouts[@]}"; do timed "$clones/$i" test ./harness test --no-install; done

echo "$(date -u +%F), $(nproc) processors ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), load average $(cut -d' ' -f1-3 /proc/loadavg) at the end."
echo
echo '| commit | | minutes | seconds of processors (share) | objects built |'
echo '|---|---|--:|--:|--:|'
for i in "${!checkouts[@]}"; do
  clone=$clones/$i
  commit=$(git -C "$clone/mxact" describe --always --abbrev=12)
  first=$(cat "$clone/first")
  tests=$(sed -n 's/^Total Test time (real) = *\([0-9]*\).*/\1/p' "$clone/test.log")
  count=$(sed -n 's/.* tests failed out of \([0-9]*\)$/\1/p' "$clone/test.log")
  row "$commit" "first verdict (\`./harness run\`)" "$clone" run "$first"
  row "$commit" "green tests after it (\`./harness test\`)" "$clone" test "$(($(objects "$clone") - first))"
  printf '| %s | of these the tests, %s of them | %d:%02d | | |\n' "$commit" "$count" $((tests / 60)) $((tests % 60))
done
