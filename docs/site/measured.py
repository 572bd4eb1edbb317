#!/usr/bin/env python3
"""docs/measured/: what tools measured, a JSON document for each page of the site that is drawn from it.

A document has `page` (the page of prose that links it), `title`, `about` (paragraphs of Markdown) and either `tables` or `entries`. Facts of a run stand on the
document or on one of its tables: `evidence` (a class of EVIDENCE), `date`, `processor`, `commit`, `command`; what a run did not leave is left out, and the site says
that it was not recorded.
"""
import json
import pathlib
import re
import subprocess
import sys

FACTS = ("evidence", "date", "processor", "commit", "command")
EVIDENCE = {
    "silicon": "outputs of a device that we ran",
    "recorded": "the real code was run, and its outputs are kept",
    "run": "the real code was run and compared",
    "run by parts": "parts of the real code were run; what stood in for the rest is named",
    "source read": "read in the source that is named; nothing was run",
    "assumed": "nobody ran it, read it or published it",
    "proven": "computed here against a second derivation that shares nothing with the first",
    "measured": "clocks and counts of runs here",
}
DOCUMENT = {"page": str, "title": str, "about": list, "tables": list, "entries": list}
TABLE = {"name": str, "said": str, "columns": list, "rows": list}
ENTRY = {"title": str, "tests": list, "grounds": str, "text": str}


def problems(document):
    """What is wrong with a document, in words; none when nothing is."""
    found = []

    def keys(part, known, needed, where):
        for key, value in part.items():
            if key not in known and key not in FACTS:
                found.append(f"{where}: no key '{key}' is known")
            elif not isinstance(value, known.get(key, str)) or not value:
                found.append(f"{where}: '{key}' is empty or of another type")
        found.extend(f"{where}: '{key}' is missing" for key in needed if key not in part)
        if "evidence" in part and part["evidence"] not in EVIDENCE:
            found.append(f"{where}: no evidence class '{part['evidence']}'")

    keys(document, DOCUMENT, ("page", "title"), "the document")
    if ("tables" in document) == ("entries" in document):
        found.append("the document: either 'tables' or 'entries'")
    for table in document.get("tables", []):
        where = f"table '{table.get('name')}'"
        keys(table, TABLE, ("name", "columns", "rows"), where)
        if "evidence" not in document and "evidence" not in table and "evidence" not in table.get("columns", []):
            found.append(f"{where}: no evidence class")
        found.extend(f"{where}: a row has {len(row)} cells: {row}" for row in table.get("rows", []) if len(row) != len(table.get("columns", [])))
    for entry in document.get("entries", []):
        keys(entry, ENTRY, ("title", "evidence", "tests", "text"), f"entry '{entry.get('title')}'")
    names = [part.get("name", part.get("title")) for part in document.get("tables", document.get("entries", []))]
    found.extend(f"two parts are named '{name}'" for name in sorted(set(names)) if names.count(name) > 1)
    return found


