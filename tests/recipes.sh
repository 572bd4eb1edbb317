#!/usr/bin/env bash
# The recipes of docs/recipes are diffs (blocks fenced as "diff NAME") and what one sees after them (blocks fenced as "console NAME").
# usage: recipes.sh check          every diff has fewer than 40 lines and applies to this tree; the block "files b12x" names each file of a family
#        recipes.sh try NAME...    applies each to a copy of the tree in build/recipes/NAME, builds there, runs the commands of its console block:
#                                  each ends with 0 and prints the lines below it. Minutes to half an hour for a recipe; `all` tries every one.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
fail() { echo "recipes.sh: $*" >&2; exit 1; }
usage() { sed -n '3,6s/^# //p' "$root/tests/recipes.sh" >&2; exit 2; }

names() { sed -n 's/^```diff //p' docs/recipes/*.md; }
# block KIND NAME: the lines of that block; one that ends with a backslash goes on in the next one, behind its blanks.
block() {
  awk -v fence="\`\`\`$1 $2" '$0 == fence { inside = 1; next } /^```/ { inside = 0 }
    inside { if (part != "") sub(/^ +/, ""); part = part $0; if (!sub(/\\$/, "", part)) { print part; part = "" } }' "$root"/docs/recipes/*.md
}

check() {
  local name lines count=0
  for name in $(names); do
    lines=$(block diff "$name" | wc -l)
    [[ $lines -gt 0 && $lines -lt 40 ]] || fail "$name: $lines lines; a recipe has fewer than 40"
    block diff "$name" | git apply --check - || fail "$name: does not apply to this tree"
    [[ -n $(block console "$name") ]] || fail "$name: no console block says what one sees after it"
    count=$((count + 1))
  done
  [[ $count -gt 0 ]] || fail "no recipe in docs/recipes"
  diff <(names | sort) <(sed -nE "s/^\| \[([a-z]+)\].*/\1/p" docs/recipes/README.md | grep -vx family | sort) || fail "the list of docs/recipes/README.md names other recipes"
  diff <(block files b12x | cut -d' ' -f1 | sort) <(grep -rli b12x model/families props/families checkpoint | sort) \
    || fail "the files that speak of B12X are not those that docs/recipes/family.md names"
  echo "$count recipes apply"
}

# Runs the command at hand and wants the lines that were collected for it.
try_command() {
  [[ -n $command ]] || return 0
  echo "$ $command"
  local said line
  said=$(bash -c "$command" 2>&1) || fail "$command: ended with $?: $said"
  while IFS= read -r line; do
    [[ -z $line || $line == ... ]] || grep -qF -- "$line" <<< "$said" || fail "$command: '$line' is not in what it printed: $said"
  done <<< "$wanted"
}

try() {
  local name=$1 place=$root/build/recipes/$1 line command='' wanted=''
  [[ -n $(block diff "$name") ]] || fail "no recipe '$name': $(names | tr '\n' ' ')"
  rm -rf "$place"
  mkdir -p "$place"
  git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- | tar --extract --directory="$place"
  block diff "$name" | git apply --directory="build/recipes/$name" -
  cd "$place"
  export CCACHE_BASEDIR=$place CCACHE_NOHASHDIR=1
  cmake --preset release > cmake.log || { cat cmake.log; fail "$name: configuring failed"; }
  while IFS= read -r line; do
    if [[ $line == '$ '* ]]; then
      try_command
      command=${line#'$ '} wanted=''
    else
      wanted+=$line$'\n'
    fi
  done < <(block console "$name")
  try_command
  cd "$root"
  echo "$name: tried"
}

case ${1:-} in
  check) check ;;
  try)
    shift
    [[ $# -gt 0 ]] || usage
    if [[ $1 == all ]]; then mapfile -t all < <(names); set -- "${all[@]}"; fi
    for name in "$@"; do try "$name"; done
    ;;
  *) usage ;;
esac
