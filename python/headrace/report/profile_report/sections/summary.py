"""The verdict in one sentence, the time balance, and the best changes."""

from collections.abc import Sequence

from headrace.quantities import duration, percent
from headrace.report.document.content import (
    Block,
    Bullets,
    Facts,
    Paragraph,
    Picture,
    Section,
    foreign,
)
from headrace.report.profile_report.data import Document, ProfileData
from headrace.views.profile_values import Change, changes, error_text, speedup, timestamp
from headrace.views.time_balance import main_parts
from headrace.views.verdict_words import verdict_words

MOST_CHANGES = 3
"""Changes in the summary."""
NOT_SEEN = "Sampling cannot show race conditions and deadlocks (Hindman 2011, section 5.1)."


def section(data: ProfileData, pictures: Sequence[Picture]) -> Section:
    """Return the verdict, the best change, the run in a few lines and its I/O profile."""
    blocks: list[Block] = [Paragraph(verdict(data), "lead")]
    advised = changes(data.phases)
    if advised:
        blocks.append(Bullets([best_change(change, data) for change in advised[:MOST_CHANGES]]))
    elif data.phases:
        blocks.append(
            Paragraph("No change has a predicted gain that is large enough to be advised.")
        )
    blocks += [Facts(_run(data)), *pictures, Paragraph(NOT_SEEN, "note")]
    return Section("verdict", "Verdict", blocks)


def verdict(data: ProfileData) -> str:
    """Return the verdict of the whole run as a sentence."""
    name = foreign(data.profile.get("name") or "The application", 80)
    word = data.profile.get("verdict")
    if word is None:
        why = "." if data.rates.height else ": no interval was sampled."
        return f"The limit of {name} is unknown{why}"
    phases = data.phases
    limited = sum(phase["to_s"] - phase["from_s"] for phase in phases if phase["verdict"] == word)
    total = data.duration_s
    share = f" for {percent(limited / total)} % of {duration(total)}" if total > 0 else ""
    parts = main_parts(data.balances)
    balance = f" Its time: {parts}." if parts else ""
    return f"{name} was limited by {verdict_words(word).limit}{share} (verdict: {word}).{balance}"


def best_change(change: Change, data: ProfileData) -> str:
    """Return a change as a sentence with its gain."""
    saved = f" ({percent(change.saved_s / data.duration_s)} %)" if data.duration_s > 0 else ""
    phase, gain, error = change.best
    description = foreign(change.description).removesuffix(".")
    known = "" if error is None else f" Error of the model there: {error_text(error)}."
    return (
        f"{description[:1].upper()}{description[1:]}. Predicted: phase {phase} runs"
        f" {speedup(gain)}, and the whole run takes {duration(change.saved_s)}{saved} less.{known}"
    )


def _run(data: ProfileData) -> list[tuple[str, str]]:
    profile = data.profile
    status = profile.get("exit_status")
    rows = [
        ("Command", _command(profile)),
        ("Started", timestamp(profile.get("started", ""))),
        ("Duration", duration(data.duration_s)),
        ("Exit status", "unknown" if status is None else str(status)),
        ("Hosts", foreign(", ".join(map(str, profile.get("hosts") or [])))),
    ]
    count = data.rates.height
    every = profile.get("interval_s")
    rows.append(("Samples", f"{count} intervals" + (f" of {duration(every)}" if every else "")))
    return rows


def _command(profile: Document) -> str:
    return foreign(" ".join(map(str, profile.get("command") or [])) or "none: it was attached to")
