#!/usr/bin/env python3
"""docs/reference/: pages that the program's own tables are drawn into, one template for each kind. What stands there is what a verb prints with --json; nothing is typed in."""
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Program:
    """mxact: its documents and its pictures."""

    def __init__(self, path):
        self.path = str(pathlib.Path(path).resolve())
        self.seen = set()  # commands that ended well

    def run(self, *words, may=(0,)):
        done = subprocess.run([self.path, *words], capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode not in may:
            raise RuntimeError(f"mxact {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
        self.seen.add(" ".join(word for word in words if word != "--json"))
        return done

    def json(self, *words):
        return json.loads(self.run(*words, "--json").stdout)

    def command(self, words):
        """A command that a page shows; it ends well."""
        if words not in self.seen:
            self.run(*words.split())
        return f"```\nmxact {words}\n```"

    def picture(self, file, *words):
        """Whether the program draws it; what it refuses to draw has no picture."""
        file.parent.mkdir(parents=True, exist_ok=True)
        return self.run(*words, "--force", "-o", str(file.resolve()), may=(0, 2, 4)).returncode == 0


def cell(value):
    text = ", ".join(map(str, value)) if isinstance(value, list) else "yes" if value is True else "no" if value is False else "" if value is None else str(value)
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", " ").replace("*", "\\*").replace("_", "\\_")


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(map(cell, row)) + " |" for row in rows)])


def fields(value, *leave_out):
    """A table of what an object says, but for what is left out."""
    return table(["", ""], [(key.replace("_", " "), of) for key, of in value.items() if key not in leave_out and not isinstance(of, dict)
                            and not (isinstance(of, list) and of and isinstance(of[0], dict))])


def source_of(source):
    return f"{source['repository']} `{source['path']}`, `{source['symbol']}`, at `{source['commit'][:12]}`"


def evidence(words):
    return f"Evidence: **{words}**."


# What a row stands on where nothing was run; such a row says what would make a recording.
UNRUN = {"read", "source read", "published", "assumed", "not recorded"}


def wanted(words, what):
    """A sentence for a row that has no recording."""
    return f"What would make a recording where there is none: {what}." if UNRUN & {word.strip() for word in re.split(r"[;,:(]", words)} else ""


class Recordings:
    """Which sets of golden/witness have outputs of an implementation, or of a converter's building block."""

    def __init__(self):
        self.of = {}
        for path in sorted((ROOT / "golden/witness").rglob("manifest.json")):
            for entry in json.loads(path.read_text(encoding="utf-8")).get("entries", []):
                profile = entry.get("profile")
                name = str(path.parent.relative_to(ROOT / "golden/witness"))
                key = (profile["implementation"], profile["device"], profile["build"]) if isinstance(profile, dict) else entry.get("layout")
                self.of.setdefault(key, {})[name] = True
                if entry.get("op") in ("block_memory", "byte_permutation"):
                    self.of.setdefault(entry["params"]["layout"], {})[name] = True

    def sets(self, implementation, device, build):
        """An `any` of a row stands for each device and build."""
        row = (implementation, device, build)
        return sorted({name for key, names in self.of.items() if isinstance(key, tuple) and all(a == b or b == "any" for a, b in zip(key, row)) for name in names})

    def layouts(self, block):
        """ggml's blocks by the format whose blocks they are: `ggml.block_mxfp4.codes` lies as `ggml_mxfp4`, `ggml.repack_mxfp4` as `ggml_mxfp4_4x4`."""
        names = [key for key in self.of if key == block or (isinstance(key, str) and block.startswith("ggml.") and key.startswith(re.sub(r"\.(block|repack)_", "_", block).split(".")[0]))]
        return sorted({name for key in names for name in self.of[key]})


def stem(name):
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)


def link(kind, name):
    return f"[{name}](../{kind}/{stem(name)}.md)"


