#!/usr/bin/env python3
"""Puts the figures of mxact_bench's moe_ benchmarks into a document of docs/measured/ and a picture: bench/moe_report.py RESULTS.json docs/measured/moe-kernels.json docs/moe-roofline.svg [PROCESSOR]

The run has repetitions (--benchmark_repetitions) in random order (--benchmark_enable_random_interleaving). Each figure is the median of its repetitions
with half the distance of its quartiles, in percent of it, beside it. The share of the machine's limit is measured in the same process at the same moment.
Where the run has peers (libraries that multiply weights which were dequantized for them), an engine's figure ends with how many times the fastest one's
rate of the same size it is. Two threads are shown as how many times one thread's rate they reach, and how many times one thread's limit the machine
allowed them at the time. The model's own rate (moe_reference) stands in a table of its own, with how many times that the engines reach.
"""

import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs/site"))
import measured  # noqa: E402


def runs_of(results):
    """{(what, column, threads): [(rate, share, limit)]}: what is a kernel with its formats and N, or a layer's contract; column is M or tokens."""
    runs = {}
    for row in results["benchmarks"]:
        parts = row["name"].split("/")
        if row.get("run_type") != "iteration" or parts[0] not in ("moe_gemm", "moe_layer", "moe_reference") or "error_occurred" in row:
            continue
        if parts[0] != "moe_reference" and "limit" not in row:
            continue  # no limit is known for this kind of processor
        fields = dict(part.split(":", 1) for part in parts[2:] if ":" in part)
        column = int(fields.get("M", fields.get("tokens", "0")))
        # A library says which of its implementations it chose.
        chosen = f" ({row['label']})" if row.get("label") else ""
        words = [parts[1] + chosen] + [f"{key}:{fields[key]}" for key in ("w", "x", "N") if key in fields]
        runs.setdefault((parts[0], " ".join(words), column, int(fields["threads"])), []).append((row["rate"], row.get("share", 0), row.get("limit", 0)))
    return runs


PEER = "peer "


def rate_of(values):
    return statistics.median(rate for rate, _, _ in values)


def size_of(what):
    return what.rsplit("N:", 1)[-1]


def fastest_peer(runs, key):
    """The rate of the fastest peer of a product's size and threads, or None."""
    kind, what, column, threads = key
    rates = [rate_of(values) for (k, w, c, t), values in runs.items() if (k, c, t) == (kind, column, threads) and w.startswith(PEER) and size_of(w) == size_of(what)]
    return None if kind != "moe_gemm" or what.startswith(PEER) or not rates else max(rates)


def figure(runs, key):
    values = runs[key]
    rates = [rate for rate, _, _ in values]
    text = f"{1e-9 * statistics.median(rates):.0f}"
    if len(rates) >= 3:
        low, middle, high = statistics.quantiles(rates, n=4)
        text += f" (±{50 * (high - low) / middle:.0f} %)"
    text += f", {100 * statistics.median(share for _, share, _ in values):.0f} %"
    peer = fastest_peer(runs, key)
    return text if peer is None else f"{text}, {rate_of(values) / peer:.1f}x"


def to_one_thread(runs, key):
    """A figure of two threads beside that of one, and the limit of two beside that of one."""
    kind, what, column, _ = key
    one = runs.get((kind, what, column, 1))
    text = f"{1e-9 * rate_of(runs[key]):.0f}"
    if one is None:
        return text
    limit = lambda values: statistics.median(limit for _, _, limit in values)
    return f"{text}, {rate_of(runs[key]) / rate_of(one):.2f}x of {limit(runs[key]) / limit(one):.2f}x"


def of_threads(threads):
    return f"{threads} thread{'s' if threads > 1 else ''}"


def tables(runs, threads):
    made = []
    for kind, column in (("moe_gemm", "M"), ("moe_layer", "tokens")):
        keys = [key for key in runs if key[0] == kind and key[3] == threads]
        columns = sorted({key[2] for key in keys})
        if not keys:
            continue
        if threads == 1:
            of = "share of the limit" if kind == "moe_gemm" else "share of its products alone"
            if kind == "moe_gemm" and any(key[1].startswith(PEER) for key in keys):
                of += ", times the fastest peer"
            cell = figure
        else:
            of = f"times one thread, of what its {'limit' if kind == 'moe_gemm' else 'products'} allowed two"
            cell = to_one_thread
        # The larger products first, the peers last.
        order = lambda what: (-int(size_of(what)) if kind == "moe_gemm" else 0, what.startswith(PEER), what)
        rows = [[what, *(cell(runs, (kind, what, c, threads)) if (kind, what, c, threads) in runs else "" for c in columns)]
                for what in sorted({key[1] for key in keys}, key=order)]
        made.append({"name": f"{'products' if kind == 'moe_gemm' else 'layers'}, {of_threads(threads)}",
                     "columns": [f"GFLOP/s, {of}", *(f"{column}={c}" for c in columns)], "rows": rows})
    return made


