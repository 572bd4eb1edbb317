"""The figures of docs/trust.md: what each says, what is asked of it, and how it is measured. Each measurement runs commands that anybody can run by hand."""
import dataclasses
import hashlib
import json
import pathlib
import re
import tempfile
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
MET, PART, MISSED = "met", "in part", "missed"


class Failed(Exception):
    """A command did not do what a measurement needs."""


@dataclasses.dataclass
class Figure:
    text: str
    verdict: str
    gap: str = ""  # what was not measured


@dataclasses.dataclass
class Row:
    id: str
    what: str
    asked: str
    measure: typing.Callable


def number(text):
    return int(text.replace(",", ""))


def found(pattern, text):
    match = re.search(pattern, text)
    if not match:
        raise Failed(f"nothing like '{pattern}' was printed")
    return match


def many(count):
    return f"{count:,}"


def whole(is_whole, is_right, text, gap):
    """Wrong is missed; right on less than what is asked is in part."""
    return Figure(text, MISSED if not is_right else MET if is_whole else PART, gap if not is_whole else "")


def held(run, *paths):
    """What recorded outputs say of the model: sets, values compared, values that differ."""
    sets = run.json(run.program("cli/mxact"), "witness", *paths, may=(0, 1))["sets"]
    return sets, sum(s["compared"] for s in sets), sum(s["differing"] for s in sets)


def decoding(run):
    run.assertions("tests/numerics/test_numerics", "every code of every format decodes to the value that the documents define")
    formats = run.json(run.program("cli/mxact"), "formats")["formats"]
    codes = sum(1 << f["bits"] for f in formats if f["bits"] <= 16)
    sets, values, wrong = held(run, "golden/witness/numerics/decode")
    return Figure(f"all {many(codes)} codes of the formats up to 16 bits against exact numbers; {many(values)} values in {sum(s['entries_equal'] for s in sets)} tables of implementations: {wrong} differ",
                  MET if wrong == 0 else MISSED)


def proof_table(kinds):
    """The table of these kinds in docs/measured/proofs.json: its commit, and the cells of its rows."""
    tables = {table["name"]: table for table in json.loads((ROOT / "docs/measured/proofs.json").read_text(encoding="utf-8"))["tables"]}
    return tables[kinds]["commit"], tables[kinds]["rows"]


def encoding(run):
    proven, rows = proof_table("conversions further")
    complete = [r for r in rows if r[2] == "4,294,967,296"]
    wrong = sum(number(r[3]) for r in rows)
    asserted = run.assertions("tests/proof/test_proof")
    missing = sorted({"/".join(r[0].split("/")[1:]) for r in rows if r not in complete})
    return whole(len(complete) == len(rows), wrong == 0,
                 f"{len(complete)} of {len(rows)} rows over all 4,294,967,296 inputs (proofs.md, commit {proven}), {wrong} wrong; every threshold of every row now ({many(asserted)} assertions)",
                 f"{len(rows) - len(complete)} rows over all inputs, of these rules: " + ", ".join(missing))


def scale_rules(run):
    if not run.thorough:
        asserted = run.assertions("tests/numerics/test_numerics", "scale bytes at and around every threshold are those of the definition")
        return whole(False, True, f"the threshold of every scale byte with 50 numbers on each side, and 2,039 numbers across the range, through every rule ({many(asserted)} assertions): 0 differences",
                     "all positive fp32 numbers: --thorough R3")
    return Figure(f"every positive fp32 number through every rule, {many(run.assertions('tests/numerics/test_numerics', '[.exhaustive]'))} assertions, 0 differences", MET)


def kernels(run):
    blocks = run.effort(1, 100_000_000)
    only = () if run.thorough else ("--only", "ocp mxfp4", "vllm nvfp4", "fp8")
    text = run.text(run.program("tests/kernels/mxact_kernels_proof"), "quantizers", "--blocks", blocks, *only)
    text += run.text(run.program("tests/kernels/mxact_kernels_proof"), "dequantizers")
    # Compared first, wrong last; a quantizer's row says between them how many were asked for.
    rows = re.findall(r"^\| (?!-)(.*?) \| ([\d,]+) \|(?: [\d,]+ \|)? ([\d,]+) \|$", text, re.M)
    total, wrong = sum(number(r[1]) for r in rows), sum(number(r[2]) for r in rows)
    layers = run.text(run.program("tests/kernels/mxact_moe_proof"), "--layers", run.effort(10, 1000))
    outputs = number(found(r"([\d,]+) outputs compared, none wrong", layers)[1])
    tiers = found(r"on the tiers (.*)", text)[1]
    return whole(total >= 10**9, wrong == 0, f"{many(total)} blocks in {len(rows)} rows on {tiers}, {wrong} wrong; {many(outputs)} outputs of fused layers, none wrong",
                 "less than 10^9 blocks; tiers of other processors are R5's")


