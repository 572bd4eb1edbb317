#!/usr/bin/env bash
# Does every job of a plan as a Slurm array, then merges when all have ended well: convert-slurm.sh PLAN
set -euo pipefail
plan=$(realpath "$1")
units=$(grep -c '"unit":' "$plan")
array=$(sbatch --parsable --requeue --array="0-$((units - 1))" --cpus-per-task=4 \
  --wrap "OMP_NUM_THREADS=\$SLURM_CPUS_PER_TASK mxact run '$plan' --job \$SLURM_ARRAY_TASK_ID")
sbatch --dependency="afterok:$array" --wrap "mxact merge '$plan'"
