#!/usr/bin/env bash
# page_test.sh TOOL SOURCE_DIR BINARY_DIR: runs the blocks of docs/vectors.md that are fenced as sh and use TOOL, line by line, as a reader types them
# in the root of the repository. A line ends with status 0, or with the one that it shows: "  # exit status 1".
set -u
tool=$1 source=$2 binary=$3
command -v "$tool" >/dev/null || { echo "SKIPPED: no tool: $tool"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
mkdir build
ln -s "$binary" build/release
for name in docs golden; do ln -s "$source/$name" "$name"; done
PATH=$PWD/build/release/cli:$PATH

awk '/^```sh$/ { ++n; inside = 1; next } /^```/ { inside = 0 } inside { print > ("block" n) }' docs/vectors.md
run=0
for block in block*; do
  grep -qE "(^|[ |(])$tool( |$)" "$block" || continue
  while IFS= read -r line; do
    # A command that is wider than the page goes on in the next line.
    while [[ $line == *\\ ]] && IFS= read -r next; do line=${line%\\}${next#"${next%%[! ]*}"}; done
    wanted=0
    [[ $line =~ \ \ \#\ exit\ status\ ([0-9]+)$ ]] && wanted=${BASH_REMATCH[1]}
    bash -c "$line" >log 2>&1 </dev/null
    status=$?
    run=$((run + 1))
    [[ $status -eq $wanted ]] && continue
    echo "$line"
    echo "ended with $status, the page says $wanted:"
    cat log
    exit 1
  done <"$block"
done
[[ $run -gt 0 ]] || { echo "no block of the page uses $tool"; exit 1; }
echo "$run commands with $tool"
