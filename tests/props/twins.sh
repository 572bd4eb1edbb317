#!/usr/bin/env bash
# twins.sh BUILD: of the model, the kernels, the simulator and the vectors exactly those sources are compiled again with planted faults that include them.
# What a source includes is looked at when the build is configured; one that has changed since shows here.
set -u
cd "$(dirname "$0")/../.."
wanted=$(grep -rlE --include='*.cpp' '^#include "model/(fault|stand_in)\.hpp"' model support kernels checkpoint sim golden verbs | sort -u)
compiled=$(sed -nE 's|.*-DMXACT_FAULTS.* -c ([^" ]+)".*|\1|p' "$1/compile_commands.json")
# What is compiled as one is what that file includes.
made=$(for file in $compiled; do if [[ $file == */together/* ]]; then sed -nE 's|^#include "(.*)"$|\1|p' "$file"; else echo "${file#"$PWD/"}"; fi; done |
  grep -E '^(model|support|kernels|checkpoint|sim|golden|verbs)/' | sort -u)
[[ -n $wanted ]] || { echo "no source includes the planted faults"; exit 1; }
difference=$(diff <(echo "$wanted") <(echo "$made")) || { echo "includes faults (<), compiled with them (>); configure again:"; echo "$difference"; exit 1; }
echo "$(echo "$made" | wc -l) sources are compiled with faults"
