#!/usr/bin/env bash
# first_build.sh BUILD [--rows]: what target `mxact` is made of, in one line beside what it was made of at the last release (first_build.txt), and which folder grew most. More than 10 %
# above it in objects or lines is a failure, until the numbers are raised by hand, with the reason in the same commit; --rows prints them. No clock: it counts the objects, and for each the lines of
# its source and of every header that it reads. A precompiled header's are counted once.
set -euo pipefail
recorded=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/first_build.txt
cd "$1"
[[ -f $recorded ]] || { echo "first_build.sh: no $recorded" >&2; exit 1; }
mapfile -t objects < <(ninja -t inputs mxact | grep -E '\.(o|gch)$')
[[ ${#objects[@]} -gt 0 ]] || { echo "first_build.sh: target mxact has no objects in $1" >&2; exit 1; }

# Rows: folder, objects, lines; then the sum.
rows=$(ninja -t deps "${objects[@]}" | awk '
  function lines(file,  line, count) {
    if (!(file in lines_of)) {
      while ((getline line < file) > 0) ++count
      close(file)
      lines_of[file] = count + 0
    }
    return lines_of[file]
  }
  /^[^ ]/ { object = $1; sub(/:$/, "", object); next }
  NF == 1 { read[object] = read[object] " " $1; if (object ~ /\.gch$/) precompiled[$1] = 1 }
  END {
    for (object in read) {
      folder = object
      sub(/\/.*/, "", folder)
      ++count[folder]
      files = split(read[object], file, " ")
      for (i = 1; i <= files; ++i) if (object ~ /\.gch$/ || !(file[i] in precompiled)) sum[folder] += lines(file[i])
    }
    for (folder in count) print folder, count[folder], sum[folder]
  }' | LC_ALL=C sort)
counted=$(awk '{ count += $2 } END { print count + 0 }' <<<"$rows")
[[ $counted -eq ${#objects[@]} ]] || { echo "first_build.sh: of ${#objects[@]} objects $counted are built" >&2; exit 1; }
if [[ ${2:-} == --rows ]]; then
  awk '{ print "folder", $0; count += $2; lines += $3 } END { print "objects", count; print "lines", lines }' <<<"$rows"
  exit
fi

# Another compiler brings other headers: nothing to hold it against.
compiler=$(sed -nE 's|^CMAKE_CXX_COMPILER:[A-Z]+=||p' CMakeCache.txt)
version=$("$compiler" -dumpversion 2>/dev/null | cut -d. -f1)
awk -v version="$version" '
  FNR == NR && $1 == "folder" { before[$2] = $4; next }
  FNR == NR && NF { was[$1] = $2; next }
  FNR != NR { count += $2; lines += $3; if ($3 - before[$1] > most) { most = $3 - before[$1]; where = $1 } }
  function grown(now, before) { return sprintf("%+.1f %%", 100 * (now - before) / before) }
  END {
    said = sprintf("target mxact: %d objects, %d lines; at %s %d (%s) and %d (%s)", count, lines, was["release"], was["objects"], grown(count, was["objects"]), was["lines"], grown(lines, was["lines"]))
    if (most) said = said sprintf("; %s grew most, by %d lines", where, most)
    if (version != was["compiler"]) { print "harness: " said "; not held, for these are of compiler " was["compiler"]; exit 0 }
    if (count > 1.1 * was["objects"] || lines > 1.1 * was["lines"]) {
      print "harness: FAILED, more than 10 % above: " said "; raise tests/building/first_build.txt by hand (first_build.sh BUILD --rows), with the reason in the same commit"
      exit 1
    }
    print "harness: " said
  }' "$recorded" - <<<"$rows"
