#!/usr/bin/env bash
# symbols_test.sh NM LIBMXACT.SO MXACT.H: the library shows the functions that the header declares, all of them and nothing else.
set -euo pipefail
shown=$("$1" -D --defined-only "$2" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(grep -oE '\bmxact_[a-z0-9_]+\(' "$3" | tr -d '(' | sort -u)
[[ -n $declared ]] || { echo "no function in $3"; exit 1; }
diff <(echo "$declared") <(echo "$shown") || { echo "left: only declared; right: only shown"; exit 1; }
echo "$(wc -l <<<"$shown") functions"
