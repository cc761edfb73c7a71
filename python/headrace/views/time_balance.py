"""The time balance of a profile: parts in words, with their colours."""

from collections.abc import Sequence
from typing import NamedTuple

from headrace.profile.document import BALANCE_PARTS, TimeBalance
from headrace.quantities import duration, percent
from headrace.render.blocks import Table

LEAST_SHARE = 0.005
"""Parts below it are left out of tables."""


class PartWords(NamedTuple):
    """A part of the balance in words."""

    words: str
    colour: str


PARTS = {
    "user": PartWords("computing", "#D55E00"),
    "system": PartWords("system calls and page faults", "#E8956B"),
    "core": PartWords("waiting for a core", "#F3C9B0"),
    "read": PartWords("waiting for reads", "#0072B2"),
    "write": PartWords("waiting for writes", "#E69F00"),
    "sync": PartWords("waiting for syncs", "#888888"),
    "metadata": PartWords("waiting for operations on names", "#F0E442"),
    "process": PartWords("starting processes", "#8B5FA3"),
    "network": PartWords("waiting for messages", "#56B4E9"),
    "sleep": PartWords("waiting for a lock, a timer or another process", "#BBBBBB"),
    "tracer": PartWords("stopped by the tracer", "#CC79A7"),
    "unknown": PartWords("not known", "#EEEEEE"),
}
"""By part, as in `headrace.profile.document.BALANCE_PARTS`."""


Balances = Sequence[TimeBalance | None]
"""Balances of phases; None of a phase without one."""


def totals(balances: Balances) -> dict[str, float]:
    """Return the seconds of all phases by part; empty without a balance."""
    known = [balance.seconds for balance in balances if balance is not None]
    if not known:
        return {}
    return {part: sum(seconds.get(part, 0.0) for seconds in known) for part in BALANCE_PARTS}


def table(balances: Balances) -> Table | None:
    """Return the balance of phases as a table; None without one."""
    seconds = totals(balances)
    total = sum(seconds.values())
    if total <= 0:
        return None
    rows = [
        (PARTS[part].words, duration(value), percent(value / total))
        for part, value in seconds.items()
        if value >= LEAST_SHARE * total
    ]
    return Table.of_rows("Time balance", ("the program's time", "time", "share %"), rows, 1)


def main_parts(balances: Balances) -> str:
    """Return the two largest parts in words, such as "71 % waiting for syncs"."""
    seconds = totals(balances)
    total = sum(seconds.values())
    largest = sorted(seconds, key=lambda part: -seconds[part])[:2]
    shares = [
        f"{percent(seconds[part] / total)} % {PARTS[part].words}"
        for part in largest
        if total > 0 and seconds[part] >= 0.1 * total
    ]
    return ", ".join(shares)
