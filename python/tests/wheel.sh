# Functions of package_test.sh and peers_test.sh: the wheel from a build's objects.
# They read source, build, python, compiler and mpi, which the scripts take as their first words; `work` is the folder of both.
source=$1 build=$2 python=$3 compiler=$4 mpi=$5
shift 5
work=$build/python
mkdir -p "$work"
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

build_requirements() { "$work/venv/bin/pip" "${pip[@]}" -r "$source/python/requirements.txt" > "$work/pip.log" 2>&1 || no_requirements python/requirements.txt; }

# The wheel, in $work/wheel.
make_wheel() {
  environment "$work" "$source/python/requirements.txt" build_requirements
  "$work/venv/bin/python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || skip "tool: Python.h"
  rm -rf "$work/wheel"
  CXX=$compiler "$work/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --no-index --wheel-dir "$work/wheel" \
    --config-settings cmake.source-dir=python --config-settings "build-dir=$work/module" --config-settings "cmake.define.MXACT_TARGETS=$build/mxact-targets.cmake" \
    --config-settings "cmake.define.MXACT_WITH_MPI=$mpi" "$source" > "$work/wheel.log" 2>&1 || { cat "$work/wheel.log"; echo "FAILED: no wheel"; exit 1; }
}

# install_wheel FOLDER: into its environment.
install_wheel() { "$1/venv/bin/pip" "${pip[@]}" --no-deps --no-index --force-reinstall "$work"/wheel/mxact-*.whl; }
