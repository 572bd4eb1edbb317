#!/usr/bin/env python3
"""docs/measured/ and the pages beside it: documents follow their schema and are written in the one way, each page of prose links its own and stays within its lines,
no line has more than 120 columns. usage: measured_test.py SOURCE"""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "docs/site"))
import measured  # noqa: E402

# Pages of prose whose figures are documents, and how many lines each may have.
LINES = {"convert": 300, "deployment": 450, "faults": 180, "findings": 55, "fuzzing": 95, "hardware": 145, "inspect": 140, "disagreements": 430, "history": 16, "laws": 110, "sanitizers": 70, "scale": 140, "sim": 260, "numerics": 380, "moe-kernels": 165, "moe-kernels-avx2": 45, "peers": 130, "performance": 330, "portability": 75, "proofs": 115, "trust": 36, "vectors": 380}
COLUMNS = 120
WORDS = 40000
# Pages that a stranger reads first.
SHORT = {"README.md": 600, "CHANGELOG.md": 350}

wrong = []


def check(right, words):
    if not right:
        wrong.append(words)


def check_documents():
    for path in sorted((ROOT / "docs/measured").iterdir()):
        check(path.suffix == ".json", f"{path.name}: docs/measured/ has documents alone")
        text = path.read_text(encoding="utf-8")
        document = measured.read(path)
        for words in measured.problems(document):
            check(False, f"{path.name}: {words}")
        check(text == measured.written(document), f"{path.name} is not written as measured.py writes it")
        page = ROOT / document["page"]
        check(page.is_file() and f"](measured/{path.name})" in page.read_text(encoding="utf-8"), f"{document['page']} does not link measured/{path.name}")
        check(page.stem in LINES, f"{document['page']} has no number of lines here")
    for name, lines in LINES.items():
        has = len((ROOT / f"docs/{name}.md").read_text(encoding="utf-8").splitlines())
        check(has <= lines, f"docs/{name}.md has {has} lines, {lines} at most: figures belong to docs/measured/")


def check_columns():
    """Every line of every page: prose, tables, commands and what they print."""
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name not in ("build", "node_modules") and not path.name.startswith(".")]
    pages = [*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))]
    check(len(pages) > 50, f"{len(pages)} pages are looked at")
    for path in pages:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            check(len(line) <= COLUMNS, f"{path.relative_to(ROOT)}:{number}: {len(line)} columns, {COLUMNS} at most")


def check_words():
    """What a stranger may have to read: all that is written by hand and is no example. Pages that are drawn and docs/measured/ are not counted."""
    words = 0
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/recipes").glob("*.md")]:
        fence = False
        for line in path.read_text(encoding="utf-8").splitlines():
            fence ^= line.lstrip().startswith("```")
            words += 0 if fence else len(line.split())
    print(f"{words} words of prose and tables, {WORDS} at most")
    for name, most in SHORT.items():
        has = len((ROOT / name).read_text(encoding="utf-8").split())
        check(has <= most, f"{name} has {has} words, {most} at most")
    check(words <= WORDS, f"{words} words of prose and tables, {WORDS} at most: figures belong to docs/measured/, what the tables know to pages that are drawn")


def check_judge():
    """A document that is wrong is called so."""
    good = {"page": "docs/a.md", "title": "a", "evidence": "measured", "tables": [{"name": "b", "columns": ["c", "d"], "rows": [["1", "2"]]}]}
    check(measured.problems(good) == [], "a document that is right is called wrong")
    row, table = [["1", "2"]], good["tables"][0]
    for bad in ({**good, "evidence": "rumour"}, {**good, "date": ""}, {**good, "colour": "red"}, {**good, "entries": [{}]}, {**good, "tables": [table, table]},
                {**good, "tables": [{**table, "rows": [["1"]]}]}, {**good, "tables": [{"name": "b", "rows": row}]}, {**good, "title": 7},
                {key: value for key, value in good.items() if key != "evidence"}, {"page": "docs/a.md", "title": "a", "entries": [{"title": "e", "evidence": "run"}]}):
        check(measured.problems(bad), f"a wrong document is called right: {bad}")
    check(measured.taken(good, "text\n\n| e | |\n|---|---|\n| 6 | 7 |\n\n| c | d |\n|---|--:|\n| 3\\|4 | 5 |\n")["tables"][0]["rows"] == [["3|4", "5"]], "a page's table is not taken")
    try:
        measured.taken(good, "| c | e |\n|---|---|\n| 3 | 4 |\n")
        check(False, "a table of other columns is taken")
    except ValueError:
        pass
    page = measured.drawn(good, "../a.md")
    check("evidence: measured (clocks and counts of runs here); not recorded: date, processor, commit, command" in page, "a page does not say what was not recorded")
    check("| c | d |\n|---|--:|\n| 1 | 2 |\n" in page, "a page has not its table")
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "a.json")
        measured.write(path, good)
        check(measured.read(path) == good, "a document is not read as it was written")
        try:
            measured.write(path, {**good, "tables": []})
            check(False, "a document without tables is written")
        except ValueError:
            check(measured.read(path) == good, "a wrong document takes the place of a right one")


check_documents()
check_columns()
check_words()
check_judge()
for words in wrong:
    print(words)
print("documents and pages are what they should be" if not wrong else f"{len(wrong)} wrong")
sys.exit(1 if wrong else 0)
