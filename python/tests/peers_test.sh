#!/usr/bin/env bash
# Installs the package beside the libraries of python/peers.txt, holds each against the model, and runs the package's tests of torch and JAX.
# usage: peers_test.sh SOURCE BUILD PYTHON COMPILER MPI [OPTIONS of python -m mxact.peers]   (BUILD has the libraries that the package links)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/wheel.sh"
peers=$build/peers
list=$source/python/peers.txt
skip() { echo "SKIPPED: no $*; 0 of the $(grep -c '^[^#].*==' "$list") libraries of python/peers.txt are held"; exit 0; }

# torch by itself, so that an index which has a build for the CPU gives that one; nothing else may bring another. What one index lacks is left out and skipped below.
into=("$peers/venv/bin/pip" "${pip[@]}" --no-compile)
peer_requirements() {
  "${into[@]}" "$(grep '^torch==' "$list")" > "$work/pip.log" 2>&1 || no_requirements torch
  install_list "$list"
}
# install_list FILE: all at once, or where that fails what can be had.
install_list() {
  local line
  "${into[@]}" --no-deps -r "$1" > "$work/pip.log" 2>&1 && return
  while read -r line; do
    [[ $line == '#'* || -z $line ]] || "${into[@]}" --no-deps "$line" > "$work/pip.log" 2>&1 || echo "not installed: $line"
  done < "$1"
}

make_wheel
environment "$peers" "$list" peer_requirements
# Long runs hold more.
further=$source/python/peers_further.txt
if [[ " $* " == *" --all "* || " $* " == *" --exhaustive "* ]] && ! cmp -s "$further" "$peers/venv/further-with"; then
  install_list "$further"
  cp "$further" "$peers/venv/further-with"
fi
install_wheel "$peers"

cd "$peers"
export MXACT_PROGRAM=$build/cli/mxact MXACT_SOURCE=$source PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive TORCH_EXTENSIONS_DIR=$peers/extensions
status=0
"$peers/venv/bin/python" -m mxact.peers --json="$peers/peers.json" --page="$peers/peers.md" "$@" > "$peers/peers.txt" || status=$?
grep -E 'DIFFER|FAILED|CHANGED|^SKIPPED|  (other|gone)  ' "$peers/peers.txt" || true
tail -n 1 "$peers/peers.txt"
echo "the table: $peers/peers.txt, peers.md and peers.json"
[[ $status -ne 5 ]] || skip "package index: no peer is installed"
"$peers/venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$source" "$source"/python/tests/test_{torch,jax,memory,peers_makers,peers_onnx,peers_bridges}.py || status=$?
exit "$status"
