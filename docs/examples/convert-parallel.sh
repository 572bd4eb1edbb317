#!/usr/bin/env bash
# Does every job of a plan with GNU parallel, then merges: convert-parallel.sh PLAN JOBS [OPTIONS OF PARALLEL, such as --sshlogin]
# Run it again after whatever stopped it: jobs that are done are left alone.
set -euo pipefail
plan=$1 jobs=$2
shift 2
units=$(grep -c '"unit":' "$plan")
threads=$(( ($(nproc) + jobs - 1) / jobs ))
seq 0 $((units - 1)) | parallel --jobs "$jobs" --halt soon,fail=1 "$@" "OMP_NUM_THREADS=$threads mxact run '$plan' --job {}"
mxact merge "$plan"
