"""Answers as a table for a terminal, as a page, and as a text for an issue."""

from __future__ import annotations

from collections.abc import Sequence

from mxact.hwcheck._hold import CHANGED, FAILED, FOLLOWS, MEASURED, MISTRUSTED, NONE, SKIPPED, Answer, totals

Rows = list[list[str]]


def summary(answers: Sequence[Answer]) -> str:
    count = totals(answers)
    return (
        f"{count['questions']} questions: {count['follows']} follow a contract, {count['changed']} another one than is known, {count['none']} none, "
        f"{count['mistrusted']} MISTRUSTED, {count['measured']} measured, {count['skipped']} skipped, {count['failed']} failed; {count['compared']:,} values compared"
    )


def facts_text(facts: dict[str, str]) -> str:
    return ", ".join(f"{key} {value}" if key != "device" else value for key, value in facts.items())


def columns(rows: Rows) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows)


def markdown(rows: Rows) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) + "\n"


def remark(row: Answer) -> str:
    """What is not plain about an answer."""
    parts = []
    if row.verdict == CHANGED:
        parts.append(f"known: {row.known}")
    if row.pieces > 1:
        parts.append(f"k in {row.pieces} pieces")
    parts += [part for part in (row.why, row.smallest) if part]
    if row.also:
        parts.append("also: " + "; ".join(row.also[:3]))
    if row.not_shown:
        parts.append("not shown: " + ", ".join(row.not_shown))
    batch = row.controls.get("batch", "")
    if batch.startswith("differs"):
        parts.append(f"a row alone {batch}")
    return ". ".join(parts)


def text(answers: Sequence[Answer], facts: dict[str, str]) -> str:
    """For a terminal."""
    rows = [["verdict", "question", "formats", "way", "compared", "differ", "remarks"]]
    asked = [row for row in answers if row.verdict not in (SKIPPED, FAILED)]
    rows += [[row.verdict, row.name, row.formats, row.way if row.verdict != NONE else f"nearest {row.way}", str(row.compared), str(row.differ), remark(row)] for row in asked]
    missing = [f"{row.verdict} {row.name}: {row.why}" for row in answers if row.verdict in (SKIPPED, FAILED)]
    return "\n".join([facts_text(facts), columns(rows), *missing, summary(answers)]) + "\n"


def _exact(row: Answer) -> str:
    return {FOLLOWS: "yes", CHANGED: "yes, but not as known", NONE: "no way found", MISTRUSTED: "MISTRUSTED"}[row.verdict]


def _products(answers: Sequence[Answer]) -> Rows:
    """An operation a row, all its formats and sizes together that follow one way."""
    rows = [["library", "operation", "asked", "formats", "follows", "k in pieces", "values", "differ", "exact", "a row alone", "remarks"]]
    groups: dict[tuple[str, ...], list[Answer]] = {}
    for row in answers:
        if row.part != "casts" and row.verdict not in (SKIPPED, FAILED, MEASURED):
            groups.setdefault((row.library, row.operation, row.way, str(row.pieces), row.verdict), []).append(row)
    for (library, operation, way, pieces, _), some in groups.items():
        formats = " ".join(dict.fromkeys(row.formats.replace(" -> ", "→") for row in some))
        counts = [f"{sum(row.compared for row in some):,}", f"{sum(row.differ for row in some):,}"]
        alone = " ".join(dict.fromkeys(row.controls.get("batch", "–") for row in some))
        name = some[0].name if len(some) == 1 else f"{some[0].name} and {len(some) - 1} more"
        rows.append([library, f"`{operation}`", f"`{name}`", formats, f"`{way}`", pieces, *counts, _exact(some[0]), alone, next((short for row in some if (short := _short(row))), "")])
    return rows


def _casts(answers: Sequence[Answer]) -> Rows:
    """A call a row, all formats together that follow one rule."""
    rows = [["library", "cast", "formats", "rule", "values", "differ in range", "profiles of them all"]]
    groups: dict[tuple[str, ...], list[Answer]] = {}
    for row in answers:
        if row.part == "casts" and row.verdict not in (SKIPPED, FAILED):
            groups.setdefault((row.library, row.operation.split(",")[0], row.way or row.why), []).append(row)
    for (library, operation, way), some in groups.items():
        formats = " ".join(row.formats.replace(" -> ", "→") for row in some)
        profiles = [name for name in some[0].also if all(name in row.also for row in some)]
        rows.append([library, f"`{operation}`", formats, way, f"{sum(row.compared for row in some):,}", f"{sum(row.differ for row in some):,}", " ".join(profiles[:3])])
    return rows


def page(answers: Sequence[Answer], facts: dict[str, str]) -> str:
    """The table "who is exact on a GPU", and beside it casts and functions."""
    casts = _casts(answers)
    functions = [["library", "function", "distance from the nearest number", "arguments"]]
    for row in answers:
        if row.verdict == MEASURED:
            functions.append([row.library, f"`{row.operation}`", row.way, f"{row.compared:,}"])
    missing = [f"* `{row.name}`: {row.verdict}, {row.why}" for row in answers if row.verdict in (SKIPPED, FAILED)]
    parts = [f"{facts_text(facts)}.", "", markdown(_products(answers))]
    parts += ["## Casts", "", markdown(casts)] if len(casts) > 1 else []
    parts += ["## Functions", "", markdown(functions)] if len(functions) > 1 else []
    return "\n".join([*parts, *(["## Not asked", "", *missing, ""] if missing else []), f"{summary(answers)}.", ""])


def _short(row: Answer) -> str:
    also = f"also fits: {row.also[0]}" if row.also and row.pieces > 1 else ""
    not_shown = f"not shown: {', '.join(row.not_shown)}" if row.not_shown else ""
    return row.smallest or row.why or ". ".join(part for part in (also, not_shown) if part)


def issue(answers: Sequence[Answer], facts: dict[str, str]) -> str:
    """What can be pasted into an issue: what no way explains, what changed, what is not trusted, and what was seen."""
    lines = [f"# Sums of {facts.get('device', 'a card')}", "", facts_text(facts) + ".", ""]
    for verdict, title in ((NONE, "No declared arithmetic gives these"), (CHANGED, "Another arithmetic than is known"), (MISTRUSTED, "Not trusted"), (FAILED, "Failed")):
        some = [row for row in answers if row.verdict == verdict]
        if some:
            lines += [f"## {title}", ""]
            lines += [f"* `{row.name}` ({row.formats}): {_sentence(row)}" for row in some]
            lines.append("")
    follows = [row for row in answers if row.verdict == FOLLOWS and row.part != "casts"]
    if follows:
        lines += ["## Follow", ""]
        lines += [f"* `{row.name}`: `{row.way}`, {row.compared:,} values, 0 differ" for row in follows]
        lines.append("")
    return "\n".join([*lines, summary(answers) + ".", ""])


def _sentence(row: Answer) -> str:
    if row.verdict == NONE:
        return f"{row.differ:,} of {row.compared:,} values differ from the nearest, `{row.way}`. {row.smallest}"
    if row.verdict == CHANGED:
        return f"`{row.way}`, known was `{row.known}` ({row.known_by})"
    return row.why
