"""The table of peers, as text and as a page's Markdown, and the text for an issue."""

from __future__ import annotations

from collections.abc import Sequence

from mxact.peers._hold import Held, HeldPeer, Seen, totals

Rows = list[list[str]]


def text(peers: Sequence[HeldPeer]) -> str:
    """For a terminal."""
    parts = []
    head = ["peer", "operation", "from", "to", "profile", "compared", "differ", "apart", "documents", "why, or the smallest input that differs"]
    rows = [head]
    for peer in peers:
        rows += [[f"{peer.name} {peer.version}", *_cells(row)] for row in peer.operations]
    parts.append(columns(rows))
    faults = [(peer, fault) for peer in peers for fault in peer.faults]
    if faults:
        rows = [["peer", "fault", "clause", "prints", "right", "what"]]
        rows += [[f"{peer.name} {peer.version}", fault.outcome, fault.clause, fault.printed, fault.right, fault.sentence] for peer, fault in faults]
        parts.append(columns(rows))
    skipped = [f"SKIPPED {peer.name}: {peer.skipped}" for peer in peers if peer.skipped]
    died = [f"FAILED {peer.name} {peer.version}: {peer.problem}" for peer in peers if peer.problem]
    parts.append("\n".join([*skipped, *died, summary(peers)]) + "\n")
    return "\n".join(parts)


def summary(peers: Sequence[HeldPeer]) -> str:
    count = totals(peers)
    return (
        f"{count['peers']} peers, {count['skipped']} skipped; {count['operations']} operations: {count['follows']} follow their known rule, "
        f"{count['disagrees']} disagree as is known, {count['changed']} follow another one, {count['differs']} none, {count['failed']} failed; {count['compared']} values, blocks and sums compared; {count['faults_seen']} faults seen, {count['faults_gone']} not; "
        f"{count['disagreements_seen']} known disagreements about sums seen, {count['disagreements_gone']} not"
    )


def _cells(row: Held) -> list[str]:
    if row.result is None:
        return [row.operation, row.source, row.target, "FAILED", "", "", "", "", row.problem]
    differ = f"{row.result.different + row.result.special_different} DIFFER" if row.outcome == "differs" else str(row.result.different)
    special = f"{row.result.special_different} of {row.result.special}" if row.result.special else ""
    return [row.operation, row.source, row.target, followed(row), str(row.result.compared), differ, special, against_documents(row), remark(row)]


def followed(row: Held) -> str:
    """The profile, and whether the release is one that it was recorded from."""
    if row.outcome == "differs":
        return f"nearest {row.profile}"
    if row.outcome == "disagrees":
        return f"not {row.profile}"
    if row.outcome == "changed":
        return f"CHANGED: {row.profile}, not {row.expected}"
    return row.profile if row.recorded else f"{row.profile} (of another release)"


def against_documents(row: Held) -> str:
    if row.documents is None or row.result is None:
        return "–"
    if row.documents.different == 0:
        return "as they say"
    share = 100 * row.documents.different / max(row.documents.compared, 1)
    return f"{row.documents.different} ({share:.2g} %)"


def remark(row: Held) -> str:
    """Where it differs, the difference; where the documents say otherwise, why and the smallest input."""
    if row.outcome == "differs" and row.result is not None:
        return f"expected {row.expected}; {row.result.first}"
    if row.documents is not None and row.documents.different:
        return "; ".join(part for part in (row.why, row.documents.first) if part)
    return row.known or row.why


def columns(rows: Rows) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows)


def page(peers: Sequence[HeldPeer]) -> str:
    """The tables of docs/measured/peers.json: an operation a row, all its formats together."""
    rows = [["peer", "operation", "from", "to", "follows", "compared", "differ", "not as the documents say", "why; an input"]]
    for peer in peers:
        groups: dict[tuple[str, str, str], list[Held]] = {}
        for row in peer.operations:
            if row.unit == "sums":
                continue
            groups.setdefault((row.operation, followed(row), row.outcome), []).append(row)
        rows += [[f"{peer.name} {peer.version}", f"`{operation}`", *_group(profile, some)] for (operation, profile, _), some in groups.items()]
    faults = [["peer", "clause", "what it does", "prints", "right"]]
    faults += [[f"{peer.name} {peer.version}", fault.clause, fault.sentence, f"`{fault.printed}`", f"`{fault.right}`"] for peer in peers for fault in peer.faults if fault.outcome != "gone"]
    return f"{markdown(rows)}\n{summary(peers)}.\n\n## Sums\n\n{markdown(_sums(peers))}\n## Disagreements about sums\n\n{markdown(_disagreements(peers))}\n## Faults\n\n{markdown(faults)}"


def _operands(rows: Sequence[Held]) -> str:
    """Formats of A, B and C; where each stands with each, in one."""
    parts = [row.source.split(".") for row in rows]
    sides = [list(dict.fromkeys(part[side] for part in parts)) for side in (0, 1)]
    pairs = {tuple(part[:2]) for part in parts}
    if len(pairs) < 4 or len(pairs) != len(sides[0]) * len(sides[1]) or sides[0] != sides[1]:
        return " ".join(dict.fromkeys(row.source for row in rows))
    return f"{' '.join(sides[0])}, each by each" + "".join(f"; {c}" for c in dict.fromkeys(part[2] for part in parts if len(part) > 2))


