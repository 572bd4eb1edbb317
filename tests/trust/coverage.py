#!/usr/bin/env python3
"""Adds up what clang counted of model/ and prints it: every line that was not run, every branch that was not taken, and the shares.

A branch is one outcome of one condition of the source. Instances of a template are one: what any of them ran was run. Constant functions that the compiler alone
has evaluated are no code, and are left out; so is what a planted fault would do, which this library has none of.
usage: coverage.py BUILD PROFILE
BUILD has the objects of model/; PROFILE is what llvm-profdata merged.
"""
import collections
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@functools.cache
def source(path):
    return pathlib.Path(path).read_text(encoding="utf-8").splitlines()


def in_model(path):
    """The path within the repository, or None."""
    path = pathlib.Path(path).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT / "model") else None


def statement_before(path, line, column):
    """What of its statement or declaration stands before that place."""
    before = "\n".join(source(path)[max(0, line - 8):line - 1] + [source(path)[line - 1][:column - 1]])
    return re.split(r"[;{}]", before.replace("{}", ""))[-1]


def is_constant(path, line, column):
    """Is the function whose body begins there declared constexpr or consteval?"""
    return re.search(r"\b(constexpr|consteval)\b", statement_before(path, line, column)) is not None


def is_fault(path, line, column):
    """Does what begins there run with a planted fault alone? In this library nothing is planted."""
    return "planted(" in statement_before(path, line, column)


def ran(file):
    """{line: was it run} of a file's lines with code: a line is run when a region that covers its beginning, or begins in it, is."""
    lines, count, counted = {}, 0, False
    segments = collections.defaultdict(list)
    for line, _, number, has_count, is_entry, is_gap in file["segments"]:
        segments[line].append((number, has_count, is_entry, is_gap))
    for line in range(min(segments, default=1), max(segments, default=0) + 1):
        entries = [number for number, has_count, is_entry, is_gap in segments[line] if has_count and is_entry and not is_gap]
        if entries or counted:
            lines[line] = max(entries + [count] * counted) > 0
        for number, has_count, _, is_gap in segments[line]:
            count, counted = number, has_count and not is_gap
    return lines


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, profile = sys.argv[1:]
    # Not the archive: llvm-cov 16 takes what is not aligned in it for malformed.
    objects = sorted(map(str, pathlib.Path(build, "model/CMakeFiles/mxact_model.dir").rglob("*.o")))
    data = json.loads(printed(os.environ.get("LLVM_COV", "llvm-cov-16"), "export", f"-instr-profile={profile}", *(f"-object={name}" for name in objects)))["data"][0]
    # What has code has counters. Those of a file's own functions are named after the file too.
    counters = re.findall(r" __profc_(\S+)", printed("nm", *objects))
    lines = {(path, line): was for file in data["files"] if (path := in_model(file["filename"])) for line, was in ran(file).items()}
    # Those of anonymous functions are named FILE:NAME here, FILE_NAME there.
    known = {re.sub(r"[^A-Za-z0-9_]", "_", name) for name in counters}
    branches, dropped = collections.defaultdict(bool), set()
    for function in data["functions"]:
        begin, column, end, *_ = function["regions"][0]
        path = function["filenames"][0]
        if not in_model(path):
            continue
        if re.sub(r"[^A-Za-z0-9_]", "_", function["name"]) not in known and is_constant(path, begin, column):
            dropped.update((in_model(path), line) for line in range(begin, end + 1))
            continue
        for first, column, last, _, count, index, *_ in function["regions"]:
            if count == 0 and in_model(function["filenames"][index]) and is_fault(function["filenames"][index], first, column):
                dropped.update((in_model(function["filenames"][index]), line) for line in range(first, last + 1))
        for first, column, last, last_column, true, false, index, *_ in function["branches"]:
            if is_fault(function["filenames"][index], first, column) or "planted(" in source(function["filenames"][index])[first - 1][column - 1:last_column - 1]:
                continue
            place = (in_model(function["filenames"][index]), first, column, last, last_column)
            branches[(*place, "true")] |= true > 0
            branches[(*place, "false")] |= false > 0
    lines = {place: was for place, was in lines.items() if was or place not in dropped}
    if not lines or not branches:
        sys.exit("coverage.py: nothing was counted")
    missing = [(file, line, "not run") for (file, line), was in lines.items() if not was]
    # Of a line that was not run the branches go without saying.
    missing += [(file, first, f"column {column}: never {outcome}") for (file, first, column, _, _, outcome), was in branches.items() if not was and lines.get((file, first), True)]
    for file, line, what in sorted(missing):
        print(f"{file}:{line}: {what}")
    for name, counts in ("lines", lines), ("branches", branches):
        print(f"{name}: {100 * sum(counts.values()) / len(counts):.2f} % ({sum(counts.values())} of {len(counts)})")


main()
