"""Data of a design's report."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from headrace.design.catalogue import Catalogue
from headrace.design.evaluation import ApplicationPerformance, Choice, Evaluation, Solution
from headrace.design.figure import SUM, Figure, combine
from headrace.design.growth import growth_figures, unit_of
from headrace.design.worksheet import Worksheet, pool_worksheet
from headrace.report.design_report.bill import Line, bill
from headrace.report.design_report.notes import Notes
from headrace.report.design_report.performance import performance_figures
from headrace.report.document.content import Picture, Text
from headrace.views.solution import label

SHOWN = "shown"
"""Group of the footnotes of the design that the report describes."""
UNKNOWN = "\N{EN DASH}"


@dataclass(frozen=True)
class DesignData:
    """A solution with its requirements, its catalogue, and what the sections share."""

    solution: Solution
    worksheet: Worksheet
    catalogue: Catalogue
    notes: Notes
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    """Drawings by their names."""

    def __post_init__(self) -> None:
        for number, one in enumerate(self.alternatives):
            if one is not self.shown:
                prefix = f"Design {label(number)}, "
                self.notes.add_figures(self.group(number), figures_of(one), prefix=prefix)
        if self.shown is not None:
            known = [*figures_of(self.shown), *self.counts.values(), *self.growth]
            self.notes.add_figures(SHOWN, known)

    @property
    def alternatives(self) -> tuple[Evaluation, ...]:
        """The designs that are compared: the front, or the nearest misses."""
        return self.solution.front or self.solution.nearest

    @property
    def is_feasible(self) -> bool:
        """True if a design meets all known requirements."""
        return self.solution.chosen is not None

    @cached_property
    def shown(self) -> Evaluation | None:
        """The chosen design, or the one that misses least; none if there is none at all."""
        if self.solution.chosen is not None:
            return self.solution.front[self.solution.chosen]
        return next(iter([*self.solution.nearest, *self.solution.front]), None)

    def group(self, number: int) -> str:
        """Return the group of the footnotes of an alternative, by its place."""
        return SHOWN if self.alternatives[number] is self.shown else label(number)

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """Figures of the shown design by their keys; the first if a key occurs twice."""
        return {} if self.shown is None else figures_by_key(self.shown)

    @cached_property
    def lines(self) -> list[Line]:
        """Bill of materials of the shown design."""
        if self.shown is None:
            return []
        return bill(self.shown.design, self.catalogue, self.figures)

    @cached_property
    def counts(self) -> dict[str, Figure]:
        """Quantities and sums of the bill of materials by their keys."""
        return {figure.key: figure for line in self.lines for figure in line.figures}

    @cached_property
    def growth(self) -> tuple[Figure, ...]:
        """Needs and purchase plans of the shown design over the years."""
        if self.shown is None:
            return ()
        pools = self.shown.design.each_pool
        try:
            each = []
            for one in pools:
                sheet = pool_worksheet(self.worksheet, one.zones)
                unit = unit_of(one, self.catalogue, sheet)
                each.append((one.zone_names, growth_figures(sheet.capacity, unit)))
            keys = [figure.key for figure in each[0][1] if not figure.key.startswith("racks-full")]
            return each[0][1] if len(pools) == 1 else combine(each, dict.fromkeys(keys, SUM))
        except ValueError:
            # A price is missing, or the growth is absurd for such servers.
            return ()

    def value(self, key: str) -> Text:
        """Return the value of a figure of the shown design with its footnote, or a dash."""
        figure = self.figures.get(key) or self.counts.get(key)
        return UNKNOWN if figure is None else self.notes.value(SHOWN, figure)

    def choices(self, *aspects: str) -> list[Choice]:
        """Return the choices of some aspects, or all, the whole system's first."""
        choices = [one for one in self.solution.choices if not aspects or one.aspect in aspects]
        return sorted(choices, key=lambda zone: zone.zone != "")


def figures_of(evaluation: Evaluation) -> Iterator[Figure]:
    """Yield all figures of a design, its performance among them."""
    yield from evaluation.capacity
    yield from evaluation.reliability
    yield from evaluation.facility
    yield from evaluation.cost
    for part in evaluation.performance:
        yield from performance_figures(part).values()


def figures_by_key(evaluation: Evaluation) -> dict[str, Figure]:
    """Return all figures of a design by their keys; the first if a key occurs twice."""
    figures: dict[str, Figure] = {}
    for figure in figures_of(evaluation):
        figures.setdefault(figure.key, figure)
    return figures


def total_throughput(performance: tuple[ApplicationPerformance, ...]) -> float:
    """Return the throughput of all applications together, in bytes a second."""
    return sum(part.throughput for part in performance)