def digests(run):
    builds = () if run.thorough else ("gcc-O0", "gcc-O3")
    text = run.text("tests/digest/matrix.sh", *builds, may=(0, 1))
    said = re.search(r"(\d+) cells of (\d+) builds, one digest: (\w+ \w+)", text)
    left = re.search(r"left out: (.*)", text)
    if not said:
        raise Failed(text[-300:])
    cells = int(said[1])
    return whole(cells >= 24 and run.thorough and not left, True, f"{cells} cells of {said[2]} builds, one digest: {said[3]}",
                 left[1] if left else "the builds of other compilers, levels and processors")


def layouts(run):
    shapes = run.effort(4, 200)
    text = run.text(run.program("tests/props/mxact_laws"), "L1", "L2", env={"RC_PARAMS": f"max_success={shapes} max_discard_ratio=100"})
    counts = [(int(a), number(b)) for a, b in re.findall(r": (\d+) shapes, ([\d,]+) elements", text)]
    broken = len(re.findall(r"^BROKEN", text, re.M))
    return whole(shapes >= 200, broken == 0, f"L1 and L2 of {len(counts)} pairs of a row and an engine, {shapes} shapes each, {many(sum(c[1] for c in counts))} elements: {broken} broken",
                 "200 shapes of every row: laws.md has the last such run")


def vendors(run):
    listed = run.json(run.program("cli/mxact"), "layout", "list")["backends"]
    sets, values, wrong = held(run, "golden/witness/layouts", "golden/witness/layouts-rows", "golden/witness/layouts-humming")
    pairs = [(f"{b['backend']} ({b['format']})", g["grounds"]) for b in listed for g in b["grounds"]]
    count = {word: sum(grounds == word for _, grounds in pairs) for word in ("run", "run by parts")}
    read = sorted({row for row, grounds in pairs if grounds not in count})
    return whole(not read and count["run"] == len(pairs), wrong == 0,
                 f"of {len(pairs)} pairs of a row and a version of the engine, its own converter was run whole for {count['run']}, with stand-ins for a device's code for {count['run by parts']}; {many(values)} values recorded, {wrong} differ",
                 f"read alone, to be recorded by a run of the converter under mxact.record: {', '.join(read)}")


def padding(run):
    shapes = run.effort(8, 200)
    text = run.text(run.program("tests/props/mxact_laws"), "L4", env={"RC_PARAMS": f"max_success={shapes} max_discard_ratio=100"})
    counts = re.findall(r": (\d+) shapes, ([\d,]+) elements", text)
    broken = len(re.findall(r"^BROKEN", text, re.M))
    return whole(shapes >= 200, broken == 0 and bool(counts), f"L4: 0x00, 0x7F, 0xFF and random bytes in the padding of {len(counts)} pairs of a row and an engine, {shapes} shapes each: {broken} broken",
                 "200 shapes of every row")


def oracle(run):
    sets, values, wrong = held(run, "golden/witness/oracle")
    audit = run.json(run.program("cli/mxact"), "audit")
    return Figure(f"{many(audit['deployments'])} deployments decided; {many(values - wrong)} of {many(values)} recorded answers of the engine agree", MET if wrong == 0 else MISSED,
                  "the recordings counted here have two commits of the engine, both of May 2026 (`vllm@2026-05`)")


def mutations(run):
    planted = run.json(run.program("cli/mxact"), "faults", may=(0, 1))["faults"]
    sample = () if run.thorough else ("--sample", 40)
    changed = run.json(run.program("cli/mxact"), "faults", "--tables", *sample, may=(0, 1))["tables"]
    killed = sum(f["killed"] for f in planted)
    tried = sum(t["changes"] - t["equivalent"] for t in changed)
    survived = sum(t["survives"] for t in changed)
    worst, table = min((1 - t["survives"] / (t["changes"] - t["equivalent"]), t["table"]) for t in changed if t["changes"] > t["equivalent"])
    return whole(run.thorough, killed == len(planted) and worst >= 0.99,
                 f"{killed} of {len(planted)} planted faults noticed; of {many(tried)} single changes of tables that change anything {many(tried - survived)}, fewest of {table} ({100 * worst:.1f} %)",
                 "a sample of the changes of tables only")


