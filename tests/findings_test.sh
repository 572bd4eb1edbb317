#!/usr/bin/env bash
# The scripts of findings/ are what findings/README.md says of them, by their text alone: each has its head, pins what it installs, checks what it prints,
# is executable, short, parses, uses nothing of ours, and has its row. Whether it is still true says the script itself, with a package index.
# usage: findings_test.sh [FOLDER]   (findings/ of this tree)
set -u
folder=${1:-$(dirname "$0")/../findings}
broken=0
wrong() { echo "$1"; broken=1; }

# held SCRIPT: the rules of one.
held() {
  local script=$1 name field
  name=$(basename "$script" .sh)
  for field in 'version: .*[0-9]+\.[0-9]+' 'source: [A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+, [^ ]+\.[a-z]+, ' 'behaviour: ..........' 'seen: 20[0-9]{2}-[0-9]{2}-[0-9]{2}$' '\| .'; do
    sed '/^set /q' "$script" | grep -qE "^# $field" || wrong "$name: its head has no line '# $field'"
  done
  [[ $(head -n 1 "$script") == '#!/usr/bin/env bash' && -x $script ]] || wrong "$name: no executable script of bash"
  [[ $(wc -l < "$script") -lt 120 ]] || wrong "$name: 120 lines or more"
  bash -n "$script" 2> /dev/null || wrong "$name: bash does not parse it"
  grep -qF 'mktemp -d' "$script" && grep -qF "trap 'rm -rf \"\$work\"' EXIT" "$script" || wrong "$name: it leaves its folder behind"
  # shellcheck disable=SC2016
  grep -qF 'if diff <(sed -n '\''s/^# | //p'\'' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi' "$script" || wrong "$name: it does not hold what it printed against its head"
  # Each word of a line of pip, or of one that goes on, is an option, a pin or the command.
  awk '/pip" (install|download)/ || goes { goes = /\\$/; print }' "$script" | tr ' ' '\n' | grep -vE '^($|\\$|-|"|install$|download$|:all:$)' | grep -vE '^[A-Za-z0-9_.-]+==[0-9][^ ]*$' |
    while read -r word; do echo "$name: pip gets '$word', which is no exact version"; done | grep . && broken=1
  ! grep -qiE '(import|from|pip.*) +mxact|mxact\.' "$script" || wrong "$name: it uses what it is no finding about"
  grep -qE "^\* \[$name\]\($name\.sh\) \(" "$folder/README.md" || wrong "$name: no row in README.md"
}

count=0
for script in "$folder"/*.sh; do
  held "$script"
  count=$((count + 1))
done
while read -r name; do
  [[ -f $folder/$name ]] || wrong "README.md has a row of $name, which is not there"
done < <(sed -nE 's/^\* \[[^]]*\]\(([^)]*)\) \(.*/\1/p' "$folder/README.md")
[[ $count -gt 0 ]] || wrong "there are no findings in $folder"

# The rules notice what is wrong: a copy of one script with one line changed each.
if [[ $# -eq 0 ]]; then
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  # noticed WHAT SED: a change of a good script fails.
  noticed() {
    rm -rf "$copy/findings"
    mkdir -p "$copy/findings"
    cp "$folder/README.md" "$folder/quanto-zero-row-is-nan.sh" "$copy/findings"
    sed -i -E "$2" "$copy/findings/quanto-zero-row-is-nan.sh"
    ! bash "$0" "$copy/findings" > "$copy/said" || wrong "nobody notices $1"
    grep -q '^quanto-zero-row-is-nan: ' "$copy/said" || wrong "$1 is not named: $(cat "$copy/said")"
  }
  noticed "a head without a version" '/^# version/d'
  noticed "a source without a file" 's/^# source: .*/# source: somewhere/'
  noticed "a head without a date" 's/^# seen: .*/# seen: lately/'
  noticed "a head without what was seen" '/^# \| /d'
  noticed "a package of any version" 's/safetensors==0.8.0/safetensors/'
  noticed "a script that passes whatever it prints" 's/exit 1; fi$/fi/'
  noticed "a script about mxact" 's/^import torch$/import mxact/'
  noticed "a script that does not parse" 's/^set -euo pipefail$/if/'
fi
[[ $broken -eq 0 ]] && echo "$count findings have their heads"
exit $broken
