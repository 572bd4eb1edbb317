#!/usr/bin/env bash
# Ranks in processes of their own: the same bytes as in one process, and no hang and no silence when something is wrong.
# mpi_test.sh MXACT SOURCE_DIR DYING_RANK; DYING_RANK is empty where the build has no MPI.
set -u
mxact=$1 source=$2 dying=$3
[[ -n $dying ]] || { echo "SKIPPED: no tool: MPI for this build (libopenmpi-dev)"; exit 0; }
command -v mpirun >/dev/null || { echo "SKIPPED: no tool: mpirun (openmpi-bin)"; exit 0; }
# Root in a container of few cores is nothing unusual for a test. Open MPI's own leaks are not looked for.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1
export ASAN_OPTIONS=detect_leaks=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
wrong() { echo "$*"; sed 's/^/    /' "$scratch/out" "$scratch/err"; failed=1; }

# launch WANTED ARGUMENTS...: mpirun's exit status; a run that hangs is one that fails.
launch() {
  local wanted=$1 status
  shift
  timeout 240 mpirun --oversubscribe --bind-to none "$@" >"$scratch/out" 2>"$scratch/err"
  status=$?
  [[ $wanted == any && $status -ne 0 && $status -ne 124 ]] && return
  [[ $wanted == "$status" ]] || wrong "mpirun $*: exit status $status, expected $wanted"
}

# everywhere RANKS TEXT: each of the ranks says it.
everywhere() {
  local rank
  for rank in $1; do
    grep -q "^mxact: error: rank $rank of [0-9]*: .*$2" "$scratch/err" || wrong "rank $rank does not say: $2"
  done
}

# same_document: what was printed here and there is the same, but for when it was and how long it took.
same_document() {
  cmp -s <(sed '/^    "\(started\|seconds\)": /d' "$scratch/here") <(sed '/^    "\(started\|seconds\)": /d' "$scratch/out")
}

four="$source/docs/examples/sim-b200-dp4.info"
two="$source/docs/examples/sim-b200-dp2.info"

# The whole text, not a part of it: every number of the result, and the digest of the outputs.
"$mxact" sim "$four" --json >"$scratch/here" || wrong "four ranks in one process"
launch 0 -n 4 "$mxact" sim "$four" --json
same_document || wrong "four processes say something else than one"
grep -q '"digest": "fnv1a64:' "$scratch/out" || wrong "no digest"

# Ranks that share matrices, and ranks that share experts, each expert's tokens in a batch of their own.
for parallel in "tp 2 dp 2" "tp 2 dp 2 expert_parallel true all2all deepep_low_latency"; do
  printf 'platform SM90\nparallel { %s }\nlayer { experts 8 top_k 2 hidden 64 intermediate 128 }\n' "$parallel" >"$scratch/four.info"
  "$mxact" sim "$scratch/four.info" --json >"$scratch/here" || wrong "$parallel in one process"
  launch 0 -n 4 "$mxact" sim "$scratch/four.info" --json
  same_document || wrong "$parallel: four processes say something else than one"
done

# A refusal is an answer, said once; nobody takes the others' exit status for a death.
printf 'platform SM90\nparallel { dp 4 expert_parallel true }\nlayer { experts 2 top_k 2 hidden 64 intermediate 64 }\n' >"$scratch/refused.info"
launch 4 -n 4 "$mxact" sim "$scratch/refused.info"
[[ $(grep -c 'REFUSED shard: 4 expert parallel ranks share 2 experts' "$scratch/out") -eq 1 ]] || wrong "the refusal is not said once"
! grep -q 'another rank died' "$scratch/err" || wrong "a rank speaks of a death that was none"

# A broken link has its exit status on every process, and its report once.
launch 1 -n 2 "$mxact" sim "$two" --backend FLASHINFER_CUTLASS_MXFP4_MXFP8
[[ $(grep -c '^BROKEN dispatch: rank 0' "$scratch/out") -eq 1 ]] || wrong "the broken link is not named once"

launch 2 -n 3 "$mxact" sim "$four"
everywhere "0 1 2" "the deployment has 4 ranks, the launcher started 3 processes"
launch 2 -n 2 "$mxact" sim "$two" --compare
everywhere "0 1" "runs in one process, without a launcher"
launch 3 -n 2 "$mxact" sim "$scratch/missing.info"
everywhere "0 1" "missing.info"

# Processes that were given different things, and one whose file is missing.
launch 2 -n 1 "$mxact" sim "$two" : -n 1 "$mxact" sim "$two" --seed 2
everywhere "0 1" "rank 1 was given another deployment, backend or seed than rank 0"
launch 3 -n 1 "$mxact" sim "$two" : -n 1 "$mxact" sim "$scratch/missing.info"
everywhere 0 "rank 1 failed: .*missing.info"

# A rank that dies while the others wait for it, in each way: the run ends, and names the rank. Whether the others still speak is up to the time that
# the launcher gives them between its two signals;
for how in killed quits fails; do
  launch any -n 1 "$mxact" sim "$four" : -n 1 "$dying" "$how" : -n 2 "$mxact" sim "$four"
  grep -Eq 'rank 1 |\[\[[0-9]+,[0-9]+\],1\]' "$scratch/err" || wrong "a dead rank ($how) is not named"
done
# so what they say is looked at with a signal that no second one follows.
cat >"$scratch/noted" <<'TEXT'
#!/bin/sh
echo $$ >"$1/pid"
scratch=$1
shift
exec "$@" 2>"$scratch/said"
TEXT
chmod +x "$scratch/noted"
: >"$scratch/said"
launch any -n 1 "$scratch/noted" "$scratch" "$mxact" sim "$two" : -n 1 "$dying" terminates "$scratch/pid" "$scratch/said"
grep -q '^mxact: error: rank 0 of 2: ended by the launcher: another rank died, or the run was cancelled$' "$scratch/said" ||
  wrong "a rank that is told to end says nothing"

[[ $failed -eq 0 ]] && echo "four processes and one say the same"
exit $failed
