"""An optimum: the answer of a search, the points beside it, and the history of the search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from headrace.optimisation.candidate import Candidate, rank
from headrace.optimisation.goals import COST, UNITS, Constraint, Objective, text
from headrace.optimisation.optimum import COLUMNS, Optimum
from headrace.quantities import duration, figure, numbered, percent
from headrace.render import units
from headrace.render.blocks import Axis, Block, Chart, Headline, Line, Note, Table, View, bars
from headrace.sweeps.result import values_text

Document = Mapping[str, Any]

MOST_OTHERS = 8
"""Most points that are neither the answer nor equal to it."""
MOST_FAILED = 3
MOST_HEADLINES = 3
MOST_ROWS = 200
"""Most points in the table of a document."""
SYNCED = "synced_writes"
"""Writes and syncs together: the first figure, where a run has both."""
EQUAL = "equal"
"""Points whose objective is the same to the bit, without chance."""
WORDS = {"equal": "not distinguished", "infeasible": "misses a constraint"}
SHOWN_UNITS = {"B/s": units.THROUGHPUT, "s": units.MILLISECONDS, "%": units.SHARE, "": units.FIGURE}
IMPORTANCE = Axis("importance (PED-ANOVA: what distinguishes the best tenth)")
TRIAL = Axis("trial", units.COUNT)


def view(result: Optimum | Document) -> View:
    """Return the answer, the points that cannot be distinguished from it, and the next ones.

    The document of an optimum lacks the trials and the comparisons: its view has the means of all
    points instead.
    """
    return _of_document(result) if isinstance(result, Mapping) else _of_optimum(result)


def _of_optimum(optimum: Optimum) -> View:
    runs = optimum.runs + optimum.reused
    heading = Note(
        f": {optimum.goals}\n{len(optimum.candidate_of_trial):,} trials of"
        f" {len(optimum.candidates):,} points"
        f" ({optimum.sampler}), {runs:,} runs in {duration(optimum.wall_s)}"
        + (f", {optimum.reused:,} of them from before" if optimum.reused else ""),
        optimum.name,
    )
    blocks: list[Block] = [heading, *_history(optimum)]
    if len(optimum.goals.objectives) > 1:
        blocks.append(_front(optimum))
    blocks += bars("importance", "Importance", "field", IMPORTANCE, optimum.importances)
    if optimum.is_stopped:
        blocks.append(Note("", "Stopped: the best so far, by few runs."))
    if optimum.best is None:
        return blocks
    best = {name: text(name, optimum.best.mean(name)) for name in optimum.goals.figures}
    blocks.insert(1, _headline(optimum.best.point, best))
    return [*blocks, _table(optimum, optimum.best), *map(Note, _notes(optimum, optimum.best))]


def _headline(point: Mapping[str, Any], figures: Mapping[str, str]) -> Headline:
    """Return the best point and its first figures."""
    shown = dict(list(figures.items())[:MOST_HEADLINES])
    return Headline({"best point": values_text(point)} | shown)


def _history(optimum: Optimum) -> Iterator[Chart]:
    """Yield each trial, and the best so far, for each objective."""
    by_number = {each.number: each for each in optimum.candidates}
    trials = [by_number[number] for number in optimum.candidate_of_trial]
    is_single = len(optimum.goals.objectives) == 1
    on_front = set() if is_single else set(optimum.front)
    for objective in optimum.goals.objectives:
        points: dict[str, list[tuple[int, float]]] = {"trial": []}
        best: list[tuple[int, float]] = []
        for number, candidate in enumerate(trials, 1):
            value = _mean(candidate, objective)
            if value is not None:
                is_met = optimum.goals.violation(candidate.means(optimum.goals.figures)) == 0
                name = "trial" if is_met else WORDS["infeasible"]
                name = "front" if candidate in on_front else name
                points.setdefault(name, []).append((number, value))
                if is_met and (not best or objective.sign * (value - best[-1][1]) > 0):
                    best.append((number, value))
                    continue
            if best:
                best.append((number, best[-1][1]))
        lines = [_marks(name, those) for name, those in points.items()]
        if best and is_single:
            x, y = zip(*best, strict=True)
            lines.append(Line("best so far", x, y, shape="level"))
        yield Chart("history", f"Search: {objective}", TRIAL, _axis(objective.figure), lines)


def _front(optimum: Optimum) -> Chart:
    """Return the first two objectives of all points, and the front with its intervals."""
    up, across = optimum.goals.objectives[:2]
    known = [one for one in optimum.candidates if not one.error and one.by_replication]
    equals = set(optimum.equals)
    others = {one: optimum.verdict(one) for one in known if one not in {*optimum.front, *equals}}
    missed = [number for number, verdict in others.items() if verdict == "infeasible"]
    names = {
        "other points": [number for number in others if number not in missed],
        WORDS["infeasible"]: missed,
        WORDS["equal"]: [number for number in known if number in equals],
    }
    lines = [
        _marks(name, [(_mean(candidate, across), _mean(candidate, up)) for candidate in those])
        for name, those in names.items()
        if those
    ]
    ordered = sorted(optimum.front, key=lambda one: (_mean(one, across) or 0, _mean(one, up) or 0))
    x_low, x_high = _ends(ordered, across)
    low, high = _ends(ordered, up)
    # Two objectives of three or more are no line.
    is_line = len(optimum.goals.objectives) == 2
    front = Line(
        "front",
        [_mean(candidate, across) for candidate in ordered],
        [_mean(candidate, up) for candidate in ordered],
        low,
        high,
        shape="line" if is_line else "mark",
        x_low=x_low,
        x_high=x_high,
    )
    title = "Front, with 95 % intervals"
    return Chart("front", title, _axis(across.figure), _axis(up.figure), [*lines, front])


def _marks(name: str, points: Iterable[tuple[float | None, float | None]]) -> Line:
    known = list(points)
    return Line(name, [x for x, _ in known], [y for _, y in known], shape="mark")


def _mean(candidate: Candidate, objective: Objective) -> float | None:
    return None if candidate.error else candidate.mean(objective.figure)


def _ends(
    candidates: Sequence[Candidate], objective: Objective
) -> tuple[list[float | None], list[float | None]]:
    """Return the ends of the intervals of means."""
    low, high = [], []
    for candidate in candidates:
        mean, half = _mean(candidate, objective), candidate.half_width(objective.figure) or 0.0
        low.append(None if mean is None else mean - half)
        high.append(None if mean is None else mean + half)
    return low, high


def _axis(name: str) -> Axis:
    return Axis(name.replace("_", " "), SHOWN_UNITS[UNITS.get(name, "s")])


def _table(optimum: Optimum, best: Candidate) -> Table:
    names = [*optimum.goals.figures]
    if SYNCED not in names and best.mean(SYNCED) is not None:
        names.insert(0, SYNCED)
    if COST not in names and best.mean(COST) is not None:
        names.append(COST)
    is_single = len(optimum.goals.objectives) == 1
    columns = [*optimum.paths, *names, "runs", *(["behind"] if is_single else []), ""]
    rows = [*_sorted(optimum, optimum.front), *_sorted(optimum, optimum.equals)]
    shown = set(rows)
    others = [
        candidate
        for candidate in optimum.candidates
        if is_single and not candidate.error and candidate.by_replication and candidate not in shown
    ]
    compared = [one for one in others if one.is_compared] or ([] if optimum.equals else others)
    rows += _sorted(optimum, compared)[:MOST_OTHERS]
    cells = [
        (
            *(str(row.point.get(path, "")) for path in optimum.paths),
            *(text(name, row.mean(name), row.half_width(name)) for name in names),
            str(len(row.replications)),
            *([_behind(optimum, row)] if is_single else []),
            _word(optimum, row),
        )
        for row in rows
    ]
    caption = "means ± half the width of their 95 % intervals"
    if is_single:
        caption += (
            "\nbehind: by which part the best is better, seed by seed; the intervals hold together"
        )
    return Table.of_rows("", columns, cells, len(optimum.paths), ("runs",), caption=caption)


def _notes(optimum: Optimum, best: Candidate) -> list[str]:
    lines = []
    words = [_word(optimum, equal) for equal in optimum.equals]
    for word, relation in ((WORDS["equal"], "Not distinguished from"), (EQUAL, "Equal to")):
        count = words.count(word)
        if count:
            lines.append(f"{relation} the answer: {numbered(count, 'other point')}.")
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
    lines += [f"failed: {values_text(one.point)}: {one.error}" for one in failed[:MOST_FAILED]]
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
        return sorted(candidates, key=lambda candidate: -sign * (candidate.mean(name) or 0.0))
    return [trial for each in rank(candidates, optimum.goals) for trial in each]


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


def _of_document(document: Document) -> View:
    """Return the best point, the front or the history, and the means of all points."""
    objectives = [objective["figure"] for objective in document["objectives"]]
    points = document["points"]
    goals = ", ".join(f"{one['direction']} {one['figure']}" for one in document["objectives"])
    blocks: list[Block] = [Note(f": {goals}", document["scenario"]["name"])]
    if document["best"] is None:
        blocks.append(Note("No point meets the constraints."))
    else:
        best = document["best"]
        shown = {name: text(name, best.get(name)) for name in objectives}
        blocks.append(_headline(best["set"], shown))
        blocks.append(_means("Best point", [best], with_intervals=True))
    if len(objectives) > 1:
        x, y = objectives[:2]
        lines = [
            _marks(name, [(point.get(x), point.get(y)) for point in those])
            for name, those in (("all points", points), ("front", document["front"]))
            if those
        ]
        blocks.append(Chart("front", "Pareto front", _axis(x), _axis(y), lines))
    elif points:
        (name,) = objectives
        ordered = sorted(points, key=lambda point: point["trial"])
        line = _marks(name, [(point["trial"], point.get(name)) for point in ordered])
        title = "Points in the order of their trials"
        blocks.append(Chart("history", title, TRIAL, _axis(name), [line]))
    blocks += bars("importance", "Importance", "field", IMPORTANCE, document["importance"])
    blocks.append(_means("Points", points[:MOST_ROWS], with_intervals=False))
    return [*blocks, *(Note(f"failed: {one['set']}: {one['error']}") for one in document["failed"])]


def _means(title: str, points: Sequence[Document], with_intervals: bool) -> Table:
    """Return a row for each point of a document: its fields and the means of its figures."""
    paths = list(dict.fromkeys(path for point in points for path in point["set"]))
    names = [name for name in COLUMNS if any(point.get(name) is not None for point in points)]
    rows = [
        [
            *(str(row["set"].get(path, "")) for path in paths),
            *(
                text(name, row.get(name), row.get(f"{name}_half_width") if with_intervals else None)
                for name in names
            ),
        ]
        for row in points
    ]
    return Table.of_rows(title, [*paths, *names], rows, len(paths))
