#!/usr/bin/env bash
# The site of the documentation in a browser, opened from a disk: words find their pages, nothing is loaded from a network, and no script complains.
# usage: site_test.sh SOURCE BUILD PYTHON
set -euo pipefail
source=$1 build=$2 python=$3
"$source/docs/site/build.sh" "$source" "$build" "$python" > "$build/site.log" 2>&1 || { cat "$build/site.log"; exit 1; }
cat "$build/site.log"
! grep -q '^SKIPPED:' "$build/site.log" || exit 0
command -v chromium > /dev/null || { echo "SKIPPED: no tool: chromium"; exit 0; }
site=$build/site
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

# open PAGE COLUMNS: its document after scripts ran; what they said is in $profile/said.
open() {
  timeout 120 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$profile/of" --window-size="$2,900" --host-resolver-rules='MAP * ~NOTFOUND' \
    --enable-logging=stderr --virtual-time-budget=30000 --dump-dom "file://$site/$1" 2> "$profile/said" > "$profile/document"
  ! grep 'CONSOLE' "$profile/said" || fail "a script of $1 complains"
}

# finds WORDS PAGE: a search for the words has the page among its first five.
finds() {
  local query=${1// /%20}
  open "index.html?q=$query" 1280
  grep -o 'href="[^"]*" class="md-search-result__link"' "$profile/document" | grep -o "$site/[^\"?]*" | awk '!seen[$0]++' | head -n 5 > "$profile/found"
  grep -qxF "$site/$2" "$profile/found" || { cat "$profile/found"; fail "'$1' does not find $2"; }
}
finds prefetch docs/moe-kernels.html
finds L1 docs/glossary.html
finds swizzle docs/glossary.html
finds swizzle docs/layouts.html
finds "e8m0 of 0" docs/disagreements.html
finds "B200" docs/deployment.html
# Questions of readers: what lets my tolerance pass, what does an upgrade change, is the checkpoint sound, does a batch change a token's bits, how do many processes
# convert, may Triton's interpreter be believed, whose sums does my GPU compute, which library follows which rule, what does an exit status mean.
finds "tolerance" docs/checks.html
finds "upgrade" docs/engines.html
finds "checkpoint sound" docs/inspect.html
finds "whatever the batch" docs/checks.html
finds "slurm" docs/scale.html
finds "interpreter" docs/interpreter.html
finds "hwcheck" docs/hardware.html
finds "who follows torchao" docs/peers.html
finds "exit status 5" docs/reference/exit-codes/exit-5.html
# Pages that are drawn: of what tools measured, and of the program's tables.
finds "swizzled_scales" docs/measured/ledger.html
finds "MARLIN" docs/reference/backends/MARLIN.html
for kind in formats blocks profiles contracts backends layouts forms oracles engines; do
  count=0
  for page in "$build/docs/pages/docs/reference/$kind"/*.md; do
    [[ $page != */index.md ]] || continue
    grep -q '^Evidence: \*\*' "$page" && grep -q '^mxact ' "$page" || fail "${page##*/pages/} has no evidence class or no command"
    ! grep -qE '^Evidence: \*\*(not recorded|source read|published\*|[^*]*grounds: (read|published|assumed))' "$page" || grep -qF 'What would make a recording' "$page" \
      || fail "${page##*/pages/} has no recording and does not say what would make one"
    count=$((count + 1))
  done
  [[ $count -ge 3 ]] || fail "$kind has $count pages"
done

! grep -rlE '(src|href)="(https?:)?//[^"]*\.(js|css|woff2?|png|svg)"' "$site" --include='*.html' || fail "a page loads from a network"
for page in index.html docs/for-engines.html docs/measured/proofs.html docs/reference/backends/MARLIN.html; do open "$page" 390; open "$page" 1280; done
echo "searches find their pages; pages open at 390 and 1280 columns"