class Pages:
    def __init__(self, out):
        self.out = out
        self.kinds = {}

    def write(self, kind, name, rule, *parts):
        """A page; `rule` is its sentence in the list of its kind, too."""
        self.kinds.setdefault(kind, []).append((name, rule))
        folder = self.out / kind
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{stem(name)}.md").write_text("\n\n".join([f"# {name}", rule, *[part for part in parts if part]]) + "\n", encoding="utf-8")

    def write_lists(self, titles):
        for kind, (title, what) in titles.items():
            rows = "\n".join(f"| [{name}]({stem(name)}.md) | {cell(rule)} |" for name, rule in self.kinds[kind])
            (self.out / kind / "index.md").write_text(f"# {title}\n\n{what}\n\n| | |\n|---|---|\n{rows}\n", encoding="utf-8")


def formats(pages, mxact, tables):
    for entry in tables["formats"]:
        name, narrow = entry["name"], entry["bits"] <= 8
        grid = ""
        if narrow:
            values = [code["value"] for code in mxact.json("formats", "--format", name)["codes"]]
            columns = 8
            grid = table(["code", *(f"+{i:x}" for i in range(columns))], [[f"0x{i:02x}", *values[i:i + columns]] for i in range(0, len(values), columns)])
        drawn = narrow and mxact.picture(pages.out / "formats" / f"{name}.svg", "formats", "--format", name)
        pages.write("formats", name, f"{entry['bits']} bits: {entry['exponent_bits']} of exponent, {entry['mantissa_bits']} of mantissa, bias {entry['bias']}; largest {entry['max_finite']}; {'neither Inf nor NaN' if entry['specials'] == 'none' else entry['specials']}.",
                    evidence(f"published: {entry['source']}; every code of up to 16 bits is held to exact numbers"), fields(entry, "source"),
                    f"![the value of every code]({name}.svg)" if drawn else "", grid, mxact.command(f"formats --format {name}" if narrow else "formats"))
    for entry in tables["block_formats"]:
        pages.write("blocks", entry["name"], f"Elements of {entry['element']}, a scale of {entry['scale']} for {entry['block']}.".replace("for 0.", "for a row, a group or a tensor."),
                    evidence(f"published: {entry['source']}"), fields(entry, "source"), mxact.command("quantize --help"))


def releases_of(of):
    """The releases or the commit that were recorded, and what changed with them."""
    since, until = of.get("since"), of.get("until")
    words = [f"release {since}" if since == until else f"releases {since} to {until}" if until else f"releases from {since} on"] if since else []
    words += [f"commit {of['commit']}"] if "commit" in of else []
    words += [f"after release {of['after']}"] if "after" in of else []
    return ", ".join(words) + (f"; {of['change']}" if "change" in of else "")


# Largest numbers of a block.
LARGEST = ("4", "5", "6", "6.5", "7")


def scales_of(mxact, name, recipes):
    """The scales that a profile gives blocks of MXFP4 by their largest number, where it has such blocks of fp32."""
    if not any(row["format"] == "mxfp4" for row in recipes):
        return ""
    values = " ".join(f"{largest}{' 0' * 31}" for largest in LARGEST).split()
    done = mxact.run("quantize", "mxfp4", *values, "--rows", str(len(LARGEST)), "--profile", name, "--json", may=(0, 2))
    if done.returncode:
        return ""
    blocks = json.loads(done.stdout)["blocks"]
    return "## Scales of MXFP4\n\n" + table(["largest number of the block", *LARGEST], [["scale", *(f"{block['scale']} = {2.0 ** (int(block['scale'], 16) - 127):g}" for block in blocks)]])


