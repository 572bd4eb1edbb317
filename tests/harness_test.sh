#!/usr/bin/env bash
# The harness between a package manager and a CMake that only note what they are called with: what it installs for which command, when it configures,
# what it builds, and what it makes of tests that are skipped (by the real ctest).
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export calls=$scratch/calls packages=$scratch/installed
said=$scratch/said
mkdir "$scratch/bin" "$scratch/tree"
cd "$scratch/tree" || exit 2
failed=0
wrong() { echo "line ${BASH_LINENO[1]}: $*"; sed 's/^/    /' "$said" "$calls"; failed=1; }

# harness WANTED ARGUMENTS...: its exit status. `calls` holds what it has called since.
harness() {
  local wanted=$1 status=0
  shift
  : >"$calls"
  ./harness "$@" >"$said" 2>&1 || status=$?
  [[ $status -eq $wanted ]] || wrong "harness $*: exit status $status, not $wanted"
}
says() { grep -qF -- "$1" "$said" || wrong "does not say: $1"; }
says_last() { [[ $(tail -n 1 "$said") == "$1" ]] || wrong "does not end with: $1"; }
called() { grep -qxF -- "$1" "$calls" || wrong "does not call: $1"; }
calls_no() { ! grep -q -- "^$1" "$calls" || wrong "calls $1"; }

# fake NAME: a program of that name, which stands first on PATH.
fake() { { echo '#!/usr/bin/env bash'; cat; } >"$scratch/bin/$1"; chmod +x "$scratch/bin/$1"; }
fake dpkg-query <<'TEXT'
status=0
for name in "${@:3}"; do grep "^$name " "$packages" | sed 's/$/ installed/'; grep -q "^$name " "$packages" || status=1; done
exit $status
TEXT
fake apt-get <<'TEXT'
echo "apt-get $*" >>"$calls"
[[ $1 == update ]] || printf '%s 1.0\n' "${@:5}" >>"$packages"
TEXT
fake sudo <<'TEXT'
exec "$@"
TEXT
fake cmake <<'TEXT'
[[ $1 == --version ]] && exit
echo "cmake $*" >>"$calls"
case $1 in
  --preset) touch "build/$2/CMakeCache.txt" "build/$2/build.ninja"; [[ ! -f broken ]] || { echo "a broken line"; exit 1; } ;;
  # As ninja does, it says what it would do, or what it has done: a file says how many objects that are.
  --build) [[ " $* " == *" -n "* && -f unforeseen ]] || for ((i = 1; i <= $(cat objects 2>/dev/null || echo 0); ++i)); do echo "[$i/$(cat objects)] Building CXX object $i.o"; done
    echo "[7/7] Linking CXX executable cli/mxact"; [[ ! -f broken ]] || exit 1
    [[ " $* " != *" -n "* ]] || exit 0
    mkdir -p "$2/cli"; printf '#!/bin/sh\necho mxact "$@"\n' | tee "$2/cli/mxact" >"$2/my_laws"; echo 'echo peers "$@"' >"$2/peers.sh"; chmod +x "$2/cli/mxact" "$2/my_laws" ;;
esac
TEXT
PATH=$scratch/bin:$PATH
unset MXACT_PYTHON

cp "$source/harness" .
mkdir -p tests/building
echo '[[ ! -f grown ]] || { echo "harness: FAILED, it grew"; exit 1; }; echo "harness: target mxact of $1"' >tests/building/first_build.sh
printf '%s\n' "seconds 600" "objects 300" >tests/building/first_build.txt
echo '{}' >CMakePresets.json
cat >packages.txt <<'TEXT'
# g++-13 is too new.
g++
cmake
zsh        test
clang-16   preset:clang
clang-16   preset:fuzz
qemu-user  preset:s390x
valgrind   optional
TEXT
: >"$packages"
release=$PWD/build/release jobs=$(nproc)

# Usage.
harness 2
harness 0 --help
harness 2 --bogus
says "unknown option --bogus"
harness 2 walk
says "unknown command 'walk'"
harness 2 run --preset
harness 2 run --preset tsan
says "unknown preset 'tsan'"
harness 2 run --preset s390x
harness 2 run a b
harness 2 test a
harness 2 laws missing.cpp

