"""Values of a profile in words, for its report and its tables."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from headrace.plain_text import plain_line
from headrace.profile.document import LEVELS
from headrace.quantities import duration, figure, number, percent, percent_text, size, whole

Document = Mapping[str, Any]
UNKNOWN = "\N{EN DASH}"
NO_VERDICT = "unknown"
"""Verdict of a phase in which no rule holds."""


def with_unit(value: float | None, unit: str) -> str:
    """Return a figure with its unit; a ratio in percent."""
    if value is None:
        return UNKNOWN
    if unit in ("B", "B/s"):
        return size(value) + unit[1:]
    if unit == "s":
        return duration(value)
    if unit == "1/s":
        return f"{_count(value)}/s"
    if unit == "":
        return f"{percent(value)} %"
    return f"{figure(value)} {unit}"


def _count(value: float) -> str:
    return whole(round(value)) if abs(value) >= 100 else figure(value)


def share_of(value: float | None, baseline: float | None) -> str:
    """Return a figure in percent of its baseline."""
    if value is None or not baseline:
        return UNKNOWN
    return percent_text(value / baseline)


def speedup(gain: float) -> str:
    """Return a predicted gain: how many times as fast the phase runs after the change."""
    return f"{times(gain)} as fast"


def times(gain: float) -> str:
    """Return the same in two words."""
    return f"{number(round(1 + gain, 2))} times"


def error_text(error: float | None) -> str:
    """Return the error of the model in percent, with its sign."""
    return UNKNOWN if error is None else percent_text(error, sign=True)


def timestamp(text: object) -> str:
    """Return a time in ISO 8601 as date and time."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return plain_line(str(text))
    zone = " UTC" if moment.utcoffset() == timedelta(0) else ""
    return f"{moment:%Y-%m-%d %H:%M:%S}{zone}"


class Change(NamedTuple):
    """A change with its predicted effect on the whole run."""

    name: str
    level: str
    description: str
    source: str
    gains: list[tuple[int, float, float | None]]
    """Phase, from 1, predicted gain there, and error of the model; the best of a phase if there are
    several."""
    saved_s: float
    """Predicted shortening of the run in seconds, if the other phases stay as they are."""

    @property
    def best(self) -> tuple[int, float, float | None]:
        """Phase with the largest gain, that gain, and the error of the model there."""
        return max(self.gains, key=lambda one: one[1])


def changes(phases: Sequence[Document]) -> list[Change]:
    """Return the advised changes, the one that saves most time first."""
    gains: dict[str, Change] = {}
    for at, phase in enumerate(phases, 1):
        seconds = phase["to_s"] - phase["from_s"]
        best: dict[str, Document] = {}
        for advice in phase.get("advice") or []:
            before = best.get(advice["change"])
            if before is None or advice["predicted_gain"] > before["predicted_gain"]:
                best[advice["change"]] = advice
        for name, advice in best.items():
            gain = advice["predicted_gain"]
            saved = seconds * (1 - 1 / (1 + gain)) if gain > -1 else 0.0
            known = gains.get(name)
            gains[name] = Change(
                name,
                advice.get("level") or advice.get("kind", ""),
                advice["description"] if known is None else known.description,
                advice.get("source", "") if known is None else known.source,
                [*(known.gains if known else []), (at, gain, advice.get("error"))],
                saved + (known.saved_s if known else 0.0),
            )
    return sorted(gains.values(), key=lambda change: -change.saved_s)


def by_level(phases: Sequence[Document]) -> list[tuple[str, Change]]:
    """Return the advised changes grouped by level, which the first one of a group has."""
    advised = changes(phases)
    groups = dict.fromkeys([*LEVELS, *(change.level for change in advised)])
    rows = [(level, [one for one in advised if one.level == level]) for level in groups]
    return [("" if at else level, one) for level, ones in rows for at, one in enumerate(ones)]


def host_row(of_host: Document) -> list[str]:
    """Return host, verdict, its other verdicts, number of phases, and the verdict's share of the
    time in percent."""
    times_s: dict[str, float] = {}
    for phase in of_host["phases"]:
        word = phase["verdict"] or NO_VERDICT
        times_s[word] = times_s.get(word, 0.0) + phase["to_s"] - phase["from_s"]
    verdict = of_host["verdict"] or NO_VERDICT
    total = sum(times_s.values())
    return [
        of_host["host"],
        verdict,
        ", ".join(name for name in times_s if name != verdict),
        str(len(of_host["phases"])),
        percent(times_s.get(verdict, 0.0) / total) if total > 0 else "",
    ]
