#!/usr/bin/env bash
# A device in VHDL under GHDL, between pipes and over a file: it passes, its broken twin is caught, and a bench that was fed nothing, too little, too
# much or what is no vector fails.
# vhdl_test.sh MXACT SOURCE_DIR
set -u
mxact=$1 source=$2
command -v ghdl >/dev/null || { echo "SKIPPED: no tool: ghdl"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() {
  echo "$1"
  [[ $# -gt 1 ]] && cat "$2"
  failed=1
}
ghdl -a --std=08 --workdir="$scratch" "$source"/golden/vhdl/{mxact_pkg,f32_to_e4m3,pipe_bench,file_bench}.vhd || exit 1
for bench in pipe_bench file_bench; do (cd "$scratch" && ghdl -e --std=08 --workdir="$scratch" "$bench") || exit 1; done
simulate() { (cd "$scratch" && ghdl -r --std=08 --workdir="$scratch" "$@"); }

# through WANTED OPTION... : the exit status of ver.
through() {
  "$mxact" gen f32_to_e4m3fn --no-header | simulate pipe_bench "${@:2}" | "$mxact" ver f32_to_e4m3fn --show 1 >"$scratch/report"
  local status=$?
  [[ $status -eq $1 ]] || fail "${*:2}: ver ended with $status, expected $1" "$scratch/report"
}
through 0
through 1 -gBROKEN=true
grep -q '^rounding: matches rounding nearest_away: ' "$scratch/report" || fail "what is wrong is not named" "$scratch/report"
simulate pipe_bench </dev/null >"$scratch/report" 2>&1 && fail "a bench without vectors passes"
for line in 3f80000g 3f8; do
  simulate pipe_bench <<<"$line" >"$scratch/report" 2>&1 && fail "a bench takes $line"
  grep -q "^.*mxact: .*$line" "$scratch/report" || fail "what is no vector is not shown: $line" "$scratch/report"
done

table=$source/golden/v1/cast/f32_to_e4m3fn.ocp.directed.hex
count=$(grep -vc '^//' "$table")
head -100 "$table" >"$scratch/short.hex"
simulate file_bench -gNAME="$table" -gCOUNT="$count" >"$scratch/report" 2>&1 || fail "the file bench fails" "$scratch/report"
grep -q "PASSED: $count vectors" "$scratch/report" || fail "the file bench does not say that it passed" "$scratch/report"
for options in "-gNAME=$table -gCOUNT=$count -gBROKEN=true" "-gNAME=$table -gCOUNT=$((count + 1))" "-gNAME=$table -gCOUNT=$((count - 1))" \
  "-gNAME=$scratch/short.hex -gCOUNT=$count" "-gNAME=$scratch/none.hex -gCOUNT=$count"; do
  # shellcheck disable=SC2086
  simulate file_bench $options >"$scratch/report" 2>&1 && fail "the file bench passes with $options"
done

# A device built on float_pkg's resize is named. Fields 38 to 48 of an exponent end the simulation: they are left out.
cat >"$scratch/resize.vhd" <<'VHDL'
library ieee;
use ieee.std_logic_1164.all;
use ieee.float_pkg.all;
use std.textio.all;
entity resize_device is end;
architecture pipe of resize_device is begin
  process
    variable text, answer : line;
    variable code : std_logic_vector(31 downto 0);
  begin
    while not endfile(input) loop
      readline(input, text);
      hread(text, code);
      hwrite(answer, code);
      write(answer, ' ');
      hwrite(answer, to_slv(resize(to_float(code, 8, 23), 5, 10)));
      writeline(output, answer);
    end loop;
    wait;
  end process;
end;
VHDL
(cd "$scratch" && ghdl -a --std=08 resize.vhd && ghdl -e --std=08 resize_device) || exit 1
"$mxact" gen f32_to_fp16 --no-header | grep -vE '^[19]([3-7]|8[0-7])' | (cd "$scratch" && ghdl -r --std=08 resize_device) >"$scratch/answers" || fail "resize ends the simulation"
"$mxact" ver f32_to_fp16 --show 1 <"$scratch/answers" >"$scratch/report" && fail "resize passes as IEEE 754's conversion"
grep -q '^dialect: matches profile vhdl-float-pkg: ' "$scratch/report" || fail "resize is not named" "$scratch/report"
[[ $failed -eq 0 ]] && echo "a pipe and a file under GHDL"
exit $failed