def profiles(pages, mxact, tables, recordings):
    for entry in tables["profiles"]:
        of = mxact.json("formats", "--profile", entry["name"])["profile"]
        releases = releases_of(entry["releases"])
        parts = [table([key for key in of[kind][0] if not isinstance(of[kind][0][key], dict)],
                       [[row.get(key) for key in of[kind][0] if not isinstance(of[kind][0][key], dict)] for row in of[kind]])
                 for kind in ("conversions", "recipes", "dequantizers") if of[kind]]
        named = [f"## {kind.capitalize()}\n\n{part}" for kind, part in zip([k for k in ("conversions", "recipes", "dequantizers") if of[k]], parts)]
        sets = recordings.sets(entry["implementation"], entry["device"], entry["build"])
        document = entry["device"] == entry["build"] == "any"
        said = ((f"recorded: {releases}" if releases else "recorded") + (f" ({', '.join(sets)})" if sets else "") if releases or sets
                else "recorded" if re.search(r"(?<!not )recorded", entry["source"]) else "published" if document else "source read" if "not run" in entry["source"] else "not recorded")
        runs = "a device or library that follows this document" if document else f"this operation of {entry['implementation']} ({entry['device']})"
        pages.write("profiles", entry["name"], f"{entry['implementation']}: {entry['operation']} ({entry['device']}, {entry['build']}).", evidence(said),
                    wanted(said, f"a run of {runs} under `mxact.record` ([Python](../../python.md#other-peoples-libraries-and-recordings-of-yours))"),
                    f"Source: {entry['source']}", scales_of(mxact, entry["name"], of["recipes"]), *named, mxact.command(f"formats --profile {entry['name']}"))


# Contracts of instructions that hwcheck has no kernels for.
NO_KERNEL = ("cdna", "blackwell-")
UNASKED = "outputs of a card that has these instructions; hwcheck has no kernels for them yet"


def contracts(pages, mxact, tables):
    for entry in tables["contracts"]:
        of = mxact.json("formats", "--contract", entry["name"])["contract"]
        pages.write("contracts", entry["name"], f"Sums: {entry['accumulation']}.", evidence(f"{entry['evidence']}; grounds: {entry['grounds']}"),
                    wanted(entry["grounds"], UNASKED if entry["name"].startswith(NO_KERNEL) else "`python -m mxact.hwcheck --record=card` on a card that has these instructions ([hardware](../../hardware.md))"),
                    fields(entry, "name", "evidence", "grounds"), table(["field", "value", "meaning", "values"], [row.values() for row in of["fields"]]),
                    mxact.command(f"formats --contract {entry['name']}"))


TINY = "golden/witness/checkpoints/tiny-gpt-oss"


ASKED = ("SM90", "SM100")


def arithmetic_of(mxact, section, backend, platform):
    """How a backend computes a small layer of a section's scheme, and on what grounds that is known; nothing where no such layer can be made."""
    if section["scheme"] == "mxfp4" and section["model"].startswith("gpt-oss"):
        words = ("--layer", "0", "--x", f"{TINY}/expected.safetensors:layers.0.mlp.x", "--router", "--stages", "h13")
        return mxact.json("layer", TINY, "--backend", backend, "--platform", platform, *words)["arithmetic"]
    with tempfile.NamedTemporaryFile("w", suffix=".info") as file:
        keys = " ".join(f"{key} {section[key]}" for key in ("weight_key", "activation_key") if section[key] != "None")
        file.write(f"platform {platform} oracle {section['oracle']} {keys} layer {{ experts 2 top_k 1 hidden 256 intermediate 256 activation SILU bias false }}\n")
        file.flush()
        done = mxact.run("sim", file.name, "--backend", backend, "--tokens", "1", "--json", may=(0, 1, 2, 3, 4, 5))
    how = ((json.loads(done.stdout) if done.stdout else {}).get("result") or {}).get("execution")
    return how and f"{how['first_activations']} x {how['contract']}, {how['grounds']}" + (", known to differ" if how["known_to_differ"] else "") + (f"; launch: {how['launch']}" if how["launch"] else "")