def history(run):
    rows = [line.split("|") for line in run.text(run.program("cli/mxact"), "faults", "--history").splitlines() if re.match(r"\| \d+ \|", line)]
    faults = [re.findall(r"`(\w+)`", row[4]) for row in rows]
    killed = {f["id"]: f["killed"] for f in run.json(run.program("cli/mxact"), "faults", *sorted({name for names in faults for name in names}), may=(0, 1))["faults"]}
    caught = sum(1 for names in faults if names and all(killed[name] for name in names))
    return Figure(f"{caught} of {len(rows)} bugs, each planted as a fault and noticed by a law that history.md names", MET if caught == len(rows) == 51 else MISSED)


def strength(run):
    text = run.text(run.program("tests/props/test_faults"), "[.strength]")
    parts = [(name, int(noticed), int(tried)) for name, noticed, tried in re.findall(r"^([a-z ]+): (\d+) of (\d+); missed", text, re.M) if tried != "0"]
    shares = ", ".join(f"{name} {100 * noticed / tried:.1f} %" for name, noticed, tried in parts)
    return whole(bool(parts), "All tests passed" in text, f"{many(sum(p[1] for p in parts))} of {many(sum(p[2] for p in parts))} trials (a planted fault, a law that must notice it, one of ten seeds): {shares}", "")


def vacuity(run):
    # A comma would end a name.
    asserted = sum(run.assertions(program, name.replace(",", "\\,")) for program, name in (
        ("tests/sim/test_sim_verify", "weights that cannot show a misplacement are mistrusted, not passed"),
        ("tests/sim/test_sim", "a deployment whose outputs cannot show a wrong weight is mistrusted, not*"),
        ("tests/verbs/test_verbs_report", "verify passes, fails, is mistrusted, or checked nothing"),
        ("tests/golden/vectors/test_vectors", "what is missing, doubled or replaced is never a pass"),
        ("tests/cli/test_cli", "compare says how many inputs differ, by class, and exits as cmp does")))
    return whole(False, True, f"data that no fault can disturb give MISTRUSTED, exit status 5, in verify, sim, report, ver and compare ({asserted} assertions)", "every fault class against every comparison")


def coverage(run):
    if not (ROOT / "build/coverage/build.ninja").exists() and not run.thorough:
        raise Failed("there is no coverage build: tests/trust/coverage.sh makes it")
    text = run.text("tests/trust/coverage.sh", *run.effort(("--as-it-is",), ()))
    lines, branches = float(found(r"lines: ([\d.]+) %", text)[1]), float(found(r"branches: ([\d.]+) %", text)[1])
    return whole(False, lines >= 100 and branches >= 98, f"lines {lines} %, branches {branches} % of model/", "MC/DC, which clang 18 would report and clang 16 does not")


def bins(run):
    # Random tables are drawn, not aimed.
    said = run.json(run.program("cli/mxact"), "vectors", "--coverage")
    tables = [t for t in said["coverage"]["tables"] if ".random-" not in t["table"]]
    hit, reachable, every = (sum(axis[key] for table in tables for axis in table["axes"]) for key in ("hit", "reachable", "total"))
    return Figure(f"{many(hit)} of {many(reachable)} reachable bins of {len(tables)} tables of set {said['set']}; {many(every - reachable)} unreachable ones listed with their reason", MET if hit == reachable else MISSED)


