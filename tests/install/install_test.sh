#!/usr/bin/env bash
# Installs a build into a fresh prefix and builds a stranger's project against what lies there, by CMake and by pkg-config.
# usage: install_test.sh SOURCE BUILD [whole]   (BUILD is complete; whole: FetchContent's build too, which compiles the model once more)
set -euo pipefail
source=$1 build=$2 whole=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lacking=()
fail() { echo "FAILED: $*" >&2; exit 1; }
equal() { [[ $1 == "$2" ]] || fail "$3: '$1', not '$2'"; }

# The page shows what is built here.
page=$(sed -n '/^```cmake$/,/^```$/p' "$source/docs/embed.md" | grep -v '^```')
[[ -n $page ]] || fail "docs/embed.md shows no CMake"
while IFS= read -r line; do
  grep -qF -- "$line" "$source"/tests/install/{consumer,fetch,laws}/CMakeLists.txt || fail "docs/embed.md: '$line' is not what the tests build"
done <<< "$page"

cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"
prefix=$work/prefix
! grep -rIlE "$source|$build" "$prefix/lib" "$prefix/include" --include='*.cmake' --include='*.pc' --include='*.hpp' || fail "the installed tree refers to the sources"

cmake -S "$source/tests/install/consumer" -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/consumer.log" || { cat "$work/consumer.log"; fail "find_package"; }
cmake --build "$work/consumer" > "$work/build.log" || { cat "$work/build.log"; fail "the consumer does not build"; }
version=$(sed -n 's/^project(mxact VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
for program in encode_shared encode_static; do equal "$("$work/consumer/$program")" "$version 0x7e" $program; done
[[ $("$work/consumer/where") == "xxh3:"*$'\nportable\n1 1' ]] || fail "where: $("$work/consumer/where")"

# What no package has is refused by name.
mkdir "$work/wrong"
printf 'cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES CXX)\nfind_package(mxact CONFIG REQUIRED COMPONENTS kernel)\n' > "$work/wrong/CMakeLists.txt"
if cmake -S "$work/wrong" -B "$work/wrong/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/wrong.log" 2>&1; then fail "an unknown component is found"; fi
grep -q "no component 'kernel'" "$work/wrong.log" || { cat "$work/wrong.log"; fail "the unknown component is not named"; }

if command -v pkg-config > /dev/null; then
  export PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name mxact.pc)")
  # shellcheck disable=SC2046
  cc -std=c99 -o "$work/encode" "$source/tests/install/consumer/encode.c" $(pkg-config --cflags --libs mxact)
  equal "$(LD_LIBRARY_PATH=$(pkg-config --variable=libdir mxact) "$work/encode")" "$version 0x7e" pkg-config
else
  lacking+=(pkg-config)  # mxact.pc
fi

equal "$("$prefix/bin/mxact" --version | head -1 | cut -d' ' -f1,2)" "mxact $version" "the installed program"
for file in share/man/man1/mxact.1 share/bash-completion/completions/mxact share/zsh/vendor-completions/_mxact share/mxact/v1 share/mxact/sv/mxact_pkg.sv; do
  [[ -e $prefix/$file ]] || fail "$file is not installed"
done

# The laws, where they were built: a program of them holds what is right and refuses what is wrong.
if [[ -e $(find "$prefix" -name mxact-props.cmake) ]]; then
  cmake -S "$source/tests/install/laws" -B "$work/laws" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DMXACT_LAWS_OF="$source/docs/examples/laws.cpp" > "$work/laws.log" \
    || { cat "$work/laws.log"; fail "find_package of props"; }
  cmake --build "$work/laws" > "$work/laws.log" || { cat "$work/laws.log"; fail "the program of laws does not build"; }
  "$work/laws/my_laws" right N1 > "$work/laws.log" || { cat "$work/laws.log"; fail "the right encoder breaks a law"; }
  if env -u CI "$work/laws/my_laws" wrong N2 > "$work/laws.log"; then fail "the wrong encoder breaks no law"; fi
fi

# Without optimization, which is not asked about here.
setting() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
cmake -S "$source/tests/install/fetch" -B "$work/fetch" -G Ninja -DMXACT_SOURCE_DIR="$source" -DCMAKE_BUILD_TYPE=Debug \
  -DMXACT_WERROR="$(setting MXACT_WERROR)" -DMXACT_SANITIZE="$(setting MXACT_SANITIZE)" -DMXACT_PORTABLE="$(setting MXACT_PORTABLE)" \
  -DCMAKE_CXX_COMPILER="$(setting CMAKE_CXX_COMPILER)" > "$work/fetch.log" 2>&1 || { cat "$work/fetch.log"; fail "FetchContent"; }
# The libraries are the ones that were built above: here it is asked what it would build, and that it is neither tests nor the program; what is the stranger's is compiled.
plan=$(ninja -C "$work/fetch" -n)
for program in encode where; do grep -q "Linking CXX executable $program" <<< "$plan" || fail "FetchContent does not build $program"; done
! grep -qE 'test_|mxact_laws|cli/mxact' <<< "$plan" || fail "FetchContent builds the project's tests"
cmake --build "$work/fetch" --target "CMakeFiles/encode.dir$source/tests/install/consumer/encode.c.o" "CMakeFiles/where.dir$source/tests/install/consumer/where.cpp.o" > "$work/fetch.log" \
  || { cat "$work/fetch.log"; fail "the headers that FetchContent brings do not compile"; }
if [[ -n $whole ]]; then
  cmake --build "$work/fetch" --target encode > "$work/fetch.log" || { cat "$work/fetch.log"; fail "FetchContent does not build the C program"; }
  equal "$("$work/fetch/encode")" "$version 0x7e" FetchContent
fi
[[ ${#lacking[@]} -eq 0 ]] || echo "SKIPPED: no tool: ${lacking[*]}; the rest passed"
echo "installed, consumed by find_package (C, C++, laws), pkg-config and FetchContent"