def arithmetic(mxact, sections):
    """Of each backend and scheme: on its first and last platform, and on those that are asked for most, how it computes a small layer."""
    asked = {}
    for section in sections:
        for deployment in section["deployments"]:
            for backend, answer in deployment["backends"].items():
                if deployment["parallel"] == "tp1" and answer["state"] in ("chosen", "possible"):
                    asked.setdefault((backend, section["scheme"]), (section, {}))[1][deployment["platform"]] = True
    found = {}
    for (backend, scheme), (section, platforms) in asked.items():
        ends = (next(iter(platforms)), next(reversed(platforms)))
        for platform in (one for one in platforms if one in (*ends, *ASKED)):
            text = arithmetic_of(mxact, section, backend, platform)
            if text:
                found.setdefault(backend, []).append((scheme, platform, text))
    return found


def choices(sections):
    """Of each oracle and backend: for which models, schemes and platforms it is chosen on one rank."""
    chosen = {}
    for section in sections:
        for deployment in section["deployments"]:
            if deployment["parallel"] == "tp1" and deployment.get("chosen"):
                chosen.setdefault((section["oracle"], deployment["chosen"]), {}).setdefault((section["model"], section["scheme"]), []).append(deployment["platform"])
    return chosen


def backends(pages, mxact, oracles):
    listed = mxact.json("layout", "list")
    sections = mxact.json("matrix")["sections"]
    chosen, computes = choices(sections), arithmetic(mxact, sections)
    rows_of = {}
    for entry in listed["backends"]:
        rows_of.setdefault(entry["backend"], []).append(entry)
    for name, rows in rows_of.items():
        parts = []
        for row in rows:
            grounds = "; ".join(f"{one['engine']}: {one['grounds']}" + (f" ({one['stand_ins']} stood in)" if one.get("stand_ins") else "") for one in row["grounds"])
            file = f"{stem(name)}-{row['format']}-{len(parts)}.svg"
            scale = [one["tensor"] for one in row["tensors"] if one["tensor"].startswith("w13_weight")]
            words = ["layout", "draw", name, "--format", row["format"], "--shape", "128x128", "--by", "memory", "--engine", row["engines"].split(", ")[-1]]
            drawn = next((tensor for tensor in reversed(scale) if mxact.picture(pages.out / "backends" / file, *words, "--tensor", tensor)), None)
            parts.append(f"## {row['format']}, {row['engines']}\n\n{row['summary']}.\n\n{evidence(grounds)} Source: {source_of(row['source'])}\n\n"
                         + "".join(f"{text}\n\n" for text in [wanted(grounds, "a run of the converter of that version under `mxact.record` ([Python](../../python.md#other-peoples-libraries-and-recordings-of-yours))")] if text)
                         + table(["tensor", "bits", "padding", "way back"], [(one["tensor"], one["address_bits"], one["padding"], one["way_back"]) for one in row["tensors"]])
                         + (f"\n\n![memory of {drawn}]({file})\n\n*{drawn} of an expert of 128 x 128*" if drawn else ""))
        needs = [f"### {link('oracles', oracle)}, {row['kernel_class']}\n\n"
                 + table(["need", "otherwise", "effect", "grounds"], [(one["statement"], one["consequence"], one["effect"], one["grounds"]) for one in row["needs"]])
                 for oracle, all_rows in oracles.items() for row in all_rows if row["backend"] == name]
        who = [(oracle, model, scheme, platforms) for (oracle, backend), of in chosen.items() if backend == name for (model, scheme), platforms in of.items()]
        pages.write("backends", name, f"Weights in {', '.join(dict.fromkeys(row['format'] for row in rows))}: {rows[0]['summary']}.", *parts,
                    "\n\n".join(["## Arithmetic", "Quantizer of activations x contract, and on what grounds, for a small layer:", table(["weights", "platform", "arithmetic"], computes[name]),
                                 wanted(", ".join(words for *_, words in computes[name]), "the stages of this layer from that card: `mxact layer --expect` compares them ([layer](../../layer.md))")]).rstrip()
                    if name in computes else "",
                    "## Who chooses it\n\n" + (table(["oracle", "model", "scheme", "on one rank of"], who) if who else "No model of the matrix, on one rank."),
                    "## Needs\n\nA need that was read is recorded by a run of the kernel, on its device, on a layer that breaks it.\n\n" + "\n\n".join(needs) if needs else "", mxact.command(f"layout show {name}"))