# Who installs what.
harness 0 run --no-install
calls_no apt-get
harness 0 run model -- --json
called "apt-get install -y -qq --no-install-recommends g++ cmake"
called "cmake --build $release --parallel $jobs --target mxact"
says_last "mxact verify model --json"
harness 2 peers a
harness 0 peers -- torch --json=-
called "cmake --build $release --parallel $jobs --target peers"
says_last "peers torch --json=-"
harness 0 test --preset s390x
called "apt-get install -y -qq --no-install-recommends qemu-user"
harness 0 test
called "apt-get install -y -qq --no-install-recommends zsh"
called "cmake --preset release"
called "cmake --build $release --parallel $jobs"
harness 0 test
calls_no apt-get
harness 0 run --preset clang
called "apt-get install -y -qq --no-install-recommends clang-16"
! grep -q valgrind "$packages" || wrong "an optional package was installed"

# Neither root nor sudo, or no dpkg: a PATH without them.
mkdir "$scratch/few"
for name in bash env cat grep awk sed xargs sort cut cksum dirname realpath rm mkdir nproc tee touch chmod; do ln -s "$(type -P $name)" "$scratch/few"; done
cp "$scratch/bin/cmake" "$scratch/few"
sed -i '/^g++ /d' "$packages"
(PATH=$scratch/few; harness 0 run; exit $failed) || failed=1
says "no dpkg here"
cp "$scratch/bin/dpkg-query" "$scratch/few"
chmod -R a+rX "$scratch"
: >"$calls"
as_somebody=()
[[ $EUID -ne 0 ]] || as_somebody=("$(type -P setpriv)" --reuid=65534 --regid=65534 --clear-groups)
if "${as_somebody[@]}" true 2>/dev/null; then  # a container may have one user alone
  "${as_somebody[@]}" env PATH="$scratch/few" ./harness run >"$said" 2>&1
  [[ $? -eq 2 ]] || wrong "missing packages that nobody can install are no error"
  says "neither root nor sudo is here: g++ must be installed"
fi
echo "g++ 1.0" >>"$packages"

# It configures when something changed that CMake has looked at, from nothing, and otherwise not.
configures() {
  echo old >"$release/CMakeCache.txt"
  harness 0 run
  called "cmake --preset release"
  [[ ! -s $release/CMakeCache.txt ]] || wrong "an old cache is kept"
  harness 0 run
  calls_no "cmake --preset"
}
configures
sed -i 's/^zsh 1.0/zsh 1.1/' "$packages" && configures
sed -i '/^zsh/d' "$packages" && configures
echo "valgrind 1.0" >>"$packages" && configures
echo ' {}' >CMakePresets.json && configures
rm "$release/build.ninja" && configures
export CXXFLAGS=-O1 && configures
unset CXXFLAGS && configures
harness 0 test --no-install
calls_no "cmake --preset"
MXACT_PYTHON='sh' harness 0 run
called "cmake --preset release -DMXACT_PYTHON=$(type -P sh)"
MXACT_PYTHON=no-such-python harness 2 run
says "no program 'no-such-python'"
configures

# How long it will take, and how far it is: a line for each tenth in a log, one line that changes on a terminal.
says "building (preset release): nothing to compile"
echo 200 >objects
harness 0 run
called "cmake --build $release --target mxact -- -n"
says "harness: building (preset release): 200 objects on $jobs processors, about $(((200 * 2000 / jobs / 1000 + 30) / 60)) minutes"
[[ $(grep -cE '^harness: [0-9]+ of 200 objects, about 0 seconds left$|^harness: [0-9]+ of 200 objects, about [0-9]+ (seconds|minutes) left$' "$said") -eq 10 ]] || wrong "not ten lines of progress"
says "harness: 200 of 200 objects, about 0 seconds left"
script -qec "./harness run" /dev/null >"$said" </dev/null || wrong "on a terminal: exit status $?"
grep -q $'\r\033\\[Kharness: 7 of 200 objects, about [0-9]* [a-z]* left\r' "$said" || wrong "no progress on a terminal"
echo 1 >objects
harness 0 run
says "harness: building (preset release): 1 objects"
# Where ninja has to configure first, it foretells nothing, and there is something to compile all the same.
touch unforeseen
harness 0 run
says "building (preset release): nothing to compile"
says "harness: 1 of 1 objects, about 0 seconds left"
rm objects unforeseen