def _sums(peers: Sequence[HeldPeer]) -> Rows:
    """A class of instructions a row, all its operands together."""
    rows = [["peer", "class", "A.B.C, or A and B; C", "to", "contract", "who was seen to add so", "compared", "differ", "apart; an input that differs"]]
    for peer in peers:
        groups: dict[tuple[str, str, str], list[Held]] = {}
        for row in peer.operations:
            if row.unit == "sums":
                groups.setdefault((row.operation, followed(row), row.outcome), []).append(row)
        for (operation, contract, _), some in groups.items():
            results = [row.result for row in some if row.result]
            apart = sum(count.special for count in results)
            first = next((remark(row) for row in some if row.outcome == "differs"), "")
            words = [" ".join(dict.fromkeys(getattr(row, side) for row in some)) for side in ("target", "evidence")]
            counts = [f"{sum(count.compared for count in results):,}", f"{sum(count.different for count in results):,}"]
            rows.append(
                [f"{peer.name} {peer.version}", f"`{operation}`", _operands(some), words[0], f"`{contract}`", words[1], *counts, first or (f"{apart:,}" if apart else "")]
            )
    return rows


def _disagreements(peers: Sequence[HeldPeer]) -> Rows:
    """Operands of one class that disagree alike are one row."""
    rows = [["peer", "class", "A.B.C, or A and B; C", "contract", "what the peer does", "differ", "of", "who decides"]]
    for peer in peers:
        groups: dict[tuple[str, str, str, str], list[Held]] = {}
        for row in peer.operations:
            if row.known:
                groups.setdefault((row.operation, row.expected, row.known, row.decides), []).append(row)
        for (operation, contract, known, decides), some in groups.items():
            results = [row.result for row in some if row.result]
            counts = [f"{sum(count.special_different for count in results):,}", f"{sum(count.special for count in results):,}"]
            rows.append([f"{peer.name} {peer.version}", f"`{operation}`", _operands(some), f"`{contract}`", known, *counts, decides])
    return rows


def _group(profile: str, rows: Sequence[Held]) -> list[str]:
    """Rows of one operation that follow one profile."""
    results = [row.result for row in rows if row.result]
    told = [row for row in rows if row.documents is not None]
    wrong = sum(row.documents.different for row in told if row.documents)
    every = sum(row.documents.compared for row in told if row.documents)
    documents = "–" if not told else f"{wrong:,} ({100 * wrong / max(every, 1):.2g} %)" if wrong else "0"
    differing = next((row for row in rows if row.outcome == "differs"), None)
    worst = differing or next((row for row in told if row.documents and row.documents.different), rows[0])
    numbers = [f"{sum(count.compared for count in results):,}", f"{sum(count.different for count in results):,}"]
    return [" ".join(dict.fromkeys(row.source for row in rows)), " ".join(dict.fromkeys(row.target for row in rows)), profile, *numbers, documents, remark(worst)]


def markdown(rows: Rows) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) + "\n"


def report(peer: HeldPeer) -> str:
    """What can be pasted into an issue of the peer's project."""
    lines = [f"# {peer.distribution} {peer.version}: numerics that differ from their documents", "", f"For {peer.project}/issues.", ""]
    faults = [fault for fault in peer.faults if fault.outcome != "gone"]
    differ = [row for row in peer.operations if row.outcome in ("differs", "changed")]
    known = [row for row in peer.operations if row.known and row.result and row.result.special_different]
    if not faults and not differ and not known:
        return "\n".join([*lines, f"Nothing to report: {len(peer.operations)} operations follow rules that are known, and no known fault is seen.", ""])
    for number, fault in enumerate(faults, 1):
        lines += _fault(number, fault)
    if differ:
        lines += ["## Changed", "", f"Operations that did something else in {peer.held}:", ""]
        lines += [f"* `{row.operation}`, {row.source} to {row.target}: {_change(row)}" for row in differ]
        lines.append("")
    if known:
        lines += ["## Sums that others answer otherwise", ""]
        for operation in dict.fromkeys(row.operation for row in known):
            some = [row for row in known if row.operation == operation]
            lines.append(f"* `{operation}`, {_operands(some)}: {some[0].known}. {some[0].decides[0].upper()}{some[0].decides[1:]}.")
        lines.append("")
    return "\n".join(lines)


def _change(row: Held) -> str:
    if row.outcome == "changed" or row.result is None:
        return f"as {row.profile} does it, no longer as {row.expected}."
    return f"{row.result.different + row.result.special_different} of {row.result.compared + row.result.special} {row.unit} are nobody's; the nearest is {row.profile}. {row.result.first}"


def _fault(number: int, fault: Seen) -> list[str]:
    return [
        f"## {number}. {fault.sentence[0].upper()}{fault.sentence[1:]}",
        "",
        f"Clause: {fault.clause}.",
        "",
        "```python",
        fault.script,
        "```",
        "",
        f"prints `{fault.printed}`, must print `{fault.right}`.",
        "",
    ]
