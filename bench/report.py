#!/usr/bin/env python3
"""Puts the figures of a run of mxact_bench into a document of docs/measured/: bench/report.py RESULTS.json docs/measured/performance.json [PROCESSOR]

The run has repetitions (--benchmark_repetitions) in random order (--benchmark_enable_random_interleaving). Each figure is the median of its
repetitions; their median distance from it, in percent of it, is printed beside it: a single repetition that went astray changes neither. One thread is timed by its processor time, which other
work on a shared machine disturbs less; several threads by the clock on the wall, which says nothing while more programs want to run than there are processors: figures of such a
run are left out.
"""

import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs/site"))
import measured  # noqa: E402

# What is asked of each class of layouts, as a share of a copy past the caches.
LAYOUT_CLASSES = {"rows": "70 %", "bytes": "70 %", "nibbles": "45 %", "bits": "30 %", "peer": ""}
SCALING_ASKED = 1.8
LIMIT = "limit"
SHORT_STEPS = "limit in short steps"
MODEL = "model"


def runs_of(results):
    """{(codec, what, threads): [seconds per element]} of the repetitions, without the aggregates."""
    runs = {}
    for row in results["benchmarks"]:
        parts = row["name"].removesuffix("/real_time").removesuffix("/iterations:1").split("/")
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
    """Median distance of the values from their median, in percent of it."""
    middle = statistics.median(values)
    return 100 * statistics.median(abs(value - middle) for value in values) / middle


def figure(values):
    return f"{1e-9 / statistics.median(values):.3g} (±{spread(values):.0f} %)"


def share(values, limit):
    return f"{100 * statistics.median(limit) / statistics.median(values):.0f} %"


def limits_table(runs):
    rows = []
    plain = sorted({codec for codec, what, _ in runs if what == LIMIT and not any(key[0] == codec and key[1] != LIMIT for key in runs)})
    bytes_per_element = {"read": 4, "write past the caches": 4, "copy past the caches": 1}
    for codec in plain:
        cells = []
        for threads in (1, 2):
            values = runs.get((codec, LIMIT, threads))
            cells.append(f"{bytes_per_element[codec] * 1e-9 / statistics.median(values):.3g} (±{spread(values):.0f} %)" if values else "")
        rows.append([codec, *cells])
    return {"name": "moving bytes alone", "columns": ["GB/s", "1 thread", "2 threads"], "rows": rows}


def sweep_table(runs):
    rows = []
    for codec in sorted({key[0] for key in runs if key[1] == "sweep"}):
        cells = [f"{2**32 * statistics.median(values):.3g} (±{spread(values):.0f} %)" if (values := runs.get((codec, "sweep", threads))) else "" for threads in (1, 2)]
        rows.append([codec, *cells])
    return {"name": "sweeps", "columns": ["all 2^32 patterns, and the digest of their codes, seconds", "1 thread", "2 threads"], "rows": rows}


def codec_table(runs, threads):
    tiers = [tier for tier in ("portable", "avx2", "avx512") if any(key[1] == tier for key in runs)]
    rows = []
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
        rows.append([codec, *cells])
    return {"name": f"codecs, {threads} thread{'s' if threads > 1 else ''}",
            "columns": ["10^9 elements a second", "limit", *(column for tier in tiers for column in (tier, "share")), "model"], "rows": rows}


def layout_runs(results):
    """{(class, layout): {(direction, threads): [(share, bytes per second)]}} of the repetitions."""
    runs = {}
    for row in results["benchmarks"]:
        parts = row["name"].split("/")
        if row.get("run_type") != "iteration" or parts[0] != "relayout":
            continue
        threads = int(parts[4].removeprefix("threads:"))
        runs.setdefault((parts[1], parts[2]), {}).setdefault((parts[3], threads), []).append((100 * row["share"], row["GB/s"]))
    return runs


def layout_table(runs, crowded):
    ways = [(way, threads) for threads in ((1,) if crowded else (1, 2)) for way in ("apply", "undo")]
    names = {"apply": "there", "undo": "back"}
    heads = [f"{names[way]}, {threads} thread{'s' if threads > 1 else ''}" for way, threads in ways]
    rows = []
    order = list(LAYOUT_CLASSES)
    for (kind, layout), by_way in sorted(runs.items(), key=lambda item: (order.index(item[0][0]), item[0][1])):
        cells = []
        for way in ways:
            values = by_way.get(way)
            shares = [share for share, _ in values] if values else []
            cells.append(f"{statistics.median(shares):.0f} % (±{spread(shares):.0f} %), {statistics.median(rate for _, rate in values):.1f} GB/s" if values else "")
        rows.append([f"{kind}: {layout}", LAYOUT_CLASSES[kind], *cells])
    return {"name": "layouts", "columns": ["layout", "asked", *heads], "rows": rows}


