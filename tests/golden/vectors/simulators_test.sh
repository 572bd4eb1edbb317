#!/usr/bin/env bash
# Demo devices under a simulator: each passes, its broken twin is caught, and a bench that was fed nothing, too little or too much fails.
# simulators_test.sh icarus|verilator MXACT SOURCE_DIR DIRECTORY_OF_LIBMXACT
set -u
simulator=$1 mxact=$2 source=$3 libraries=$4
sv=$source/golden/sv
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

case $simulator in
  icarus) needed=iverilog ;;
  verilator) needed=verilator ;;
  *) echo "unknown simulator $simulator"; exit 2 ;;
esac
command -v "$needed" >/dev/null || { echo "SKIPPED: no tool: $needed"; exit 0; }

failed=0
fail() {
  echo "$1"
  [[ $# -gt 1 ]] && cat "$2"
  failed=1
}

# bench NAME FILE...: compiles a bench and its files, which it names first; it runs as `simulate NAME`.
bench() {
  local name=$1 files=() file
  for file in "${@:2}"; do case $file in /*) files+=("$file") ;; *) files+=("$sv/$file") ;; esac; done
  if [[ $simulator == icarus ]]; then
    iverilog -g2012 -s "$name" -o "$scratch/$name" "${files[@]}" || exit 1
  else
    verilator --binary -Wno-fatal -CFLAGS "-I$source" --top-module "$name" --Mdir "$scratch/$name.obj" -o "../$name" "${files[@]}" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  fi
}
simulate() {
  if [[ $simulator == icarus ]]; then vvp "$scratch/$1" "${@:2}"; else "$scratch/$1" "${@:2}"; fi
}

# through WANTED BENCH ARGUMENTS OP...: the exit status of ver. ARGUMENTS are those of the bench, in one word.
through() {
  local wanted=$1 name=$2 arguments=$3 op=("${@:4}") status
  # shellcheck disable=SC2086
  "$mxact" gen "${op[@]}" --no-header | simulate "$name" $arguments | "$mxact" ver "${op[@]}" --show 1 >"$scratch/report"
  status=$?
  [[ $status -eq $wanted ]] || fail "$name $arguments (${op[*]}): ver ended with $status, expected $wanted" "$scratch/report"
}

# Six devices, the converter with two sources, between pipes.
bench demo_bench e2m1_decoder.sv f32_to_e4m3.sv mx_quantizer.sv mx_dot4.sv sf128x4_address.sv e2m1_dot_c.sv demo_bench.sv
operations=("e2m1_to_bf16" "f32_to_e4m3fn" "quantize_mxfp4 --from bf16" "dot_mxfp4_mxfp4" "address_sf_128x4" "bf16_to_e4m3fn --set exhaustive"
  "dot_e2m1_e2m1 --length 48 --operand-c yes")
for device in 0 1 2 3 4 5 6; do
  read -ra op <<<"${operations[$device]}"
  through 0 demo_bench "+device=$device" "${op[@]}"
  through 1 demo_bench "+device=$device +broken" "${op[@]}"
done
through 0 demo_bench "+device=2" quantize_mxfp4 --from bf16 --set random --count 2000
through 0 demo_bench "+device=6" dot_e2m1_e2m1 --length 48 --operand-c yes --set random --count 2000
simulate demo_bench +device=0 </dev/null >/dev/null 2>&1 && fail "a bench without vectors passes"
simulate demo_bench +device=7 </dev/null >/dev/null 2>&1 && fail "a bench without a device passes"

# Every code of every format of at most 16 bits. The wide ones are left to Verilator: Icarus takes seconds.
bench small_bench small_to_f32.sv f32_to_e4m3.sv small_bench.sv
formats=(e4m3fn e5m2 e4m3fnuz e5m2fnuz e2m3 e3m2 e2m1 e8m0 ue4m3 mxint8)
[[ $simulator == verilator ]] && formats+=(bf16 fp16)
for i in "${!formats[@]}"; do
  from=${formats[$i]}
  through 0 small_bench "+format=$i" "${from}_to_f32" --set exhaustive
  through 1 small_bench "+format=$i +broken" "${from}_to_f32" --set exhaustive
  [[ $from == e4m3fn ]] || through 0 small_bench "+format=$i +e4m3" "${from}_to_e4m3fn" --set exhaustive
done
simulate small_bench +format=0 </dev/null >/dev/null 2>&1 && fail "the bench of small formats passes without vectors"

# A bench over a file: the whole file passes; a broken device, a short, a long and a missing file do not.
bench file_bench f32_to_e4m3.sv file_bench.sv
set_file=$source/golden/v1/cast/f32_to_e4m3fn.ocp.directed.hex
count=$(grep -vc '^//' "$set_file")
head -100 "$set_file" >"$scratch/short.hex"
simulate file_bench +file="$set_file" +count="$count" >"$scratch/report" 2>&1 || fail "the file bench fails" "$scratch/report"
for arguments in "+file=$set_file +count=$count +broken" "+file=$set_file +count=$((count + 1))" "+file=$set_file +count=$((count - 1))" \
  "+file=$scratch/short.hex +count=$count" "+file=$set_file +count=0" "+file=$scratch/none.hex +count=$count" "+count=$count" "+file=$set_file"; do
  # shellcheck disable=SC2086
  simulate file_bench $arguments >"$scratch/report" 2>&1 && fail "the file bench passes with $arguments"
done

# A bench that asks the C model in the loop: through VPI under Icarus, which has no DPI-C, and through the package under Verilator.
if [[ $simulator == icarus ]]; then
  export LD_LIBRARY_PATH=$libraries
  bench vpi_bench f32_to_e4m3.sv sf128x4_address.sv e2m1_dot_c.sv vpi_bench.sv
  (cd "$scratch" && iverilog-vpi -I"$source" -std=c99 "$sv/mxact_vpi.c" -L"$libraries" -lmxact >log 2>&1) || { cat "$scratch/log"; exit 1; }
  in_loop=(vvp -M"$scratch" -mmxact_vpi "$scratch/vpi_bench")
  right="PASSED: 60000 comparisons"
  while read -r argument function; do
    "${in_loop[@]}" "$argument" >"$scratch/report" 2>&1 && fail "a call that is refused passes: $argument"
    grep -q "^\\\$mxact_$function" "$scratch/report" || fail "a call that is refused is not named: $argument" "$scratch/report"
  done <<<$'+unknown convert\n+undriven convert\n+unlike dot\n+narrow quantize'
  "${in_loop[@]}" +broken >"$scratch/report" 2>&1
  grep -qE ' [1-9][0-9]* codes, [1-9][0-9]* addresses and [1-9][0-9]* sums are wrong' "$scratch/report" || fail "a broken twin passes" "$scratch/report"
else
  bench dpi_bench mxact_pkg.sv f32_to_e4m3.sv e2m1_dot_c.sv dpi_bench.sv "$sv/mxact_dpi.c" "$libraries/libmxact.a"
  in_loop=("$scratch/dpi_bench")
  right="PASSED: 120033 comparisons"
fi
# A scoreboard in the loop: the broken device's rule is named.
if [[ $simulator == verilator ]]; then
  bench score_bench mxact_score_pkg.sv f32_to_e4m3.sv score_bench.sv "$libraries/libmxact_score.so"
  export LD_LIBRARY_PATH=$libraries
  simulate score_bench >"$scratch/report" 2>&1 && grep -q "^PASSED: 20000 of 20000 vectors checked, 0 wrong" "$scratch/report" || fail "the scoreboard's bench fails" "$scratch/report"
  simulate score_bench +broken >"$scratch/report" 2>&1 && fail "the scoreboard's bench passes a broken device"
  grep -q "^rounding: matches rounding nearest_away: " "$scratch/report" || fail "a scoreboard does not name the broken device's rule" "$scratch/report"
fi
"${in_loop[@]}" >"$scratch/report" 2>&1 && grep -q "$right" "$scratch/report" || fail "the bench with the C model fails" "$scratch/report"
"${in_loop[@]}" +broken >/dev/null 2>&1 && fail "the bench with the C model passes a broken device"

[[ $failed -eq 0 ]] && echo "7 devices, ${#formats[@]} formats and their twins under $simulator"
exit $failed
