#!/usr/bin/env python3
"""Sums of fuzzing over all runs, as JSON: per target executions, seconds of processes, findings, inputs kept and the last run's day.

usage: totals.py FILE add TARGET EXECUTIONS SECONDS FINDINGS KEPT   adds a run
       totals.py FILE show                                         the table, as Markdown
"""

import datetime
import json
import os
import sys

SCHEMA = "mxact-fuzz-totals/1"


def load(path):
    if not os.path.exists(path):
        return {"schema": SCHEMA, "targets": {}}
    with open(path, encoding="utf-8") as file:
        totals = json.load(file)
    if totals.get("schema") != SCHEMA:
        sys.exit(f"{path}: schema is {totals.get('schema')!r}, not {SCHEMA!r}")
    return totals


def add(path, target, executions, seconds, findings, kept):
    totals = load(path)
    row = totals["targets"].setdefault(target, {"executions": 0, "seconds": 0, "findings": 0})
    row["executions"] += int(executions)
    row["seconds"] += int(seconds)
    row["findings"] += int(findings)
    row["inputs_kept"] = int(kept)
    row["last_run"] = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(totals, file, indent=1, sort_keys=True)
        file.write("\n")
    os.rename(temporary, path)


def show(path):
    targets = load(path)["targets"]
    print("| target | executions | seconds of processes | findings | inputs kept | last run |\n|---|--:|--:|--:|--:|---|")
    for name, row in sorted(targets.items()):
        print(f"| {name} | {row['executions']:,} | {row['seconds']:,} | {row['findings']} | {row['inputs_kept']:,} | {row['last_run']} |")
    sums = {key: sum(row[key] for row in targets.values()) for key in ("executions", "seconds", "findings", "inputs_kept")}
    print(f"| all {len(targets)} | {sums['executions']:,} | {sums['seconds']:,} | {sums['findings']} | {sums['inputs_kept']:,} | |")


if len(sys.argv) == 8 and sys.argv[2] == "add":
    add(sys.argv[1], *sys.argv[3:])
elif len(sys.argv) == 3 and sys.argv[2] == "show":
    show(sys.argv[1])
else:
    sys.exit(__doc__)