def scaling_line(what, pairs):
    """What a second thread brings, from {name: (times one thread, times one thread that the limit beside it did)}."""
    if not pairs:
        return ""

    def range_of(values):
        return f"{min(values):.2f} to {max(values):.2f} times what one does, {statistics.median(values):.2f} in the middle"

    # Where two threads cannot move twice the bytes, no kernel can do twice the work.
    judged = {name: times for name, (times, limit) in pairs.items() if limit >= SCALING_ASKED}
    below = sorted(f"{name} ({times:.2f})" for name, times in judged.items() if times < SCALING_ASKED)
    line = f"Two threads do {range_of([times for times, _ in pairs.values()])}, of {what}; their limits {range_of([limit for _, limit in pairs.values()])}."
    if not judged:
        return f"{line} No limit does {SCALING_ASKED} times."
    reach = f"all do at least {SCALING_ASKED}" if not below else f"{len(judged) - len(below)} do at least {SCALING_ASKED}, the others are {', '.join(below)}"
    return f"{line} Of the {len(judged)} whose limit does at least {SCALING_ASKED} times, {reach}."


def codec_scaling(runs):
    """Of each codec on the widest tier, both by the processor's time and the clock as the tables have them."""
    widest = next((tier for tier in ("avx512", "avx2", "portable") if any(key[1] == tier for key in runs)), None)
    pairs = {}
    for codec in {key[0] for key in runs if key[1] == widest}:
        keys = [(codec, what, threads) for what in (widest, LIMIT) for threads in (1, 2)]
        if all(key in runs for key in keys):
            one, two, limit_one, limit_two = (statistics.median(runs[key]) for key in keys)
            pairs[codec] = (one / two, limit_one / limit_two)
    return pairs


def layout_scaling(runs):
    names = {"apply": "there", "undo": "back"}
    pairs = {}
    for (kind, layout), by_way in runs.items():
        for way, name in names.items():
            if kind == "peer" or (way, 1) not in by_way or (way, 2) not in by_way:
                continue
            (share_one, one), (share_two, two) = ([statistics.median(column) for column in zip(*by_way[way, threads])] for threads in (1, 2))
            pairs[f"{layout} {name}"] = (two / one, two / share_two / (one / share_one))
    return pairs


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: bench/report.py RESULTS.json docs/measured/performance.json [PROCESSOR]")
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    every = runs_of(results)
    sweeps = {key: values for key, values in every.items() if key[1] == "sweep"}
    runs = {key: values for key, values in every.items() if key not in sweeps}
    layouts = layout_runs(results)
    if not every and not layouts:
        sys.exit(f"{sys.argv[1]}: no repetitions of codecs, sweeps or layouts")
    context = results["context"]
    repetitions = max(len(values) for values in [*every.values(), *(values for ways in layouts.values() for values in ways.values())])
    crowded = context.get("load_avg", [0])[0] > context["num_cpus"]
    if crowded:
        runs, sweeps = ({key: values for key, values in some.items() if key[2] == 1} for some in (runs, sweeps))
    load = ", ".join(f"{value:.1f}" for value in context.get("load_avg", []))
    head = f"{context['num_cpus']} processors, {repetitions} repetitions of each figure in random order, load average {load} at the start."
    left_out = "More programs wanted to run than there are processors: figures of two threads are left out."
    made = {}

    def add(table, words):
        if table["rows"]:
            made[table["name"]] = {"name": table["name"], "date": context["date"][:10], **({"processor": sys.argv[3]} if len(sys.argv) == 4 else {}),
                                   "said": " ".join(filter(None, [head, words])), "columns": table["columns"], "rows": table["rows"]}

    if runs:
        add(limits_table(runs), "")
        add(codec_table(runs, 1), left_out if crowded else "")
        if not crowded:
            add(codec_table(runs, 2), scaling_line("the codecs on the widest tier", codec_scaling(runs)))
    if sweeps:
        add(sweep_table(sweeps), "")
    if layouts:
        add(layout_table(layouts, crowded), left_out if crowded else scaling_line("the layouts", layout_scaling(layouts)))
    # Tables of other runs stay.
    document = measured.read(sys.argv[2])
    known = [made.pop(table["name"], table) for table in document["tables"]]
    measured.write(sys.argv[2], {**document, "tables": [*known, *made.values()]})


if __name__ == "__main__":
    main()
