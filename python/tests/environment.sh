# Functions of scripts that need packages of an index: virtual environments of the build folder.
# They read python, and `work`, the folder of pip's log.
pip=(install --quiet --disable-pip-version-check)

skip() { echo "SKIPPED: no $*"; exit 0; }
# no_requirements WHAT: without a connection there is nothing to test with; whatever else pip says is wrong here.
no_requirements() {
  tail -n 20 "$work/pip.log"
  if [[ -n ${PIP_NO_INDEX:-} ]] || grep -Eq 'Retry\(total=0,|Max retries exceeded' "$work/pip.log"; then skip "package index: pip does not get $1"; fi
  echo "FAILED: pip does not install $1"
  exit 1
}

# environment FOLDER REQUIREMENTS INSTALL: one virtual environment for this Python and these requirements, filled by the function INSTALL; a half-made one is made again.
environment() {
  local folder=$1 requirements=$2 install=$3 wanted
  wanted=$("$python" -VV; cat "$requirements")
  [[ $(cat "$folder/made-with" 2>/dev/null) != "$wanted" ]] || return 0
  rm -rf "$folder/made-with" "$folder/venv"
  mkdir -p "$folder"
  "$python" -c 'import venv, ensurepip' 2>/dev/null || skip "tool: venv of $python"
  "$python" -m venv "$folder/venv"
  "$install"
  echo "$wanted" > "$folder/made-with"
}
