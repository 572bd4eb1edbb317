#!/usr/bin/env bash
# Makes a wheel of the Python package from the objects of a build, installs it beside what its tests need, and runs them.
# usage: package_test.sh SOURCE BUILD PYTHON COMPILER MPI [PYTEST OPTIONS]   (BUILD is complete; MPI: ON where its libraries call MPI)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/wheel.sh"
make_wheel
install_wheel "$work"

# Away from the sources, so that the installed package is the one that is tested.
cd "$work"
export MXACT_PROGRAM=$build/cli/mxact MXACT_SOURCE=$source PYTHONDONTWRITEBYTECODE=1
"$work/venv/bin/ruff" check --no-cache "$source/python"
"$work/venv/bin/mypy" --cache-dir "$work/mypy" --no-error-summary -p mxact -p mxact_pytest
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$source" "$source/python/tests" "$@"
