#!/usr/bin/env bash
# Kills the program (SIGKILL) at random moments while it writes: checkpoints converted and restored, new and over older ones, units, and sets of
# vectors. Afterwards every file must be the old or the new one, byte for byte, and a directory without its old files none that is half there.
# usage: kill.sh NUMBER [PROGRAM] [SEED]     (PROGRAM: build/release/cli/mxact); prints a line per kind of work, exit status 1 after a torn file
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[[ ${1:-} =~ ^[1-9][0-9]{0,6}$ ]] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
number=$1 program=$(realpath "${2:-$root/build/release/cli/mxact}")
RANDOM=${3:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

sums() { (cd "$1" && find . -type f ! -path '*/.*.tmp/*' ! -name '.*.tmp' -exec sha256sum {} +) | sort; }
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

source=$root/golden/witness/checkpoints/tiny-gpt-oss
convert=(convert "$source" --platform SM100 -o)
"$program" "${convert[@]}" first --backend TRITON > /dev/null
"$program" "${convert[@]}" second --backend FLASHINFER_TRTLLM_MXFP4_BF16 > /dev/null
"$program" restore first -o restored > /dev/null
"$program" vectors --core -o set > /dev/null 2>&1

# One kind of work: `before` is put there, the command works on `there`, `after` is what it makes of it.
names=("convert" "convert over an older one" "restore" "restore over an older one" "vectors over older ones" "units")
before() {
  rm -rf there there.units plan.json
  case $1 in
    1) cp -r first there ;;
    3) cp -r restored there; for file in there/*.safetensors; do echo old > "$file"; done ;;
    4) cp -r set there; find there -type f | while read -r file; do echo "old $file" > "$file"; done ;;
    5) "$program" plan "$source" --backend TRITON --platform SM100 --converted there -o plan.json > /dev/null; mkdir there.units ;;
  esac
}
work() {
  case $1 in
    0) exec "$program" "${convert[@]}" there --backend TRITON ;;
    1) exec "$program" "${convert[@]}" there --backend FLASHINFER_TRTLLM_MXFP4_BF16 --force ;;
    2) exec "$program" restore first -o there ;;
    3) exec "$program" restore first -o there --force ;;
    4) exec "$program" vectors --core -o there --force ;;
    5) exec "$program" run plan.json --job 0,1,2,3 ;;
  esac
}
place() { [[ $1 == 5 ]] && echo there.units || echo there; }

torn=0 kills=0
for kind in "${!names[@]}"; do
  # What may be there: old files, new ones; and how long the work takes.
  before "$kind"
  [[ ! -d $(place "$kind") ]] || sums "$(place "$kind")" > old
  [[ -d $(place "$kind") ]] || : > old
  started=$(milliseconds)
  (work "$kind") > /dev/null 2>&1
  lasts=$(($(milliseconds) - started + 2))
  sums "$(place "$kind")" > new
  sort -u old new > allowed
  killed=0 was_old=0 was_new=0 mixed=0 bad=0
  for ((turn = kind; turn < number; turn += ${#names[@]})); do
    before "$kind"
    delay=$((RANDOM % lasts))
    (work "$kind") > /dev/null 2>&1 &
    process=$!
    sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
    kill -9 "$process" 2> /dev/null || true
    status=0
    wait "$process" 2> /dev/null || status=$?
    [[ $status -ne 137 ]] || killed=$((killed + 1))
    : > found
    [[ ! -d $(place "$kind") ]] || sums "$(place "$kind")" > found
    if comm -23 found allowed | grep -q .; then
      echo "kill.sh: torn after $delay ms of ${names[kind]}: $(comm -23 found allowed | head -1)" >&2
      bad=$((bad + 1))
    elif cmp -s found old; then
      was_old=$((was_old + 1))
    elif cmp -s found new; then
      was_new=$((was_new + 1))
    elif [[ $kind -lt 4 ]]; then
      # A checkpoint is all old or all new.
      echo "kill.sh: files of two checkpoints after $delay ms of ${names[kind]}" >&2
      bad=$((bad + 1))
    else
      mixed=$((mixed + 1))
    fi
  done
  printf '%-28s %5d kills, %5d old, %5d new, %5d old and new files side by side, %d torn\n' "${names[kind]}" "$killed" "$was_old" "$was_new" "$mixed" "$bad"
  torn=$((torn + bad)) kills=$((kills + killed))
done
echo "$kills kills, $torn torn"
# Where everything had ended before it was killed nothing was tried.
[[ $kills -gt 0 ]] || exit 5
((torn == 0))