def line_of(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def written(document):
    """The one way in which a document is written: a line for each key, and one for each row of a table."""
    def part(value):
        if not isinstance(value, dict) or "rows" not in value:
            return line_of(value)
        head = line_of({key: of for key, of in value.items() if key != "rows"})[:-1]
        return head + ',"rows":[\n' + ",\n".join(line_of(row) for row in value["rows"]) + "]}"

    order = ("page", "title", "about", *FACTS, "tables", "entries")
    lines = [f'"{key}":' + ("[\n" + ",\n".join(part(one) for one in value) + "]" if isinstance(value, list) else line_of(value))
             for key, value in sorted(document.items(), key=lambda item: order.index(item[0]))]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def write(path, document):
    wrong = problems(document)
    if wrong:
        raise ValueError(f"{path}: " + "; ".join(wrong))
    pathlib.Path(path).write_text(written(document), encoding="utf-8")


def taken(document, page):
    """The document with the rows of a page's Markdown tables in the places of those that have the same columns; the page's other tables are passed over. ValueError where
    two tables of the document have the columns, or none has any."""
    tables = []
    for line in page.splitlines():
        cells = [one.strip().replace("\\|", "|") for one in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            tables.append([])
        elif not all(re.fullmatch(r":?-+:?", one) for one in cells):
            tables = tables or [[]]
            tables[-1].append(cells)
    made, found = {**document, "tables": list(document["tables"])}, 0
    for head, *rows in filter(None, tables):
        places = [i for i, table in enumerate(made["tables"]) if table["columns"] == head]
        if len(places) > 1:
            raise ValueError(f"{len(places)} tables have the columns {head}")
        if places:
            made["tables"][places[0]] = {**made["tables"][places[0]], "rows": rows}
            found += 1
    if not found:
        raise ValueError("the page has no table with the columns of one of the document")
    return made


def facts(part):
    asked = [key for key in FACTS if key not in part["columns"]]
    words = {key: part[key] for key in asked if key in part}
    if "evidence" in part:
        words["evidence"] += f" ({EVIDENCE[part['evidence']]})"
    for key in ("commit", "command"):
        if key in part:
            words[key] = f"`{part[key]}`"
    if missing := [key for key in asked if key not in part]:
        words["not recorded"] = ", ".join(missing)
    return "*" + "; ".join(f"{key}: {word}" for key, word in words.items()) + "*"


def cell(text):
    return re.sub(r"(?<!\\)\|", r"\\|", str(text))


def numeric(table, column):
    return column > 0 and all(re.match(r"^[-+±]?[\d.,^]*\d", row[column]) for row in table["rows"] if row[column])


def table_of(table):
    head = "| " + " | ".join(cell(name) for name in table["columns"]) + " |"
    rule = "|" + "|".join("--:" if numeric(table, i) else "---" for i in range(len(table["columns"]))) + "|"
    return "\n".join([head, rule, *("| " + " | ".join(cell(one) for one in row) + " |" for row in table["rows"])])


def drawn_from(what, home):
    return f"{what}; the page [{pathlib.PurePosixPath(home).stem}]({home}) says how to read it."


def drawn(document, home):
    """The page of a document, as Markdown; `home` is the way to the page of prose from where the page lies."""
    parts = [f"# {document['title']}", drawn_from("Drawn from what tools wrote", home)]
    parts += document.get("about", [])
    for table in document.get("tables", []):
        if len(document["tables"]) > 1:
            parts.append(f"## {table['name'][0].upper()}{table['name'][1:]}")
        parts += [facts({**{key: document[key] for key in FACTS if key in document}, **table})]
        parts += [part for part in (table.get("said"), table_of(table)) if part]
    for entry in document.get("entries", []):
        tests = ", ".join(f'"{name}"' for name in entry["tests"])
        parts += [f"## {entry['title']}", " ".join([f"Evidence: **{entry['evidence']}** ({EVIDENCE[entry['evidence']]}).", *([entry["grounds"]] if "grounds" in entry else []), f"Held by {tests}."]), entry["text"]]
    return "\n\n".join(parts) + "\n"


# Pages that the program prints: their title, the page of prose, and the words of the command.
PRINTED = {"ledger": ("The ledger of findings", "findings.md", ("audit", "--ledger"))}


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "take":
        write(sys.argv[2], taken(read(sys.argv[2]), pathlib.Path(sys.argv[3]).read_text(encoding="utf-8")))
        return
    if len(sys.argv) != 4:
        sys.exit("usage: measured.py FOLDER OUT MXACT: draws every FOLDER/NAME.json, and what the program prints, as OUT/NAME.md\n"
                 "       measured.py take DOCUMENT.json PAGE.md: takes the tables of a page that a tool printed")
    folder, out = map(pathlib.Path, sys.argv[1:3])
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.json")):
        document = read(path)
        if wrong := problems(document):
            sys.exit(f"{path}: " + "; ".join(wrong))
        page = pathlib.PurePosixPath(document["page"])
        (out / f"{path.stem}.md").write_text(drawn(document, f"../{page.name}"), encoding="utf-8")
    for name, (title, page, words) in PRINTED.items():
        text = subprocess.run([sys.argv[3], *words], check=True, capture_output=True, text=True).stdout
        head = f"# {title}\n\n{drawn_from(f'`mxact {chr(32).join(words)}` prints it', f'../{page}')}\n\n"
        (out / f"{name}.md").write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