# Laws are one more argument to what is there.
touch laws.cpp
echo old >"$release/CMakeCache.txt"
harness 0 laws laws.cpp -- N1
called "cmake --preset release -DMXACT_LAWS_OF=$(realpath laws.cpp)"
called "cmake --build $release --parallel $jobs --target my_laws"
says_last "mxact N1"
[[ -s $release/CMakeCache.txt ]] || wrong "laws configures from nothing"
harness 0 run
calls_no "cmake --preset"

# What failed is done again.
touch broken "$release/CMakeCache.txt"
echo "clang-16 2.0" >>"$packages"
harness 2 run
says "a broken line"
says_last "harness: configuring failed"
rm broken
harness 0 run
called "cmake --preset release"

# tests NAME SHELL...: what ctest finds.
tests() {
  : >"$release/CTestTestfile.cmake"
  while [[ $# -gt 0 ]]; do
    printf 'add_test([=[%s]=] "/bin/sh" "-c" [=[%s]=])\nset_tests_properties([=[%s]=] PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED:")\n' "$1" "$2" "$1" \
      >>"$release/CTestTestfile.cmake"
    shift 2
  done
}
tests "a test" true
harness 0 test
says "100% tests passed, 0 tests failed out of 1"
says_last "harness: no test was skipped"
says "harness: target mxact of $release"
touch grown
harness 1 test
says "100% tests passed, 0 tests failed out of 1"
says "harness: FAILED, it grew"
harness 0 test --preset dev
rm grown
tests "a test" true "bf16: VDPBF16PS" "seq 20000; echo SKIPPED: no processor feature: VDPBF16PS" "names" "echo SKIPPED: no package index: apt"
harness 0 test
says "100% tests passed, 0 tests failed out of 3"
says "harness: skipped: bf16: VDPBF16PS: no processor feature: VDPBF16PS"
says "harness: skipped: names: no package index: apt"
tests "cli: zsh" "echo '  SKIPPED: no tool: zsh'" "a test" true
harness 1 test
says "100% tests passed, 0 tests failed out of 2"
says_last "harness: FAILED, for it must not be skipped here: cli: zsh: no tool: zsh"
harness 0 test --no-install
says_last "harness: skipped: cli: zsh: no tool: zsh"
harness 1 test -- --test-dir nowhere
says_last "harness: no test was skipped"
harness 0 test -- -R "a test"
says_last "harness: no test was skipped"
tests "a test" "echo SKIPPED: no time"
harness 1 test --no-install
says_last "harness: FAILED, for it must not be skipped here: a test: no time"
tests "a test" "exit 1" "another" "echo SKIPPED: no tool: zsh"
harness 8 test
says "harness: FAILED, for it must not be skipped here: another: no tool: zsh"

# Without a package index the tests of the Python package are skipped, and `./harness peers` says so: the real scripts, with a Python whose pip reaches nothing.
fake a-python <<'TEXT'
case $* in
  -VV) echo "Python 3" ;;
  "-m venv "*) mkdir -p "$3/bin"; printf '#!/bin/sh\necho "Retrying (Retry(total=0, connect=None))"\nexit 1\n' >"$3/bin/pip"; chmod +x "$3/bin/pip" ;;
esac
TEXT
tests "python" "bash '$source/python/tests/package_test.sh' '$source' '$scratch/no-index' '$scratch/bin/a-python' c++ OFF"
harness 0 test
says_last "harness: skipped: python: no package index: pip does not get python/requirements.txt"
bash "$source/python/tests/peers_test.sh" "$source" "$scratch/no-index" "$scratch/bin/a-python" c++ OFF >"$said" || wrong "peers: exit status $?"
grep -qE '^SKIPPED: no package index: pip does not get python/requirements.txt; 0 of the [0-9]{2} libraries of python/peers.txt are held$' "$said" || wrong "peers does not say what is skipped"

# The words of the real list.
while read -r name word rest; do
  case $word in
    '' | test | optional) ;;
    preset:?*) grep -q "\"name\": \"${word#preset:}\"" "$source/CMakePresets.json" || wrong "packages.txt: $name: no ${word/:/ }" ;;
    *) wrong "packages.txt: $name: unknown word '$word'" ;;
  esac
  [[ -z $rest ]] || wrong "packages.txt: $name: '$rest' is read by nobody"
done < <(grep -E '^[^#]' "$source/packages.txt")

[[ $failed -eq 0 ]] && echo "the harness holds"
exit $failed