def blocks_of_layouts(pages, mxact, recordings):
    listed = mxact.json("layout", "list")
    for entry in [*listed["building_blocks"], *listed["value_blocks"]]:
        name = entry["name"]
        drawn = "role" in entry and mxact.picture(pages.out / "layouts" / f"{stem(name)}.svg", "layout", "draw", name, "--shape", "64x8", "--by", "memory")
        said = f"recorded ({', '.join(recordings.layouts(name))})" if recordings.layouts(name) else "source read"
        pages.write("layouts", name, f"{entry['summary']}.", evidence(said) + f" Source: {source_of(entry['source'])}",
                    wanted(said, "a run of this function under `mxact.record` ([Python](../../python.md#other-peoples-libraries-and-recordings-of-yours))"), f"`{entry['formula']}`",
                    fields(entry, "name", "summary", "formula"), f"![memory]({stem(name)}.svg)" if drawn else "", mxact.command(f"layout show {name}" if "role" in entry else "layout list"))


def forms(pages, mxact):
    """Forms of checkpoints, with the models that are published so: docs/measured/forms.json."""
    of, by = json.loads((ROOT / "docs/measured/forms.json").read_text(encoding="utf-8"))["tables"]
    for name, *cells in of["rows"]:
        rows = [row for row in by["rows"] if name in row[2] or row[2] in name]
        pages.write("forms", name, f"A value is {cells[1]}.", evidence("source read"), wanted("source read", "the model's own loader: its weights as numbers, beside `mxact inspect`"), f"Tensors of an expert: {cells[0]}.", f"Rounded before loading: {cells[2]}.",
                    measured.table_of({"columns": by["columns"], "rows": rows}) if rows else "", mxact.command("inspect golden/witness/checkpoints/tiny-gpt-oss"))


def oracle_pages(pages, mxact, oracles, engine):
    for name, rows in oracles.items():
        pages.write("oracles", name, f"{len(rows)} pairs of a backend and a class of {engine}, in the order of its table.",
                    evidence("held to recorded decisions: [decisions](../../../golden/witness/ORACLE.md)"),
                    "\n".join(["| backend | class | needs |", "|---|---|---|", *(
                        f"| {link('backends', row['backend']) if row['backend'] in pages.known else row['backend']} | {row['kernel_class']} | {len(row['needs'])} |" for row in rows)]),
                    mxact.command(f"audit --oracle {name} --needs"))


def engines(pages, mxact):
    listed = mxact.json("engine", "list")
    for entry in listed["engines"]:
        pages.write("engines", entry["engine"], f"Releases {', '.join(entry['releases']) or 'none'}.", evidence("recorded, but for what the notes name"), fields(entry, "engine"),
                    "\n".join(f"* {note}" for note in listed["notes"]), mxact.command("engine list"))


def exit_codes(pages, mxact):
    text = re.sub(r"\n\s+", " ", mxact.json("help", "exit-status")["text"].strip())
    for line in text.splitlines():
        code, meaning = line.split(None, 1)
        pages.write("exit-codes", f"exit {code}", meaning[0].upper() + meaning[1:] + ".", mxact.command("help exit-status"))


