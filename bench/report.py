#!/usr/bin/env python3
"""Puts the figures of a run of mxact_bench into docs/performance.md: bench/report.py RESULTS.json docs/performance.md

The run has repetitions (--benchmark_repetitions) in random order (--benchmark_enable_random_interleaving). Each figure is the median of its
repetitions; how far the quartiles lie apart, in percent of the median, is printed beside it. One thread is timed by its processor time, which other
work on a shared machine disturbs less; several threads by the clock on the wall, which says nothing while more programs want to run than there are processors: figures of such a
run are left out.
"""

import json
import math
import statistics
import sys

BEGIN = "<!-- begin of the table: bench/report.py writes it -->"
END = "<!-- end of the table -->"
LIMIT = "limit"
SHORT_STEPS = "limit in short steps"
MODEL = "model"


def runs_of(results):
    """{(codec, what, threads): [seconds per element]} of the repetitions, without the aggregates."""
    runs = {}
    for row in results["benchmarks"]:
        parts = row["name"].removesuffix("/real_time").split("/")
        if row.get("run_type") != "iteration" or len(parts) != 3 or not parts[2].isdigit():
            continue
        codec, what, threads = parts[0], parts[1], int(parts[2])
        elements = row["items_per_second"] * row["real_time"]
        taken = row["cpu_time"] if threads == 1 else row["real_time"]
        runs.setdefault((codec, what, threads), []).append(taken / elements)
    for codec, what, threads in [key for key in runs if key[1] == SHORT_STEPS]:
        both = [runs.pop((codec, what, threads)), runs.pop((codec, LIMIT, threads), [math.inf])]
        runs[codec, LIMIT, threads] = min(both, key=statistics.median)
    return runs


def spread(values):
    """Distance of the quartiles in percent of the median."""
    if len(values) < 3:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4)
    return 100 * (high - low) / middle


def figure(values):
    return f"{1e-9 / statistics.median(values):.3g} (±{spread(values) / 2:.0f} %)"


def share(values, limit):
    return f"{100 * statistics.median(limit) / statistics.median(values):.0f} %"


def limits_table(runs):
    lines = ["| moving bytes alone, GB/s | 1 thread | 2 threads |", "|---|--:|--:|"]
    plain = sorted({codec for codec, what, _ in runs if what == LIMIT and not any(key[0] == codec and key[1] != LIMIT for key in runs)})
    bytes_per_element = {"read": 4, "write past the caches": 4, "copy past the caches": 1}
    for codec in plain:
        cells = []
        for threads in (1, 2):
            values = runs.get((codec, LIMIT, threads))
            cells.append(f"{bytes_per_element[codec] * 1e-9 / statistics.median(values):.3g} (±{spread(values) / 2:.0f} %)" if values else "")
        lines.append(f"| {codec} | {' | '.join(cells)} |")
    return lines


def sweep_table(runs):
    lines = ["| all 2^32 patterns and their digests, seconds | 1 thread | 2 threads |", "|---|--:|--:|"]
    for codec in sorted({key[0] for key in runs if key[1] == "sweep"}):
        cells = [f"{2**32 * statistics.median(values):.3g} (±{spread(values) / 2:.0f} %)" if (values := runs.get((codec, "sweep", threads))) else "" for threads in (1, 2)]
        lines.append(f"| {codec} | {' | '.join(cells)} |")
    return lines


def codec_table(runs, threads):
    tiers = [tier for tier in ("portable", "avx2", "avx512") if any(key[1] == tier for key in runs)]
    lines = [
        f"| {threads} thread{'s' if threads > 1 else ''}, 10^9 elements a second | limit | " + " | ".join(f"{tier} | share" for tier in tiers) + " | model |",
        "|---|--:|" + "--:|--:|" * len(tiers) + "--:|",
    ]
    for codec in sorted({key[0] for key in runs if key[1] == MODEL}):
        limit = runs.get((codec, LIMIT, threads))
        if limit is None:
            continue
        cells = [figure(limit)]
        for tier in tiers:
            values = runs.get((codec, tier, threads))
            cells += [figure(values), share(values, limit)] if values else ["", ""]
        model = runs.get((codec, MODEL, 1))
        cells.append(figure(model) if model else "")
        lines.append(f"| {codec} | {' | '.join(cells)} |")
    return lines


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: bench/report.py RESULTS.json docs/performance.md")
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    runs = runs_of(results)
    if not runs:
        sys.exit(f"{sys.argv[1]}: no repetitions of codecs")
    context = results["context"]
    repetitions = max(len(values) for values in runs.values())
    crowded = context.get("load_avg", [0])[0] > context["num_cpus"]
    if crowded:
        runs = {key: values for key, values in runs.items() if key[2] == 1}
    load = ", ".join(f"{value:.1f}" for value in context.get("load_avg", []))
    text = [
        f"Run of {context['date'][:10]}: {context['num_cpus']} processors, {repetitions} repetitions of each figure in random order, load average {load} at the start.",
        "",
        *limits_table(runs),
        "",
        *codec_table(runs, 1),
        "",
        *(["More programs wanted to run than there are processors: figures of two threads are left out."] if crowded else codec_table(runs, 2)),
        "",
        *sweep_table(runs),
    ]
    with open(sys.argv[2], encoding="utf-8") as file:
        document = file.read()
    if BEGIN not in document or END not in document:
        sys.exit(f"{sys.argv[2]} has no table to write")
    head, rest = document.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(head + BEGIN + "\n\n" + "\n".join(text) + "\n\n" + END + tail)


if __name__ == "__main__":
    main()
