"""Processors: time by state, context switches and interrupts (proc(5), /proc/stat)."""

from collections import Counter

from headrace.profile.counters.source import (
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    as_text,
    naturals,
    number_after,
    open_file,
    per_second,
)

NAME = "processors"
STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""Columns of /proc/stat. The time of guests that follows is also in `user` and `nice`."""
SCALARS = {
    "interrupts": b"\nintr ",
    "switches": b"\nctxt ",
    "running": b"\nprocs_running ",
    "forks": b"\nprocesses ",
}
"""Lines with one counter. `forks` counts new processes and threads."""


def parse(text: bytes, left_out: Counter[str]) -> Raw:
    """Return the time of each processor by state, in ticks, and the other counters."""
    processors: dict[str, list[int]] = {}
    raw: Raw = {"cpu": processors}
    for line in text[: text.find(b"\nintr")].split(b"\n"):
        words = line.split()
        if not words or words[0] == b"cpu":
            continue
        values = naturals(words[1 : len(STATES) + 1])
        number = words[0][3:]
        # Kernels before 2.6.11 have no `steal`.
        if not number.isdigit() or values is None or len(values) < len(STATES) - 1:
            left_out[NAME] += 1
            continue
        processors[as_text(number)] = values
    for name, key in SCALARS.items():
        value = number_after(text, key)
        if value is None or value < 0:
            left_out[NAME] += value is not None
        else:
            raw[name] = value
    return raw


def _open(watched: Watched) -> Read | None:
    file = open_file(watched.proc / "stat")
    return None if file is None else lambda: parse(file.read(), watched.left_out)


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the shares of time by state, of each processor and their mean."""
    columns: Columns = {}
    sums: dict[str, list[float]] = {state: [] for state in STATES}
    for number, now in after["cpu"].items():
        then = before["cpu"].get(number)
        if then is None:
            continue
        # `idle` and `iowait` may decrease (proc(5)).
        grown = [max(b - a, 0) for a, b in zip(then, now, strict=False)]
        total = sum(grown)
        for state, ticks in zip(STATES, grown, strict=False):
            share = ticks / total if total else None
            columns[f"cpu.{number}.{state}"] = share
            if share is not None:
                sums[state].append(share)
    for state, shares in sums.items():
        columns[f"cpu.{state}"] = sum(shares) / len(shares) if shares else None
    for key, column in (
        ("switches", "context_switches_per_s"),
        ("interrupts", "interrupts_per_s"),
        ("forks", "forks_per_s"),
    ):
        known = key in before and key in after
        columns[column] = per_second(before[key], after[key], seconds) if known else None
    columns["load.running"] = after.get("running")
    return columns


SOURCE = Source(NAME, _open, rates)