def reproducible(run):
    builds = [name for name in ("portable", "clang", "asan-ubsan") if (ROOT / f"build/{name}/cli/mxact").exists()]
    if not builds:
        raise Failed("there is no second build: cmake --preset portable && cmake --build build/portable --target mxact")
    program = run.program("cli/mxact")
    machine = run.json(program, "doctor")
    others = [tier for tier in ("avx2", "portable") if tier in ("portable", *machine["isa"]) and tier != machine["kernels"]]
    with tempfile.TemporaryDirectory() as directory:
        files, edition = found(r"(\d+) files of set (\S+) ", run.text(program, "vectors", "-o", directory)).groups()
        for tier in others:
            run.text(program, "vectors", "--check", directory, env={"MXACT_ISA": tier})
        for name in builds:
            run.text(ROOT / f"build/{name}/cli/mxact", "vectors", "--check", directory)
        digest = hashlib.sha256((pathlib.Path(directory) / edition / "SHA256SUMS").read_bytes()).hexdigest()
    compilers = {name: run.json(ROOT / f"build/{name}/cli/mxact", "doctor")["compiler"] for name in builds}
    from_builds = ", ".join(f"{name} ({compiler})" for name, compiler in compilers.items())
    # A build without an instruction set runs the tier portable of every other build.
    missing = ["a build of another compiler: cmake --preset clang"] * (set(compilers.values()) <= {machine["compiler"]}) + [f"a third tier beside {', '.join(others)}"] * (len(others) < 2)
    return whole(not missing, True,
                 f"set {edition}, {many(int(files))} files, the same bytes from release ({machine['compiler']}) on the tiers {', '.join([machine['kernels'], *others])}, and from {from_builds}; "
                 f"sha256 of SHA256SUMS {digest}", ", ".join(missing))


def fuzzing(run):
    totals = ROOT / "build/fuzz/totals.json"
    if run.thorough:
        run.text("tests/fuzz/fuzz.sh", 120, may=(0, 1))
    elif not totals.exists():
        raise Failed("no run of tests/fuzz/fuzz.sh has left its totals here")
    targets = json.loads(totals.read_text())["targets"]
    executions, seconds, findings = (sum(t[key] for t in targets.values()) for key in ("executions", "seconds", "findings"))
    return whole(executions >= 10**9 and seconds >= 24 * 3600, findings == 0,
                 f"{many(executions)} executions of {len(targets)} targets in {seconds / 3600:.1f} hours of processes, {findings} findings (fuzzing.md)", "10^9 executions and 24 hours")


def analysis(run):
    parts = ("cppcheck", "tidy", "asan", "tsan", "msan", "valgrind")
    if not run.thorough:
        # Hours of all processors: the last run of each part is a document of its own.
        document = json.loads((ROOT / "docs/measured/sanitizers.json").read_text(encoding="utf-8"))
        left = {row[0].strip("`"): number(row[document["tables"][0]["columns"].index("left")]) for row in document["tables"][0]["rows"]}
        return whole(False, set(left) == set(parts) and not any(left.values()), f"{sum(left.values())} findings left after the last runs of {', '.join(left)} ({document['date']}, sanitizers.md)",
                     "what was written since: --thorough R18 runs all six parts again")
    verdicts = [re.findall(rf"^{part}: .* findings$", run.text("tests/analysis/analyse.sh", part, may=(0, 1)), re.M)[-1] for part in parts]
    return whole(True, all(verdict.endswith(" 0 findings") for verdict in verdicts), "; ".join(verdicts), "")


def corrupt(run):
    text = run.text(run.program("tests/corrupt/test_corrupt"))
    files = number(found(r"(\d+) files, \d+ refused", text)[1])
    readers = re.findall(r"at most +(\d+) KiB beyond twice the file, at most ([\d.]+) s", text)
    beyond, slowest = max(int(r[0]) for r in readers), max(float(r[1]) for r in readers)
    return whole(beyond == 0, "All tests passed" in text and files >= 300 and slowest <= 1,
                 f"{many(files)} files for {len(readers)} readers: no crash, each refused in words or read as a good one; at most {beyond} KiB beyond twice the file, slowest {slowest} s of processor time",
                 "twice the file alone: tables and pages take a constant beside it")


def crashes(run):
    # One in fourteen has ended before its kill.
    asked = run.effort(60, 1100)
    text = run.text("tests/crash/kill.sh", asked, run.program("cli/mxact"), may=(0, 1))
    said = found(r"(\d+) kills, (\d+) torn", text)
    return whole(int(said[1]) >= 1000, said[2] == "0", f"{said[1]} kills that hit the program while it worked, of {asked} tried: {said[2]} torn files", "1,000 kills")


def flakes(run):
    repeats = run.effort(50, 1000)
    text = run.text("ctest", "--test-dir", run.build, "-L", "fast", "-j2", "--repeat", f"until-fail:{repeats}", may=(0, 8))
    failed = len(re.findall(r"\*\*\*Failed|\*\*\*Timeout|\*\*\*Exception", text))
    tests = number(found(r"tests passed, \d+ tests failed out of (\d+)", text)[1])
    return whole(repeats >= 1000, failed == 0, f"{repeats} repeats of {tests} tests, {failed} failures", "1,000 repeats")


