#!/usr/bin/env bash
# Demo devices under a simulator: each passes, its broken twin is caught, and a bench that was fed nothing fails.
# simulators_test.sh icarus|verilator MXACT SOURCE_DIR LIBMXACT.A
set -u
simulator=$1 mxact=$2 source=$3 library=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
files=()
for name in e2m1_decoder f32_to_e4m3 mx_quantizer mx_dot4 sf128x4_address demo_bench; do files+=("$source/golden/sv/$name.sv"); done

case $simulator in
  icarus)
    command -v iverilog >/dev/null || { echo "SKIPPED: iverilog is not installed"; exit 0; }
    iverilog -g2012 -o "$scratch/demo" "${files[@]}" || exit 1
    run=(vvp "$scratch/demo") ;;
  verilator)
    command -v verilator >/dev/null || { echo "SKIPPED: verilator is not installed"; exit 0; }
    verilator --binary -Wno-fatal --top-module demo_bench --Mdir "$scratch/obj" -o demo "${files[@]}" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
    run=("$scratch/obj/demo") ;;
  *) echo "unknown simulator $simulator"; exit 2 ;;
esac

failed=0
# through DEVICE WANTED [+broken] -- OP...: exit status of ver.
through() {
  local device=$1 wanted=$2 twin=${3:-} op=("${@:4}") status
  "$mxact" gen "${op[@]}" --no-header | "${run[@]}" "+device=$device" $twin | "$mxact" ver "${op[@]}" --show 1 >"$scratch/report"
  status=$?
  [[ $status -eq $wanted ]] && return
  echo "device $device $twin (${op[*]}): ver ended with $status, expected $wanted"
  cat "$scratch/report"
  failed=1
}
operations=("e2m1_to_bf16" "f32_to_e4m3fn" "quantize_mxfp4 --from bf16" "dot_mxfp4_mxfp4" "address_sf_128x4" "bf16_to_e4m3fn --set exhaustive")
for device in 0 1 2 3 4 5; do
  read -ra op <<<"${operations[$device]}"
  through "$device" 0 "" "${op[@]}"
  through "$device" 1 "+broken" "${op[@]}"
done
through 2 0 "" quantize_mxfp4 --from bf16 --set random --count 2000
"${run[@]}" +device=0 </dev/null >/dev/null 2>&1 && { echo "a bench without vectors passes"; failed=1; }
"${run[@]}" +device=6 </dev/null >/dev/null 2>&1 && { echo "a bench without a device passes"; failed=1; }
# A bench over a file: the whole file passes; a broken device, a short, a long and a missing file do not. (One simulator compiles it: it is plain.)
if [[ $simulator == icarus ]]; then
  iverilog -g2012 -o "$scratch/file" "$source/golden/sv/f32_to_e4m3.sv" "$source/golden/sv/file_bench.sv" || exit 1
  set_file=$source/golden/v1/cast/f32_to_e4m3fn.ocp.directed.hex
  count=$(grep -vc '^//' "$set_file")
  vvp "$scratch/file" +file="$set_file" +count="$count" >"$scratch/report" 2>&1 || { cat "$scratch/report"; failed=1; }
  for arguments in "+file=$set_file +count=$count +broken" "+file=$set_file +count=$((count + 1))" "+file=$set_file +count=$((count - 1))" \
    "+file=$scratch/none.hex +count=$count" "+count=$count" "+file=$set_file"; do
    # shellcheck disable=SC2086
    vvp "$scratch/file" $arguments >"$scratch/report" 2>&1 && { echo "the file bench passes with $arguments"; failed=1; }
  done
fi
# A bench that asks the C model in the loop, through the package's DPI-C imports, which Icarus does not have.
if [[ $simulator == verilator ]]; then
  verilator --binary -Wno-fatal --top-module dpi_bench --Mdir "$scratch/dpi" -o bench "$source/golden/sv/mxact_pkg.sv" "$source/golden/sv/f32_to_e4m3.sv" \
    "$source/golden/sv/dpi_bench.sv" "$library" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  "$scratch/dpi/bench" >"$scratch/report" 2>&1 && grep -q "PASSED: 100000 comparisons" "$scratch/report" || { cat "$scratch/report"; failed=1; }
  "$scratch/dpi/bench" +broken >/dev/null 2>&1 && { echo "the bench with the C model passes a broken device"; failed=1; }
fi
[[ $failed -eq 0 ]] && echo "6 devices and their twins under $simulator"
exit $failed
