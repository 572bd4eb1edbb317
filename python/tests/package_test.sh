#!/usr/bin/env bash
# Makes a wheel of the Python package from the objects of a build, installs it beside what its tests need, and runs them.
# usage: package_test.sh SOURCE BUILD PYTHON COMPILER MPI [PYTEST OPTIONS]   (BUILD is complete; MPI: ON where its libraries call MPI)
set -euo pipefail
source=$1 build=$2 python=$3 compiler=$4 mpi=$5
shift 5
work=$build/python
skip() { echo "SKIPPED: no $*"; exit 0; }
# Without a connection there is nothing to test with; whatever else pip says is wrong here.
no_requirements() {
  tail -n 20 "$work/pip.log"
  if [[ -n ${PIP_NO_INDEX:-} ]] || grep -Eq 'Retry\(total=0,|Max retries exceeded' "$work/pip.log"; then skip "package index"; fi
  echo "FAILED: pip does not install python/requirements.txt"
  exit 1
}
mkdir -p "$work"

# One virtual environment for this Python and these requirements; a half-made one is made again.
stamp=$work/made-with
wanted=$("$python" -VV; cat "$source/python/requirements.txt")
if [[ $(cat "$stamp" 2>/dev/null) != "$wanted" ]]; then
  rm -rf "$stamp" "$work/venv"
  "$python" -c 'import venv, ensurepip' 2>/dev/null || skip "tool: venv of $python"
  "$python" -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check -r "$source/python/requirements.txt" > "$work/pip.log" 2>&1 || no_requirements
  echo "$wanted" > "$stamp"
fi
"$work/venv/bin/python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || skip "tool: Python.h"

rm -rf "$work/wheel"
CXX=$compiler "$work/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --no-index --wheel-dir "$work/wheel" \
  --config-settings cmake.source-dir=python --config-settings "build-dir=$work/module" --config-settings "cmake.define.MXACT_TARGETS=$build/mxact-targets.cmake" \
  --config-settings "cmake.define.MXACT_WITH_MPI=$mpi" "$source" > "$work/wheel.log" 2>&1 || { cat "$work/wheel.log"; echo "FAILED: no wheel"; exit 1; }
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-index --force-reinstall "$work"/wheel/mxact-*.whl

# Away from the sources, so that the installed package is the one that is tested.
cd "$work"
export MXACT_PROGRAM=$build/cli/mxact MXACT_SOURCE=$source PYTHONDONTWRITEBYTECODE=1
"$work/venv/bin/ruff" check --no-cache "$source/python"
"$work/venv/bin/mypy" --cache-dir "$work/mypy" --no-error-summary -p mxact -p mxact_pytest
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$source" "$source/python/tests" "$@"