def usability(run):
    every = [name for path in sorted((ROOT / "props/faults").glob("*.cpp")) for name in re.findall(r'FaultRow\{\s*Fault::\w+,\s*"(\w+)"', path.read_text(encoding="utf-8"))]
    faults = run.json(run.program("cli/mxact"), "faults", "--first", *run.effort(every[::16], ()), may=(0, 1))["faults"]
    right = sum(1 for f in faults if f["laws"] and f["laws"][-1]["law"] in f["named"])
    text = f"{right} of {len(faults)} of the {len(every)} planted faults: the first line names a right law"
    if len(faults) < len(every):  # a share of all is asked, which a sample neither meets nor misses
        return Figure(text, PART, "the other faults: --thorough R22")
    return Figure(text, MET if right >= 0.95 * len(every) else MISSED)


def times(run):
    def seconds(label):
        begin = time.monotonic()
        run.text("ctest", "--test-dir", run.build, "-L", label, "-j2")
        return time.monotonic() - begin
    fast, standard = seconds("fast"), seconds("standard")
    return whole(False, fast < 60, f"fast {fast:.0f} s, standard {standard:.0f} s with two tests at a time, on a machine that others may use", "exhaustive on 16 cores")


def exponential(run):
    _, functions = proof_table("functions")
    row = next(row for row in functions if row[0] == "exp")
    asserted = run.assertions("tests/numerics/test_numerics", "elementary functions are*")
    is_whole = "incomplete" not in row[1]
    inputs = row[1].removeprefix("incomplete: ")
    return whole(is_whole, row[2] == "0", f"the model's exp is the correctly rounded one (half a unit in the last place) at {inputs} of 4,294,967,296 inputs against MPFR, {row[2]} wrong; around midpoints and limits now ({many(asserted)} assertions)",
                 "the model over all inputs; the kernels' exp is proven over all 2^32 (proofs.md)")


ROWS = [
    Row("R1", "decoding equals two oracles, exhaustively", "all codes, all formats", decoding),
    Row("R2", "encoding fp32 into each format equals an independent oracle", "0 of 4,294,967,296 wrong in every row", encoding),
    Row("R3", "each scale rule equals its definition in exact integers", "all positive fp32 numbers, 0 differences", scale_rules),
    Row("R4", "kernels equal the model bit for bit", "10^9 blocks, each instruction set", kernels),
    Row("R5", "threads, instruction sets, compilers, levels change no bit", "one digest for at least 24 cells", digests),
    Row("R6", "layouts are bijections with an inverse", "every row, 200 shapes", layouts),
    Row("R7", "layouts equal the vendor's converter", "every row has an outside witness", vendors),
    Row("R8", "padding has no influence", "4 patterns, all rows, 0 bits change", padding),
    Row("R9", "the oracle decides everything and agrees with vLLM", "all of the grid; deviations listed", oracle),
    Row("R10", "mutation score", "numerics and layouts 99 %, the rest 95 %", mutations),
    Row("R11", "replay of historic bugs", "51 of 51", history),
    Row("R12", "strength of generators", "each notices 95 % at its ordinary count", strength),
    Row("R13", "vacuity", "nothing passes on data that could not have failed", vacuity),
    Row("R14", "coverage of model/", "lines 100 %, branches 98 %, MC/DC reported", coverage),
    Row("R15", "bins of the vectors", "all reachable ones, others listed", bins),
    Row("R16", "vectors are reproducible", "two compilers, three instruction sets: same bytes", reproducible),
    Row("R17", "fuzzing without a finding", "24 h and 10^9 executions", fuzzing),
    Row("R18", "sanitizers and static analysis", "0 findings", analysis),
    Row("R19", "corrupt files", "300 files, no crash, no hang, memory at most twice the file", corrupt),
    Row("R20", "crash consistency", "1,000 kills while writing, 0 torn files", crashes),
    Row("R21", "flakes", "0 in 1,000 repeats of the fast tests", flakes),
    Row("R22", "failures name the right law in their first line", "95 % of planted faults", usability),
    Row("R23", "time", "fast under 60 s, standard under 10 min on 4 cores, exhaustive under 2 h on 16", times),
    Row("R24", "error of exp", "at most 1 unit in the last place, over all fp32 inputs", exponential),
]
