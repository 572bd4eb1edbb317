#!/usr/bin/env bash
# Builds BUILD/site from README.md, HACKING.md, CHANGELOG.md and the pages of docs/ and of the recordings, and draws docs/measured and what BUILD/cli/mxact prints of its tables;
# a broken link or anchor is an error. Its last lines are figures of the pages. BUILD/docs has a virtual environment with requirements.txt.
# usage: build.sh SOURCE BUILD PYTHON
set -euo pipefail
source=$1 build=$2 python=$3
. "$source/python/tests/environment.sh"
work=$build/docs
mkdir -p "$work"

site_requirements() { "$work/venv/bin/pip" "${pip[@]}" --no-deps -r "$source/docs/site/requirements.txt" > "$work/pip.log" 2>&1 || no_requirements docs/site/requirements.txt; }
environment "$work" "$source/docs/site/requirements.txt" site_requirements

# A page keeps its place, so that links among pages hold.
pages=$work/pages
rm -rf "$pages"
(cd "$source" && find README.md HACKING.md CHANGELOG.md docs findings golden/witness -name '*.md' -o -path 'docs/*' \( -name '*.svg' -o -name '*.json' \)) | while read -r file; do
  mkdir -p "$pages/$(dirname "$file")"
  cp "$source/$file" "$pages/$file"
done
"$python" "$source/docs/site/measured.py" "$source/docs/measured" "$pages/docs/measured" "$build/cli/mxact"
"$python" "$source/docs/site/reference.py" "$pages/docs/reference" "$build/cli/mxact"
MXACT_DOCS_SOURCE=$pages MXACT_DOCS_SITE=$build/site NO_MKDOCS_2_WARNING=1 "$work/venv/bin/mkdocs" build --strict -f "$source/docs/site/mkdocs.yml" > "$work/build.log" 2>&1 || { grep -v "^INFO" "$work/build.log"; exit 1; }

awk '/^[[:space:]]*```/ { fence = !fence; next } { if (fence) examples += NF; else words += NF } END {
  printf "%d words of prose and tables in README, HACKING, CHANGELOG and docs, %d in examples\n", words, examples }' "$source"/{README,HACKING,CHANGELOG}.md "$source"/docs/*.md "$source"/docs/recipes/*.md
echo "$(find "$pages" -name '*.md' -exec grep -oE '\]\([^)]+\)' {} + | wc -l) links among pages that are written and drawn: none is broken"
echo "$(find "$build/site" -name '*.html' ! -name 404.html | wc -l) pages: $build/site/index.html"
