#!/usr/bin/env python3
"""Adds up what gcov counted of model/ and prints it: every line that was not run, every branch that was not taken, and the shares.

Branches that only an exception takes are left out, and so are those of lines without a statement. What several object files have of a header is added up.
usage: coverage.py BUILD [GCOV]
"""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def counted(build, gcov):
    """Per file and line: how often it was run, and how often each of its branches was taken."""
    lines = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, []]))
    data = sorted(pathlib.Path(build, "model").rglob("*.gcda"))
    for notes in sorted(pathlib.Path(build, "model/CMakeFiles/mxact_model.dir").rglob("*.gcno")):
        # A file that nothing ran has no counts; its notes alone say which lines there are.
        subject = notes.with_suffix(".gcda") if notes.with_suffix(".gcda") in data else notes
        told = subprocess.run([gcov, "--json-format", "--branch-probabilities", "--stdout", str(subject.resolve())], cwd=build, capture_output=True, text=True, check=True).stdout
        for text in told.splitlines():
            report = json.loads(text)
            for file in report["files"]:
                path = pathlib.Path(report["current_working_directory"], file["file"]).resolve()
                if not path.is_relative_to(ROOT / "model"):
                    continue
                of_file = lines[str(path.relative_to(ROOT))]
                for line in file["lines"]:
                    known = of_file[line["line_number"]]
                    # Counters of several threads may run below zero: they were run.
                    known[0] += abs(line["count"])
                    taken = [abs(branch["count"]) for branch in line["branches"] if not branch["throw"]]
                    known[1] = [a + b for a, b in zip(known[1], taken)] + known[1][len(taken):] + taken[len(known[1]):]
    return lines


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    lines = counted(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "gcov")
    total = run = branches = taken = 0
    for file in sorted(lines):
        for number, (count, ways) in sorted(lines[file].items()):
            total += 1
            run += count > 0
            branches += len(ways)
            taken += sum(way > 0 for way in ways)
            if count == 0:
                print(f"{file}:{number}: not run")
            elif ways and not all(ways):
                print(f"{file}:{number}: {ways.count(0)} of {len(ways)} branches not taken")
    if total == 0:
        sys.exit("coverage.py: nothing was counted")
    print(f"lines: {100 * run / total:.2f} % ({run} of {total})")
    print(f"branches: {100 * taken / branches:.2f} % ({taken} of {branches})")


main()