def beside_reference(runs):
    """The model's rate with each contract and format of weights, and how many times that the fastest kernel of the smaller matrix is."""
    references = sorted(key for key in runs if key[0] == "moe_reference")
    products = [key for key in runs if key[0] == "moe_gemm" and key[3] == 1 and key[1].endswith("N:2880") and not key[1].startswith(PEER)]
    if not references or not products:
        return []
    columns = sorted({key[2] for key in products})
    rows = []
    for reference in references:
        contract, weights = reference[1].split(" ")
        rate = rate_of(runs[reference])
        cells = []
        for column in columns:
            rates = [rate_of(runs[key]) for key in products if key[2] == column and key[1].startswith(contract) and key[1].endswith(f"{weights} N:2880")]
            cells.append(f"{max(rates) / rate:.0f}x" if rates else "")
        rows.append([reference[1], f"{1e-6 * rate:.0f}", *cells])
    return [{"name": f"the model, {of_threads(1)}", "columns": ["MFLOP/s, and how many times that the fastest kernel is", "model", *(f"M={c}" for c in columns)],
             "rows": rows}]


def roofline(runs):
    """Rates of one thread's products over their limits, both axes logarithmic: what lies on the diagonal is as fast as the machine."""
    size, margin = 480, 60
    points = [(statistics.median(v[2] for v in values), statistics.median(v[0] for v in values), key)
              for key, values in sorted(runs.items()) if key[0] == "moe_gemm" and key[3] == 1 and not key[1].startswith(PEER)]
    low = math.log10(min(min(x, y) for x, y, _ in points)) - 0.1
    high = math.log10(max(max(x, y) for x, y, _ in points)) + 0.1
    place = lambda value: margin + (math.log10(value) - low) / (high - low) * size
    flip = lambda value: 2 * margin + size - place(value)
    whole = size + 2 * margin
    colours = {"bf16-block": "#0072b2", "bf16-chain": "#009e73", "bf16-pair": "#cc79a7", "int8-block": "#d55e00"}
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" font-family="sans-serif" font-size="12">',
           f'<rect width="{whole}" height="{whole}" fill="white"/>',
           f'<line x1="{margin}" y1="{whole - margin}" x2="{whole - margin}" y2="{margin}" stroke="black"/>']
    for tick in (10, 20, 50, 100, 200, 500, 1000):
        if low < math.log10(tick * 1e9) < high:
            svg.append(f'<text x="{place(tick * 1e9):.1f}" y="{whole - margin + 18}" text-anchor="middle">{tick}</text>')
            svg.append(f'<text x="{margin - 6}" y="{flip(tick * 1e9) + 4:.1f}" text-anchor="end">{tick}</text>')
    svg.append(f'<text x="{whole / 2}" y="{whole - 16}" text-anchor="middle">limit of the machine, GFLOP/s, one thread</text>')
    svg.append(f'<text x="16" y="{whole / 2}" text-anchor="middle" transform="rotate(-90 16 {whole / 2})">measured</text>')
    for x, y, (_, what, column, _) in points:
        svg.append(f'<circle cx="{place(x):.1f}" cy="{flip(y):.1f}" r="4" fill="{colours[what.split(" ")[0]]}" fill-opacity="0.6"><title>{what}, M={column}: {100 * y / x:.0f} %</title></circle>')
    for i, (name, colour) in enumerate(colours.items()):
        svg.append(f'<circle cx="{margin + 16}" cy="{margin + 16 + 20 * i}" r="4" fill="{colour}"/><text x="{margin + 28}" y="{margin + 20 + 20 * i}">{name}</text>')
    return "\n".join([*svg, "</svg>", ""])


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: bench/moe_report.py RESULTS.json DOCUMENT.json PICTURE.svg [PROCESSOR]")
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    runs = runs_of(results)
    if not any(key[0] == "moe_gemm" and key[3] == 1 and not key[1].startswith(PEER) for key in runs):
        sys.exit(f"{sys.argv[1]}: no products of one thread")
    context = results["context"]
    load = ", ".join(f"{value:.1f}" for value in context.get("load_avg", []))
    crowded = context.get("load_avg", [0])[0] > context["num_cpus"]
    repetitions = max(len(values) for values in runs.values())
    document = measured.read(sys.argv[2])
    said = f"Run of {context['num_cpus']} processors, {repetitions} repetitions of each figure, load average {load} at the start."
    if crowded:
        said += " More programs wanted to run than there are processors: figures of two threads are left out."
    document.pop("processor", None)
    # Tables of other runs stay.
    written = ("products, ", "layers, ", "the model, ")
    others = [table for table in document["tables"] if not table["name"].startswith(written)]
    document |= {"about": [said], "date": context["date"][:10], **({"processor": sys.argv[4]} if len(sys.argv) == 5 else {}),
                 "tables": [*tables(runs, 1), *beside_reference(runs), *([] if crowded else tables(runs, 2)), *others]}
    measured.write(sys.argv[2], document)
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.write(roofline(runs))


if __name__ == "__main__":
    main()
