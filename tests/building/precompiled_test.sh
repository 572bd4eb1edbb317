#!/usr/bin/env bash
# Precompiled headers under ccache: what was made with the old header is not taken for the new one, and what is the same is taken from the cache.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v ccache >/dev/null || { echo "SKIPPED: no tool: ccache"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CCACHE_DIR=$scratch/cache
unset CCACHE_DISABLE

cat > "$scratch/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.25)
project(mxact LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
include($root/cmake/options.cmake)
include($root/cmake/speed.cmake)
mxact_library(answers)
target_sources(mxact_answers PRIVATE one.cpp two.cpp)
add_executable(program main.cpp)
target_link_libraries(program PRIVATE mxact_answers)
mxact_precompile(answers LIKE mxact_answers HEADERS "\${PROJECT_SOURCE_DIR}/number.hpp" TARGETS mxact_answers)
TEXT
# The sources do not include the header: they compile through the precompiled one alone.
echo 'int one() { return kNumber; }' > "$scratch/one.cpp"
echo 'int two() { return 2 * kNumber; }' > "$scratch/two.cpp"
echo '#include <cstdio>
int one();
int two();
int main() { std::printf("%d %d\n", one(), two()); }' > "$scratch/main.cpp"

# built NUMBER FOLDER: what the program prints that was built in the folder, when the header says NUMBER.
built() {
  printf '#pragma once\n#include <string>\nconstexpr int kNumber = %s;\n' "$1" > "$scratch/number.hpp"
  cmake -G Ninja -S "$scratch" -B "$scratch/$2" >"$scratch/log" 2>&1 && cmake --build "$scratch/$2" >>"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
  "$scratch/$2/program"
}
# expect WANTED GOT WHAT
expect() { [[ $1 == "$2" ]] || { echo "$3: $2 instead of $1"; exit 1; }; }

expect "3 6" "$(built 3 a)" "the first build"
expect "4 8" "$(built 4 a)" "after a change of the header"
rm -rf "$scratch/a"
expect "3 6" "$(built 3 a)" "a new build with the first header"
hits=$(ccache --print-stats | awk '/^(direct|preprocessed)_cache_hit/ { hits += $2 } END { print hits }')
[[ $hits -ge 3 ]] || { echo "of what was compiled before, $hits objects came from the cache"; ccache -s; exit 1; }
echo "a changed header misses; $hits objects came from the cache"
