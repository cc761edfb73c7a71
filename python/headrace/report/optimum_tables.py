"""An optimum as a table for a terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.optimisation.candidate import Candidate, rank
from headrace.optimisation.goals import COST, Constraint, text
from headrace.optimisation.optimum import Optimum
from headrace.plain_text import plain
from headrace.quantities import duration, figure, percent
from headrace.render.fitted_table import FittedTable
from headrace.sweeps.result import values_text

MOST_OTHERS = 8
"""Most points that are neither the answer nor equal to it."""
MOST_FAILED = 3
SYNCED = "synced_writes"
"""Writes and syncs together: the first figure, where a run has both."""
EQUAL = "equal"
"""Points whose objective is the same to the bit, without chance."""
WORDS = {"equal": "not distinguished", "infeasible": "misses a constraint"}


def optimum_table(optimum: Optimum) -> RenderableType:
    """Return the answer, the points that cannot be distinguished from it, and the next ones."""
    heading = Text(plain(optimum.name), style="bold")
    runs = optimum.runs + optimum.reused
    points = len(optimum.candidates)
    heading.append(
        f": {optimum.goals}\n{len(optimum.candidate_of_trial):,} trials of {points:,} points"
        f" ({optimum.sampler}), {runs:,} runs in {duration(optimum.wall_s)}"
        + (f", {optimum.reused:,} of them from before" if optimum.reused else ""),
        style="not bold",
    )
    parts: list[RenderableType] = [heading]
    if optimum.is_stopped:
        parts.append(Text("Stopped: the best so far, by few runs.", style="bold"))
    if optimum.best is None:
        return Group(*parts)
    parts.append(_table(optimum))
    parts += [Text(plain(line)) for line in _notes(optimum)]
    return Group(*parts)


def _table(optimum: Optimum) -> RenderableType:
    names = [*optimum.goals.figures]
    if SYNCED not in names and optimum.best is not None and optimum.best.mean(SYNCED) is not None:
        names.insert(0, SYNCED)
    if COST not in names and optimum.best is not None and optimum.best.mean(COST) is not None:
        names.append(COST)
    is_single = len(optimum.goals.objectives) == 1
    columns = [*optimum.paths, *names, "runs", *(["behind"] if is_single else []), ""]
    made = FittedTable("", len(optimum.paths), columns, ("runs",))
    rows = [*_sorted(optimum, optimum.front), *_sorted(optimum, optimum.equals)]
    shown = set(rows)
    others = [
        it
        for it in optimum.candidates
        if is_single and not it.error and it.by_replication and it not in shown
    ]
    compared = [it for it in others if it.is_compared] or ([] if optimum.equals else others)
    rows += _sorted(optimum, compared)[:MOST_OTHERS]
    for it in rows:
        made.add_row(
            *(str(it.point.get(path, "")) for path in optimum.paths),
            *(text(name, it.mean(name), it.half_width(name)) for name in names),
            str(len(it.replications)),
            *([_behind(optimum, it)] if is_single else []),
            _word(optimum, it),
        )
    made.caption = "means ± half the width of their 95 % intervals"
    if is_single:
        made.caption += (
            "\nbehind: by which part the best is better, seed by seed; the intervals hold together"
        )
    return made


def _notes(optimum: Optimum) -> list[str]:
    best, lines = optimum.best, []
    assert best is not None
    words = [_word(optimum, it) for it in optimum.equals]
    for word, what in ((WORDS["equal"], "Not distinguished from"), (EQUAL, "Equal to")):
        count = words.count(word)
        if count:
            points = "1 other point" if count == 1 else f"{count} other points"
            lines.append(f"{what} the answer: {points}.")
    for limit in optimum.goals.constraints:
        if not _is_met(best, limit):
            lines.append(f"{limit}: met by the mean, but not by all of its 95 % interval.")
    if len(optimum.front) > 1 and len(optimum.goals.objectives) > 1:
        lines.append(f"The compromise of the front: {values_text(best.point)}.")
    given = optimum.given
    if given is not None:
        figures = (
            f"{name} {text(name, given.mean(name), given.half_width(name))}"
            for name in optimum.goals.figures
            if given.mean(name) is not None
        )
        lines.append(f"The scenario as given: {', '.join(figures)}.")
    for name, parts in optimum.importances.items():
        ranked = ", ".join(f"{path} {figure(part)}" for path, part in parts.items())
        lines.append(f"Importance for {name}: {ranked}.")
    failed = optimum.failed
    lines += [f"failed: {values_text(it.point)}: {it.error}" for it in failed[:MOST_FAILED]]
    if len(failed) > MOST_FAILED:
        lines.append(f"{len(failed) - MOST_FAILED:,} more points failed: see --json.")
    return lines


def _is_met(candidate: Candidate, limit: Constraint) -> bool:
    mean, width = candidate.mean(limit.figure), candidate.half_width(limit.figure) or 0.0
    return mean is not None and limit.violation(mean + limit.sign * width) <= 0


def _sorted(optimum: Optimum, candidates: Sequence[Candidate]) -> list[Candidate]:
    if len(optimum.goals.objectives) > 1:
        name = optimum.goals.objectives[0].figure
        sign = optimum.goals.objectives[0].sign
        return sorted(candidates, key=lambda it: -sign * (it.mean(name) or 0.0))
    return [it for each in rank(candidates, optimum.goals) for it in each]


def _word(optimum: Optimum, candidate: Candidate) -> str:
    is_single = len(optimum.goals.objectives) == 1
    if is_single and optimum.difference(candidate) == (0, 0) and candidate in optimum.equals:
        return EQUAL
    verdict = optimum.verdict(candidate)
    return WORDS.get(verdict, verdict)


def _behind(optimum: Optimum, candidate: Candidate) -> str:
    difference = optimum.difference(candidate)
    if candidate is optimum.best or difference is None:
        return ""
    part, width = difference
    part = part or 0.0  # No sign of 0.
    return f"{percent(part)}{f' ± {percent(width)}' if width else ''} %"
