"""The table of peers, as text and as a page's Markdown, and the text for an issue."""

from __future__ import annotations

from collections.abc import Sequence

from mxact.peers._hold import Held, HeldPeer, Seen, totals

Rows = list[list[str]]


def text(peers: Sequence[HeldPeer]) -> str:
    """For a terminal."""
    parts = []
    head = ["peer", "operation", "from", "to", "profile", "compared", "differ", "NaN, Inf", "documents", "why, or the smallest input that differs"]
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
        f"{count['changed']} another one, {count['differs']} none, {count['failed']} failed; {count['compared']} values and blocks compared; {count['faults_seen']} faults seen, {count['faults_gone']} not"
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
    return row.why


def columns(rows: Rows) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows)


def page(peers: Sequence[HeldPeer]) -> str:
    """The tables of docs/peers.md: an operation a row, all its formats together."""
    rows = [["peer", "operation", "from", "to", "follows", "compared", "differ", "not as the documents say", "why; an input"]]
    for peer in peers:
        groups: dict[tuple[str, str, str], list[Held]] = {}
        for row in peer.operations:
            groups.setdefault((row.operation, followed(row), row.outcome), []).append(row)
        rows += [[f"{peer.name} {peer.version}", f"`{operation}`", *_group(profile, some)] for (operation, profile, _), some in groups.items()]
    faults = [["peer", "clause", "what it does", "prints", "right"]]
    faults += [[f"{peer.name} {peer.version}", fault.clause, fault.sentence, f"`{fault.printed}`", f"`{fault.right}`"] for peer in peers for fault in peer.faults if fault.outcome != "gone"]
    return f"{markdown(rows)}\n{summary(peers)}.\n\n## Faults\n\n{markdown(faults)}"


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
    if not faults and not differ:
        return "\n".join([*lines, f"Nothing to report: {len(peer.operations)} operations follow rules that are known, and no known fault is seen.", ""])
    for number, fault in enumerate(faults, 1):
        lines += _fault(number, fault)
    if differ:
        lines += ["## Changed", "", f"Operations that did something else in {peer.held}:", ""]
        lines += [f"* `{row.operation}`, {row.source} to {row.target}: {_change(row)}" for row in differ]
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