def kinds_of(schema, definitions):
    """What a value may be, in words."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(kinds_of(one, definitions) for one in schema.get("anyOf", schema.get("oneOf")))
    kind = schema.get("type", "any")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    return f"{kind} of {kinds_of(schema['items'], definitions)}" if isinstance(schema.get("items"), dict) else kind


def properties_of(schema, before=""):
    """(path, schema, whether it is always there) of every property, those of inner objects with the way to them."""
    for key, value in schema.get("properties", {}).items():
        yield before + key, value, key in schema.get("required", [])
        inner = value.get("items", value) if isinstance(value.get("items", value), dict) else value
        yield from properties_of(inner, f"{before}{key}{'[]' if inner is not value else ''}.")


def json_fields(pages):
    definitions = json.loads((ROOT / "docs/schema/mxact.json").read_text(encoding="utf-8"))["$defs"]
    for name, schema in definitions.items():
        said = schema.get("description", "a part of other documents")
        rows = [(path, kinds_of(value, definitions), "always" if always else "where it applies", value.get("description", "")) for path, value, always in properties_of(schema)]
        pages.write("json", name, f"{said[0].upper()}{said[1:]}.", table(["field", "is", "there", "meaning"], rows) if rows else kinds_of(schema, definitions))


def verbs(pages, mxact, verb):
    for one in verb["verbs"]:
        rows = [(" ".join(option["names"]), option["meaning"]) for option in one["options"]]
        pages.write("verbs", one["verb"], f"{one['meaning'][0].upper()}{one['meaning'][1:]}.", table(["option", "what it does"], rows),
                    "\n".join(f"```\n{example}\n```" for example in re.findall("^for example: (.*)$", mxact.run("help", *one["verb"].split()).stdout, re.M)), mxact.command(f"help {one['verb']}"))
        verbs(pages, mxact, one)


def rules(pages, mxact):
    """The words of which a format, its conversion, blocks and integers are written."""
    of = mxact.json("formats", "--rules")
    for name, what, words, named in (("a format and its rounding", "Words of a format and of a conversion, with commas between them.", "words", "named_rules"),
                                     ("blocks", "Words of block rules, which a profile may be.", "block_words", None),
                                     ("integers with a zero point", "Words of integers with a scale and a zero point.", "integer_words", "named_integers")):
        pages.write("rules", name, what, table(of[words][0], [row.values() for row in of[words]]),
                    "## Rules that have names\n\n" + table(of[named][0], [row.values() for row in of[named]]) if named else "", mxact.command("formats --rules"))


TITLES = {
    "formats": ("Number formats", "Every number format, its codes and values."),
    "blocks": ("Block formats", "Elements that share a scale."),
    "profiles": ("Profiles", "How an implementation rounds, overflows and scales; of which releases it was recorded."),
    "rules": ("Words of rules", "Formats and rules of your own are written in these words."),
    "contracts": ("Contracts", "How a dot product is ordered and rounded, and who was seen to do so."),
    "backends": ("Backends", "Where the bytes of weights lie, what the kernels need, and who chooses them."),
    "layouts": ("Building blocks", "Moves of which layouts are made."),
    "forms": ("Forms of checkpoints", "Tensors, values, and who publishes them."),
    "oracles": ("Oracles", "Which backends an engine chooses among, by the format of the weights."),
    "engines": ("Engine versions", "What is known of each."),
    "verbs": ("Verbs", "Every verb and its options."),
    "exit-codes": ("Exit codes", "What a verb's exit status means."),
    "json": ("JSON fields", "Documents that verbs print with --json, and their parts."),
}


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: reference.py OUT MXACT: draws the program's tables as pages of OUT")
    pages, mxact = Pages(pathlib.Path(sys.argv[1])), Program(sys.argv[2])
    tables = mxact.json("formats")
    needs = mxact.json("audit", "--needs")
    oracles = {entry["oracle"]: entry["rows"] for entry in needs["oracles"]}
    recordings = Recordings()
    formats(pages, mxact, tables)
    profiles(pages, mxact, tables, recordings)
    rules(pages, mxact)
    contracts(pages, mxact, tables)
    backends(pages, mxact, oracles)
    pages.known = {name for name, _ in pages.kinds["backends"]}
    blocks_of_layouts(pages, mxact, recordings)
    forms(pages, mxact)
    oracle_pages(pages, mxact, oracles, needs["engine"])
    engines(pages, mxact)
    verbs(pages, mxact, mxact.json("help")["program"])
    exit_codes(pages, mxact)
    json_fields(pages)
    pages.write_lists(TITLES)


if __name__ == "__main__":
    main()
