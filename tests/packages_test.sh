#!/usr/bin/env bash
# Every name of packages.txt is one of a package of Debian 12: on a machine that has all of them nothing else would notice a wrong one.
set -u
cd "$(dirname "$0")/.." || exit 2
skip() { echo "SKIPPED: no package index: $1"; exit 0; }
grep -qs '^VERSION_CODENAME=bookworm$' /etc/os-release || skip "this is not Debian 12"
[[ -n $(apt-cache madison apt 2>/dev/null) ]] || skip "apt-get update has not run here"
mapfile -t names < <(grep -E '^[^#]' packages.txt | awk '{ print $1 }' | sort -u)
unknown=$(comm -23 <(printf '%s\n' "${names[@]}") <(apt-cache madison "${names[@]}" 2>/dev/null | awk '{ print $1 }' | sort -u))
[[ -z $unknown ]] || { echo "no package of Debian 12:"; echo "$unknown"; exit 1; }
echo "${#names[@]} packages"
